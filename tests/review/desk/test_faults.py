"""Whatever goes wrong, and wherever: what was acknowledged is in the log, and memory says what the log says."""

import contextlib
import sqlite3
import threading
from contextlib import closing
from dataclasses import fields

import pytest
import sqlalchemy as sa

from shortlist.review.desk import keeper
from shortlist.review.desk.keeper import Keeper
from shortlist.review.desk.live import LiveQueue, first_state
from shortlist.review.desk.proof import prove
from shortlist.review.desk.rules.rules import Rules
from shortlist.review.errors import NotOwnerError, ReadOnlyError, StoreError
from shortlist.review.log.store import Store
from shortlist.verdicts import Verdict
from studies.quality.review_faults import full_pool
from studies.quality.review_world import failing

ERRORS = {
    "of the store": lambda: StoreError("no room"),
    "of the database": lambda: sa.exc.DatabaseError("insert", {}, sqlite3.DatabaseError("malformed")),
    "of the pool": lambda: sa.exc.TimeoutError("QueuePool limit"),
    "of the disk": lambda: OSError(5, "input/output error"),
    "of memory": MemoryError,
    "in the code": lambda: ZeroDivisionError("a mistake"),
    "that ends threads": lambda: SystemExit(1),
}
#: Every step of answering a request, and whether the error comes once the step is done.
STEPS = {
    "the rules": (Rules, "verdict", False),
    "folding": (Keeper, "_take", True),
    "storing": (Store, "append", False),
    "storing, after the commit": (Store, "append", True),
    "learning": (LiveQueue, "learn", False),
    "learning, once learned": (LiveQueue, "learn", True),
    "dealing": (Keeper, "_deal", False),
    "dealing, once dealt": (Keeper, "_deal", True),
    "publishing": (Keeper, "_publish", False),
    "telling the turn": (keeper, "turn_of", False),
    "saving": (Keeper, "_checkpoint_now_and_then", False),
}


def assert_memory_is_the_log(queue, acknowledged):
    """Acknowledged is stored, numbers have no gap, memory is the fold of the log."""
    events = list(queue.log())
    assert [event.seq for event in events] == [*range(1, len(events) + 1)]
    stored = {event.answers: event.body.verdict for event in events if event.kind == "verdict"}
    assert acknowledged.items() <= stored.items()
    state = first_state(queue.fixed)
    for event in events:
        state.apply(event)
    live = queue._live.state
    for each in fields(state):
        if each.name not in ("extended", "_given"):
            assert getattr(live, each.name) == getattr(state, each.name), each.name


def assert_replays(queue):
    """Nothing was changed, and the ranking is the one that the log gives."""
    with closing(Store.open(queue.workspace.place, read_only=True)) as store:
        proof = prove(queue.workspace, store, 1)
    assert (proof.differing, proof.faults) == ([], [])
    assert proof.digest == queue.digest().result()


def review_through(queue, acknowledged, n, who="ann"):
    """Give verdicts as a page does: what was not acknowledged is sent again."""
    turn = ask(lambda: queue.turn(who))
    for number in range(n):
        verdict = [Verdict.WANTED, Verdict.NOT_WANTED, Verdict.UNSURE][number % 3]
        turn, answered = ask(lambda: queue.record(who, turn.shown, verdict)), turn.shown  # noqa: B023
        acknowledged[answered] = verdict


def ask(request, tries=4):
    for _ in range(tries - 1):
        with contextlib.suppress(StoreError):
            return request().result(timeout=300)
    return request().result(timeout=300)


@pytest.mark.parametrize("step", STEPS)
def test_after_any_error_at_any_step_memory_says_what_the_log_says(make_queue, step):
    queue, acknowledged = make_queue(settings={"budget": None}), {}
    owner, name, afterwards = STEPS[step]
    for error in ERRORS.values():
        for calls in (1, 2):
            with failing(owner, name, error, afterwards=afterwards, calls=calls):
                review_through(queue, acknowledged, 2)
            assert_memory_is_the_log(queue, acknowledged)
    assert_replays(queue)


def test_a_log_that_cannot_be_read_after_an_error_is_read_again_later(make_queue, monkeypatch):
    queue, acknowledged = make_queue(), {}
    review_through(queue, acknowledged, 2)
    turn = queue.turn("ann").result()
    broken = failing(Store, "append", ERRORS["of the disk"], afterwards=False, calls=1)
    with monkeypatch.context() as patch, broken:
        patch.setattr(Store, "_lines", lambda *_, **__: 1 / 0)
        for _ in range(3):
            with pytest.raises(StoreError, match=r"Send the request again"):
                queue.record("ann", turn.shown, Verdict.WANTED).result()
    review_through(queue, acknowledged, 2)
    assert_memory_is_the_log(queue, acknowledged)
    assert_replays(queue)


def test_readers_who_take_their_time_do_not_keep_a_verdict_from_the_log(make_queue):
    """They hold no connection between the pages that they read."""
    queue, acknowledged = make_queue(), {}
    review_through(queue, acknowledged, 2)
    readers = [iter(queue.log()) for _ in range(40)]
    assert {next(reader).seq for reader in readers} == {1}
    review_through(queue, acknowledged, 3)
    assert_memory_is_the_log(queue, acknowledged)
    assert all(len(list(reader)) >= 4 for reader in readers)


def test_a_verdict_that_finds_no_connection_is_refused_and_stored_once_when_sent_again(make_queue):
    queue, acknowledged = make_queue(), {}
    review_through(queue, acknowledged, 2)
    turn = queue.turn("ann").result()
    with full_pool(queue):
        for _ in range(2):
            with pytest.raises(
                StoreError, match=r"^all connections to the log are in use\. Nothing has changed"
            ):
                queue.record("ann", turn.shown, Verdict.WANTED).result()
        with pytest.raises(StoreError, match="all connections to the log are in use"):
            next(iter(queue.log()))
    queue.record("ann", turn.shown, Verdict.WANTED).result()
    assert len(list(queue.log(kinds=["verdict"]))) == 3
    assert_memory_is_the_log(queue, {**acknowledged, turn.shown: Verdict.WANTED})
    assert_replays(queue)


def test_whoever_lost_the_queue_writes_no_more_and_takes_over_when_its_owner_is_gone(make_queue):
    """A deleted lock file, or a connection that broke, lets a second server in: the log heeds the last owner."""
    first, acknowledged = make_queue(), {}
    review_through(first, acknowledged, 2)
    turn = first.turn("ann").result()
    first._lock.release()  # as the end of its connection does
    second = make_queue(again=True)
    assert not second.read_only
    assert second.turn("bob").result().row != turn.row
    with pytest.raises(NotOwnerError, match="another server owns"):
        first.record("ann", turn.shown, Verdict.WANTED).result()
    assert first.look_after().result()
    with pytest.raises(ReadOnlyError):
        first.record("ann", turn.shown, Verdict.WANTED)
    review_through(second, acknowledged, 2, "bob")
    assert not first.look_after().result()  # there is nothing to take over
    assert first.turn("ann").result().state == "read-only"
    second.close()
    assert first.look_after().result()
    review_through(first, acknowledged, 1)
    given = [event.row for event in first.log(kinds=["verdict"])]
    assert len(given) == len({*given}) == 5
    assert_memory_is_the_log(first, acknowledged)
    assert_replays(first)


def test_whoever_lost_the_queue_sees_that_also_while_people_send_verdicts(make_queue):
    """What is asked together is answered together; a verdict that comes too late must not stand for all of it."""
    first = make_queue()
    turn = first.turn("ann").result()
    first._lock.release()
    second = make_queue(again=True)
    second.turn("bob").result()
    busy = threading.Event()
    first._ask(lambda: busy.wait(120))
    late, looked = first.record("ann", turn.shown, Verdict.WANTED), first.look_after()
    busy.set()
    with pytest.raises(NotOwnerError):
        late.result(timeout=120)
    assert looked.result(timeout=120)
    assert first.read_only


def test_a_request_that_nobody_waits_for_any_more_does_no_harm(queue):
    """A browser that has gone, or a server that stops, withdraws its requests."""
    turn = queue.turn("ann").result()
    futures = [queue.record("ann", turn.shown, Verdict.WANTED), queue.turn("bob")]
    withdrawn = [future.cancel() for future in futures]
    ask(lambda: queue.turn("cy"))
    assert_memory_is_the_log(queue, {} if withdrawn[0] else {turn.shown: Verdict.WANTED})
    assert_replays(queue)


def test_a_folder_that_was_removed_takes_no_verdicts(make_queue, database):
    if database:
        pytest.skip("the log is not in the folder")
    queue, acknowledged = make_queue(), {}
    review_through(queue, acknowledged, 2)
    turn, folder = queue.turn("ann").result(), queue.workspace.folder
    folder.rename(folder.with_name("moved"))
    with pytest.raises(StoreError, match="was removed or replaced"):
        queue.record("ann", turn.shown, Verdict.WANTED).result()
    folder.with_name("moved").rename(folder)
    queue.record("ann", turn.shown, Verdict.WANTED).result()
    assert_memory_is_the_log(queue, {**acknowledged, turn.shown: Verdict.WANTED})
