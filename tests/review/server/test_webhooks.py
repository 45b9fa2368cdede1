"""Webhooks: a real server that fails at times, signatures checked by hand, and a sender that is killed."""

import base64
import hashlib
import hmac
import json
import os
import signal
import sqlite3
import threading
import time
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.review.desk.queue import Queue
from shortlist.review.log.sqlite import Sqlite
from shortlist.review.server.accounts import Accounts
from shortlist.review.server.webhooks import BACKOFF, Outbox, Webhook
from shortlist.review.web.access import Role
from shortlist.review.workspace import Workspace
from shortlist.verdicts import Verdict
from tests.forks import FORKS
from tests.review.server.conftest import Team

pytestmark = pytest.mark.slow

KEY = bytes(range(32))
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"


class Receiver(ThreadingHTTPServer):
    """A target: ``answers`` says what it does with each request; None: it hangs up."""

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.got = answer, []
        self.url = f"http://127.0.0.1:{self.server_port}/hooks?key=mine"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append((dict(self.headers), body))
        status = self.server.answer(len(self.server.got))
        if status is None:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *said):
        pass


@contextmanager
def receiving(answer=lambda n: 200):
    with Receiver(answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def ids(receiver):
    return [headers["webhook-id"] for headers, _ in receiver.got]


@pytest.fixture
def people(tmp_path):
    database = Sqlite(tmp_path / "people.sqlite", tmp_path)
    with closing(Accounts(database)):
        yield database


@pytest.fixture
def outbox(people, make_queue, clock):
    """A queue with a past, and somebody who tells what comes after it."""
    queue = make_queue()
    judge(queue, 2)

    def tell(receiver):
        return Outbox(people, {"claims": queue}, [Webhook.of(receiver.url, SECRET)], clock)

    tell.queue = queue
    return tell


def judge(queue, n, who="ann"):
    turn = queue.turn(who).result()
    for _ in range(n):
        turn = queue.record(who, turn.shown, "wanted", note="staged").result()


def test_a_target_is_told_what_it_has_to_erase(outbox):
    """By numbers that it was told with each verdict: neither the id nor the name is told any more."""
    queue = outbox.queue
    with receiving() as receiver:
        told = outbox(receiver)
        told.deliver()
        judge(queue, 1, "Annabel Leigh")
        told.deliver()
        (said,) = [json.loads(body)["data"] for _, body in receiver.got]
        queue.erase_rows("admin", [said["row"]]).result()
        queue.erase_name("admin", "Annabel Leigh").result()
        judge(queue, 1, "bob")
        assert told.deliver() == 3
    assert (said["who"], queue.rows.id(said["row"])) == ("Annabel Leigh", f"erased {said['row']}")
    late = [body for _, body in receiver.got[1:]]
    row, name, other = (json.loads(body) for body in late)
    assert (row["type"], row["data"]["row"], row["data"]["who"]) == ("review.erased", said["row"], "admin")
    assert name["type"] == "review.name_erased"
    assert name["data"]["erased_person"] == said["person"] != name["data"]["person"]
    assert other["data"]["person"] not in (said["person"], name["data"]["person"])
    assert not any(said["id"].encode() in body or b"Annabel" in body for body in late)


def test_each_verdict_is_told_once_and_signed(outbox):
    with receiving() as receiver:
        told = outbox(receiver)
        assert told.deliver() == 0  # what came before it was named is not told
        judge(outbox.queue, 3)
        outbox.queue.undo("ann").result()
        outbox.queue.override("lead", 5, Verdict.NOT_WANTED).result()
        assert (told.deliver(), told.deliver()) == (5, 0)
    assert len({*ids(receiver)}) == 5
    for headers, body in receiver.got:
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        right = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
        assert headers["webhook-signature"] == f"v1,{right}"
    messages = [json.loads(body) for _, body in receiver.got]
    assert [message["type"] for message in messages] == [
        *["review.verdict"] * 3, "review.undo", "review.override",
    ]  # fmt: skip
    first = messages[0]["data"]
    assert (first["queue"], first["who"], first["verdict"], first["note"]) == (
        "claims",
        "ann",
        "wanted",
        "staged",
    )
    assert first["id"] in {outbox.queue.rows.id(row) for row in range(200)}
    assert "amount" not in str(messages)  # no value of a row


def test_a_target_that_fails_is_tried_again_later_each_time_and_misses_nothing(outbox, clock):
    answers = {1: 500, 2: None, 3: 301, 4: 429}
    with receiving(lambda n: answers.get(n, 204)) as receiver:
        told = outbox(receiver)
        told.deliver()
        judge(outbox.queue, 3)
        for wait in BACKOFF[:4]:
            assert told.deliver() == 0
            clock.now += wait - 1
            assert told.deliver() == 0  # it is left alone until then
            clock.now += 1
        assert len(receiver.got) == 4
        assert told.deliver() == 3
    assert len({*ids(receiver)[:5]}) == 1  # the same message, five times
    assert len({*ids(receiver)}) == 3
    assert len({body for _, body in receiver.got[:5]}) == 1


def test_who_says_gone_is_left_alone_and_others_are_told(people, make_queue, clock):
    queue = make_queue()
    with receiving(lambda n: 410) as gone, receiving() as other:
        hooks = [Webhook.of(each.url, SECRET) for each in (gone, other)]
        told = Outbox(people, {"claims": queue}, hooks, clock)
        told.deliver()
        judge(queue, 2)
        assert told.deliver() == 2
        clock.now += 1e7
        told.deliver()
        assert (len(gone.got), len(other.got)) == (1, 2)


def test_a_queue_that_is_made_while_the_server_runs_is_told_from_its_start(people, make_queue, clock):
    queue, queues = make_queue(), {}
    with receiving() as receiver:
        told = Outbox(people, queues, [Webhook.of(receiver.url, SECRET)], clock)
        told.deliver()
        judge(queue, 2)
        queues["claims"] = queue
        assert told.deliver() == 2


def tell_forever(folder, people, url):
    """A process that tells and tells."""
    queue = Queue.open(folder)
    told = Outbox(Sqlite(people, people.parent), {"claims": queue}, [Webhook.of(url, SECRET)])
    while True:
        told.deliver()
        time.sleep(0.01)


@pytest.mark.slow
def test_killed_while_a_target_answers_each_event_is_told_at_least_once(outbox, people, tmp_path):
    process = None

    def answer(n):
        if n in (2, 5):  # it is told, and killed before it hears that it was
            os.kill(process.pid, signal.SIGKILL)
            process.join()
        return 200

    with receiving(answer) as receiver:
        outbox(receiver).deliver()
        judge(outbox.queue, 6)
        wanted = [event.seq for event in outbox.queue.log(kinds=["verdict"])][2:]
        folder = outbox.queue.workspace.folder
        outbox.queue.close()
        until = time.monotonic() + 120
        while len({*ids(receiver)}) < 6 and time.monotonic() < until:
            given = (folder, tmp_path / "people.sqlite", receiver.url)
            process = FORKS.Process(target=tell_forever, args=given, daemon=True)
            process.start()
            while process.is_alive() and len({*ids(receiver)}) < 6 and time.monotonic() < until:
                time.sleep(0.05)
        process.kill()
        process.join()
    told = [json.loads(body)["data"]["event"] for _, body in receiver.got]
    assert [*dict.fromkeys(told)] == wanted  # all, in order
    assert len(told) > len(wanted)  # two of them twice,
    assert len({*ids(receiver)}) == len(wanted)  # under the same id


def wait_for(happens):
    until = time.monotonic() + 60
    while not happens() and time.monotonic() < until:
        time.sleep(0.05)


def told_so_far(folder):
    with closing(sqlite3.connect(folder / "people.sqlite")) as people:
        return people.execute("select count(*) from deliveries").fetchone()[0]


def test_a_server_tells_by_itself(tmp_path, data, make_workspace):
    make_workspace(data, Workspace(tmp_path / "served" / "claims.review"))
    with receiving() as receiver:
        team = Team(tmp_path / "served", webhooks=[Webhook.of(receiver.url, SECRET)])
        with team.running():
            wait_for(lambda: told_so_far(tmp_path / "served"))  # from now on it is told
            team.join("Ann", Role.REVIEWER)
            judge(team.server.queues["claims"], 2, "Ann")
            wait_for(lambda: len(receiver.got) >= 2)
    assert [json.loads(body)["data"]["who"] for _, body in receiver.got] == ["Ann", "Ann"]


@pytest.mark.parametrize(
    ("url", "secret", "words"),
    [
        ("http://cases.example/in", SECRET, "https://"),
        ("cases.example", SECRET, "https://"),
        ("ftp://localhost/in", SECRET, "https://"),
        ("https://cases.example/in", None, "export SHORTLIST_WEBHOOK_SECRET=whsec_"),
        ("https://cases.example/in", "whsec_short", "24 to 64 bytes"),
        ("https://cases.example/in", "whsec_??", "24 to 64 bytes"),
    ],
)
def test_what_cannot_be_told_safely_is_refused(url, secret, words):
    with pytest.raises(InvalidInputError, match=words):
        Webhook.of(url, secret)


def test_the_address_may_be_of_this_machine():
    assert Webhook.of("http://127.0.0.1:9/in", SECRET).key == KEY
    assert httpx.URL(Webhook.of("http://[::1]:9/in", SECRET).url).host == "::1"
