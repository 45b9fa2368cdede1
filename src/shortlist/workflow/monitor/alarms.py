"""Alarms: a sum that grows while fewer rows are found than promised, with a stated rate of false alarms and delay.

After each run the sum S grows by the log-likelihood ratio of a fall of precision from p to p' = (1 - fall)·p,
S ← max(0, S + [found ln(p'/p) + (looked at - found) ln((1 - p')/(1 - p))] / φ), and falls back to 0 while all is well
(Page's CUSUM). φ ≥ 1 is how much more runs differ than chance would make them. The level that S must pass is found by
playing years in which nothing changes: so few of them pass it as is stated, even if precision is a tenth below the
promise all along. The delay is found by playing years with such a fall; it is φ times as long where steps are divided
by φ.

References
----------
Page, Continuous inspection schemes, Biometrika 41 (1954).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shortlist.counts import counted

Floats = NDArray[np.float64]

#: The fall of precision that alarms are made for.
FALL = 1 / 3
#: In how many unchanged years of a hundred there is an alarm all the same.
FALSE_YEARS = 0.05
#: A promise is an estimate, too: years count as unchanged where precision lies so much below it.
TOLERANCE = 0.1
#: In so many of ten such falls the alarm comes within the stated delay.
IN_TIME = 0.9
_YEARS = 2_000
#: Runs that tell how much they differ, at least and at most.
_FEWEST, _MOST = 20, 60


@dataclass(frozen=True)
class Plan:
    """When there is an alarm, and what that means: false alarms a year, and runs until a fall is noticed."""

    level: float
    false_years: float
    delay: int | None  # None: a year is too short to notice it

    def slowed(self, spread: float, runs_a_year: int) -> Plan:
        """The plan where runs differ ``spread`` times as much as by chance: each adds so much less to the sum.

        >>> Plan(3.0, 0.05, 20).slowed(1.52, 365).delay
        31
        """
        late = None if self.delay is None else math.ceil(self.delay * spread)
        return replace(self, delay=late if late is not None and late <= runs_a_year else None)

    def says(self) -> str:
        """The promise of the alarm itself, in words."""
        notice = (
            f"a fall by a third is noticed within {counted(self.delay, 'run')} in {IN_TIME:.0%} of cases"
            if self.delay is not None
            else "a fall by a third may not be noticed within a year: few rows are looked at, or runs differ too much"
        )
        how = f"in {self.false_years:.1%} of unchanged years at most, even if precision is a tenth below the promise"
        return f"False alarms come {how}; {notice}.".replace("%", " %")


def steps(found: NDArray, reviewed: NDArray | int, promised: NDArray | float, spread: float = 1.0) -> Floats:
    """What each run adds to the sum: more than 0 where it found so few that a fall is likelier than none."""
    p = np.clip(np.asarray(promised, dtype=np.float64), 1e-6, 1 - 1e-6)
    fallen = (1 - FALL) * p
    gain = found * np.log(fallen / p) + (reviewed - found) * np.log((1 - fallen) / (1 - p))
    return np.asarray(gain / spread, dtype=np.float64)


def path(added: Floats, most: float = np.inf) -> Floats:
    """The sum after each run, along the last axis; it never exceeds ``most``, so that it can come down again.

    >>> path(np.array([1.0, -3.0, 2.0, 0.5]))
    array([1. , 0. , 2. , 2.5])
    """
    total = np.zeros(added.shape[:-1])
    sums = np.empty_like(added)
    for run in range(added.shape[-1]):
        total = np.clip(total + added[..., run], 0.0, most)
        sums[..., run] = total
    return sums


@lru_cache
def make_plan(reviewed: int, promised: float, runs_a_year: int, *, false_years: float = FALSE_YEARS) -> Plan:
    """The level that ``false_years`` of unchanged years pass, and how long a fall takes to pass it.

    >>> make_plan(50, 0.4, 365).delay < 20
    True
    """
    rng = np.random.default_rng(0)
    played = rng.binomial(reviewed, (1 - TOLERANCE) * promised, (_YEARS, runs_a_year))
    highest = path(steps(played, reviewed, promised)).max(axis=1)
    level = float(np.quantile(highest, 1 - false_years, method="higher"))
    fallen = rng.binomial(reviewed, (1 - FALL) * promised, (_YEARS // 4, runs_a_year))
    passed = path(steps(fallen, reviewed, promised)) > level
    first = np.where(passed.any(axis=1), passed.argmax(axis=1) + 1, runs_a_year + 1)
    delay = int(np.quantile(first, IN_TIME, method="higher"))
    return Plan(level, false_years, delay if delay <= runs_a_year else None)


def spread_of(found: NDArray, reviewed: NDArray) -> float:
    """How much more runs differ than chance makes them differ: 1 or above; 1 where too few are known to tell."""
    found, reviewed = found[:_MOST], reviewed[:_MOST]
    if found.size < _FEWEST or not 0 < found.sum() < reviewed.sum():
        return 1.0
    share = found.sum() / reviewed.sum()
    off = (found - reviewed * share) ** 2 / np.maximum(reviewed * share * (1 - share), 1e-12)
    return max(1.0, float(off.sum() / (found.size - 1)))


def alarms_in(sums: Floats, level: float) -> list[tuple[int, int | None]]:
    """When alarms begin, as the sum passes the level, and end, as it is 0 again; None: it still rings.

    >>> alarms_in(np.array([1.0, 4.0, 2.0, 0.0, 5.0]), 3.0)
    [(1, 3), (4, None)]
    """
    found: list[tuple[int, int | None]] = []
    rings = False
    for run, total in enumerate(sums.tolist()):
        if total > level and not rings:
            found.append((run, None))
        elif total == 0 and rings:
            found[-1] = (found[-1][0], run)
        rings = total > level or (rings and total > 0)
    return found
