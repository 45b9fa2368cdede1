"""The fold ensemble: models of several depths, each fitted without one fold, and their weighted mean.

All models learn from one matrix: the rows of a model's own fold have no gradient, and their margins, which come with
the training, are what it says of rows that it did not see. The models of a depth grow side by side. Every 10 rounds
their pooled out-of-fold margins are judged; they stop when no look has been better for a while, and the number of
rounds is that of the best look, smoothed over three. With m_d the mean margin of a depth's fold models, and μ_d, s_d
the mean and standard deviation of its out-of-fold margins, the score of a row is the mean over depths of
(m_d - μ_d) / s_d, each weighted by what its out-of-fold margins are worth (``weights_by_worth``). It is linear in the
margins, so the ensemble is itself one boosted model.

Every training row has an out-of-fold score, from models that never saw it: honest figures and calibration for free.

That score comes from one model per depth, a new row's from the mean over K folds, which has less noise: the same score
of a new row stands for more. How much noise there is, the training rows tell. Depths deal their own folds, so that they
share what is known of a row, ρ of the variance of standardised margins, and not the rest: of the mean with weights w,
(1 - ρ) Σ w² is noise. Depths may also differ in what they know; then that is too much. Models of one depth that saw a
row disagree about it, less than they would had they not seen it: with thousands of rows most of the noise, with
hundreds down to a quarter. So four times that is a bound, and with one depth it is what there is to go by. How far this
is right is measured by ``studies.quality.kappa``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import xgboost as xgb
from joblib import Parallel, delayed
from numpy.typing import NDArray

from shortlist.rankers.boosting.trees.engine import Growth, Judge
from shortlist.rankers.boosting.trees.sums import TreeSum

#: Rounds between two looks at the out-of-fold objective.
LOOK_EVERY = 10
#: Models disagree about rows that they did not see by at most so many times as much, in variance.
MOST_UNSEEN = 4
#: Beyond this sum of squared weights one depth has nearly all of it, and the others tell nothing of its noise.
MOST_ALONE = 0.95
#: Told the looks taken, the most there may be, and the value of the last one.
OnLook = Callable[[int, int, float | None], object]


@dataclass(frozen=True, eq=False)
class FoldEnsemble:
    """The averaged models, the out-of-fold scores of their training rows, and the rounds chosen for each depth.

    noise : the part of the variance of out-of-fold scores that models of other folds would not share
    noise_of_one : what part of the variance of one member's out-of-fold scores is noise, 1 - ρ
    """

    trees: TreeSum
    oof_score: NDArray[np.float64]
    rounds: tuple[int, ...]
    noise: float
    noise_of_one: float

    def kappa(self, n_folds: int) -> float:
        """κ, the variance of out-of-fold scores over that of the mean of K folds' models, which has 1/K of the noise.

        >>> half_noise = FoldEnsemble(TreeSum((), ()), np.array([-1.0, 1.0]), (10,), noise=0.5, noise_of_one=0.5)
        >>> half_noise.kappa(4)
        1.6
        """
        variance = float(self.oof_score.var())
        noise = min(self.noise, variance)
        return variance / (variance - (1 - 1 / n_folds) * noise) if variance > 0 else 1.0


@dataclass(frozen=True, eq=False)
class Pooled:
    """The fold models of one depth, cut to the chosen rounds, their out-of-fold margins, and how much they disagree."""

    boosters: list[xgb.Booster]
    margin: NDArray[np.float64]
    rounds: int
    disagreement: float


def grow_folds(
    growths: Sequence[Growth],
    fold: NDArray[np.int64],
    judge: Judge | None,
    *,
    rounds: int,
    patience: int | None,
    n_jobs: int | None,
    on_look: OnLook | None = None,
) -> Pooled:
    """Grow the models of one depth, one per fold, and choose their rounds by ``judge`` (None: take all of them).

    They run in parallel threads; each draws its randomness from its own seed, so ``n_jobs`` changes nothing.
    """
    values: list[float] = []
    looks: dict[int, tuple[int, NDArray[np.float32], float]] = {}
    n_looks, done, best = -(-rounds // LOOK_EVERY), 0, 0
    with Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
        while done < rounds:
            more = min(LOOK_EVERY, rounds - done)
            parallel(delayed(growth.grow)(more) for growth in growths)
            done += more
            margins = [growth.margins() for growth in growths]
            pooled = _left_out(margins, fold)
            looks[len(values)] = done, pooled, disagreement(margins, pooled)
            values.append(float(done) if judge is None else judge(looks[len(values)][1]))
            best = best_look(values)
            looks = {look: kept for look, kept in looks.items() if look >= _may_be_chosen_from(values)}
            if on_look is not None:
                on_look(len(values), n_looks, None if judge is None else values[-1])
            if patience is not None and done - looks[best][0] >= patience:
                break
    chosen, margin, noise = looks[best]
    return Pooled([growth.booster[:chosen] for growth in growths], margin.astype(np.float64), chosen, noise)


def _left_out(margins: Sequence[NDArray[np.float32]], fold: NDArray[np.int64]) -> NDArray[np.float32]:
    """Of each row the margin by the model of its own fold, which did not learn from it."""
    pooled = np.empty_like(margins[0])
    for number, margin in enumerate(margins):
        np.copyto(pooled, margin, where=fold == number)
    return pooled


def disagreement(margins: Sequence[NDArray[np.float32]], pooled: NDArray[np.float32]) -> float:
    """The mean variance of what the models that saw a row say of it; 0 where it was one.

    >>> one, other, unseen = np.array([[1.0, 4.0], [3.0, 4.0], [9.0, 9.0]])
    >>> disagreement([one, other, unseen], unseen)
    1.0
    """
    if len(margins) < 3:
        return 0.0
    total, squares = -pooled.astype(np.float64), -(pooled.astype(np.float64) ** 2)
    for margin in margins:
        total += margin
        squares += margin.astype(np.float64) ** 2
    n_seen = len(margins) - 1
    return max(float(np.mean(squares - total**2 / n_seen)) / (n_seen - 1), 0.0)


def best_look(values: Sequence[float]) -> int:
    """The first look with the largest mean of itself and its neighbours: one lucky look is not chosen."""
    return int(np.argmax(_smooth(values)))


def _may_be_chosen_from(values: Sequence[float]) -> int:
    """The best look but for the last, whose mean the next look will change; none before it can still be chosen."""
    return int(np.argmax(_smooth(values)[:-1])) if len(values) > 1 else 0


def _smooth(values: Sequence[float]) -> NDArray[np.float64]:
    padded = np.concatenate([[values[0]], values, [values[-1]]])
    return padded[:-2] + padded[1:-1] + padded[2:]


def weights_by_worth(average_precision: Sequence[float], n_wanted: int) -> NDArray[np.float64]:
    """The weights of members, ∝ AP^p of their out-of-fold scores; they sum to 1.

    p = 4 √(P/50), at least 4 and at most 32: where many wanted rows P judge, a small lead is no luck.

    >>> weights_by_worth([0.5, 0.4], n_wanted=20).round(2).tolist()
    [0.71, 0.29]
    >>> weights_by_worth([0.5, 0.4], n_wanted=1_000).round(2).tolist()
    [0.98, 0.02]
    """
    power = min(max(4 * np.sqrt(n_wanted / 50), 4.0), 32.0)
    worth = np.asarray(average_precision, dtype=np.float64)
    weights = (worth / worth.max()) ** power
    return weights / weights.sum()


def average(depths: Sequence[Pooled], weights: NDArray[np.float64]) -> FoldEnsemble:
    """The mean of all depths with these weights, each in units of the spread of its out-of-fold margins."""
    trees, score = TreeSum((), ()), np.zeros(depths[0].margin.size)
    for pooled, weight in zip(depths, weights, strict=True):
        slope = weight / (float(pooled.margin.std()) or 1.0)
        base = -slope * pooled.margin.mean()
        score += slope * pooled.margin + base
        trees += TreeSum(tuple(pooled.boosters), (slope / len(pooled.boosters),) * len(pooled.boosters), base)
    noise_of_one = _noise_of_one(depths, weights, score)
    noise = noise_of_one * float(weights @ weights)
    return FoldEnsemble(trees, score, tuple(pooled.rounds for pooled in depths), noise, noise_of_one)


def _noise_of_one(
    depths: Sequence[Pooled], weights: NDArray[np.float64], score: NDArray[np.float64]
) -> float:
    """1 - ρ: the variance of the mean is V = ρ + (1 - ρ) Σ w², so that it is (1 - V) / (1 - Σ w²)."""
    seen = np.array([pooled.disagreement / (float(pooled.margin.var()) or 1.0) for pooled in depths])
    squares = weights**2
    disagreement = float(squares @ seen / squares.sum())
    if squares.sum() > MOST_ALONE:
        return disagreement
    apart = (1 - float(score.var())) / (1 - squares.sum())
    return min(apart, MOST_UNSEEN * disagreement) if disagreement > 0 else apart
