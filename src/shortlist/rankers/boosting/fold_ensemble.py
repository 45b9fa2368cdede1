"""The fold ensemble: models of several depths, each fitted without one fold, whose margins are averaged.

For each depth the number of rounds is the one with the best objective of the pooled out-of-fold margins, looked at
every 10 rounds and smoothed over three looks. With m_d the mean margin of a depth's fold models, and μ_d, s_d the
mean and standard deviation of its out-of-fold margins, the score of a row is the mean over depths of
(m_d - μ_d) / s_d. It is linear in the margins, so the ensemble is itself one boosted model.

Every training row has an out-of-fold score, from models that never saw it: honest figures and calibration for free.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xgboost as xgb
from joblib import Parallel, delayed
from numpy.typing import NDArray

from shortlist.rankers.base import Batch
from shortlist.rankers.boosting.engine import Judge, margins
from shortlist.rankers.boosting.folds import take

#: Boosters of all depths, fitted on the rows of a batch.
FitDepths = Callable[[Batch, int], list[xgb.Booster]]
#: Rounds between two looks at the out-of-fold objective.
LOOK_EVERY = 10


@dataclass(frozen=True, eq=False)
class FoldEnsemble:
    """The averaged model, the out-of-fold scores of its training rows, and the rounds chosen for each depth."""

    booster: xgb.Booster
    oof_score: NDArray[np.float64]
    rounds: tuple[int, ...]


def fit_ensemble(
    batch: Batch,
    fold: NDArray[np.int64],
    fit_depths: FitDepths,
    judge: Judge | None,
    *,
    n_jobs: int | None,
    on_fold: Callable[[int, int], None] | None = None,
) -> FoldEnsemble:
    """Fit all folds and depths, choose rounds by ``judge`` (None: take all of them), and average.

    ``fit_depths(rows, f)`` gives the boosters fitted without fold f, one per depth, all of the same number of rounds.
    Folds run in parallel threads; each draws its randomness from its own number, so ``n_jobs`` changes nothing.
    """
    n_folds = int(fold.max()) + 1
    jobs = (delayed(_leave_out)(batch, fold, number, fit_depths) for number in range(n_folds))
    runs = []
    for run in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(jobs):
        runs.append(run)
        if on_fold is not None:
            on_fold(len(runs), n_folds)
    depths = range(len(runs[0]))
    return _average([_pool([run[depth] for run in runs], fold, judge) for depth in depths])


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """A model fitted without one fold, and the margins of that fold at each look (looks x rows)."""

    booster: xgb.Booster
    looks: NDArray[np.int64]
    margins: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class _Pooled:
    """The fold models of one depth, cut to the chosen rounds, and their out-of-fold margins."""

    boosters: list[xgb.Booster]
    margin: NDArray[np.float64]
    rounds: int


def _leave_out(batch: Batch, fold: NDArray[np.int64], number: int, fit_depths: FitDepths) -> list[_LeftOut]:
    held_out = batch.X[np.flatnonzero(fold == number)]
    return [_look(booster, held_out) for booster in fit_depths(take(batch, fold != number), number)]


def _look(booster: xgb.Booster, X: Any) -> _LeftOut:
    """Margins after 10, 20, ... rounds; each look adds the trees since the last one, so all cost one scoring."""
    rounds = booster.num_boosted_rounds()
    looks = np.unique(np.append(np.arange(LOOK_EVERY, rounds, LOOK_EVERY), rounds))
    parts = [
        margins(booster, X, int(first), int(last))
        for first, last in zip(np.r_[0, looks[:-1]], looks, strict=True)
    ]
    return _LeftOut(booster, looks, np.cumsum(parts, axis=0, dtype=np.float32))


def _pool(runs: Sequence[_LeftOut], fold: NDArray[np.int64], judge: Judge | None) -> _Pooled:
    looks = runs[0].looks
    pooled = np.empty((looks.size, fold.size), dtype=np.float32)
    for number, run in enumerate(runs):
        pooled[:, fold == number] = run.margins
    best = looks.size - 1 if judge is None else _best_look([judge(margin) for margin in pooled])
    rounds = int(looks[best])
    return _Pooled([run.booster[:rounds] for run in runs], pooled[best].astype(np.float64), rounds)


def _best_look(values: Sequence[float]) -> int:
    """The first look with the largest mean of itself and its neighbours: one lucky look is not chosen."""
    padded = np.concatenate([[values[0]], values, [values[-1]]])
    return int(np.argmax(padded[:-2] + padded[1:-1] + padded[2:]))


def _average(depths: Sequence[_Pooled]) -> FoldEnsemble:
    boosters, weights, offset = [], [], 0.0
    score = np.zeros(depths[0].margin.size)
    for pooled in depths:
        mean, spread = pooled.margin.mean(), pooled.margin.std() or 1.0
        score += (pooled.margin - mean) / spread / len(depths)
        boosters += pooled.boosters
        weights += [1 / (spread * len(depths) * len(pooled.boosters))] * len(pooled.boosters)
        offset -= mean / spread / len(depths)
    return FoldEnsemble(
        add_boosters(boosters, weights, offset), score, tuple(pooled.rounds for pooled in depths)
    )


def add_boosters(
    boosters: Sequence[xgb.Booster], weights: Sequence[float], offset: float = 0.0
) -> xgb.Booster:
    """One booster whose margin is offset + Σ weight x margin.

    Leaves are multiplied and trees are put one after the other in XGBoost's own (documented) JSON model, so the
    sum scores in one pass, explains itself, and is a plain model file to every other tool.
    """
    models = [json.loads(booster.save_raw("json")) for booster in boosters]
    trees = [
        _scaled(tree, weight)
        for model, weight in zip(models, weights, strict=True)
        for tree in _forest(model)["trees"]
    ]
    whole, forest = models[0], _forest(models[0])
    for number, tree in enumerate(trees):
        tree["id"] = number
    forest["trees"] = trees
    forest["tree_info"] = [0] * len(trees)
    forest["iteration_indptr"] = list(range(len(trees) + 1))
    forest["gbtree_model_param"]["num_trees"] = str(len(trees))
    base = offset + sum(weight * _base(model) for model, weight in zip(models, weights, strict=True))
    whole["learner"]["learner_model_param"]["base_score"] = f"[{base:.9E}]"
    return xgb.Booster(model_file=bytearray(json.dumps(whole).encode()))


def _forest(model: dict[str, Any]) -> dict[str, Any]:
    return model["learner"]["gradient_booster"]["model"]


def _base(model: dict[str, Any]) -> float:
    return float(model["learner"]["learner_model_param"]["base_score"].strip("[]"))


def _scaled(tree: dict[str, Any], weight: float) -> dict[str, Any]:
    """The tree with its leaves (and the weights of its inner nodes) multiplied."""
    tree["base_weights"] = [weight * value for value in tree["base_weights"]]
    tree["split_conditions"] = [
        weight * value if left == -1 else value
        for value, left in zip(tree["split_conditions"], tree["left_children"], strict=True)
    ]
    return tree
