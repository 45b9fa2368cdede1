"""From rows to finished trees: the price of a leaf, bootstrap samples, restarts."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.target.breeding import Plan
from shortlist.rankers.target.evolution import Arena, best_of_restarts
from shortlist.rankers.target.problem import Problem
from shortlist.rankers.target.recipe import Recipe
from shortlist.rankers.target.scorecard import Scorecard
from shortlist.rankers.target.tree import Tree
from shortlist.rankers.target.watching import Watch

PRICES = (0.01, 0.03, 0.1, 0.3)  # of a leaf, times the share of rows that are worth anything
FOLDS = 5
MOST_GROWN = 32  # leaves of a greedy tree


def train(
    problem: Problem, X: NDArray, recipe: Recipe, watch: Watch, rng: np.random.Generator, n_threads: int
) -> tuple[list[Tree], float]:
    """The trees of a model, and the price of a leaf that was used; X are the rows before binning."""
    price_rng, *tree_rngs = rng.spawn(1 + recipe.n_trees)
    alpha = price_of_leaf(problem, X, recipe, watch, price_rng, n_threads)
    card = Scorecard(problem, X) if recipe.is_scorecard else None
    trees: list[Tree] = []
    for number, tree_rng in enumerate(tree_rngs):
        if trees and watch.stopped:
            break
        try:
            if card is not None:
                sample = card.problem
            else:
                sample = problem if recipe.n_trees == 1 else problem.take(_bootstrap(problem, tree_rng))
            trees.append(grow(sample, recipe, alpha, watch, tree_rng, n_threads, number))
            if card is not None:
                card.add(trees[-1])
        except KeyboardInterrupt:  # before the first generation of this tree
            watch.interrupt()
            if not trees:
                raise
    return trees if card is None else card.trees(), alpha


def grow(
    problem: Problem,
    recipe: Recipe,
    alpha: float,
    watch: Watch,
    rng: np.random.Generator,
    n_threads: int,
    number: int = 0,
) -> Tree:
    """The fittest tree of all restarts."""
    rows, position = problem.rows()
    arena = Arena(
        cuts=problem.cuts(position, rows.everyone.size, recipe.memory),
        rows=rows,
        plan=_plan(problem, recipe, alpha),
        population=recipe.population,
        max_leaves=recipe.max_leaves,
        generations=recipe.generations,
        estimator=number,
    )
    seeds = rng.integers(2**63, size=recipe.n_restarts, dtype=np.uint64)
    return Tree.from_genome(best_of_restarts(arena, seeds, watch, n_threads), arena, problem.bins)


def _plan(problem: Problem, recipe: Recipe, alpha: float) -> Plan:
    """The recipe's plan for these rows. Greedy trees have at most a leaf for every ten wanted rows.

    Where even two leaves are more than that, there are none: what they find first in few wanted rows is chance.
    """
    most = int(min(_wanted(problem) / 10, MOST_GROWN, recipe.max_leaves))
    return recipe.plan._replace(
        alpha=alpha, n_grown=recipe.plan.n_grown if most >= 2 else 0, most_grown=max(most, 2)
    )


def _wanted(problem: Problem) -> float:
    """How many rows are wanted; of impacts, how many equal ones would vary as much: (sum g)^2 / sum g^2."""
    largest = problem.gain.max()
    if largest == 0:  # a fold may hold all wanted rows back
        return 0.0
    gain = problem.gain / largest  # squares of large impacts overflow
    weight = np.ones(problem.n_rows) if problem.weight is None else problem.weight
    return float((weight * gain).sum() ** 2 / (weight * gain**2).sum())


def default_price(problem: Problem) -> float:
    """0.1 / sqrt(wanted): a fifth of the largest standard error that average precision can have.

    What a leaf gains by chance shrinks as wanted rows become more. A price in terms of pi alone does not: it lets a
    leaf for each of a few wanted rows pass, and denies many wanted rows the leaves they can support.
    """
    return 0.1 / _wanted(problem) ** 0.5


def price_of_leaf(
    problem: Problem, X: NDArray, recipe: Recipe, watch: Watch, rng: np.random.Generator, n_threads: int
) -> float:
    """The price of a leaf: given, by default, or the best of a few by cross-validation.

    Cross-validation takes at most half of the time limit. When that or Ctrl-C ends it, the folds done so far
    decide. Of prices that do equally well the highest wins, for it gives the smallest tree.
    """
    if isinstance(recipe.alpha, float):
        return recipe.alpha
    if recipe.alpha == "default":
        return default_price(problem)
    half = None if watch.deadline is None else (time.monotonic() + watch.deadline) / 2
    trial = Watch(patience=watch.patience, deadline=half)
    folds, values = _folds(problem, rng), np.zeros(len(PRICES))
    for fold, seed in enumerate(rng.integers(2**63, size=int(folds.max()) + 1)):
        held = folds == fold
        found = _values_of_prices(problem, X, held, recipe, trial, seed, n_threads)
        if trial.stopped:
            break
        values += found
    if not values.any():
        return default_price(problem)
    return PRICES[int(np.flatnonzero(values >= values.max() - 1e-12)[-1])] * problem.share


def _values_of_prices(
    problem: Problem,
    X: NDArray,
    held: NDArray[np.bool_],
    recipe: Recipe,
    watch: Watch,
    seed: int,
    n_threads: int,
) -> NDArray[np.float64]:
    """What a tree of each price, grown on the other rows, is worth on the rows held back."""
    kept, judge = problem.take(np.flatnonzero(~held)), problem.take(np.flatnonzero(held))
    values = np.zeros(len(PRICES))
    for place, price in enumerate(PRICES):
        # Every price starts from the same trees, so that they differ by the price alone.
        tree = grow(kept, recipe, price * problem.share, watch, np.random.default_rng(seed), n_threads)
        values[place] = judge.value(tree.score[tree.leaf_of(X[held], problem.bins)])
        if watch.stopped:
            break
    return values


def _folds(problem: Problem, rng: np.random.Generator) -> NDArray[np.int64]:
    """A fold for each row: whole lists where there are enough of them, else rows of each kind spread evenly."""
    n_lists = int(problem.list_of_row.max()) + 1
    if n_lists >= FOLDS:
        return _dealt(n_lists, rng)[problem.list_of_row]
    folds = np.zeros(problem.n_rows, dtype=np.int64)
    for kind in (True, False):
        members = np.flatnonzero((problem.gain > 0) == kind)
        folds[members] = _dealt(members.size, rng)
    return folds


def _dealt(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The numbers 0 to FOLDS - 1 in turn, shuffled."""
    return rng.permutation(np.arange(n) % FOLDS)


def _bootstrap(problem: Problem, rng: np.random.Generator) -> NDArray[np.int64]:
    """As many rows, drawn with replacement; drawn again where none of them is worth anything."""
    while True:
        rows = np.sort(rng.integers(problem.n_rows, size=problem.n_rows))
        gain = problem.gain[rows]
        if gain.max() > 0 and gain.min() < gain.max():
            return rows
