"""The verdict path, leases, undo, parking, the budget: what a reviewer does, without a page."""

import threading

import polars as pl
import pytest

from shortlist.exceptions import TableError
from shortlist.review.desk.proof import prove
from shortlist.review.errors import (
    AnsweredError,
    BadRequestError,
    LeaseLostError,
    NothingToUndoError,
    NotShownError,
    StoreError,
)
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
    after = queue.record("ann", turn.shown, Verdict.WANTED, note="seen").result()
    again = queue.record("ann", turn.shown, Verdict.WANTED, note="seen").result()
    assert again.shown == after.shown
    assert len(list(queue.log(kinds=["verdict"]))) == 1


@pytest.mark.parametrize("first", ["verdict", "later"])
@pytest.mark.parametrize("second", ["another verdict", "another note", "later"])
def test_another_answer_to_the_same_row_is_refused_and_not_dropped(queue, first, second):
    turn = queue.turn("ann").result()
    if first == "later":
        queue.park("ann", turn.shown).result()
    else:
        queue.record("ann", turn.shown, Verdict.WANTED, note="seen").result()
    before = list(queue.log())
    if (first, second) == ("later", "later"):
        assert queue.park("ann", turn.shown).result().state == "row"
    else:
        with pytest.raises(AnsweredError, match=r"already; .* was not recorded") as refused:
            _answer(queue, turn.shown, second).result()
        assert refused.value.status == 409
    assert list(queue.log()) == before


def _answer(queue, shown, answer):
    if answer == "later":
        return queue.park("ann", shown)
    verdict = Verdict.NOT_WANTED if answer == "another verdict" else Verdict.WANTED
    return queue.record("ann", shown, verdict, note="seen" if answer == "another verdict" else "seen twice")


def test_a_note_on_a_row_that_is_put_off_twice_is_kept_once(queue):
    turn = queue.turn("ann").result()
    for note in ("", "ask the shop", "ask the shop ", "closed on Monday", "ask the shop", ""):
        assert queue.park("ann", turn.shown, note=note).result().state == "row"
    noted = [(event.who, event.row, event.body.note) for event in queue.log(kinds=["note"])]
    assert noted == [("ann", turn.row, "ask the shop"), ("ann", turn.row, "closed on Monday")]
    assert len(list(queue.log(kinds=["park"]))) == 1


def test_a_note_with_a_later_that_comes_after_a_verdict_is_told_again(queue):
    turn = queue.turn("ann").result()
    queue.record("ann", turn.shown, Verdict.WANTED).result()
    with pytest.raises(AnsweredError, match=r"“later \(ask the shop\)” was not recorded"):
        queue.park("ann", turn.shown, note="ask the shop").result()


def test_two_answers_in_one_batch_are_one(queue):
    turn = queue.turn("ann").result()
    futures = [queue.record("ann", turn.shown, Verdict.WANTED) for _ in range(8)]
    assert len({future.result().shown for future in futures}) == 1
    assert queue.snapshot.reviewed == 1


def test_whoever_takes_the_place_of_an_erased_name_stops_nobody_else(queue):
    turn, busy = queue.turn("ann").result(), threading.Event()
    queue.turn("bob").result()
    gone = queue.erase_name("ann", "bob").result()
    queue._ask(busy.wait)  # so that what follows is one batch
    given, refused = queue.record("ann", turn.shown, Verdict.WANTED), queue.turn(gone)
    busy.set()
    assert given.result().row != turn.row
    with pytest.raises(BadRequestError, match=f"'{gone}' stands for somebody whose name was erased"):
        refused.result()
    assert queue.snapshot.reviewed == 1


def test_a_verdict_and_the_row_that_follows_it_are_one_commit(queue, monkeypatch):
    turn, written, append = queue.turn("ann").result(), [], Store.append
    monkeypatch.setattr(
        Store, "append", lambda self, number, events: written.append(events) or append(self, number, events)
    )
    after = queue.record("ann", turn.shown, Verdict.WANTED, note="seen").result()
    ((verdict, shown),) = [each for each in written if each]
    assert (verdict.answers, shown.seq, shown.row) == (turn.shown, after.shown, after.row)


def test_a_verdict_that_cannot_be_learned_is_not_stored(queue, review, monkeypatch):
    turn, before = review(queue, 3)[-1], list(queue.log())
    digest = queue.digest().result()
    with monkeypatch.context() as patch:
        patch.setattr("shortlist.review.desk.engine.Engine.follow", lambda self, event: 1 / 0)
        with pytest.raises(StoreError, match="Send the request again"):
            queue.record("ann", turn.shown, Verdict.WANTED).result()
    assert list(queue.log()) == before
    assert queue.digest().result() == digest
    assert queue.record("ann", turn.shown, Verdict.WANTED).result().shown


def test_rows_that_two_people_add_at_once_are_added_once(queue, table):
    """Both are worked on together; the second is checked against the rows of the first."""
    new = table.drop("truth").head(3).with_columns(claim="N-" + pl.col("claim"))
    begin, ended = threading.Event(), queue._ask(lambda: begin.wait(120))
    first, second = queue.append("ann", new), queue.append("bob", new)
    begin.set()
    assert ended.result()
    assert first.result() == 203
    with pytest.raises(TableError, match="3 of the new rows are in the queue already"):
        second.result()
    assert len(queue.rows) == queue.snapshot.n_rows == 203


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


def test_a_row_that_an_open_page_keeps_stays_its_own_after_a_restart(make_queue, clock):
    queue = make_queue()
    ann = queue.turn("ann").result()
    for _ in range(30):  # half an hour of an open page, three times the lease
        clock.now += 60
        queue.turn("ann").result()
    assert 3 <= len(list(queue.log(kinds=["kept"]))) <= 6  # not one for every beat
    queue._worker.stop()  # as a kill leaves it
    queue._store.close()
    queue._lock.release()
    again = make_queue(again=True)
    clock.now += 60
    assert again.turn("bob").result().row != ann.row
    assert again.turn("ann").result().shown == ann.shown


def test_a_clock_that_is_set_back_does_not_give_rows_away(make_queue, clock):
    queue = make_queue()
    clock.now += 5000
    ann = queue.turn("ann").result()
    clock.now -= 5000
    bob = queue.turn("bob").result()
    assert bob.row != ann.row
    queue.record("bob", bob.shown, Verdict.WANTED).result()
    queue.close()
    again = make_queue(again=True)
    assert again.turn("ann").result().shown == ann.shown
    times = [event.at for event in again.log()]
    assert times == sorted(times)


@pytest.mark.parametrize("how", ["override", "import"])
def test_whoever_holds_a_row_that_was_decided_meanwhile_gets_another(queue, how):
    ann = queue.turn("ann").result()
    if how == "override":
        queue.override("lead", ann.row, Verdict.WANTED).result()
    else:
        queue.import_verdicts("lead", [(ann.row, Verdict.WANTED, "")]).result()
    with pytest.raises(LeaseLostError, match="lead reviewed C-"):
        queue.record("ann", ann.shown, Verdict.NOT_WANTED).result()
    after = queue.turn("ann").result()
    assert (after.state, after.row != ann.row) == ("row", True)


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


def test_last_verdict_tells_which_rows_rose_and_fell_after_it(queue, review):
    review(queue, 3)
    before = [up.id for up in queue.snapshot.top]
    turn = queue.turn("ann").result()
    queue.record("ann", turn.shown, Verdict.NOT_WANTED).result()
    last, after = queue.snapshot.last, [up.id for up in queue.snapshot.top]
    assert (last.id, last.teaches) == (turn.id, True)
    assert {*last.rose} <= {*after}
    assert {id for id in before if id not in after} - {queue.turn("ann").result().id} <= {*last.fell}
    assert not {*last.rose} & {*last.fell}
    stayed = [id for id in after if id in before]
    assert stayed == [id for id in before if id in after] or {*last.rose} & {*stayed}


def test_a_random_check_which_teaches_nothing_moves_no_row(make_queue, review):
    queue = make_queue(settings={"audit": 0.5})
    for _ in range(4):
        turn = queue.turn("ann").result()
        queue.record("ann", turn.shown, Verdict.NOT_WANTED).result()
        last = queue.snapshot.last
        assert last.teaches == (turn.drawn != "audit")
        assert last.teaches or last.rose == last.fell == ()


def prove_holds(queue):
    store = Store.open(queue.workspace.place, read_only=True)
    proof = prove(queue.workspace, store, 1)
    store.close()
    assert proof.holds, proof.differing
    return proof
