"""Second opinions and rows that are somebody's: who gets which row, what counts, and a replay that is the same."""

import pytest

from shortlist.review.errors import (
    AnsweredError,
    BadRequestError,
    ForbiddenError,
    LeaseLostError,
    NothingToUndoError,
)
from shortlist.review.lead.figures import figures_of
from shortlist.review.log.events import Assigned, Drawn, Joined, Second, Shown
from shortlist.review.log.opinions import place_of
from shortlist.review.reading import prove_folder
from shortlist.verdicts import Verdict


@pytest.fixture
def queue(make_queue):
    """Every row that is decided is judged twice."""
    return make_queue(settings={"second_opinions": 1.0})


def first_by_ann(queue, verdict="wanted"):
    """Ann judges her first row; returns it, and the turn that bob gets."""
    turn = queue.turn("ann").result()
    queue.record("ann", turn.shown, verdict, note="I know this shop").result()
    return turn, queue.turn("bob").result()


def prove_again(queue):
    before = queue.standing().result()
    queue.close()
    proof = prove_folder(queue.workspace.folder)
    assert proof.holds
    assert (proof.digest, proof.version) == (before.digest, before.version)


def test_another_gets_the_row_without_its_place_and_the_first_verdict_stays(queue):
    first, second = first_by_ann(queue)
    assert (second.row, second.drawn, second.rank, second.score) == (first.row, Drawn.SECOND, None, None)
    assert second.why == first.why  # those of now would tell what was said
    before = queue.digest().result()
    after = queue.record("bob", second.shown, "not wanted").result()
    assert after.drawn is not Drawn.SECOND
    assert queue.digest().result() == before  # the ranking learned nothing from it
    assert queue.verdict_on(first.row).who == "ann"
    assert (queue.snapshot.reviewed, queue.snapshot.found) == (1, 1)
    assert [*queue.snapshot.disputed] == [first.row]
    assert queue.snapshot.waiting == {}
    prove_again(queue)


def test_nobody_judges_their_own_row_twice_and_two_never_the_same(queue):
    first, second = first_by_ann(queue)
    assert queue.turn("ann").result().row != first.row
    assert queue.turn("cy").result().row not in (first.row, queue.turn("ann").result().row)
    queue.park("bob", second.shown, 60).result()
    assert queue.turn("dee").result().row != first.row  # put off for all


def test_a_second_opinion_is_a_row_of_work_and_no_second_find(queue, clock):
    _, second = first_by_ann(queue)
    clock.now += 36
    after = queue.record("bob", second.shown, "wanted").result()
    assert (after.today.reviewed, after.today.found) == (1, 0)
    told = figures_of(queue)
    by = {line.name: line for line in told.reviewers}
    assert (by["ann"].reviewed, by["ann"].found) == (1, 1)
    assert (by["bob"].reviewed, by["bob"].found, by["bob"].per_hour) == (1, 0, pytest.approx(100))
    assert (told.whole.reviewed, told.whole.verdicts, told.whole.found) == (1, 2, 1)
    assert queue.undo("bob").result().today.reviewed == 0
    assert queue.turn("ann").result().today.reviewed == 1


def test_a_lead_settles_what_two_say(queue):
    first, second = first_by_ann(queue)
    queue.record("bob", second.shown, "not wanted").result()
    queue.override("lead", first.row, Verdict.NOT_WANTED).result()
    assert queue.snapshot.disputed == {}
    assert queue.verdict_on(first.row).who == "lead"
    (given,) = queue.opinions()
    assert given.said == (Verdict.WANTED, Verdict.NOT_WANTED)  # what they said counts on
    with pytest.raises(NothingToUndoError):
        queue.undo("bob", given.second.seq).result()
    prove_again(queue)


def test_sent_again_it_is_the_same_answer_and_another_one_is_refused(queue):
    _, second = first_by_ann(queue)
    for _ in range(2):
        queue.record("bob", second.shown, "not wanted").result()
    assert sum(isinstance(event.body, Second) for event in queue.log()) == 1
    with pytest.raises(AnsweredError):
        queue.record("bob", second.shown, "wanted").result()


def test_a_second_opinion_is_taken_back_and_the_first_stays(queue):
    first, second = first_by_ann(queue)
    queue.record("bob", second.shown, "not wanted").result()
    again = queue.undo("bob").result()
    assert (again.row, again.drawn) == (first.row, Drawn.SECOND)
    assert queue.opinions() == []
    assert queue.verdict_on(first.row).who == "ann"
    queue.record("bob", again.shown, "wanted").result()
    assert queue.snapshot.disputed == {}
    assert [given.is_same for given in queue.opinions()] == [True]
    prove_again(queue)


def test_who_is_asked_while_the_first_is_taken_back_gets_another_row(queue):
    first, second = first_by_ann(queue)
    back = queue.undo("ann").result()
    assert (back.row, back.drawn) == (first.row, Drawn.REOPENED)
    with pytest.raises(LeaseLostError, match="no second opinion"):
        queue.record("bob", second.shown, "wanted").result()
    assert queue.turn("bob").result().row != first.row


def test_an_open_page_keeps_a_second_opinion_and_a_silent_one_loses_it(queue, clock):
    first, second = first_by_ann(queue)
    clock.now += 590
    assert queue.turn("bob").result().shown == second.shown
    clock.now += 590
    assert queue.turn("cy").result().row != first.row
    clock.now += 20
    late = queue.turn("dee").result()
    assert late.row == first.row
    queue.record("dee", late.shown, "wanted").result()
    with pytest.raises(LeaseLostError, match="somebody else gave it"):
        queue.record("bob", second.shown, "wanted").result()


def test_a_page_that_wakes_up_does_not_share_a_second_opinion(queue, clock):
    first, second = first_by_ann(queue)
    clock.now += 610
    now_dee = queue.turn("dee").result()
    assert now_dee.row == first.row
    with pytest.raises(LeaseLostError, match="went to dee"):
        queue.record("bob", second.shown, "wanted").result()
    assert queue.turn("bob").result().row != first.row
    assert queue.turn("dee").result().shown == now_dee.shown


def test_which_rows_are_judged_twice_is_drawn_whatever_is_said_of_them(make_queue, review):
    queue = make_queue(settings={"second_opinions": 0.3})
    turns = review(queue, 20)
    drawn = {turn.row for turn in turns[:20] if place_of(0, turn.row) < 0.3}
    assert {*queue.snapshot.waiting} == drawn
    queue.change("lead", {"second_opinions": 1.0}).result()
    assert len(queue.snapshot.waiting) == 20  # also of those that were judged before
    queue.change("lead", {"second_opinions": 0.0}).result()
    assert queue.snapshot.waiting == {}
    assert queue.turn("bob").result().drawn is Drawn.TOP


def test_second_opinions_come_on_top_of_the_budget(make_queue):
    queue = make_queue(settings={"budget": 1, "second_opinions": 1.0})
    first, second = first_by_ann(queue)
    assert queue.turn("ann").result().state == "budget"
    assert second.row == first.row
    assert queue.record("bob", second.shown, "wanted").result().state == "budget"


def test_who_is_unsure_asks_a_lead_and_nobody_else(queue):
    first, second = first_by_ann(queue, "unsure")
    assert second.row != first.row
    assert queue.snapshot.unsure == (first.row,)


def test_a_row_that_is_assigned_comes_first_and_to_nobody_else(make_queue):
    queue = make_queue()
    top = [up.row for up in queue.snapshot.top]
    queue.assign("lead", top[0], "ann").result()
    queue.assign("lead", top[7], "ann").result()
    assert queue.turn("bob").result().row == top[1]
    turns = [queue.turn("ann").result()]
    for _ in range(2):
        turns.append(queue.record("ann", turns[-1].shown, "not wanted").result())
    assert [turn.row for turn in turns[:2]] == [top[0], top[7]]
    assert [turn.drawn for turn in turns] == [Drawn.ASSIGNED, Drawn.ASSIGNED, Drawn.TOP]
    assert queue.snapshot.assigned == {}
    kinds = [event.body for event in queue.log() if isinstance(event.body, Joined | Assigned)]
    assert [type(body) for body in kinds] == [Joined, Assigned, Assigned]
    assert "ann" not in repr(kinds)  # a name stands in one place, from which it can be erased
    prove_again(queue)


def test_a_row_is_handed_over_from_the_screen(make_queue):
    queue = make_queue()
    mine = queue.turn("ann").result()
    other = queue.turn("bob").result()
    with pytest.raises(ForbiddenError, match="is not yours"):
        queue.assign("ann", other.row, "cy", leads=False).result()
    queue.assign("ann", mine.row, "bob", leads=False).result()
    assert queue.turn("ann").result().row != mine.row
    with pytest.raises(LeaseLostError, match="assigned to bob"):
        queue.record("ann", mine.shown, "wanted").result()
    with pytest.raises(LeaseLostError, match="assigned to bob"):
        queue.take("ann", mine.row).result()
    after = queue.record("bob", other.shown, "wanted").result()
    assert (after.row, after.drawn) == (mine.row, Drawn.ASSIGNED)
    queue.assign("bob", mine.row, None, leads=False).result()
    assert queue.snapshot.assigned == {}
    queue.record("bob", after.shown, "wanted").result()  # it is still on the screen
    with pytest.raises(LeaseLostError, match="has a verdict"):
        queue.assign("lead", mine.row, "cy").result()


def test_a_name_that_was_assigned_a_row_can_be_erased(make_queue):
    queue = make_queue()
    row = queue.snapshot.top[3].row
    queue.assign("lead", row, "Ann Smith").result()
    queue.erase_name("lead", "Ann Smith").result()
    assert "Ann Smith" not in repr(queue._live.state)
    (stands_for_her,) = queue.snapshot.assigned.values()
    assert stands_for_her.startswith("erased ")
    with pytest.raises(BadRequestError, match="was erased"):
        queue.assign("lead", row + 1, stands_for_her).result()
    prove_again(queue)


def test_an_assigned_row_is_no_random_check(make_queue):
    """Rows that a lead picks are not as likely as others: none of them is drawn, nor counts as unseen by chance."""
    queue = make_queue(settings={"audit": 0.5})
    for up in queue.snapshot.top[:40]:
        queue.assign("lead", up.row, "cy").result()
    seen = [event.body.row for event in queue.log() if isinstance(event.body, Shown)]
    turn = queue.turn("ann").result()
    for _ in range(15):
        turn = queue.record("ann", turn.shown, "not wanted").result()
        seen.append(turn.row)
    assert not {*seen} & {*queue.snapshot.assigned}
    assert all(row in dict(queue.snapshot.out) for row in queue.snapshot.assigned)
