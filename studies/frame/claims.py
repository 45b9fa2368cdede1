"""Claims of papers, and the paired tests that judge them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import binomtest, wilcoxon

from studies.frame.cells import Cell, Found

Verdict = Literal["holds", "does not hold", "cannot be decided"]
#: A test decides at this level.
LEVEL = 0.05


@dataclass(frozen=True)
class Judged:
    """A verdict with the statistic that it rests on."""

    verdict: Verdict
    statistic: str


@dataclass(frozen=True)
class Claim:
    """What a paper says, where, and how its cells judge it."""

    text: str
    where: str
    plan: Callable[[int, bool], list[Cell]]
    judge: Callable[[Found], Judged]


def paired(first: Sequence[float], second: Sequence[float], *, margin: float = 0.0) -> Judged:
    """Is the first above the second, pair by pair? Wilcoxon's signed ranks, one-sided, asked both ways.

    With a ``margin`` the question is whether the first is not below the second by more than that.

    >>> paired([0.9, 0.8, 0.7, 0.9, 0.8, 0.9], [0.1, 0.2, 0.1, 0.3, 0.2, 0.4]).verdict
    'holds'
    >>> paired([0.9, 0.1], [0.1, 0.9])
    Judged(verdict='cannot be decided', statistic='+0.000 over 2 pairs, p = 0.75')
    """
    # Figures that are equal but for their last bits are ties.
    gaps = np.round(np.subtract(first, second) + margin, 10)
    if gaps.size == 0:
        return Judged("cannot be decided", "nothing was run")
    above, below = p_above(gaps), p_above(-gaps)
    verdict: Verdict = "cannot be decided"
    if min(above, below) < LEVEL:
        verdict = "holds" if above < below else "does not hold"
    allowed = f" (margin {margin:g})" if margin else ""
    return Judged(verdict, f"{np.mean(gaps) - margin:+.3f} over {gaps.size} pairs{allowed}, p = {above:.2g}")


def p_above(gaps: np.ndarray) -> float:
    """The chance of gaps as far above 0 as these where there are none; 1 where all of them are 0.

    >>> p_above(np.array([1.0, 2.0, 3.0]))
    0.125
    """
    return float(wilcoxon(gaps, alternative="greater").pvalue) if np.any(gaps) else 1.0


def all_of(parts: dict[str, Judged]) -> Judged:
    """Holds if every part does, does not if one does not."""
    verdicts = {part.verdict for part in parts.values()}
    verdict: Verdict = "cannot be decided"
    if "does not hold" in verdicts:
        verdict = "does not hold"
    elif verdicts == {"holds"}:
        verdict = "holds"
    return Judged(verdict, "; ".join(f"{name} {part.statistic}" for name, part in parts.items()))


def within(figures: dict[str, float], low: float, high: float) -> Judged:
    """Does every figure lie between two bounds? No test: for what is counted, not sampled.

    >>> within({"labels": 3.0}, 0, 2)
    Judged(verdict='does not hold', statistic='labels 3')
    """
    if not figures:
        return Judged("cannot be decided", "nothing was run")
    inside = all(low <= figure <= high for figure in figures.values())
    told = ", ".join(f"{name} {figure:.3g}" for name, figure in figures.items())
    return Judged("holds" if inside else "does not hold", told)


def more_often(wins: int, losses: int) -> Judged:
    """Does the first win more often than the second? A sign test; ties do not count.

    >>> more_often(9, 1).verdict
    'holds'
    """
    if wins + losses == 0:
        return Judged("cannot be decided", "nothing was run")
    above, below = (
        float(binomtest(wins, wins + losses, alternative=side).pvalue) for side in ("greater", "less")
    )
    verdict: Verdict = "cannot be decided"
    if min(above, below) < LEVEL:
        verdict = "holds" if above < below else "does not hold"
    return Judged(verdict, f"{wins} of {wins + losses}, p = {above:.2g}")
