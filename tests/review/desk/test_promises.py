"""What people are told holds: a request that is sent again after an error counts once, and a lease outlives a kill."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from shortlist.review.desk.keeper import Keeper
from shortlist.review.desk.worker import Worker
from shortlist.review.errors import LeaseLostError, NothingToUndoError, StoreError
from shortlist.verdicts import Verdict
from studies.quality.review_world import failing


@pytest.fixture
def unacknowledged():
    """Ask for something that is stored, while the answer is lost."""

    def ask(request):
        lost = failing(Keeper, "_publish", lambda: ZeroDivisionError("a mistake"), afterwards=False, calls=1)
        with lost, pytest.raises(StoreError, match="what was stored of it counts once"):
            request().result()

    return ask


def n_of(queue, kind):
    return len(list(queue.log(kinds=[kind])))


def test_a_note_that_is_sent_again_is_there_once(queue, unacknowledged):
    unacknowledged(lambda: queue.note("ann", 3, "ask Kim"))
    queue.note("ann", 3, "ask Kim ").result()
    assert n_of(queue, "note") == 1
    queue.note("bob", 3, "ask Kim").result()
    queue.note("ann", 3, "ask Kim").result()  # said once more, after somebody else
    assert n_of(queue, "note") == 3


def test_rows_that_are_decided_again_as_they_are_stay_so(queue, unacknowledged):
    unacknowledged(lambda: queue.decide("ann", [3, 4], "wanted", note="a ring"))
    queue.decide("ann", [3, 4], "wanted", note="a ring").result()
    assert n_of(queue, "verdict") == queue.snapshot.reviewed == 2
    for who, rows, said in (("bob", [3, 4], "wanted"), ("ann", [3, 4], "unsure"), ("ann", [4, 5], "wanted")):
        with pytest.raises(LeaseLostError, match="nothing was recorded"):
            queue.decide(who, rows, said, note="a ring").result()
    queue.undo("ann").result()
    assert queue.snapshot.reviewed == 0


def test_a_lead_who_decides_again_as_before_has_decided_once(queue, unacknowledged):
    unacknowledged(lambda: queue.override("lead", 3, Verdict.WANTED, "seen"))
    queue.override("lead", 3, Verdict.WANTED, "seen").result()
    assert n_of(queue, "override") == 1
    queue.override("lead", 3, Verdict.NOT_WANTED, "seen").result()
    queue.override("chief", 3, Verdict.NOT_WANTED, "seen").result()
    assert n_of(queue, "override") == 3


def test_a_verdict_is_taken_back_once(queue, review, unacknowledged):
    review(queue, 3)
    last = queue.turn("ann").result().undo
    unacknowledged(lambda: queue.undo("ann", last))
    with pytest.raises(NothingToUndoError, match="taken back"):
        queue.undo("ann", last).result()
    assert (queue.snapshot.reviewed, n_of(queue, "undo")) == (2, 1)


def test_a_row_stays_whose_it_is_for_as_long_as_was_told_also_after_a_kill(make_queue, clock):
    queue = make_queue(settings={"lease_seconds": 600})
    began, row = clock.now, queue.turn("ann").result().row
    clock.now = began + 299  # the log is told of an extension only when half of a lease has passed
    told = queue.turn("ann").result()
    queue._lock.release()  # as the end of its process does
    again = make_queue(again=True)
    clock.now = told.until - 1
    assert again.turn("bob").result().row != row
    clock.now = told.until + 1
    assert again.turn("cy").result().row == row


def test_nobody_waits_in_vain_who_asks_while_the_review_closes():
    """A request that got past the check is in front of the end, and is answered."""
    worker = Worker(lambda batch: [future.set_result(n) for n, future in batch])
    put, inside, go_on = worker._waiting.put, threading.Event(), threading.Event()

    class Slow:
        get, empty = worker._waiting.get, worker._waiting.empty

        @staticmethod
        def put(request):
            if request is not None:
                inside.set()
                go_on.wait(10)
            put(request)

    worker._waiting = Slow
    with ThreadPoolExecutor(2) as threads:
        asked = threads.submit(worker.submit, 7)
        inside.wait(10)
        stopped = threads.submit(worker.stop)
        threading.Timer(0.1, go_on.set).start()
        assert asked.result(10).result(10) == 7
        stopped.result(10)
    with pytest.raises(StoreError, match="closing"):
        worker.submit(8)
