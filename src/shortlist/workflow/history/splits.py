"""Which rows to learn from and which to rank: the past and the next period, or folds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from shortlist.exceptions import InvalidInputError
from shortlist.tables.table import RowFacts

Rows = NDArray[np.int64]

_UNITS = {"hour": "h", "day": "D", "week": "W", "month": "M", "quarter": "M", "year": "Y"}
_EVERY = re.compile(r"(?:(\d+)\s+)?(hour|day|week|month|quarter|year)s?")
#: Without --every: the coarsest calendar unit that gives at least this many periods.
_ENOUGH_PERIODS = 8
#: Numbers as times: each value is a period up to this many values, else their range is cut into ten.
_FEW_VALUES, _CUTS = 24, 10
#: Share of the rows that the first model may learn from, at least.
WARM_UP = 0.2


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from, rows to rank."""

    name: str
    train: Rows
    test: Rows
    partial: bool = False  # a last period that rows do not fill

    @property
    def title(self) -> str:
        """The name as tables and charts show it."""
        return f"{self.name} (partial)" if self.partial else self.name


def walk_forward(time: NDArray, *, every: str | float | None = None, delay: float = 0) -> list[Split]:
    """Each period after a first fifth of the rows, with all rows before it to learn from.

    Parameters
    ----------
    time : datetime64 or numbers, one per row
    every : length of a period: "week", "2 months", ...; a number where times are numbers. None: chosen
    delay : how long outcomes take to be known, in days or in the unit of the numbers: rows younger than
        that at the start of a period are not learned from

    Examples
    --------
    >>> [(s.name, s.train.tolist(), s.test.tolist()) for s in walk_forward(np.array([1994, 1995, 1994, 1996]))]
    [('1995', [0, 2], [1]), ('1996', [0, 1, 2], [3])]
    """
    check_delay(delay)
    start_of, name_of = periods_of(time, every)
    starts, sizes = np.unique(start_of, return_counts=True)
    before = np.cumsum(sizes) - sizes
    late = np.timedelta64(round(delay * 86_400_000_000), "us") if time.dtype.kind == "M" else delay
    walked = starts[before >= WARM_UP * time.size] if starts.size > 1 else starts[:0]
    partial = starts[-1:] if ends_early(time, every) else starts[:0]
    splits = [
        Split(
            name_of(start),
            np.flatnonzero(time < start - late),
            np.flatnonzero(start_of == start),
            start in partial,
        )
        for start in walked
    ]
    if not splits:
        raise InvalidInputError(
            "all rows fall into one period, so there is no past to learn from. Choose a shorter one: --every "
            + ("day" if time.dtype.kind == "M" else "NUMBER")
        )
    return splits


def ends_early(time: NDArray, every: str | float | None) -> bool:
    """Whether rows end before their last period does, by more than a day and a tenth of it.

    >>> ends_early(np.array(["2025-01-01", "2025-02-28", "2025-03-12"], dtype="datetime64[us]"), "month")
    True
    """
    starts = np.unique(periods_of(time, every)[0])
    if time.dtype.kind != "M" or starts.size < 2:
        return False
    lengths = np.diff(starts.astype("datetime64[us]")).astype(np.int64)
    slack = np.timedelta64(max(86_400_000_000, int(np.median(lengths)) // 10), "us")
    later = periods_of(np.array([time.max().astype("datetime64[us]") + slack]), every or choose_unit(time))[0]
    return bool(later[0] == starts[-1])


def folds(facts: RowFacts, *, n_folds: int = 5, random_state: int = 0) -> list[Split]:
    """Each fold ranked by what the others teach: whole lists where there are lists, else stratified rows."""
    number = _list_folds if facts.lists is not None else _row_folds
    fold = number(facts, n_folds, random_state)
    return [
        Split(f"fold {f + 1}", np.flatnonzero(fold != f), np.flatnonzero(fold == f))
        for f in range(int(fold.max()) + 1)
    ]


def check_delay(delay: float) -> None:
    """A delay is not negative: nobody knows outcomes before they happen."""
    if not delay >= 0:
        raise InvalidInputError(f"delay must not be negative; got {delay!r}.")


def _list_folds(facts: RowFacts, n_folds: int, random_state: int) -> Rows:
    lists = facts.in_lists
    if len(lists) < 2:
        raise InvalidInputError(
            "all rows are in one list; lists are held out whole, so at least two are needed."
        )
    order = np.random.default_rng(random_state).permutation(len(lists))
    sizes, room = lists.sizes, np.zeros(min(n_folds, len(lists)))
    fold_of_list = np.empty(len(lists), dtype=np.int64)
    for which in order[np.argsort(-sizes[order], kind="stable")]:  # large ones first: folds of like size
        fold_of_list[which] = np.argmin(room)
        room[fold_of_list[which]] += sizes[which]
    return fold_of_list[lists.of_row]


def _row_folds(facts: RowFacts, n_folds: int, random_state: int) -> Rows:
    wanted = facts.wanted
    fewest = int(min(wanted.sum(), (~wanted).sum()))
    if fewest < 2:
        raise InvalidInputError(
            f"cross-validation needs two wanted rows and two others at least; one kind has {fewest}. "
            "Add labelled rows."
        )
    cut = StratifiedKFold(min(n_folds, fewest), shuffle=True, random_state=random_state)
    fold = np.empty(wanted.size, dtype=np.int64)
    for f, (_, test) in enumerate(cut.split(wanted, wanted)):
        fold[test] = f
    return fold


def periods_of(time: NDArray, every: str | float | None) -> tuple[NDArray, Callable[[Any], str]]:
    """The start of each row's period, and how a period is called."""
    cut: tuple[NDArray, Callable[[Any], str]] = (
        _calendar_periods(time, every)
        if time.dtype.kind == "M"
        else _number_periods(np.asarray(time, dtype=np.float64), every)
    )
    return cut


def _calendar_periods(time: NDArray, every: str | float | None):  # type: ignore[no-untyped-def]
    count, unit = _parse(every) if every is not None else (1, choose_unit(time))
    if unit == "quarter":
        count *= 3
    code = _UNITS[unit]
    whole = time.astype(f"datetime64[{code}]").astype(np.int64)
    if unit == "week":  # numpy's weeks begin on Thursday, the weekday of 1970-01-01
        whole = (time.astype("datetime64[D]").astype(np.int64) + 3) // 7
    whole = whole // count * count
    start = (whole * 7 - 3).astype("datetime64[D]") if unit == "week" else whole.astype(f"datetime64[{code}]")
    start = start.astype("datetime64[us]")
    shown = "D" if unit in ("week", "day") else code
    return start, lambda moment: str(moment.astype(f"datetime64[{shown}]"))


def choose_unit(time: NDArray) -> str:
    """The coarsest calendar unit that cuts these moments into enough periods."""
    span = (time.max() - time.min()) / np.timedelta64(1, "D")
    days = {"year": 365, "quarter": 91, "month": 30, "week": 7, "day": 1}
    return next((unit for unit, length in days.items() if span >= _ENOUGH_PERIODS * length), "hour")


def _parse(every: str | float) -> tuple[int, str]:
    found = _EVERY.fullmatch(str(every).strip().lower())
    if not found or found[1] == "0":
        raise InvalidInputError(
            f"--every {every} is no period; write hour, day, week, month, quarter, year, or 2 weeks and the like."
        )
    return int(found[1] or 1), found[2]


def _number_periods(time: NDArray[np.float64], every: str | float | None):  # type: ignore[no-untyped-def]
    values = np.unique(time)
    if every is None and values.size <= _FEW_VALUES:
        return time, lambda start: f"{start:g}"
    try:
        length = (values[-1] - values[0]) / _CUTS if every is None else float(every)
    except ValueError:
        length = np.nan
    if not length > 0:
        raise InvalidInputError(
            f"the time column holds numbers, so --every is a number above 0 in their unit; got {every!r}."
        )
    first = values[0] if every is None else np.floor(values[0] / length) * length
    last = np.floor((values[-1] - first) / length) - (every is None)  # the largest value closes the last cut
    start = first + np.minimum(np.floor((time - first) / length), last) * length
    return start, lambda start: f"{start:g}"
