"""Speed of cost-sensitive learning beside XGBoost's own ``rank:ndcg``, timed alternately in one run.

100,000 rows x 85 columns in 300 lists, and growth to 1 million rows. Both train the same number of trees of the same
shape on the same rows, one thread, from the array to the model; the bar is 1.3 x. An evaluation of coordinate ascent
is one look at the objective after one weight has moved; the bar is 1 ms on 100,000 rows. Growth: seconds per million
rows should stay the same as rows and lists grow, also for average precision on a single list. Seconds are CPU time,
the smallest of the repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import xgboost as xgb

from shortlist.objectives import AveragePrecision, CostSaved, Objective
from shortlist.rankers import LambdaMART
from shortlist.rankers.boosting.pair_gradient import PairGradient
from studies.measure import best_in_turn, cpu_seconds
from studies.running import study_parser, tell

ROWS_PER_LIST = 1_000 / 3
BUDGET = 10
BARS = {"ratio": 1.3, "evaluation_ms": 1.0}
#: Shapes of trees: ours by default, and the larger ones of XGBoost's default depth.
SHAPES: dict[str, dict[str, Any]] = {
    "4 leaves, half of rows and columns": {"max_leaves": 4, "subsample": 0.5, "colsample_bytree": 0.5},
    "64 leaves, all rows and columns": {"max_leaves": 64, "subsample": 1.0, "colsample_bytree": 1.0},
}

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def make_rows(n_rows: int, n_columns: int) -> Rows:
    """Lists of about 333 rows; nine in ten impacts are 0, the others span four orders of magnitude."""
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, n_columns), dtype=np.float32)
    signal = 4 * X[:, 0] + 2 * X[:, 1] + rng.normal(size=n_rows)
    impact = np.where(signal > np.quantile(signal, 0.9), np.ceil(np.exp(rng.normal(4, 2, n_rows))), 0.0)
    groups = np.sort(rng.integers(max(1, round(n_rows / ROWS_PER_LIST)), size=n_rows))
    return X, impact, groups


def ours(rows: Rows, rounds: int, shape: dict[str, Any]) -> None:
    X, impact, groups = rows
    model = LambdaMART(objective=CostSaved(k=BUDGET), n_estimators=rounds, n_jobs=1, random_state=0, **shape)
    model.fit(X, impact, groups=groups)


def peer(rows: Rows, rounds: int, shape: dict[str, Any]) -> None:
    X, impact, groups = rows
    xgb.XGBRanker(
        objective="rank:ndcg", lambdarank_pair_method="topk", lambdarank_num_pair_per_sample=BUDGET,
        ndcg_exp_gain=False, tree_method="hist", grow_policy="lossguide", max_depth=0, learning_rate=0.1,
        min_child_weight=0.1, reg_lambda=10, n_estimators=rounds, n_jobs=1, **shape,
    ).fit(X, impact, qid=groups)  # fmt: skip


def training_study(rows: Rows, rounds: int, repeats: int) -> list[dict[str, Any]]:
    found = []
    for name, shape in SHAPES.items():
        theirs, mine = best_in_turn(
            partial(peer, rows, rounds, shape), partial(ours, rows, rounds, shape), repeats=repeats
        )
        found.append(
            {
                "trees": f"{rounds} of {name}",
                "rank:ndcg s": theirs.cpu,
                "CostSaved s": mine.cpu,
                "ratio": mine.cpu / theirs.cpu,
            }
        )
    return found


def evaluation_ms(rows: Rows, repeats: int) -> float:
    """Milliseconds to move one weight and look at the objective."""
    X, impact, groups = rows
    goal = CostSaved(k=BUDGET).bind(impact, groups)
    score, column = X[:, :2].sum(axis=1).astype(np.float64), X[:, 0].astype(np.float64)
    goal.value(score)
    return 1e3 * min(cpu_seconds(lambda: goal.value(score + 0.01 * column)) for _ in range(repeats))


def growth_study(sizes: list[int], repeats: int) -> list[dict[str, Any]]:
    """What one round costs as rows and lists grow together."""
    found = []
    for n_rows in sizes:
        rows = make_rows(n_rows, 10)
        _, impact, groups = rows
        shape = SHAPES["64 leaves, all rows and columns"]
        round_seconds = best_in_turn(partial(ours, rows, 20, shape), repeats=2)[0].cpu / 20
        found.append(
            {
                "rows": n_rows,
                "lists": int(groups.max()) + 1,
                "round, us per row": 1e6 * round_seconds / n_rows,
                "gradient, us per row": 1e6
                * gradient_seconds(CostSaved(k=BUDGET), impact, groups, repeats)
                / n_rows,
                "AP gradient on one list, us per row": 1e6
                * gradient_seconds(AveragePrecision(), impact > 0, None, repeats)
                / n_rows,
                "evaluation, us per row": 1e3 * evaluation_ms(rows, repeats) / n_rows,
            }
        )
    return found


def gradient_seconds(objective: Objective, y: np.ndarray, groups: np.ndarray | None, repeats: int) -> float:
    gradient = PairGradient(objective.bind(y, groups), None, pairs_per_row=10, seed=0)
    margin = np.random.default_rng(1).normal(size=y.size).astype(np.float32)
    gradient(margin)
    return min(cpu_seconds(lambda: gradient(margin)) for _ in range(repeats))


def print_rows(title: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{title}")
    for name in rows[0]:
        print(f"  {name:<38}" + "".join(_cell(row[name]) for row in rows))


def _cell(value: object) -> str:
    return (
        f"{value:>14.3f}"
        if isinstance(value, float)
        else f"{value:>14,}"
        if isinstance(value, int)
        else f"  {value}"
    )


def main(arguments: Sequence[str]) -> None:
    """Train both in turns, then grow the rows."""
    chosen = study_parser(__name__, __doc__, "10,000 rows; growth to 100,000").parse_args(arguments)
    n_rows, rounds, sizes = (10_000, 20, [10_000, 100_000]) if chosen.quick else (
        100_000, 50, [10_000, 30_000, 100_000, 300_000, 1_000_000]
    )  # fmt: skip
    repeats = 3
    rows = make_rows(n_rows, 85)
    ours(rows, 1, {})  # compiles the kernels
    found = {
        "rows": n_rows,
        "training": training_study(rows, rounds, repeats),
        "evaluation_ms": evaluation_ms(rows, 5 * repeats),
        "growth": growth_study(sizes, repeats),
        "bars": BARS,
    }
    tell(found, chosen.json, show)


def show(found: dict[str, Any]) -> None:
    for study in found["training"]:
        print(
            f"{study['trees']}: CostSaved {study['CostSaved s']:.2f} s, rank:ndcg {study['rank:ndcg s']:.2f} s, "
            f"ratio {study['ratio']:.2f} (bar {BARS['ratio']})"
        )
    print(f"coordinate ascent: {found['evaluation_ms']:.2f} ms per evaluation (bar {BARS['evaluation_ms']})")
    print_rows("growth", found["growth"])
