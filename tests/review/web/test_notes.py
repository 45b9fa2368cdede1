"""What somebody has typed is kept, or told again, whatever becomes of the row that it was typed on."""

import html
import re
from contextlib import contextmanager

import pytest

from shortlist.review.errors import AnsweredError, LeaseLostError
from shortlist.verdicts import Verdict
from tests.review.web.conftest import signed_in

NOTE = "ask Kim <today>"


@pytest.fixture
def server(serve_queue):
    return serve_queue(settings={"reasons": {"wanted": ["theft"]}, "reasons_required": True})


@contextmanager
def open_page(server, who="ann"):
    """A browser with a row on its screen: it, the number under which the row was shown, and the row."""
    with signed_in(server, who) as http:
        http.headers["hx-request"] = "true"
        shown = int(re.search(r'name="shown" value="(\d+)"', http.get("/q/claims").text)[1])
        yield http, shown, server.queue.snapshot.shown[shown].row


def send(http, shown, verdict, **more):
    answer = http.post("/q/claims/verdict", data={"shown": shown, "verdict": verdict, "note": NOTE, **more})
    assert answer.status_code == 200
    return answer.text


def banner(page):
    return html.unescape(re.search(r'class="banner" role="status">(.*?)</p>', page)[1])


def field(page):
    return html.unescape(re.search(r'id="note".*? value="(.*?)"', page)[1])


def remarks(server):
    return [(event.who, event.row, event.body.note) for event in server.queue.log(kinds=["note"])]


def test_a_note_on_a_row_that_another_has_decided_is_kept_with_the_row(server):
    with open_page(server) as (http, shown, row):
        server.queue.override("bob", row, Verdict.WANTED).result()
        id = server.queue.rows.id(row)
        for _ in range(2):  # a page may send it again
            page = send(http, shown, "not wanted")
            assert re.fullmatch(rf"bob reviewed {id} at .* Your note was kept with {id}\.", banner(page))
            assert field(page) == ""
        german = http.post(
            "/q/claims/verdict",
            data={"shown": shown, "verdict": "unsure", "note": "noch eine"},
            headers={"accept-language": "de"},
        )
        assert f"Ihre Notiz steht jetzt bei {id}." in banner(german.text)
        assert html.escape(NOTE) in http.get(f"/q/claims/row/{id}").text
    assert remarks(server) == [("ann", row, NOTE), ("ann", row, "noch eine")]
    assert server.queue.verdict_on(row).who == "bob"


def test_a_note_on_a_lost_row_is_kept_by_the_api_too(server):
    client = server.client()
    turn = client.turn()
    server.queue.override("bob", turn.row, Verdict.WANTED).result()
    with pytest.raises(LeaseLostError, match=f"Your note was kept with {turn.id}"):
        client.record(turn.shown, "not wanted", note=NOTE)
    with pytest.raises(LeaseLostError, match=r"Here is the next row\.$"):
        client.record(turn.shown, "not wanted")
    assert [event.payload["note"] for event in client.row(turn.id).history if event.kind == "note"] == [NOTE]


@pytest.mark.parametrize("answer", ["not wanted", "later"])
def test_an_erased_row_takes_no_note_and_gives_it_back(server, answer):
    with open_page(server) as (http, shown, row):
        server.queue.erase_rows("admin", [row]).result()
        assert banner(send(http, shown, answer)).endswith(f" Your note was not kept: “{NOTE}”")
    assert remarks(server) == []


def test_a_note_with_another_answer_to_the_same_row_is_told_again(server):
    with open_page(server) as (http, shown, _):
        send(http, shown, "not wanted", note="")
        assert f"“later ({NOTE})” was not recorded" in banner(send(http, shown, "later"))
        assert f"“unsure ({NOTE})” was not recorded" in banner(send(http, shown, "unsure"))
        assert "Your note" not in send(http, shown, "unsure")
    client = server.client()
    with pytest.raises(AnsweredError, match=re.escape(f"“later ({NOTE})” was not recorded")):
        client.park(shown, note=NOTE)


def test_a_note_stays_in_the_field_while_the_row_stays_on_the_screen(server):
    with open_page(server) as (http, shown, _):
        page = send(http, shown, "wanted")
        assert (banner(page), field(page)) == ("this verdict needs one of the team's reasons.", NOTE)
        assert f'name="shown" value="{shown}"' in page


def test_a_note_for_a_row_that_was_shown_to_nobody_is_given_back(server):
    with open_page(server) as (http, _, _):
        page = send(http, 10**6, "unsure")
        assert banner(page).endswith(f"ask for one first. Your note was not kept: “{NOTE}”")
        assert field(page) == ""


def test_a_note_on_rows_that_cannot_be_decided_together_is_given_back(server):
    held = server.queue.turn("ann").result()
    with open_page(server, "bob") as (http, _, _):
        sent = {"id": held.id, "verdict": "unsure", "note": NOTE}
        page = html.unescape(http.post("/q/claims/decide", data=sent).text)
    assert f"nothing was recorded: {held.id}" in page
    assert f"Your note was not kept: “{NOTE}”" in page
