"""A figure for the cost-sensitive paper, which has none of its results: what being cost-sensitive is worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.frame.cells import Found
from studies.frame.figures import COLOURS, MARKERS, panels
from studies.papers.cost_sensitive_methods import METHODS
from studies.papers.cost_sensitive_tables import BUDGETS

PAIRS = {
    "CS-MART": "LambdaMART",
    "CS-C. Ascent": "C. Ascent",
    "CS-AdaRank": "AdaRank",
    "CR-RankNet": "RankNet",
    "CR-ListNet": "ListNet",
    "CR-LambdaRank": "LambdaRank",
}


def gaps_drawn(found: Found, sheet: Any) -> None:
    """A panel per set: the gap of every pair at both budgets, with its standard error over test fifths."""
    sets = [data for data in BUDGETS if len(found.where(data=data))]
    names = list(PAIRS)[::-1]
    for data, axes in panels(sheet, sets, height=2.6).items():
        axes.axvline(0, color="#7F7F7F", linewidth=1)
        for which, k in enumerate(BUDGETS[data]):
            for height, ours in enumerate(names):
                first, second = (fifths(found, data, m, which) for m in (ours, PAIRS[ours]))
                gaps = np.subtract(first, second)
                if gaps.size:
                    axes.errorbar(
                        np.mean(gaps),
                        height + 0.12 - 0.24 * which,
                        xerr=np.std(gaps) / gaps.size**0.5,
                        color=COLOURS[which],
                        marker=MARKERS[which],
                        markersize=4,
                        label=f"k = {k}" if ours == names[0] else None,
                    )
        axes.set_yticks(range(len(names)), names)
        axes.set_xlabel("points over the plain method")
        axes.legend(fontsize=8)


def fifths(found: Found, data: str, method: str, which: int) -> list[float]:
    """R_CS of every test fifth at the first or second budget, of the deals that all methods were run on."""
    seeds = [{cell["seed"] for cell in found.where(data=data, method=m)} for m in METHODS]
    return [
        value
        for seed in sorted(set.intersection(*seeds))
        for each in found.where(data=data, method=method, seed=seed).each()
        for value in each[which]
    ]
