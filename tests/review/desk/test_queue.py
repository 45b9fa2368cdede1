"""The verdict path, leases, undo, parking, the budget: what a reviewer does, without a page."""

import pytest

from shortlist.review.desk.live import prove
from shortlist.review.errors import LeaseLostError, NothingToUndoError, NotShownError
from shortlist.review.log.events import Drawn
from shortlist.review.log.store import Store
from shortlist.verdicts import Verdict


def test_a_review_finds_more_than_chance_and_ends_with_the_budget(queue, review):
    turns = review(queue, 30)
    assert turns[-1].state == "budget"
    assert len({turn.row for turn in turns[:-1]}) == 30
    assert queue.snapshot.found >= 9  # of 12 among 200; chance would find 2
    assert queue.snapshot.curve[-1] == queue.snapshot.found


def test_more_budget_goes_on(queue, review):
    assert review(queue, 30)[-1].state == "budget"
    queue.change("ann", {"budget": 31}).result()
    assert queue.turn("ann").result().state == "row"


def test_all_rows_reviewed_is_the_end(make_queue, review):
    queue = make_queue(settings={"budget": None})
    assert review(queue, 200)[-1].state == "finished"


def test_asking_again_gives_the_same_row_and_logs_it_once(queue):
    first, second = queue.turn("ann").result(), queue.turn("ann").result()
    assert first.shown == second.shown
    assert len(list(queue.log(kinds=["shown"]))) == 1


def test_an_answer_sent_twice_is_the_same_answer(queue):
    turn = queue.turn("ann").result()
    after = queue.record("ann", turn.shown, Verdict.WANTED).result()
    again = queue.record("ann", turn.shown, Verdict.NOT_WANTED).result()
    assert again.shown == after.shown
    assert queue.verdict_on(turn.row).body.verdict is Verdict.WANTED
    assert len(list(queue.log(kinds=["verdict"]))) == 1


def test_two_answers_in_one_batch_are_one(queue):
    turn = queue.turn("ann").result()
    futures = [queue.record("ann", turn.shown, Verdict.WANTED) for _ in range(8)]
    assert len({future.result().shown for future in futures}) == 1
    assert queue.snapshot.reviewed == 1


def test_a_row_that_was_not_shown_takes_no_verdict(queue):
    turn = queue.turn("ann").result()
    with pytest.raises(NotShownError, match="ask for one first"):
        queue.record("ann", 999, Verdict.WANTED).result()
    with pytest.raises(NotShownError):
        queue.record("bob", turn.shown, Verdict.WANTED).result()
    assert queue.snapshot.reviewed == 0


def test_two_reviewers_never_have_the_same_row(queue, review):
    ann, bob = queue.turn("ann").result(), queue.turn("bob").result()
    assert ann.row != bob.row
    review(queue, 10, "ann")
    assert queue.turn("bob").result().row == bob.row
    rows = [event.row for event in queue.log(kinds=["verdict"])]
    assert bob.row not in rows


def test_an_expired_lease_passes_to_another_and_the_first_is_told(queue, clock):
    ann = queue.turn("ann").result()
    clock.now += 601
    bob = queue.turn("bob").result()
    assert bob.row == ann.row
    with pytest.raises(LeaseLostError, match="went to bob"):
        queue.record("ann", ann.shown, Verdict.WANTED).result()
    queue.record("bob", bob.shown, Verdict.WANTED).result()
    with pytest.raises(LeaseLostError, match="bob reviewed C-"):
        queue.record("ann", ann.shown, Verdict.WANTED).result()
    assert queue.turn("ann").result().row != ann.row


def test_a_living_page_keeps_its_row(queue, clock):
    ann = queue.turn("ann").result()
    for _ in range(5):
        clock.now += 300
        assert queue.turn("ann").result().shown == ann.shown
    assert queue.turn("bob").result().row != ann.row


def test_a_silent_page_whose_row_nobody_took_goes_on(queue, clock):
    ann = queue.turn("ann").result()
    clock.now += 10_000
    queue.record("ann", ann.shown, Verdict.WANTED).result()
    assert queue.snapshot.found == 1


def test_undo_of_an_early_verdict_is_as_if_it_had_never_been_given(make_queue, review):
    queue = make_queue()
    turns = review(queue, 12)
    early = next(event for event in queue.log(kinds=["verdict"]) if event.row == turns[2].row)
    before = queue.snapshot.version
    back = queue.undo("ann", early.seq).result()
    assert (back.row, back.drawn) == (turns[2].row, Drawn.REOPENED)
    assert queue.snapshot.version == before - 1
    digest = queue.digest().result()
    assert prove_holds(queue).digest == digest


def test_undo_to_any_depth(queue, review):
    turns = review(queue, 5)
    for turn in reversed(turns[:5]):
        assert queue.undo("ann").result().row == turn.row
    assert (queue.snapshot.reviewed, queue.snapshot.version) == (0, 0)
    with pytest.raises(NothingToUndoError):
        queue.undo("ann").result()


def test_a_verdict_is_taken_back_once(queue, review):
    review(queue, 2)
    seq = queue.snapshot.last.seq
    queue.undo("ann", seq).result()
    with pytest.raises(NothingToUndoError, match="already"):
        queue.undo("ann", seq).result()


def test_later_means_later(queue, clock):
    first = queue.turn("ann").result()
    second = queue.park("ann", first.shown, 600).result()
    assert second.row != first.row
    clock.now += 601
    assert queue.record("ann", second.shown, Verdict.NOT_WANTED).result().state == "row"
    shown = [event.row for event in queue.log(kinds=["shown"])]
    queue.turn("bob").result()
    assert first.row in [*shown, *(event.row for event in queue.log(kinds=["shown"]))][1:]


def test_unsure_is_set_aside_and_a_lead_decides(queue):
    turn = queue.turn("ann").result()
    queue.record("ann", turn.shown, Verdict.UNSURE, note="ask Kim").result()
    assert queue.snapshot.unsure == (turn.row,)
    assert queue.snapshot.version == 0
    queue.override("lead", turn.row, Verdict.WANTED).result()
    assert (queue.snapshot.unsure, queue.snapshot.version, queue.snapshot.found) == ((), 1, 1)
    queue.override("lead", turn.row, Verdict.NOT_WANTED).result()
    assert (queue.snapshot.version, queue.snapshot.found) == (1, 0)
    with pytest.raises(NothingToUndoError, match="decide on it again"):
        queue.undo("lead", queue.snapshot.last.seq).result()
    prove_holds(queue)


def test_the_budget_counts_rows_on_screens(make_queue, review):
    queue = make_queue(settings={"budget": 2})
    queue.turn("ann").result()
    queue.turn("bob").result()
    assert queue.turn("eve").result().state == "waiting"


def test_a_restart_goes_on_where_it_stopped(make_queue, review):
    queue = make_queue()
    turn = review(queue, 9)[-1]
    digest, seen = queue.digest().result(), queue.snapshot
    queue.close()
    again = make_queue(again=True)
    assert again.turn("ann").result().shown == turn.shown
    assert again.digest().result() == digest
    assert (again.snapshot.found, again.snapshot.said) == (seen.found, seen.said)
    assert [up.row for up in again.snapshot.top] == [up.row for up in seen.top]


@pytest.mark.bits
@pytest.mark.parametrize("strategy", ["similarity", "ojrank", "aad", "omd-llh"])
def test_replay_in_order_gives_what_was_shown(make_queue, review, strategy):
    queue = make_queue(strategy=strategy)
    review(queue, 8)
    queue.undo("ann").result()
    review(queue, 8)
    proof = prove_holds(queue)
    assert proof.shown >= 17
    assert proof.digest == queue.digest().result()


@pytest.mark.bits
def test_a_checkpoint_and_the_log_give_the_same_ranking(make_queue, review):
    queue = make_queue(settings={"budget": None})
    review(queue, 40)
    digest = queue.digest().result()
    queue.close()
    assert queue.workspace.checkpoints()
    assert make_queue(again=True).digest().result() == digest


def test_a_damaged_checkpoint_costs_time_only(make_queue, review):
    queue = make_queue()
    review(queue, 5)
    digest = queue.digest().result()
    queue.close()
    for _, path in queue.workspace.checkpoints():
        path.write_bytes(b"nonsense")
    assert make_queue(again=True).digest().result() == digest


def test_last_verdict_tells_what_it_moved(queue, review):
    review(queue, 6)
    assert queue.snapshot.last.moved >= 0
    assert all(up.move is None or isinstance(up.move, int) for up in queue.snapshot.top)


def prove_holds(queue):
    store = Store.open(queue.workspace.log, read_only=True)
    proof = prove(queue.workspace, store, 1)
    store.close()
    assert proof.holds, proof.differing
    return proof
