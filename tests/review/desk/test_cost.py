"""A verdict costs as much late in a review as early: it goes through nothing that grows with the verdicts given.

What is counted is what is touched (verdicts, events, leaves of rows, statements of SQL), never time.
"""

from collections import Counter

import pytest
import sqlalchemy as sa

from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.review.desk import live
from shortlist.review.log.state import State
from shortlist.review.web.bodies import TurnOut

touched = Counter()


class WatchedDict(dict):
    """Counts what whoever goes through it would find."""

    def _count(self):
        touched["of the state"] += len(self)

    def __iter__(self):
        self._count()
        return super().__iter__()

    def keys(self):
        self._count()
        return super().keys()

    def values(self):
        self._count()
        return super().values()

    def items(self):
        self._count()
        return super().items()


class WatchedList(list):
    """Counts what is read of it, but for single items."""

    def __iter__(self):
        touched["verdicts learned"] += len(self)
        return super().__iter__()

    def __getitem__(self, at):
        found = super().__getitem__(at)
        touched["verdicts learned"] += len(found) if isinstance(at, slice) else 0
        return found


def watched_state(fixed):
    plain = first_state(fixed)
    watched = {name: WatchedDict() for name in ("shown", "answer", "verdict", "out", "wanted")}
    return State(plain.settings, plain.n_rows, plain.seed, **watched)


first_state = live.first_state


@pytest.fixture
def watched(monkeypatch, make_queue):
    """A queue that counts what each verdict touches."""
    monkeypatch.setattr(live, "first_state", watched_state)
    leaves = ScoreSpace.leaves

    def count_leaves(space, rows):
        touched["leaves of rows"] += len(rows)
        return leaves(space, rows)

    monkeypatch.setattr(ScoreSpace, "leaves", count_leaves)
    queue = make_queue(settings={"budget": 150, "audit": 0.0})
    ranker = queue._live.engine._ranker
    ranker._log = WatchedList(ranker._log)

    def count_statement(connection, cursor, statement, parameters, context, executemany):
        touched["statements"] += 1

    sa.event.listen(queue._store._database.engine, "before_cursor_execute", count_statement)
    return queue


def cost_of_next(queue, review, n=3):
    """What n verdicts touch, the page of each included; the first turn of ``review`` is no verdict."""
    review(queue, 0)
    touched.clear()
    for turn in review(queue, n)[1:]:
        TurnOut.of(turn, queue)
    return dict(touched)


def test_a_verdict_touches_as_much_late_as_early(watched, review):
    review(watched, 20)
    early = cost_of_next(watched, review)
    review(watched, 70)
    late = cost_of_next(watched, review)
    assert late == early
    assert early["statements"] <= 4 * 4  # per verdict and for the turn before: begin, read, add, move the end
    assert "of the state" not in early


def test_what_was_seen_stays_as_it_was(queue, review):
    """A snapshot is a look at lists that grow: neither more verdicts nor one that is taken back change it."""
    review(queue, 6)
    before = queue.snapshot
    said, out = [*before.verdicts], [*before.out]
    review(queue, 4)
    queue.undo("ann").result()
    assert ([*before.verdicts], [*before.out]) == (said, out)
    after = queue.snapshot
    assert [event.seq for event in after.verdicts] == [
        event.seq for event in queue._live.state.verdict.values()
    ]
    assert len(after.verdicts) == 9
    assert after.verdicts[-1] is [*after.verdicts][-1]
    assert [*after.verdicts[2:4]] == [*after.verdicts][2:4]
    assert dict(after.out) == queue._live.state.out
