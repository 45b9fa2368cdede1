"""The head of a log, told outside: a log that was rewritten from one end to the other no longer holds it."""

import http.server
import json
import logging
import shutil
import smtplib
import socketserver
import threading

import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.review.desk import proof
from shortlist.review.publish import Publisher, PublishError, line_of, read_heads, tell
from shortlist.review.reading import head_of, prove_folder


def test_a_log_that_was_rewritten_with_all_its_hashes_is_noticed_by_what_was_told(
    make_queue, review, tmp_path
):
    queue = make_queue()
    folder = queue.workspace.folder
    queue.close()
    shutil.copytree(folder, tmp_path / "other.review")
    told = []
    for place, n in ((folder, 4), (tmp_path / "other.review", 3)):
        again = type(queue).open(place)
        review(again, n)
        again.close()
        told.append(head_of(place)[1:])
    # The second log is whole in itself, and not the one whose head was told.
    assert prove_folder(tmp_path / "other.review").holds
    assert prove_folder(folder, published=told[:1]).holds
    assert not prove_folder(tmp_path / "other.review", published=told[:1]).holds


def test_the_head_is_told_when_a_review_starts_and_again_after_a_failure(queue, monkeypatch, caplog):
    monkeypatch.setattr("shortlist.review.publish.AGAIN", 0.01)
    told, done = [], threading.Event()

    def tell(target, line):
        if not told:
            told.append("failed")
            raise PublishError("the head of the log could not be told to heads.txt (no route).")
        told.append(line)
        done.set()

    with caplog.at_level(logging.WARNING):
        publisher = Publisher(queue, "heads.txt", tell=tell).start()
        assert done.wait(120)
        publisher.stop()
    assert "could not be told to heads.txt (no route)" in caplog.text
    assert list(read_heads(told[1:2])) == [queue.head()]


class Mailbox(socketserver.StreamRequestHandler):
    """A mail server, as far as one letter needs it."""

    def handle(self):
        self.wfile.write(b"220 here\r\n")
        for line in self.rfile:
            word = line.split()[0].upper()
            self.server.heard.append(line.decode().strip())
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                self.server.letter = b"".join(iter(self.rfile.readline, b".\r\n")).decode()
            usual = b"221 bye\r\n" if word == b"QUIT" else b"250 yes\r\n"
            self.wfile.write(self.server.answers.get(word, usual))
            if word == b"QUIT":
                break


@pytest.fixture
def mailbox(monkeypatch):
    with socketserver.TCPServer(("localhost", 0), Mailbox) as server:
        server.heard, server.letter, server.answers = [], "", {}
        monkeypatch.setattr(smtplib.SMTP, "default_port", server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_head_is_mailed(make_queue, review, mailbox):
    queue = make_queue()
    review(queue, 2)
    line = line_of(queue.name, *queue.head())
    tell("mailto:auditor@example.org", line)
    assert "rcpt to:<auditor@example.org>" in map(str.lower, mailbox.heard)
    subject, text = mailbox.letter.split("\r\n\r\n", 1)
    assert list(read_heads(text.splitlines())) == [queue.head()]
    assert prove_folder(queue.workspace.folder, published=read_heads(text.splitlines())).holds
    assert "Subject: " in subject


@pytest.mark.parametrize("answers", [{b"RCPT": b"550 nobody of that name\r\n"}, {b"MAIL": b"451 later\r\n"}])
def test_a_letter_that_is_refused_is_an_error_that_says_why(mailbox, answers):
    mailbox.answers = answers
    with pytest.raises(PublishError, match=r"mailto:auditor@example.org .*(nobody of that name|later)"):
        tell("mailto:auditor@example.org", "2026-01-31T00:00:00Z claims 12 abc")


@pytest.mark.parametrize(
    "target", ["mailto:", "mailto:a b", "mailto:x@y\nBcc: z@y", "none/heads.txt", "http://127.0.0.1:1/"]
)
def test_a_target_that_cannot_be_told_is_named(target, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(smtplib.SMTP, "default_port", 1)
    with pytest.raises(PublishError, match="could not be told to"):
        tell(target, "2026-01-31T00:00:00Z claims 12 abc")


def test_the_head_is_sent_to_a_web_address_and_added_to_a_file(tmp_path):
    heard = []

    class Hook(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            heard.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("localhost", 0), Hook) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        tell(f"http://localhost:{server.server_address[1]}/hook", "a line")
        thread.join()
    assert heard == [{"text": "a line"}]
    for line in ("one", "two"):
        tell(str(tmp_path / "heads.txt"), line)
    assert (tmp_path / "heads.txt").read_text() == "one\ntwo\n"


def test_lines_that_are_no_heads_are_refused():
    with pytest.raises(InvalidInputError, match="line 2 is not the head of a log"):
        list(read_heads(["2026-01-31T00:00:00Z claims 12 abc", "nonsense"]))


def test_other_libraries_are_said_at_once_where_the_queue_no_longer_replays(
    make_queue, review, monkeypatch, caplog
):
    queue = make_queue()
    review(queue, 3)
    queue.close()
    known = queue.workspace.libraries.read_text()
    assert "numpy" in known
    monkeypatch.setattr(proof, "_versions", lambda: {"numpy": "99.0"})
    make_queue(again=True).close()
    assert caplog.text == ""  # it replays, so there is nothing to say
    queue.workspace.libraries.write_text(known)
    found = type("Proof", (), {"differing": [7, 9]})
    monkeypatch.setattr(proof, "prove", lambda *_: found)
    make_queue(again=True).close()
    assert "to 99.0" in caplog.text
    assert "2 rows that were shown get another score, first at event 7" in caplog.text
    assert queue.workspace.libraries.read_text() == known
