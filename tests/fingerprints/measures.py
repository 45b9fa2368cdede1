"""Fingerprints of metrics and objectives on random rankings with ties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from shortlist import metrics
from shortlist.objectives import AUC, NDCG, AveragePrecision, CostSaved, PrecisionAtK

from .rows import numbers

Line = tuple[str, Any]
OBJECTIVES = {
    "auc": AUC(),
    "average-precision": AveragePrecision(),
    "precision-at-k": PrecisionAtK(k=5),
    "ndcg": NDCG(),
    "ndcg-linear-k": NDCG(k=5, gain="linear"),
    "cost-saved": CostSaved(k=5),
}
LABELLED = ("average_precision", "roc_auc", "precision_at_p", "pos_at_top")
CUT = ("precision_at_k", "recall_at_k", "f1_at_k")
CURVES = ("hits_by_rank", "precision_by_rank", "cost_saved_by_k")


def lines(jobs: int) -> Iterator[Line]:
    """All measures."""
    _, wanted, worth, lists = numbers()
    score = np.round(np.random.default_rng(1).normal(size=wanted.size) + wanted, 1)
    for groups, where in ((None, "whole"), (lists, "lists")):
        yield from _measures(where, wanted, worth, score, groups)
        yield from _curves(where, wanted, worth, score, groups)
    yield "metric/precision_at_budget", metrics.precision_at_budget(wanted, 50)
    yield "metric/expert_effort", metrics.expert_effort(np.nan_to_num(numbers()[0])[:30], normalize="mean")
    yield "metric/act_probability", metrics.act_probability(np.arange(1, 30), 10)
    yield from _objectives(wanted, worth, score, lists)


def _measures(where: str, wanted: Any, worth: Any, score: Any, groups: Any) -> Iterator[Line]:
    for ties in ("average", "worst"):
        options = {"groups": groups, "ties": ties}
        for name in LABELLED:
            yield f"metric/{name}/{where}/{ties}", getattr(metrics, name)(wanted, score, **options)
        for name in CUT:
            both = [getattr(metrics, name)(wanted, score, k, **options) for k in (4, 0.1)]
            yield f"metric/{name}/{where}/{ties}", both
        for name in ("dcg_at_k", "ndcg_at_k", "cost_saved_at_k"):
            yield f"metric/{name}/{where}/{ties}", getattr(metrics, name)(worth, score, 6, **options)
    if groups is None:
        weighed = metrics.average_precision(wanted, score, sample_weight=1 + worth)
        yield "metric/average_precision/weighed", weighed


def _curves(where: str, wanted: Any, worth: Any, score: Any, groups: Any) -> Iterator[Line]:
    for name in CURVES:
        y = worth if name == "cost_saved_by_k" else wanted
        yield f"metric/{name}/{where}", getattr(metrics, name)(y, score, groups=groups, n_bootstrap=20)


def _objectives(wanted: Any, worth: Any, score: Any, lists: Any) -> Iterator[Line]:
    for name, objective in OBJECTIVES.items():
        y = worth if objective.takes_impact else wanted
        goal = objective.bind(y, lists, list_weight=CostSaved(k=3) if objective.takes_impact else None)
        ranked = goal.gains[np.argsort(-score, kind="stable")]
        yield f"objective/{name}/value", [objective.value(y, score), objective.value(y, score, lists)]
        yield (
            f"objective/{name}/goal",
            [goal.value(score), goal.list_values(score), goal.weights, goal.ideals],
        )
        yield f"objective/{name}/swaps", objective.swap_changes(ranked, np.arange(50), np.arange(50)[::-1])
