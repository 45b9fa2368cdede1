"""How many wanted rows are still unseen: an interval that holds however often people look and the list is re-ranked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, exp, floor, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]

CONFIDENCE = 0.9
#: Bets on the next check start at half a wanted row among so many checks; the stake is spread evenly over these.
PRIOR_CHECKS = (2.0, 20.0, 200.0)
#: Of these numbers of further checks the first is told that would make the interval half as wide.
MORE = tuple(25 * 2**i for i in range(12))
_HALVINGS = 40


@dataclass(frozen=True)
class Out:
    """A row that has left those nobody has seen; such rows come in the order in which they left.

    wanted : what was decided; None: nothing so far, as where nobody is sure
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
    whole, limits : all rows as one batch, and how much may be won: the ground for what more checks would tell
    """

    low: int
    high: int
    recall: tuple[float, float]
    rate: tuple[float, float]
    checks: int
    wanted: int
    whole: Batch
    limits: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON, by the names of the HTTP API."""
        return {
            "unseen_wanted": {"low": self.low, "high": self.high},
            "recall": {"low": self.recall[0], "high": self.recall[1]},
            "random_checks": self.checks,
            "random_checks_wanted": self.wanted,
            "random_checks_undecided": self.undecided,
        }

    @property
    def undecided(self) -> int:
        """Checks that were drawn before decided ones and are not decided, as where nobody is sure."""
        return len(self.whole.open)

    @cached_property
    def narrower(self) -> tuple[int, int, int] | None:
        """How many more checks would make the interval half as wide, and its ends then.

        None: none would, or undecided checks make it wide, and verdicts on those tell more.
        """
        return None if self.undecided else _narrower(self.whole, self.limits)


@dataclass
class Batch:
    """Rows that came together: those that left the pool of unseen ones, and the random checks among them.

    rows, seen, decided, found : rows, those that left the pool, the decided ones, those decided to be wanted
    checks : each: whether it was wanted, ``before``, ``pool``, and how often it counts. Where rows that had left
        the pool are undecided, ``before`` counts all of them or none, whichever wins less.
    open : checks that are not decided, and that decided ones came after: the q of both bets, ``before``, ``pool``
    """

    rows: int
    seen: int = 0
    decided: int = 0
    found: int = 0
    checks: list[tuple[bool, float, float, float]] = field(default_factory=list)
    open: list[tuple[float, float, float, float]] = field(default_factory=list)

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


class Stake:
    """What is bet on the next check: a mixture of bets, each of which starts from another number of checks."""

    def __init__(self) -> None:
        self.checks = self.wanted = 0
        self.won = 0.0  # log of what the shares of the stake on the answers that came make together
        self._parts = [1 / len(PRIOR_CHECKS)] * len(
            PRIOR_CHECKS
        )  # of the stake: bets that did well have more of it

    @property
    def q(self) -> float:
        """The share of the stake that is on "wanted"."""
        return sum(part * q for part, q in zip(self._parts, self._each(), strict=True))

    def settle(self, wanted: bool) -> None:
        """The answer to the check that was bet on."""
        self.won += log(self.q if wanted else 1 - self.q)
        self.learn(wanted)

    def learn(self, wanted: bool) -> None:
        """Take this for the answer in further bets."""
        right = [q if wanted else 1 - q for q in self._each()]
        together = sum(part * each for part, each in zip(self._parts, right, strict=True))
        self._parts = [part * each / together for part, each in zip(self._parts, right, strict=True)]
        self.checks, self.wanted = self.checks + 1, self.wanted + wanted

    def _each(self) -> list[float]:
        return [(0.5 + self.wanted) / (prior + self.checks) for prior in PRIOR_CHECKS]


class Bets:
    """What bets on the checks of some batches won if K of the rows of each batch are wanted.

    The next check is wanted with probability p = (K - before) / pool, whatever the ranking did before it. A bet that
    pays q / p where it is wanted and (1 - q) / (1 - p) where it is not, with q chosen before the draw, wins nothing on
    average if K is true. So what all bets won stays below 1 / (1 - confidence) at all times with probability
    ``confidence`` (Ville's inequality), and K under which more was won are ruled out.

    Whoever checks may be unsure of wanted rows more often than of others, so a check that is not decided cannot be left
    out. It won at least the lesser of q / p and (1 - q) / (1 - p), whatever the row is. The log of that rises to 0 at
    p = q and falls from there; what is counted is the largest convex function below it: a line from log(1 - q) at
    p = 0 that touches log(q / p) at p = e q / (1 - q), and log(q / p) beyond. Checks that no decided one came after
    are left out: what was won holds at every moment, also before them. Half of the stake is bet as if undecided checks
    had not been drawn, and half as if they were wanted; where there are none, both are the same.

    stake : which half is looked at
    """

    def __init__(self, batches: Sequence[Batch], stake: int = 0) -> None:
        self.least = np.array([float(batch.found) for batch in batches])
        self.most = np.array([float(batch.found + batch.rows - batch.decided) for batch in batches])
        checks = np.array([check for batch in batches for check in batch.checks]).reshape(-1, 4)
        self.wanted, self.before, self.pool, self.weight = checks[:, 0] > 0, *checks[:, 1:].T
        self.batch = np.repeat(np.arange(len(batches)), [len(batch.checks) for batch in batches])
        undecided = np.array([check for batch in batches for check in batch.open]).reshape(-1, 4).T
        self.q, self.open_before, self.open_pool = undecided[stake], *undecided[2:]
        self.open_batch = np.repeat(np.arange(len(batches)), [len(batch.open) for batch in batches])
        self.touches = exp(1) * self.q / (1 - self.q)

    def won(self, k: Floats) -> float:
        """Log of what was won if k rows of each batch are wanted, but for what the q of decided checks add to it."""
        return float(self._least_won(k).sum() - self.weight @ np.log(self._alike(k) / self.pool))

    def _least_won(self, k: Floats) -> Floats:
        """Log of what each undecided check won at least."""
        q, p = self.q, self._chance(k)
        return np.where(
            p < self.touches, np.log1p(-q) - p / self.touches, np.log(q / np.maximum(p, self.touches))
        )

    def _chance(self, k: Floats) -> Floats:
        """Per undecided check, how likely it was to be wanted at most."""
        return np.asarray((k[self.open_batch] - self.open_before) / self.open_pool)

    def _alike(self, k: Floats) -> Floats:
        """Per decided check, how many rows of its pool would have given the same answer."""
        more = k[self.batch] - self.before
        return np.where(self.wanted, more, self.pool - more)

    def slope(self, k: Floats) -> Floats:
        """How what was won changes with the k of each batch: more and more, as ``won`` is convex."""
        each = self.weight * np.where(self.wanted, -1.0, 1.0) / self._alike(k)
        least = -1 / (np.maximum(self._chance(k), self.touches) * self.open_pool)
        decided = np.bincount(self.batch, each, minlength=k.size)
        return np.asarray(decided + np.bincount(self.open_batch, least, minlength=k.size), dtype=np.float64)

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
    batches, whole, stakes = [Batch(n) for n in rows], Batch(sum(rows)), (Stake(), Stake())
    waiting: list[tuple[Batch, tuple[float, float, float, float]]] = []
    for each in out:
        both = batches[each.batch], whole
        if each.is_check and each.wanted is None:
            q = stakes[0].q, stakes[1].q
            waiting += [(batch, (*q, batch.found, batch.rows - batch.seen)) for batch in both]
            stakes[1].learn(True)
        elif each.is_check:
            for batch, check in waiting:
                batch.open.append(check)
            waiting = []
            for stake in stakes:
                stake.settle(bool(each.wanted))
        for batch in both:
            batch.take(each)
    if not stakes[0].checks:
        return None
    limits = tuple(-log(1 - confidence) - stake.won for stake in stakes)
    low, high = _bounds(batches, limits)
    found = whole.found if own_found is None else own_found
    return Missed(
        low,
        high,
        recall=(_share(found, high), _share(found, low)),
        rate=((whole.found + low) / whole.rows, (whole.found + high) / whole.rows),
        checks=stakes[0].checks,
        wanted=stakes[0].wanted,
        whole=whole,
        limits=limits,
    )


def _bounds(batches: Sequence[Batch], limits: Sequence[float]) -> tuple[int, int]:
    """The least and the most wanted rows without a decision under which no more was won than may be."""
    found = sum(batch.found for batch in batches)
    # Either half of the stake alone would have to win twice as much. Without undecided checks both won the same.
    halves = [limit + log(2) for limit in limits] if any(batch.open for batch in batches) else limits[:1]
    bets = [(Bets(batches, stake), limit) for stake, limit in enumerate(halves)]
    low = max(each.furthest(limit, -1.0) for each, limit in bets) - found
    high = min(each.furthest(limit, 1.0) for each, limit in bets) - found
    return max(0, ceil(low - 1e-6)), max(0, floor(high + 1e-6))


def _narrower(whole: Batch, limits: Sequence[float]) -> tuple[int, int, int] | None:
    """The first of ``MORE`` that halves the interval at the present rate."""
    low, high = _bounds([whole], limits)
    rate = float(Bets([whole]).where(0.0)[0] - whole.found) / max(1, whole.rows - whole.decided)
    for checks in MORE:
        if checks > whole.rows - whole.seen or high - low <= 1:
            break
        after, gain = whole.with_more(checks, rate)
        ends = [
            max(0, round(end - checks * rate)) for end in _bounds([after], [limit - gain for limit in limits])
        ]
        if ends[1] - ends[0] <= (high - low) / 2:
            return checks, ends[0], ends[1]
    return None


def _share(found: int, missing: int) -> float:
    return found / (found + missing) if found + missing else 1.0
