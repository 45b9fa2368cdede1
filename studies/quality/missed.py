"""How often the interval of what is missed is wrong at any look of a review, and how wide it is.

A review is simulated without a page: rows ranked weakly or strongly, a random check now and then, verdicts taken back
and given again, rows that nobody can decide, rows that arrive. After every few checks the interval is read as the page
shows it; a review counts as wrong if the truth was outside at *any* look. Beside it are the interval of before
(hypergeometric, mid-p, for one look) and the rule "stop after 50 ranked rows in a row that are not wanted": in how many
of the reviews it would have stopped, after how many rows, random checks included, and the share of the wanted rows that
was missed by then.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from shortlist.review.telling.missed import Out, missed
from studies.running import study_parser, tell

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Case:
    """One kind of review.

    strength : how far the ranking sets wanted rows apart, in standard deviations
    checks : random checks in all; ``ranked`` rows of the ranking come before each
    undone : share of verdicts that are taken back and given again later
    arrivals : rows that are appended halfway
    unsure : how likely whoever reviews cannot decide a wanted row, and another; such rows stay undecided
    """

    name: str
    rows: int
    wanted: int
    strength: float
    checks: int
    ranked: int
    undone: float = 0.0
    arrivals: int = 0
    unsure: tuple[float, float] = (0.0, 0.0)


CASES = (
    Case("few checks", 5000, 60, 1.5, 5, 20),
    Case("forty checks", 5000, 60, 1.5, 40, 20),
    Case("few wanted, strong ranking", 5000, 15, 3.0, 200, 5),
    Case("few wanted, weak ranking", 5000, 15, 0.3, 200, 5),
    Case("many wanted, strong ranking", 3000, 600, 2.0, 200, 5),
    Case("many wanted, weak ranking", 3000, 600, 0.3, 200, 5),
    Case("a thousand checks", 5000, 100, 1.0, 1000, 1),
    Case("verdicts taken back", 3000, 100, 1.5, 150, 5, undone=0.1),
    Case("rows appended", 3000, 100, 1.5, 150, 5, arrivals=1000),
    Case("unsure of wanted rows", 3000, 600, 0.3, 200, 5, unsure=(0.5, 0.05)),
    Case("unsure, few wanted", 5000, 60, 1.5, 200, 5, unsure=(0.3, 0.02)),
)
#: So many ranked rows in a row that are not wanted are when people who follow a rule of thumb stop.
IN_A_ROW = 50


@dataclass
class Looks:
    """What the looks of one review saw."""

    wrong: bool = False
    old_wrong: bool = False
    width: float = 0.0
    old_width: float = 0.0
    rows: int = 0
    missed: float = 0.0
    stopped: Stopped | None = None


@dataclass(frozen=True)
class Stopped:
    """Where the rule of thumb would have ended a review: after how many rows, and the share of wanted ones missed."""

    rows: int
    missed: float


def simulate(case: Case, seed: int, looks: int) -> Looks:
    """One review, read ``looks`` times evenly over its checks and at each of the first ten."""
    rng = np.random.default_rng([seed, *case.name.encode()])
    truth = np.zeros(case.rows + case.arrivals, dtype=bool)
    truth[rng.choice(truth.size, round(case.wanted * truth.size / case.rows), replace=False)] = True
    score = truth * case.strength + rng.normal(size=truth.size)
    present, rows, seen = case.rows, [case.rows], Looks()
    unseen = np.ones(truth.size, dtype=bool)
    unseen[present:] = False
    out: list[tuple[int, bool]] = []
    unsure = _unsure(case, truth, rng)
    open_again: list[int] = []
    step = max(1, case.checks // looks)
    for check in range(case.checks):
        if case.arrivals and check == case.checks // 2:
            rows, unseen[present:] = [case.rows, case.arrivals], True
        score += 0.05 * rng.normal(size=truth.size)  # the list is re-ranked as verdicts come
        for row in _best(unseen, score, case.ranked):
            out.append((int(row), False))
            unseen[row] = False
        drawn = int(rng.choice(np.flatnonzero(unseen)))
        out.append((drawn, True))
        unseen[drawn] = False
        open_again = [row for row in open_again if rng.random() < 0.5]
        open_again += [row for row, _ in out[-case.ranked - 1 :] if rng.random() < case.undone]
        if check < 10 or (check + 1) % step == 0:
            _look(seen, truth, out, {*open_again, *(row for row, _ in out if unsure[row])}, rows)
    seen.rows, seen.missed = len(out), _missed_share(truth, out, unsure)
    seen.stopped = _stopped(case, truth, out, unsure)
    return seen


def _unsure(case: Case, truth: Bools, rng: np.random.Generator) -> Bools:
    """The rows that whoever reviews cannot decide."""
    if not any(case.unsure):
        return np.zeros_like(truth)  # draws nothing, so that the reviews of other cases stay what they were
    return np.asarray(rng.random(truth.size) < np.where(truth, *case.unsure))


def _missed_share(truth: Bools, out: Sequence[tuple[int, bool]], unsure: Bools) -> float:
    """The share of the wanted rows that have no verdict that says so."""
    found = sum(truth[row] and not unsure[row] for row, _ in out)
    return float(1 - found / truth.sum())


def _stopped(case: Case, truth: Bools, out: Sequence[tuple[int, bool]], unsure: Bools) -> Stopped | None:
    """Where the rule of thumb ends the review; None where it never does."""
    in_a_row = 0
    for rows, (row, is_check) in enumerate(out, 1):
        if not is_check:
            in_a_row = 0 if truth[row] and not unsure[row] else in_a_row + 1
        if in_a_row == IN_A_ROW:
            arrived = rows > case.checks // 2 * (case.ranked + 1)
            there = truth if arrived else truth[: case.rows]
            return Stopped(rows, _missed_share(there, out[:rows], unsure))
    return None


def _best(unseen: Bools, score: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """The n unseen rows with the largest scores, best first."""
    rows = np.flatnonzero(unseen)
    top = rows[np.argpartition(-score[rows], n)[:n]]
    return top[np.argsort(-score[top])]


def _look(
    seen: Looks,
    truth: Bools,
    out: list[tuple[int, bool]],
    undecided: set[int],
    rows: Sequence[int],
) -> None:
    """Read both intervals once."""
    told = [
        Out(None if row in undecided else bool(truth[row]), is_check, int(row >= rows[0]))
        for row, is_check in out
    ]
    shown = missed(rows, told)
    if shown is None:
        return
    total = int(truth[: sum(rows)].sum())
    left = total - sum(bool(each.wanted) for each in told)
    seen.wrong |= not shown.low <= left <= shown.high
    seen.width = shown.high - shown.low
    low, high = one_look(sum(rows) - len(out), shown.checks, shown.wanted)
    seen.old_wrong |= not low <= left - sum(truth[row] for row in undecided) <= high
    seen.old_width = high - low


def one_look(unseen: int, checks: int, wanted: int, tail: float = 0.05) -> tuple[int, int]:
    """The interval that was shown before: hypergeometric with mid-p, made for one look at checks that still stand."""
    totals = range(wanted, unseen + wanted + 1)
    low = bisect_left(totals, tail, key=partial(_more, unseen + checks, checks, wanted))
    high = bisect_left(totals, 1 - tail, key=partial(_more, unseen + checks, checks, wanted))
    return low, max(low, high - 1)


def _more(rows: int, checks: int, wanted: int, k: int) -> float:
    """How likely more checks are wanted than were, those that tie counted half, if k of the rows are.

    SciPy's law of the hypergeometric distribution says the same and takes a hundred times as long for one number.
    """
    x = np.arange(max(0, checks - (rows - k)), min(wanted, k) + 1)
    ways = _log_ways(k, x) + _log_ways(rows - k, checks - x) - _log_ways(rows, checks)
    chances = np.exp(ways)
    return 1.0 - float(chances.sum() - chances[x == wanted].sum() / 2)


def _log_ways(n: int, r: Any) -> Any:
    return gammaln(n + 1) - gammaln(r + 1) - gammaln(n - r + 1)


def measure(cases: Sequence[Case], reviews: int, looks: int) -> list[dict[str, Any]]:
    """A line per case: the share of reviews that were wrong at some look, and the mean width at the last one."""
    lines: list[dict[str, Any]] = []
    with ProcessPoolExecutor() as pool:
        for case in cases:
            seen = list(pool.map(partial(simulate, case, looks=looks), range(reviews), chunksize=10))
            lines.append(_line(case, seen))
    return lines


def _line(case: Case, seen: Sequence[Looks]) -> dict[str, Any]:
    stopped = [each.stopped for each in seen if each.stopped]
    return {
        "case": case.name,
        "reviews": len(seen),
        "wrong at any look": float(np.mean([each.wrong for each in seen])),
        "width": float(np.mean([each.width for each in seen])),
        "one look: wrong at any": float(np.mean([each.old_wrong for each in seen])),
        "one look: width": float(np.mean([each.old_width for each in seen])),
        "rows reviewed": float(np.mean([each.rows for each in seen])),
        "missed": float(np.mean([each.missed for each in seen])),
        "50 in a row: stopped": len(stopped) / len(seen),
        "50 in a row: rows": float(np.mean([each.rows for each in stopped])) if stopped else None,
        "50 in a row: missed": float(np.mean([each.missed for each in stopped])) if stopped else None,
    }


def print_table(lines: list[dict[str, Any]]) -> None:
    """The figures for people."""
    print(f"{'':30}{'':16}{'one look':>16}{'in all':>16}{'stop after 50 in a row':>24}")
    head = ("wrong", "width", "wrong", "width", "rows", "missed", "stopped", "rows", "missed")
    print(f"{'case':30}" + "".join(f"{name:>8}" for name in head))
    for line in lines:
        case, _, *figures = line.values()
        print(f"{case:30}" + "".join(f"{_short(value):>8}" for value in figures))


def _short(value: float | None) -> str:
    """Shares as percentages, numbers of rows whole."""
    if value is None:
        return "-"
    return f"{value:.1%}" if value <= 1 else f"{value:.0f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate reviews and print how often the interval was wrong."""
    parser = study_parser(__name__, __doc__, "10 reviews per case")
    parser.add_argument("--reviews", type=int, default=500, help="simulated reviews per case")
    options = parser.parse_args(arguments)
    reviews = 10 if options.quick else options.reviews
    tell(measure(CASES, reviews, looks=8 if options.quick else 25), options.json, print_table)


if __name__ == "__main__":
    main()
