"""How APBoost is trained: one model that stops early, or the fold ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.metrics import average_precision
from shortlist.objectives import AveragePrecision, Goal, Objective
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.ap_losses import make_loss
from shortlist.rankers.boosting.ap_settings import (
    APSettings,
    Trained,
    constraints,
    extra_trees_too,
    fold_depths,
    most_rounds,
    one_depth,
    seed_of,
    threads_of,
)
from shortlist.rankers.boosting.committee import extra_trees, seated
from shortlist.rankers.boosting.external import OnRows, boost_from_disk
from shortlist.rankers.boosting.fold_ensemble import OnLook, Pooled, average, grow_folds, weights_by_worth
from shortlist.rankers.boosting.judging import spread_average_precision
from shortlist.rankers.boosting.line_search import LineSearchStep
from shortlist.rankers.boosting.trees.bins import training_matrix
from shortlist.rankers.boosting.trees.boosted import margins
from shortlist.rankers.boosting.trees.draws import Draw, drawn_rows
from shortlist.rankers.boosting.trees.engine import Growth, Judge, Step, boost, newton_step
from shortlist.rankers.chances.calibration import Scored, of_all_rows
from shortlist.rankers.folds import deal_folds, divisible, take, without
from shortlist.tables.memory import FEW_ROWS

#: A validation set that one model holds out for itself has at least so many wanted rows: fewer stop it at random.
VALIDATION_WANTED = 20


def train_folds(ranker: APSettings, batch: Batch, n_folds: int) -> Trained:
    """The fold ensemble."""
    seed, threads = seed_of(ranker), threads_of(ranker)
    matrix = _matrix(ranker, batch, threads)
    depths = fold_depths(ranker, batch.y.size)
    patience = ranker.early_stopping_rounds
    judge = average_precision_of(batch)

    def deal(depth: int) -> tuple[NDArray[np.int64], list[Batch]]:
        # Each depth deals anew: what its models say of a row that they did not see errs in a way of its own.
        fold = deal_folds(batch.y, batch.lists, n_folds, _mixed(seed, depth))
        return fold, [without(batch, fold == number) for number in range(n_folds)]

    def grow(number: int, depth: int) -> Pooled:
        fold, parts = deal(depth)
        per_fit = max(1, threads // n_folds)
        growths = [
            Growth(matrix, **_tree_making(ranker, rows, depth, _mixed(seed, left_out, depth), per_fit))
            for left_out, rows in enumerate(parts)
        ]
        return grow_folds(
            growths,
            fold,
            judge if patience else None,
            rounds=most_rounds(ranker, patience is not None),
            patience=patience,
            n_jobs=min(threads, n_folds),
            on_look=_look_report(ranker, number, len(depths)),
        )

    grown = [grow(number, depth) for number, depth in enumerate(depths)]
    worth = [judge(pooled.margin.astype(np.float32)) for pooled in grown]
    ensemble = average(grown, weights_by_worth(worth, int(np.count_nonzero(batch.y))))
    if extra_trees_too(ranker, batch.y.size):
        fold, parts = deal(0)  # no boosted tree has depth 0
        forest = extra_trees(
            ensemble,
            batch,
            parts,
            fold,
            seed_of_fold=lambda number: _mixed(seed, number, 0),
            n_jobs=min(threads, n_folds),
        )
        ensemble = seated([ensemble, forest], batch, judge)
    held_out = (ensemble.oof_score, batch.y, batch.sample_weight)
    kappa = ensemble.kappa(n_folds)
    return Trained(ensemble.trees.as_booster(), ensemble.rounds, ensemble.oof_score, held_out, kappa=kappa)


def train_one(ranker: APSettings, batch: Batch, held_out: Batch | None) -> Trained:
    """One model, stopped by the validation AP unless early stopping is off or no row can be spared."""
    seed, threads = seed_of(ranker), threads_of(ranker)
    given, spared = held_out, None
    if given is None and (spared := _spare(ranker, batch, seed)) is not None:
        held_out, batch = take(batch, spared), without(batch, spared)
    start = getattr(ranker, "booster_", None) if ranker.warm_start else None
    rounds = _rounds_left(ranker, start, held_out)
    matrix = _matrix(ranker, batch, threads)
    depth = one_depth(ranker)
    growth = Growth(
        matrix,
        **_tree_making(ranker, batch, depth, _mixed(seed, 0, depth), threads),
        start=start,
        watched=None if given is None else _matrix(ranker, given, threads, ref=matrix),
    )
    booster = boost(growth, rounds, **_judging(ranker, held_out, spared, rounds))
    rounds_used = (booster.num_boosted_rounds(),)
    if held_out is None:
        return Trained(booster, rounds_used, seen=_scored(growth.margins(), batch))
    return Trained(booster, rounds_used, held_out=_scored(margins(booster, held_out.X), held_out))


def train_external(
    ranker: APSettings, source: Any, batch: Batch, batch_rows: int, on_rows: OnRows
) -> Trained:
    """One model from rows on disk, stopped as ``train_one`` stops it, by the same rows."""
    seed, threads, depth = seed_of(ranker), threads_of(ranker), one_depth(ranker)
    assert ranker.schema_ is not None
    spared = _spare(ranker, batch, seed)
    held_out = None if spared is None else take(batch, spared)
    learned = batch if spared is None else without(batch, spared)
    rounds = _rounds_left(ranker, None, held_out)
    judging = _judging(ranker, held_out, spared, rounds)
    best = _Best(judging.get("judge"), spared)

    def grow(matrix: xgb.DMatrix) -> tuple[xgb.Booster, NDArray[np.float32]]:
        growth = Growth(matrix, **_tree_making(ranker, learned, depth, _mixed(seed, 0, depth), threads))
        booster = boost(growth, rounds, **(judging | ({} if spared is None else {"judge": best})))
        # Rows on disk are not walked through again for what they had in the best round.
        return booster, growth.margins() if spared is None else best.margin

    settings: dict[str, Any] = {
        "n_rows": batch.y.size,
        "batch_rows": batch_rows,
        "on_rows": on_rows,
        "max_bin": ranker.max_bin,
        "n_jobs": threads,
        "keys": batch.lists.row_keys,
    }
    booster, margin = boost_from_disk(source, ranker.schema_, grow, **settings)
    rounds_used = (booster.num_boosted_rounds(),)
    if held_out is None:
        return Trained(booster, rounds_used, seen=_scored(margin, batch))
    return Trained(booster, rounds_used, held_out=_scored(margin, held_out))


class _Best:
    """A judge that keeps the margins of the held-out rows in the round that it liked best."""

    def __init__(self, judge: Judge | None, spared: NDArray[np.bool_] | None) -> None:
        self.judge, self.spared, self.value = judge, spared, -np.inf
        self.margin: NDArray[np.float32] = np.empty(0, dtype=np.float32)

    def __call__(self, margin: NDArray[np.float32]) -> float:
        assert self.judge is not None
        value = self.judge(margin)
        if value > self.value:
            self.value, self.margin = value, margin[self.spared].copy()
        return value


def goal_of(objective: Objective, batch: Batch) -> Goal:
    """An objective on the rows of a batch."""
    return objective.bind(batch.y.astype(np.float64), batch.lists)


def average_precision_of(batch: Batch) -> Judge:
    """Judges margins of these rows by their average precision: weighted in one list, the mean over several."""
    if batch.lists.is_one and batch.lists.place is not None:
        return spread_average_precision(batch)
    if batch.lists.is_one:
        return lambda margin: average_precision(batch.y, margin, sample_weight=batch.sample_weight)
    goal = goal_of(AveragePrecision(), batch)
    return lambda margin: goal.value(margin.astype(np.float64))


def are_few(n_rows: int) -> bool:
    """Whether so few rows are learned on folds, by one machine that holds them all."""
    return n_rows <= FEW_ROWS


def count_folds(ranker: APSettings, batch: Batch, held_out: Batch | None) -> int:
    """How many folds to train; 0: one model."""
    n_folds = _count_folds(ranker, batch, held_out)
    if not n_folds and ranker.committee not in ("auto", False):
        raise InvalidInputError(
            "the members of a committee are weighed by rows that folds leave out, and this trains one model; "
            "use folds=4, or committee='auto'."
        )
    return n_folds


def _count_folds(ranker: APSettings, batch: Batch, held_out: Batch | None) -> int:
    most, folds = divisible(batch.y, batch.lists), ranker.folds
    if folds == "auto":
        spread = batch.lists.place is not None
        one_model = (
            ranker.warm_start or held_out is not None or not are_few(batch.y.size) or most < 2 or spread
        )
        return 0 if one_model else min(4, most)
    if folds and (ranker.warm_start or held_out is not None):
        raise InvalidInputError("warm_start and a validation set are for one model; use them with folds=0.")
    if folds > most:
        raise InvalidInputError(
            f"folds is {folds} but there are only {most} wanted rows (or lists with one) to deal among them. "
            "Use fewer folds, or folds=0 for one model."
        )
    return int(folds)


def _tree_making(ranker: APSettings, batch: Batch, depth: Any, seed: int, threads: int) -> dict[str, Any]:
    """The arguments of ``Growth`` that say how each tree is made."""
    params = {
        "max_depth": int(depth),
        "learning_rate": ranker.learning_rate,
        "colsample_bynode": ranker.colsample_bynode,
        "min_child_weight": ranker.min_child_weight,
        "lambda": ranker.reg_lambda,
        "max_bin": ranker.max_bin,
        "max_cat_threshold": ranker.max_cat_threshold,
        "seed": seed,
        "nthread": threads,
        **constraints(ranker, batch.categorical.size),
    }
    gradient = make_loss(ranker.loss, batch, alpha=ranker.alpha, mix=ranker.mix, threads=threads)
    step: Step = newton_step(gradient, Draw(ranker.subsample, seed, threads, batch.lists.row_keys))
    if ranker.loss == "ap_exp_faithful":
        step = LineSearchStep(
            batch, params, learning_rate=ranker.learning_rate, subsample=ranker.subsample, seed=seed
        )
    return {"params": params, "step": step}


def _matrix(ranker: APSettings, batch: Batch, threads: int, ref: Any = None) -> xgb.QuantileDMatrix:
    bins = {"max_bin": ranker.max_bin, "n_jobs": threads, "ref": ref, "lists": batch.lists}
    return training_matrix(batch.X, categorical=batch.categorical, **bins)


def _judging(
    ranker: APSettings, held_out: Batch | None, spared: NDArray[np.bool_] | None, rounds: int
) -> dict[str, Any]:
    """The arguments of ``boost`` that say when to stop and whom to tell."""
    callback = ranker.callback
    on_round = None if callback is None else lambda round_, value: callback(round_ + 1, rounds, value)
    if held_out is None:
        return {"on_round": on_round}
    judge = average_precision_of(held_out)
    return {
        "judge": judge if spared is None else lambda margin: judge(margin[spared]),
        "patience": ranker.early_stopping_rounds,
        "on_round": on_round,
    }


def _spare(ranker: APSettings, batch: Batch, seed: int) -> NDArray[np.bool_] | None:
    """Which rows to hold out, if any can be spared."""
    n_parts = max(2, round(1 / ranker.validation_fraction))
    lists = batch.lists
    n_wanted = float(lists.sums.sum(np.array([np.count_nonzero(batch.y)], dtype=np.float64))[0])
    enough = n_wanted >= n_parts * VALIDATION_WANTED and divisible(batch.y, lists) >= n_parts
    if ranker.early_stopping_rounds is None or not enough:
        return None
    if not lists.is_one:
        return deal_folds(batch.y, lists, n_parts, seed) == 0
    # By hash, so that the same rows are held out wherever they lie.
    spared = np.zeros(batch.y.size, dtype=bool)
    spared[drawn_rows(batch.y.size, 1 / n_parts, seed, lists.row_keys)] = True
    return spared


def _rounds_left(ranker: APSettings, start: xgb.Booster | None, held_out: Batch | None) -> int:
    most = most_rounds(ranker, held_out is not None and ranker.early_stopping_rounds is not None)
    if start is None:
        return most
    left = most - start.num_boosted_rounds()
    if left < 1:
        raise InvalidInputError(
            f"warm_start adds rounds up to n_estimators, and {most} are there already; raise n_estimators."
        )
    return left


def _scored(margin: NDArray[np.float32], batch: Batch) -> Scored:
    return of_all_rows(margin.astype(np.float64), batch)


def _look_report(ranker: APSettings, number: int, n_depths: int) -> OnLook | None:
    """Tells the callback how far the depth of that number is, among all depths."""
    callback = ranker.callback
    if callback is None:
        return None
    return lambda done, most, value: callback(number * most + done, n_depths * most, value)


def _mixed(*numbers_: int) -> int:
    """One seed from several numbers."""
    return int(np.random.SeedSequence([int(n) for n in numbers_]).generate_state(1)[0] >> 1)
