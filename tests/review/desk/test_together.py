"""Verdicts given together: each logged and learned, taken back together, and replayed bit for bit."""

import pytest

from shortlist.review.errors import AnsweredError, BadRequestError, LeaseLostError
from shortlist.review.log.events import Drawn, Judged, Shown
from shortlist.review.reading import prove_folder
from shortlist.verdicts import Verdict


def free_rows(queue, n, skip=0):
    return [up.row for up in queue.snapshot.top[skip : skip + n]]


def test_each_is_logged_with_the_score_it_had_and_all_are_undone_at_once(queue, review):
    review(queue, 3)
    before, reviewed = queue.digest().result(), queue.snapshot.reviewed
    rows = free_rows(queue, 4, skip=2)
    queue.decide("ann", rows, "wanted", note="one gang", reason="staged").result()
    assert queue.snapshot.reviewed == reviewed + 4
    events = list(queue.log())[-8:]
    assert [event.body.row for event in events if isinstance(event.body, Shown)] == rows
    assert {event.body.drawn for event in events if isinstance(event.body, Shown)} == {Drawn.CHOSEN}
    judged = [event.body for event in events if isinstance(event.body, Judged)]
    assert {(body.note, body.reason, body.together) for body in judged} == {
        ("one gang", "staged", events[0].seq)
    }
    assert [body.answers for body in judged] == [event.seq for event in events[:4]]
    queue.undo("ann").result()
    assert queue.snapshot.reviewed == reviewed
    assert queue.digest().result() == before
    queue.close()
    assert prove_folder(queue.workspace.folder).holds


def test_the_row_on_the_screen_stays_there(queue):
    turn = queue.turn("ann").result()
    queue.decide("ann", free_rows(queue, 3), "not wanted").result()
    assert queue.turn("ann").result().shown == turn.shown
    queue.decide("ann", [turn.row], "not wanted").result()
    assert queue.turn("ann").result().row != turn.row


def test_a_verdict_for_near_copies_too(queue):
    turn = queue.turn("ann").result()
    others = free_rows(queue, 2)
    queue.record("ann", turn.shown, "wanted", also=others).result()
    assert queue.snapshot.found == 3
    queue.record("ann", turn.shown, "wanted", also=others).result()  # sent again, it is the same answer
    assert queue.snapshot.found == 3
    back = queue.undo("ann").result()
    assert (back.row, back.drawn, queue.snapshot.found) == (turn.row, Drawn.REOPENED, 0)
    queue.close()
    assert prove_folder(queue.workspace.folder).holds


def test_what_is_not_free_refuses_the_whole_choice(queue):
    held = queue.turn("bob").result()
    free = free_rows(queue, 2)
    with pytest.raises(LeaseLostError, match=f"nothing was recorded: {held.id}"):
        queue.decide("ann", [*free, held.row], "wanted").result()
    with pytest.raises(BadRequestError, match="at least one row"):
        queue.decide("ann", [], "wanted").result()
    with pytest.raises(BadRequestError, match="room for 30 more"):
        queue.decide("ann", range(60), "wanted").result()
    assert queue.snapshot.reviewed == 0


def test_any_free_row_may_be_put_on_the_screen(queue):
    queue.turn("ann").result()
    (other,) = free_rows(queue, 1, skip=9)
    turn = queue.take("ann", other).result()
    assert (turn.row, turn.drawn) == (other, Drawn.CHOSEN)
    with pytest.raises(LeaseLostError, match="ann"):
        queue.take("bob", other).result()
    assert queue.record("ann", turn.shown, "wanted").result().drawn is Drawn.TOP
    with pytest.raises(LeaseLostError, match="ann reviewed"):
        queue.take("bob", other).result()


def test_rows_that_were_chosen_tell_nothing_of_the_ranking(queue, review):
    review(queue, 12)
    before = queue.snapshot.next_ten
    queue.decide("ann", free_rows(queue, 8), "wanted").result()
    told = [
        e
        for e, said in zip(queue.snapshot.own, queue.snapshot.said, strict=True)
        if queue.snapshot._is_ranked(e, said)
    ]
    assert before is not None
    assert len(told) == 12


def test_another_answer_is_refused_and_both_are_told(queue):
    queue.change("lead", {"words": {"wanted": "fraud"}}).result()
    turn = queue.turn("ann").result()
    queue.record("ann", turn.shown, "not wanted").result()
    with pytest.raises(
        AnsweredError, match=f"you said “not wanted” of {turn.id} already; “fraud .staged.” was not recorded"
    ):
        queue.record("ann", turn.shown, "wanted", reason="staged").result()
    assert queue.verdict_on(turn.row).body.verdict is Verdict.NOT_WANTED


def test_a_required_reason_is_required_everywhere(queue):
    queue.change("lead", {"reasons": {"wanted": ["staged"]}, "reasons_required": True}).result()
    turn = queue.turn("ann").result()
    for refused in (
        lambda: queue.record("ann", turn.shown, "wanted").result(),
        lambda: queue.decide("ann", free_rows(queue, 2), "wanted").result(),
    ):
        with pytest.raises(BadRequestError, match="needs one of the team's reasons"):
            refused()
    queue.record("ann", turn.shown, "wanted", reason="staged").result()


def test_whose_screen_a_row_is_on_is_asked_for_one_row_or_all(make_queue, clock):
    queue = make_queue()
    held = {queue.turn(who).result().row: who for who in ("ann", "bob", "eve")}
    state = queue._live.state
    assert state.leased(clock()) == held
    assert {row: state.holder(row, clock()) for row in held} == held
    free = next(row for row in range(200) if row not in held)
    assert state.holder(free, clock()) is None
    clock.now += 3600
    assert {state.holder(row, clock()) for row in held} == {None}
