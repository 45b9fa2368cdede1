"""How APBoost is trained: one model that stops early, or the fold ensemble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.metrics import average_precision
from shortlist.objectives import AveragePrecision, Goal, Objective
from shortlist.rankers.base import Batch
from shortlist.rankers.boosting.ap_losses import make_loss
from shortlist.rankers.boosting.ap_settings import APSettings, constraints, one_depth, seed_of, threads_of
from shortlist.rankers.boosting.engine import Judge, Step, boost, margins, newton_step, training_matrix
from shortlist.rankers.boosting.external import boost_from_disk
from shortlist.rankers.boosting.fold_ensemble import fit_ensemble
from shortlist.rankers.boosting.folds import deal_folds, divisible, take, without
from shortlist.rankers.boosting.line_search import LineSearchStep

#: With folds="auto", the rows up to which a fold ensemble is worth its eight fits.
ENSEMBLE_ROWS = 300_000
#: A validation set that one model holds out for itself has at least so many wanted rows: fewer stop it at random.
VALIDATION_WANTED = 20
#: Scores, labels and weights of rows that a model did not see.
HeldOut = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64] | None]


@dataclass(frozen=True, eq=False)
class Trained:
    """What training leaves behind."""

    booster: xgb.Booster
    rounds: tuple[int, ...]
    oof_score: NDArray[np.float64] | None = None
    held_out: HeldOut | None = None


def train_folds(ranker: APSettings, batch: Batch, n_folds: int) -> Trained:
    """The fold ensemble."""
    seed, threads = seed_of(ranker), threads_of(ranker)
    depths = (3, 6) if ranker.max_depth is None else np.atleast_1d(ranker.max_depth)
    rounds, per_fit = ranker.n_estimators or 150, max(1, threads // n_folds)

    def fit_depths(rows: Batch, fold: int) -> list[xgb.Booster]:
        matrix = _matrix(ranker, rows, per_fit)
        return [
            boost(
                matrix, **_tree_making(ranker, rows, depth, _mixed(seed, fold, depth), per_fit), rounds=rounds
            )
            for depth in depths
        ]

    ensemble = fit_ensemble(
        batch,
        deal_folds(batch.y, batch.lists, n_folds, np.random.default_rng(seed)),
        fit_depths,
        None if ranker.early_stopping_rounds is None else average_precision_of(batch),
        n_jobs=min(threads, n_folds),
        on_fold=_fold_report(ranker),
    )
    held_out = (ensemble.oof_score, batch.y, batch.sample_weight)
    return Trained(ensemble.booster, ensemble.rounds, ensemble.oof_score, held_out)


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
    booster = boost(
        matrix,
        **_tree_making(ranker, batch, depth, _mixed(seed, 0, depth), threads),
        **_judging(ranker, held_out, spared, rounds),
        **({} if given is None else {"valid": _matrix(ranker, given, threads, ref=matrix)}),
        rounds=rounds,
        start=start,
    )
    return Trained(booster, (booster.num_boosted_rounds(),), held_out=_scored(booster, held_out))


def train_external(ranker: APSettings, source: Any, batch: Batch, batch_rows: int) -> Trained:
    """One model from rows on disk; all rounds are used."""
    threads, depth, rounds = threads_of(ranker), one_depth(ranker), ranker.n_estimators or 150
    assert ranker.schema_ is not None

    def grow(matrix: xgb.DMatrix) -> xgb.Booster:
        making = _tree_making(ranker, batch, depth, _mixed(seed_of(ranker), 0, depth), threads)
        return boost(matrix, **making, **_judging(ranker, None, None, rounds), rounds=rounds)

    settings = {"batch_rows": batch_rows, "max_bin": ranker.max_bin, "n_jobs": threads}
    return Trained(boost_from_disk(source, ranker.schema_, grow, **settings), (rounds,))


def goal_of(objective: Objective, batch: Batch) -> Goal:
    """An objective on the rows of a batch."""
    return Goal(objective, batch.lists, objective.gains(batch.y.astype(np.float64), batch.lists))


def average_precision_of(batch: Batch) -> Judge:
    """Judges margins of these rows by their average precision: weighted in one list, the mean over several."""
    if len(batch.lists) == 1:
        return lambda margin: average_precision(batch.y, margin, sample_weight=batch.sample_weight)
    goal = goal_of(AveragePrecision(), batch)
    return lambda margin: goal.value(margin.astype(np.float64))


def count_folds(ranker: APSettings, batch: Batch, held_out: Batch | None) -> int:
    """How many folds to train; 0: one model."""
    most, folds = divisible(batch.y, batch.lists), ranker.folds
    if folds == "auto":
        one_model = ranker.warm_start or held_out is not None or batch.y.size > ENSEMBLE_ROWS or most < 2
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
    """The arguments of ``boost`` that say how each tree is made."""
    params = {
        "max_depth": int(depth),
        "learning_rate": ranker.learning_rate,
        "subsample": ranker.subsample,
        "colsample_bynode": ranker.colsample_bynode,
        "min_child_weight": ranker.min_child_weight,
        "lambda": ranker.reg_lambda,
        "max_bin": ranker.max_bin,
        "seed": seed,
        "nthread": threads,
        **constraints(ranker, batch.categorical.size),
    }
    gradient = make_loss(ranker.loss, batch, alpha=ranker.alpha, mix=ranker.mix, threads=threads)
    step: Step = newton_step(gradient)
    if ranker.loss == "ap_exp_faithful":
        step = LineSearchStep(
            batch, params, learning_rate=ranker.learning_rate, subsample=ranker.subsample, seed=seed
        )
    return {"gradient": gradient, "params": params, "step": step}


def _matrix(ranker: APSettings, batch: Batch, threads: int, ref: Any = None) -> xgb.QuantileDMatrix:
    bins = {"max_bin": ranker.max_bin, "n_jobs": threads, "ref": ref}
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
    enough = batch.y.sum() >= n_parts * VALIDATION_WANTED and divisible(batch.y, batch.lists) >= n_parts
    if ranker.early_stopping_rounds is None or not enough:
        return None
    return deal_folds(batch.y, batch.lists, n_parts, np.random.default_rng(seed)) == 0


def _rounds_left(ranker: APSettings, start: xgb.Booster | None, held_out: Batch | None) -> int:
    most = ranker.n_estimators or (150 if held_out is None else 500)
    if start is None:
        return most
    left = most - start.num_boosted_rounds()
    if left < 1:
        raise InvalidInputError(
            f"warm_start adds rounds up to n_estimators, and {most} are there already; raise n_estimators."
        )
    return left


def _scored(booster: xgb.Booster, held_out: Batch | None) -> HeldOut | None:
    if held_out is None:
        return None
    return margins(booster, held_out.X).astype(np.float64), held_out.y, held_out.sample_weight


def _fold_report(ranker: APSettings) -> Any:
    callback = ranker.callback
    return None if callback is None else lambda done, total: callback(done, total, None)


def _mixed(*numbers_: int) -> int:
    """One seed from several numbers."""
    return int(np.random.SeedSequence([int(n) for n in numbers_]).generate_state(1)[0] >> 1)
