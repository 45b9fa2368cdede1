"""How many wanted rows are still unseen: an interval that holds however often people look and the list is re-ranked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, exp, floor, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, xlogy

Floats = NDArray[np.float64]

CONFIDENCE = 0.9
#: Bets on the next check start at half a wanted row among so many checks; the stake is spread evenly over these.
PRIOR_CHECKS = np.array([2.0, 20.0, 200.0])
#: Of these numbers of further checks the first is told that would make the interval half as wide.
MORE = tuple(25 * 2**i for i in range(12))
_HALVINGS = 40


@dataclass(frozen=True)
class Out:
    """A row that has left those nobody has seen; such rows come in the order in which they left.

    wanted : what was decided; None: nothing so far
    is_check : it was drawn at random from the rows of its batch that nobody had seen
    batch : the number of the batch of rows with which it came
    """

    wanted: bool | None
    is_check: bool
    batch: int = 0


@dataclass(frozen=True)
class Missed:
    """Bounds that are true together, at all times: on the wanted rows that are not found, and what follows.

    low, high : how many wanted rows have no decided verdict
    recall : the share of the wanted rows that the review has found
    rate : the share of all rows that are wanted, which is what chance finds
    checks, wanted : random checks with a verdict, and the wanted among them
    whole, limit : all rows as one batch, and how much may be won: the ground for what more checks would tell
    """

    low: int
    high: int
    recall: tuple[float, float]
    rate: tuple[float, float]
    checks: int
    wanted: int
    whole: Batch
    limit: float

    @cached_property
    def narrower(self) -> tuple[int, int, int] | None:
        """How many more checks would make the interval half as wide, and its ends then; None: none would."""
        return _narrower(self.whole, self.limit)


@dataclass
class Batch:
    """Rows that came together: those that left the pool of unseen ones, and the random checks among them.

    rows, seen, decided, found : rows, those that left the pool, the decided ones, those decided to be wanted
    checks : each: whether it was wanted, ``before``, ``pool``, and how often it counts. Where rows that had left
        the pool are undecided, ``before`` counts all of them or none, whichever wins less.
    """

    rows: int
    seen: int = 0
    decided: int = 0
    found: int = 0
    checks: list[tuple[bool, float, float, float]] = field(default_factory=list)

    def take(self, out: Out) -> None:
        """The next row that leaves the pool."""
        if out.is_check and out.wanted is not None:
            undecided = 0 if out.wanted else self.seen - self.decided
            self.checks.append((out.wanted, self.found + undecided, self.rows - self.seen, 1.0))
        self.seen += 1
        self.decided += out.wanted is not None
        self.found += bool(out.wanted)

    def with_more(self, checks: int, rate: float) -> tuple[Batch, float]:
        """After so many more checks of which this share is wanted, and what the bets on them add."""
        rest = self.rows - self.decided
        more = [
            (wanted, self.found, rest, checks * share) for wanted, share in ((True, rate), (False, 1 - rate))
        ]
        after = replace(self, checks=[*self.checks, *(check for check in more if check[-1] > 1e-9)])
        return after, checks * float(xlogy(rate, rate) + xlogy(1 - rate, 1 - rate))


class Bets:
    """What bets on the checks of some batches won if K of the rows of each batch are wanted.

    The next check is wanted with probability p = (K - before) / pool, whatever the ranking did before it. A bet that
    pays q / p where it is wanted and (1 - q) / (1 - p) where it is not, with q chosen before the draw, wins nothing on
    average if K is true. So what all bets won stays below 1 / (1 - confidence) at all times with probability
    ``confidence`` (Ville's inequality), and K under which more was won are ruled out.
    """

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.least = np.array([float(batch.found) for batch in batches])
        self.most = np.array([float(batch.found + batch.rows - batch.decided) for batch in batches])
        checks = np.array([check for batch in batches for check in batch.checks]).reshape(-1, 4)
        self.wanted, self.before, self.pool, self.weight = checks[:, 0] > 0, *checks[:, 1:].T
        self.batch = np.repeat(np.arange(len(batches)), [len(batch.checks) for batch in batches])

    def won(self, k: Floats) -> float:
        """Log of what was won if k rows of each batch are wanted, but for what the q add to it."""
        return -float(self.weight @ np.log(self._alike(k) / self.pool))

    def _alike(self, k: Floats) -> Floats:
        """Per check, how many rows of its pool would have given the same answer."""
        more = k[self.batch] - self.before
        return np.where(self.wanted, more, self.pool - more)

    def slope(self, k: Floats) -> Floats:
        """How what was won changes with the k of each batch: more and more, as ``won`` is convex."""
        each = self.weight * np.where(self.wanted, -1.0, 1.0) / self._alike(k)
        return np.bincount(self.batch, each, minlength=k.size).astype(np.float64)

    def where(self, slope: float) -> Floats:
        """The k of each batch at which ``won`` has this slope, or the end next to it."""
        low, high = self.least, self.most
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = self.slope(middle) < slope
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low if slope > 0 else high

    def furthest(self, limit: float, sign: float) -> float:
        """The least (sign -1) or largest (1) sum of k under which no more than ``limit`` was won.

        ``won`` is convex in the k of all batches together, so at the furthest point all have the same slope.
        """
        if self.least.size == 1:
            return self._furthest_alone(limit, sign)
        flat, steep = -25.0, 25.0
        for _ in range(_HALVINGS):
            middle = (flat + steep) / 2
            inside = self.won(self.where(sign * exp(middle))) <= limit
            flat, steep = (middle, steep) if inside else (flat, middle)
        return float(self.where(sign * exp(flat)).sum())

    def _furthest_alone(self, limit: float, sign: float) -> float:
        inside, outside = self.where(0.0), self.least if sign < 0 else self.most
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if self.won(middle) <= limit else (inside, middle)
        return float(inside[0])


def missed(
    rows: Sequence[int], out: Iterable[Out], own_found: int | None = None, *, confidence: float = CONFIDENCE
) -> Missed | None:
    """Bounds on what is still missed; None before the first random check has a verdict.

    Parameters
    ----------
    rows : how many rows came in each batch
    out : the rows that were shown or decided, in the order in which that first happened
    own_found : how many wanted rows this review has found; None: all wanted rows that are decided

    Examples
    --------
    >>> ranked, checks = [Out(True, False)] * 60, [Out(False, True)] * 48 + [Out(True, True)] * 2
    >>> seen = missed([1060], ranked + checks)
    >>> (seen.low, seen.high), round(seen.recall[0], 2)
    ((1, 159), 0.28)
    """
    batches, whole = [Batch(n) for n in rows], Batch(sum(rows))
    bets = np.zeros(PRIOR_CHECKS.size)
    checks = wanted = 0
    for each in out:
        batches[each.batch].take(each)
        whole.take(each)
        if each.is_check and each.wanted is not None:
            q = (0.5 + wanted) / (PRIOR_CHECKS + checks)
            bets += np.log(q if each.wanted else 1 - q)
            checks, wanted = checks + 1, wanted + each.wanted
    if not checks:
        return None
    limit = -log(1 - confidence) - float(logsumexp(bets) - log(bets.size))
    low, high = _bounds(batches, limit)
    found = whole.found if own_found is None else own_found
    return Missed(
        low,
        high,
        recall=(_share(found, high), _share(found, low)),
        rate=((whole.found + low) / whole.rows, (whole.found + high) / whole.rows),
        checks=checks,
        wanted=wanted,
        whole=whole,
        limit=limit,
    )


def _bounds(batches: Sequence[Batch], limit: float) -> tuple[int, int]:
    """The least and the most wanted rows without a decision under which no more than ``limit`` was won."""
    bets, found = Bets(batches), sum(batch.found for batch in batches)
    low, high = (bets.furthest(limit, sign) - found for sign in (-1.0, 1.0))
    return max(0, ceil(low - 1e-6)), max(0, floor(high + 1e-6))


def _narrower(whole: Batch, limit: float) -> tuple[int, int, int] | None:
    """The first of ``MORE`` that halves the interval at the present rate."""
    low, high = _bounds([whole], limit)
    rate = float(Bets([whole]).where(0.0)[0] - whole.found) / max(1, whole.rows - whole.decided)
    for checks in MORE:
        if checks > whole.rows - whole.seen or high - low <= 1:
            break
        after, gain = whole.with_more(checks, rate)
        ends = [max(0, round(end - checks * rate)) for end in _bounds([after], limit - gain)]
        if ends[1] - ends[0] <= (high - low) / 2:
            return checks, ends[0], ends[1]
    return None


def _share(found: int, missing: int) -> float:
    return found / (found + missing) if found + missing else 1.0
