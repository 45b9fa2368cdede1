"""The committee: boosted trees and extra trees of folds of their own, as one sum of trees.

Each member's out-of-fold scores are brought to log-odds by a line (Platt's); members are weighted by what their
out-of-fold scores are worth, as depths are. Lines and weights keep the committee a sum of trees: one model, with exact
contributions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.fold_ensemble import FoldEnsemble, weights_by_worth
from shortlist.rankers.boosting.trees.boosted import margins
from shortlist.rankers.boosting.trees.engine import Judge
from shortlist.rankers.boosting.trees.extra_trees import grow_extra_trees
from shortlist.rankers.boosting.trees.sums import TreeSum
from shortlist.rankers.chances.calibration import logistic_line


def extra_trees(
    ensemble: FoldEnsemble,
    batch: Batch,
    parts: Sequence[Batch],
    fold: NDArray[np.int64],
    *,
    seed_of_fold: Callable[[int], int],
    n_jobs: int,
) -> FoldEnsemble:
    """Extra trees of each fold, whose means are averaged; ``parts`` have no weight on the rows of their fold."""
    like = ensemble.trees.boosters[0]
    weights = [np.asarray(part.sample_weight, dtype=np.float64) for part in parts]
    boosters = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(grow_extra_trees)(
            batch.X, batch.y, weight, batch.categorical, like=like, seed=seed_of_fold(number)
        )
        for number, weight in enumerate(weights)
    )
    score = np.empty(batch.y.size)
    for number, booster in enumerate(boosters):
        score[fold == number] = margins(booster, batch.X[fold == number])
    share = 1 / len(boosters)
    trees = TreeSum(tuple(boosters), (share,) * len(boosters))
    # They have one deal and nothing to compare it with: they are taken to be as noisy as boosted trees of one depth.
    noise = ensemble.noise_of_one * float(score.var())
    return FoldEnsemble(trees, score, ensemble.rounds, noise, ensemble.noise_of_one)


def seated(members: Sequence[FoldEnsemble], batch: Batch, judge: Judge) -> FoldEnsemble:
    """The members as one; where one of them tells nothing of rows that it did not see, the first alone."""
    lines = [logistic_line(member.oof_score, batch.y, batch.sample_weight) for member in members]
    if min(slope for slope, _ in lines) <= 0:
        return members[0]
    worth = [judge(member.oof_score.astype(np.float32)) for member in members]
    weights = weights_by_worth(worth, int(np.count_nonzero(batch.y)))
    trees, score, noise = TreeSum((), ()), np.zeros(batch.y.size), 0.0
    for member, (slope, base), weight in zip(members, lines, weights, strict=True):
        trees += member.trees.scaled(weight * slope, weight * base)
        score += weight * (slope * member.oof_score + base)
        noise += (weight * slope) ** 2 * member.noise
    return FoldEnsemble(trees, score, members[0].rounds, noise, members[0].noise_of_one)
