"""Which rows come first where each has a value: the chance that a row is wanted, times what it is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.sorting import kth_largest
from shortlist.review.desk.engine import Engine
from shortlist.review.log.events import Drawn, Event, Judged, Shown
from shortlist.review.log.state import State, verdict_of
from shortlist.review.telling.estimate import RECENT, Calibration
from shortlist.verdicts import Verdict

Floats = NDArray[np.float64]
#: So many imagined verdicts say that the row in the middle of the ranking is not wanted: nobody looks there, so without
#: them nothing would say that the chance falls with the score, and the dearest rows would come first whatever they are.
ANCHOR = 3


class ByExpectedValue:
    """The ranking of a queue by chance x value, made anew after every batch of verdicts.

    The chance of a row is read off the curve that tells what the next ten rows will bring, through the scores that rows
    had when they were shown and the verdicts on them. Until it can be drawn the engine's ranking holds. All it is made
    from is in the log, so that a replay gives the same ranking.
    """

    def __init__(self, engine: Engine, state: State, values: Floats) -> None:
        self._engine, self._values = engine, np.maximum(values, 0.0)
        self._calibration = _calibration(engine, state)

    @property
    def version(self) -> int:
        """How many learning events are in force."""
        return self._engine.version

    @property
    def by_value(self) -> bool:
        """Whether values count by now; until chances are known, the engine's ranking holds."""
        return self._calibration is not None

    def scores(self, rows: Sequence[int]) -> list[float]:
        """The engine's scores, from which chances are read."""
        return self._engine.scores(rows)

    def top(self, n: int) -> list[int]:
        """The n best rows without a verdict, best first."""
        if self._calibration is None:
            return self._engine.top(n)
        return self._best(self._engine.open_rows(), n)

    def best_of(self, rows: NDArray[np.int64], n: int) -> list[int]:
        """The n best of some rows without a verdict, best first."""
        if self._calibration is None:
            return self._engine.best_of(rows, n)
        return self._best(np.intersect1d(rows, self._engine.open_rows()), n)

    def rank_of(self, row: int) -> int:
        """The place of a row, from 1; for a reviewed row, the place it would have."""
        if self._calibration is None:
            return self._engine.rank_of(row)
        rows = np.union1d(self._engine.open_rows(), [row])
        score = self._engine.all_scores()[rows]
        expected, at = self._expected(rows, score), int(np.searchsorted(rows, row))
        # Counted, not sorted: it is asked for each of many rows that are decided together.
        earlier = (score > score[at]) | ((score == score[at]) & (rows < row))
        before = (expected > expected[at]) | ((expected == expected[at]) & earlier)
        return int(np.count_nonzero(before)) + 1

    def expected(self, rows: Sequence[int], scores: Sequence[float]) -> list[float] | None:
        """What rows with these scores are expected to bring; None while the engine's ranking holds."""
        if self._calibration is None:
            return None
        return self._expected(np.array(rows, dtype=np.int64), np.array(scores, dtype=np.float64)).tolist()

    def _best(self, rows: NDArray[np.int64], n: int) -> list[int]:
        """By expected value, equal ones by score and then by place in the table."""
        score = self._engine.all_scores()[rows]
        expected = self._expected(rows, score)
        if 0 < n < rows.size:
            near = expected >= kth_largest(expected, n)
            rows, score, expected = rows[near], score[near], expected[near]
        return rows[np.lexsort((rows, -score, -expected))][:n].tolist()

    def _expected(self, rows: NDArray[np.int64], score: Floats) -> Floats:
        assert self._calibration is not None
        return self._calibration.chance(score) * self._values[rows]


def _calibration(engine: Engine, state: State) -> Calibration | None:
    """The curve through scores when shown and verdicts; None before both kinds of verdict were given."""
    told = _latest(state)
    wanted = [said for _, said in told]
    if not any(wanted) or all(wanted):
        return None
    middle = float(np.median(engine.all_scores()))
    scores = [*(score for score, _ in told), *[middle] * ANCHOR]  # last, as only the latest verdicts count
    return Calibration.of(scores, [*wanted, *[False] * ANCHOR], extend=True)


def _latest(state: State) -> list[tuple[float, bool]]:
    """Scores and verdicts, the newest last: as many as the curve is drawn through, and back to one of each kind."""
    told: list[tuple[float, bool]] = []
    kinds: set[bool] = set()
    for event in reversed(state.in_force()):
        if pair := _shown_and_said(event, state):
            told.append(pair)
            kinds.add(pair[1])
        if len(told) >= RECENT and len(kinds) == 2:
            break
    return told[::-1]


def _shown_and_said(event: Event, state: State) -> tuple[float, bool] | None:
    """The score that a row of the ranking had when it was shown, and whether it was wanted."""
    if not isinstance(event.body, Judged) or event.body.answers not in state.shown:
        return None
    shown, said = state.shown[event.body.answers].body, verdict_of(event)
    assert isinstance(shown, Shown)
    if shown.drawn in (Drawn.CHOSEN, Drawn.ASSIGNED) or not said.is_decided:
        return None
    return shown.score, said is Verdict.WANTED
