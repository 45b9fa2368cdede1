"""The worked examples of the cost-sensitive paper, computed; where its printed sums are misprints, ours differ."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shortlist.metrics import act_probability, cost_saved_at_k, dcg_at_k, ndcg_at_k
from shortlist.objectives import NDCG, CostSaved
from studies.frame.cells import Found
from studies.frame.paper import Entry

#: Figure 2: two storms, what ranks their networks, and the customers who lost power.
STORM = np.array([1, 1, 1, 2, 2, 2])
CABLE = np.array([5.0, 4, 3, 3, 4, 5])
WIND = np.array([14.0, 15, 16, 13, 12, 10])
IMPACT = np.array([10_000.0, 100, 0, 100, 1, 0])
#: Examples 2 and 3: a list, and two models that rank other rows first.
LIST = np.array([70.0, 50, 50, 50, 0, 0, 0])
FIRST = np.array([3.0, 0, 0, 0, 2, 1, 0.5])
SECOND = np.array([0.0, 3, 2, 1, 0, 0, 0])


def entries_examples(found: Found) -> Iterator[Entry]:
    """One line per figure of Sections 1 to 3."""
    yield from _regression()
    yield from _gains()
    for name, score, printed in (("70, 0, 0", FIRST, 70 / 120), ("50, 50, 50", SECOND, 100 / 120)):
        ours = cost_saved_at_k(LIST, score, 3)
        yield _line(f"Example 3: R@3 of {name}, %", 100 * ours, 100 * printed)
    for name, score, printed, reweighed in (("cable", CABLE, 98.5, 99.0), ("wind", WIND, 1.5, 0.1)):
        ours = 100 * cost_saved_at_k(IMPACT, score, 2, groups=STORM)
        yield _line(f"Example 4: R_CS@2 by {name}, %", ours, printed)
        weighed = NDCG(k=2).bind(IMPACT, STORM, list_weight=CostSaved(k=2))
        yield _line(f"Section 3: R_CR@2 by {name}, %", 100 * weighed.value(score), reweighed)
    for number, printed in ((1, 99.5), (2, 0.5)):
        ideal = [CostSaved(k=2).ideal(IMPACT[each == STORM]) for each in (1, 2)]
        yield _line(f"Section 3: weight of storm {number}, %", 100 * ideal[number - 1] / sum(ideal), printed)
    for act in ("linear", "top-k", "log"):
        yield _line(f"Pr(rank 2), k = 3, {act}", float(act_probability(np.array([2.0]), 3, act)[0]))


def _regression() -> Iterator[Entry]:
    models = {
        "ranks wrongly": ((4999.0, 5000, 5001), 2868.0),
        "ranks rightly": ((100_000.0, 5000, -5000), 300_090.6),
    }
    for told, (model, printed) in models.items():
        yield _line(
            f"RMSE of a model that {told}", float(np.sqrt(np.mean((IMPACT[:3] - model) ** 2))), printed
        )


def _gains() -> Iterator[Entry]:
    for name, score in (("cable", CABLE), ("wind", WIND)):
        yield _line(f"Example 1: NDCG@2 by {name}, %", 100 * ndcg_at_k(IMPACT, score, 2, groups=STORM), 50.0)
    yield _line("Example 2: factor of the DCG", dcg_at_k([50, 50, 50], [3, 2, 1], 3) / (2**50 - 1), 2.63)
    ratio = dcg_at_k([70, 0, 0], [3, 2, 1], 3) / dcg_at_k([50, 50, 50], [3, 2, 1], 3)
    yield _line("Example 2: times that the first is better, by DCG", ratio, 400_000)


def _line(row: str, ours: float, paper: float | None = None) -> Entry:
    return Entry(row, "value", ours, runs=1, paper=paper)
