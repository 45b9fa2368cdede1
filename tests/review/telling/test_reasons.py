"""Reasons are stored when a row is shown, and told from there: a page may stay open while the ranking moves on."""

import json
from dataclasses import replace

import polars as pl
import pytest

from shortlist.review.log.events import Shown
from shortlist.review.telling.reasons import Reasons
from shortlist.verdicts import Verdict
from tests.review.web.conftest import signed_in


@pytest.fixture
def moved(serve_queue, truth):
    """A server, the turn that ann has had open all the while, and a queue whose ranking bob has moved since."""
    server = serve_queue(settings={"budget": 60})
    queue = server.queue
    open_page, bob = queue.turn("ann").result(), queue.turn("bob").result()
    for _ in range(12):
        said = Verdict.WANTED if truth[bob.id] else Verdict.NOT_WANTED
        bob = queue.record("bob", bob.shown, said).result()
    return server, open_page


def text_of(queue, reasons):
    return [str(queue.rows.usual.message(said)) for said in reasons.said]


def test_an_open_page_keeps_the_reasons_it_was_given(moved):
    server, before = moved
    queue = server.queue
    assert queue.why(before.row).result() != before.why  # it is like rows that bob has judged
    assert queue.turn("ann").result().why == before.why
    (shown,) = [event for event in queue.log(row=before.row) if isinstance(event.body, Shown)]
    assert Reasons.read(json.loads(json.dumps(shown.body.why))) == before.why
    client = server.client()
    assert client.turn().reasons == text_of(queue, before.why)
    assert client.row(before.id).reasons_of == shown.seq


def test_a_row_and_its_sheet_show_what_was_on_the_screen(moved):
    server, before = moved
    queue = server.queue
    queue.record("ann", before.shown, "wanted").result()
    now = queue.why(before.row).result()
    with signed_in(server, "lead") as lead:
        pages = [lead.get(f"/q/claims/{page}/{before.id}").text for page in ("row", "sheet")]
        never = next(up for up in queue.snapshot.top if not [*queue.log(row=up.row)])
        assert "Why it is where it is" in lead.get(f"/q/claims/row/{never.id}").text
    for page in pages:
        assert "Why it was shown" in page
        assert "As ann had it on the screen, " in page
        assert all(text in page for text in text_of(queue, before.why))
        assert not before.why.like
        assert now.like
        assert ">like " not in page  # bob's rows came later


def test_reasons_name_whoever_said_it_and_you_is_the_reader_alone(moved):
    server, _ = moved
    queue = server.queue
    known = next(e for e in queue.snapshot.verdicts if e.body.verdict is Verdict.WANTED)
    copy = queue.rows.frame([known.row]).with_columns(claim=pl.lit("N-1"))
    last = queue.append("lead", copy).result() - 1
    turn = queue.take("cleo", last).result()
    like = next(like for like in turn.why.like if like.wanted)
    verdict = queue.event(like.verdict)
    assert (verdict.who, verdict.body.row, verdict.body.verdict) == ("bob", like.row, "wanted")
    address, id = f"/q/claims/row/{turn.id}", queue.rows.id(like.row)
    for who, language, said in (
        ("bob", "en", "which you confirmed"),
        ("ann", "en", "which bob confirmed"),
        ("bob", "de", "von Ihnen bestätigt"),
        ("ann", "de", "von bob bestätigt"),
    ):
        with signed_in(server, who, language) as browser:
            assert f"{id}</a>, {said}" in browser.get(address).text
            sheet = browser.get(address.replace("/row/", "/sheet/")).text  # goes to others
            assert f"{id}</a>, {'which bob confirmed' if language == 'en' else 'von bob bestätigt'}" in sheet
    queue.undo("bob", like.verdict).result()
    with signed_in(server, "ann") as browser:  # he did, when it was shown
        assert f"{id}</a>, which bob confirmed" in browser.get(address).text


def test_a_log_of_before_tells_reasons_of_now_and_says_so(make_queue, serve_queue, monkeypatch):
    from shortlist.review.desk.keeper import Keeper

    monkeypatch.setattr(Keeper, "_with_reasons", lambda self, shown: replace(shown, why=None))
    old = make_queue()
    turn = old.turn("ann").result()
    assert turn.why == old.why(turn.row).result()
    old.close()
    monkeypatch.undo()
    server = serve_queue()
    with signed_in(server) as browser:
        page = browser.get(f"/q/claims/row/{turn.id}").text
    assert "no reasons are stored of when it was shown" in page
    assert all(text in page for text in text_of(server.queue, server.queue.why(turn.row).result()))
