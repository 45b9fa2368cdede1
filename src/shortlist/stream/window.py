"""A window of the stream while its labels are awaited."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.verdicts import Verdict

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

#: What is known of a row: that it was not asked about, that its label is awaited, or the code of its verdict.
NOT_ASKED, WAITING = -2, -1
WANTED, NOT_WANTED = Verdict.WANTED.code, Verdict.NOT_WANTED.code


@dataclass(eq=False)
class OpenWindow:
    """Rows of a window that may be asked about, best first, and what is known of them.

    A row is named by its place here: the top k come first, and the first ``n_sorted`` places are best first.
    ``positions`` says where a row stood in the window, so that its number in the stream is ``first_row +
    position``, and ``X[index]`` are its features. Of a large window only the best rows have places until more
    are needed, which is rare; ``all_scores`` are then the scores of all rows by position.
    """

    number: int
    first_row: int
    X: NDArray
    index: Rows
    positions: Rows
    scores: Floats
    verdicts: NDArray[np.int8]
    n_top: int
    n_sorted: int
    log_decay: float
    all_scores: Floats | None = None

    @classmethod
    def of(cls, X: NDArray, scores: Floats, positions: Rows, *, n_asked: int, **numbers: Any) -> OpenWindow:
        """A window by the scores of all its rows and the positions of the best; X has all rows, or those alone.

        The first ``n_asked`` places wait for a label.
        """
        verdicts = np.full(positions.size, NOT_ASKED, dtype=np.int8)
        verdicts[:n_asked] = WAITING
        has_all_rows = X.shape[0] == scores.size
        return cls(
            X=X,
            index=positions if has_all_rows else np.arange(positions.size),
            positions=positions,
            scores=scores[positions],
            verdicts=verdicts,
            all_scores=scores if has_all_rows and positions.size < scores.size else None,
            **numbers,
        )

    @property
    def size(self) -> int:
        """How many rows may be asked about."""
        return self.positions.size if self.all_scores is None else self.all_scores.size

    def rows(self, places: Rows) -> Rows:
        """The numbers in the stream of the rows at these places."""
        return self.first_row + self.positions[places]

    def features(self, places: Rows) -> NDArray:
        """The features of the rows at these places."""
        return self.X[self.index[places]]

    @property
    def n_asked(self) -> int:
        """How many labels have been asked for."""
        return int(np.count_nonzero(self.verdicts != NOT_ASKED))

    @property
    def waiting(self) -> Rows:
        """Places whose label has been asked for and not been told."""
        return (self.verdicts == WAITING).nonzero()[0]

    @property
    def is_waiting(self) -> bool:
        """Whether a label has been asked for and not been told."""
        return bool((self.verdicts == WAITING).any())

    def find_waiting(self, rows: NDArray) -> tuple[Rows, Rows]:
        """Which of these rows wait for a label here, and their places."""
        waiting = self.waiting
        if waiting.size == 0:
            return waiting, waiting
        numbers = self.rows(waiting)
        order = np.argsort(numbers)
        nearest = order[np.minimum(np.searchsorted(numbers[order], rows), numbers.size - 1)]
        mine = np.flatnonzero(numbers[nearest] == rows)
        return mine, waiting[nearest[mine]]

    @property
    def false_positives(self) -> Rows:
        """Places in the top k that turned out unwanted."""
        return (self.verdicts[: self.n_top] == NOT_WANTED).nonzero()[0]

    @property
    def found_below(self) -> Rows:
        """Places below the top k that turned out wanted, best first."""
        found = self.n_top + (self.verdicts[self.n_top :] == WANTED).nonzero()[0]
        return found[(-self.scores[found]).argsort(kind="stable")]

    def sort_up_to(self, place: int) -> None:
        """Bring the places before this one into order; most windows never need more than the first ones."""
        if place > self.n_sorted:
            self.place_all()
            rest = slice(self.n_sorted, None)
            order = self.n_sorted + np.argsort(-self.scores[rest], kind="stable")
            for name in ("index", "positions", "scores"):
                values = getattr(self, name)
                setattr(self, name, np.concatenate([values[: self.n_sorted], values[order]]))
            self.n_sorted = self.positions.size

    def place_all(self) -> None:
        """Give every row a place, after the best ones as they stand in the window."""
        if self.all_scores is None:
            return
        rest = others(self.all_scores.size, self.positions)
        self.positions = self.index = np.concatenate([self.positions, rest])
        self.scores = np.concatenate([self.scores, self.all_scores[rest]])
        self.verdicts = np.concatenate([self.verdicts, np.full(rest.size, NOT_ASKED, dtype=np.int8)])
        self.all_scores = None

    def answer_all(self, wanted: NDArray[np.bool_]) -> None:
        """Take the labels of the whole window, by position; of those below the top k as many as are needed."""
        self.verdicts = np.where(wanted[self.positions], WANTED, NOT_WANTED).astype(np.int8)
        if self.n_missing > 0 and self.n_sorted < self.size:
            self.sort_up_to(self.size)
            self.verdicts = np.where(wanted[self.positions], WANTED, NOT_WANTED).astype(np.int8)

    @property
    def n_missing(self) -> int:
        """How many more unwanted rows the top k has than wanted ones have been found below it."""
        n_false = np.count_nonzero(self.verdicts[: self.n_top] == NOT_WANTED)
        return int(n_false - np.count_nonzero(self.verdicts[self.n_top :] == WANTED)) if n_false else 0

    @property
    def n_below(self) -> int:
        """How many labels have been asked for below the top k."""
        return self.n_asked - self.n_top

    def top_hits(self) -> tuple[int, int]:
        """How many rows of the top k are known to be wanted, and how many are known at all."""
        known = self.verdicts[: self.n_top]
        hits = int(np.count_nonzero(known == WANTED))
        return hits, hits + int(np.count_nonzero(known == NOT_WANTED))

    def state(self) -> dict[str, Any]:
        """What must be kept to go on later, as arrays and plain values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def find_waiting(windows: Collection[OpenWindow], rows: NDArray) -> list[tuple[OpenWindow, Rows, Rows]]:
    """Per window that has some of these rows: the window, which of them, and their places there.

    Rows that wait for no label are refused, and so is a row that comes twice.
    """
    for window in windows:
        places = window.waiting
        if places.size == rows.size and bool((window.rows(places) == rows).all()):
            return [(window, np.arange(rows.size), places)]  # told just as they were asked for
    _refuse_repeated(rows)
    found, unknown = [], np.ones(rows.size, dtype=bool)
    for window in windows:
        mine, places = window.find_waiting(rows)
        if mine.size:
            found.append((window, mine, places))
            unknown[mine] = False
    if unknown.any():
        _refuse_unasked(rows[unknown], sum(window.waiting.size for window in windows))
    return found


def _refuse_repeated(rows: NDArray) -> None:
    """Each row has one label in a call."""
    in_order = np.sort(rows)
    repeated = in_order[1:][in_order[1:] == in_order[:-1]]
    if repeated.size:
        raise InvalidInputError(f"row {repeated[0]} is told twice in one call; give each row one label.")


def _refuse_unasked(rows: NDArray, n_pending: int) -> NoReturn:
    """Labels came for rows that do not wait for one."""
    shown = ", ".join(str(row) for row in rows[:5]) + (", ..." if rows.size > 5 else "")
    raise InvalidInputError(
        f"{rows.size} rows are not waiting for a label: {shown}. They were never asked about, or have been "
        f"answered; no label of this call was taken. {n_pending} rows are waiting: see pending_."
    )


def others(size: int, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions below ``size`` that are not chosen.

    >>> others(4, np.array([2, 0]))
    array([1, 3])
    """
    free = np.ones(size, dtype=bool)
    free[chosen] = False
    return free.nonzero()[0]
