"""Speed of the measures beside ``np.argsort`` of the same scores, timed alternately in one run.

A measure that needs ranks pays for one sort; the bar is 1.3 x the argsort. Measures within lists are held
against ``np.lexsort`` of list and score, the sort that they cannot do without. Seconds are CPU time, the
smallest of the repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist import metrics
from studies.measure import Run, best_in_turn
from studies.running import study_parser, tell

BAR = 1.3


def beside(peer: Run, run: Run, repeats: int) -> dict[str, float]:
    """The CPU time of a measure and of its peer."""
    theirs, ours = best_in_turn(peer, run, repeats=repeats)
    return {"seconds": ours.cpu, "peer_seconds": theirs.cpu, "ratio": ours.cpu / theirs.cpu}


def rounded(score: np.ndarray) -> np.ndarray:
    """Scores with many ties, as a forest gives them."""
    return np.round(score, 3)


def pairs(n_rows: int) -> dict[str, tuple[str, Run, Run]]:
    """Name: (peer, its run, the measure's run)."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=n_rows)
    y = rng.random(n_rows) < 0.05
    labels = y.astype(np.int64)
    balanced = rng.random(n_rows) < 0.5
    impact = np.where(y, rng.exponential(100, n_rows), 0.0)
    groups = rng.integers(n_rows // 100, size=n_rows)
    tied = rounded(score)
    measured: dict[str, Run] = {
        "average_precision": lambda: metrics.average_precision(y, score),
        "average_precision, worst ties": lambda: metrics.average_precision(y, score, ties="worst"),
        "average_precision, half wanted": lambda: metrics.average_precision(balanced, score),
        "average_precision, integer labels": lambda: metrics.average_precision(labels, score),
        "roc_auc": lambda: metrics.roc_auc(y, score),
        "roc_auc, half wanted": lambda: metrics.roc_auc(balanced, score),
        "precision_at_k": lambda: metrics.precision_at_k(y, score, 1_000),
        "recall_at_k, 5 %": lambda: metrics.recall_at_k(y, score, 0.05),
        "f1_at_k": lambda: metrics.f1_at_k(y, score, 1_000),
        "precision_at_p": lambda: metrics.precision_at_p(y, score),
        "pos_at_top": lambda: metrics.pos_at_top(y, score),
        "dcg_at_k": lambda: metrics.dcg_at_k(impact, score, 1_000, gain="linear"),
        "ndcg_at_k": lambda: metrics.ndcg_at_k(impact, score, 1_000),
        "ndcg_at_k, every rank": lambda: metrics.ndcg_at_k(impact, score, None, gain="linear"),
        "cost_saved_at_k": lambda: metrics.cost_saved_at_k(impact, score, 1_000),
    }
    within = {
        "ndcg_at_k, lists": lambda: metrics.ndcg_at_k(impact, score, 10, groups=groups),
        "cost_saved_at_k, lists": lambda: metrics.cost_saved_at_k(impact, score, 10, groups=groups),
    }
    return {
        **{name: ("argsort", lambda: np.argsort(score), run) for name, run in measured.items()},
        "average_precision, tied scores": (
            "argsort",
            lambda: np.argsort(tied),
            lambda: metrics.average_precision(y, tied),
        ),
        **{name: ("lexsort", lambda: np.lexsort((score, groups)), run) for name, run in within.items()},
    }


def main(arguments: Sequence[str]) -> None:
    """Time every measure beside the sort it needs."""
    parser = study_parser(__name__, __doc__, "1 million scores instead of 10 million")
    parser.add_argument("--only", default="", metavar="TEXT", help="measures whose name holds this text")
    options = parser.parse_args(arguments)
    n_rows = 1_000_000 if options.quick else 10_000_000
    metrics.average_precision([1, 0], [1.0, 0.0])  # compiled once, not timed
    results = {
        name: {"peer": peer, **beside(peer_run, run, repeats=3)}
        for name, (peer, peer_run, run) in pairs(n_rows).items()
        if options.only in name
    }
    tell({"rows": n_rows, "bar": BAR, "measures": results}, options.json, show)


def show(found: dict[str, Any]) -> None:
    print(f"{found['rows']:,} scores; ratio = CPU time of the measure / of the peer (bar {BAR})")
    for name, row in found["measures"].items():
        times = f"{row['seconds']:7.3f} s   {row['peer']} {row['peer_seconds']:7.3f} s"
        print(f"{name:36} {times}   {row['ratio']:.2f}")
