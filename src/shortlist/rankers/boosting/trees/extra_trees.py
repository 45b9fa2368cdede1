"""Forests of extra trees, in the format of boosted models: split by split what scikit-learn grew.

Thresholds are drawn at random, so the forest errs elsewhere than boosted trees do. The codes of a category have no
order; every few trees they get another one by lot, and a threshold then parts the categories at random. In the boosted
model that is a set of categories.

scikit-learn sends x <= t to the left, t in double precision, XGBoost x < t' in single: t' is the next single above the
largest one that does not exceed t, so no value goes astray.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.ensemble import ExtraTreesRegressor

from shortlist.rankers.boosting.trees.sums import booster_of

#: Trees of a fold, how deep, and how many of them read categories in one order.
N_TREES, DEPTH, SAME_ORDER = 50, 8, 10
#: A column of more categories is left to the boosted trees: each split would have to name half of them.
MOST_CATEGORIES = 256
#: What XGBoost calls the parent of a root.
_NO_PARENT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Orders:
    """For each column of categories (by position) the place of each code in an order by lot."""

    place_of: dict[int, NDArray[np.int64]]

    @classmethod
    def draw(cls, X: Any, categorical: NDArray[np.bool_], rng: np.random.Generator) -> Orders:
        """An order for each column of categories that X has; all have one place in a column of too many."""
        sizes = {int(j): _n_codes(X[:, j]) for j in np.flatnonzero(categorical)}
        one_place = {j: np.zeros(size, dtype=np.int64) for j, size in sizes.items() if size > MOST_CATEGORIES}
        return cls({j: rng.permutation(size) for j, size in sizes.items()} | one_place)

    def apply(self, X: Any) -> Any:
        """X with places for codes."""
        if not self.place_of:
            return X
        X = X.copy()
        for column, place in self.place_of.items():
            known = ~np.isnan(X[:, column])
            X[known, column] = place[X[known, column].astype(np.int64)]
        return X

    def beyond(self, column: int, threshold: float) -> NDArray[np.int64]:
        """The codes that a threshold sends to the right; where only gaps go there, a code that no row has."""
        codes = np.flatnonzero(self.place_of[column] > threshold)
        return codes if codes.size else np.array([self.place_of[column].size])


def _n_codes(codes: NDArray) -> int:
    largest = np.fmax.reduce(codes)
    return 0 if np.isnan(largest) else int(largest) + 1


def grow_extra_trees(
    X: Any,
    y: NDArray,
    weight: NDArray[np.float64] | None,
    categorical: NDArray[np.bool_],
    *,
    like: xgb.Booster,
    seed: int,
) -> xgb.Booster:
    """A boosted model whose margin is the mean share of wanted rows in a row's leaves.

    Its columns are those of ``like``; rows without weight are not learned from.
    """
    rng, trees = np.random.default_rng(seed), []
    rows = slice(None) if weight is None else np.flatnonzero(weight > 0)
    same_order = SAME_ORDER if categorical.any() else N_TREES
    for _ in range(0, N_TREES, same_order):
        orders = Orders.draw(X, categorical, rng)
        forest = ExtraTreesRegressor(
            same_order,
            max_depth=DEPTH,
            max_features="sqrt",
            random_state=int(rng.integers(2**31)),
        )
        forest.fit(orders.apply(X[rows]), y[rows], None if weight is None else weight[rows])
        trees += [translated(grown.tree_, orders, absent_is_zero=issparse(X)) for grown in forest.estimators_]
    return booster_of(trees, like)


def translated(tree: Any, orders: Orders, *, absent_is_zero: bool = False) -> dict[str, Any]:
    """A tree of scikit-learn as XGBoost writes one; its leaves and gains are 1 / ``N_TREES`` of its own.

    With ``absent_is_zero`` it grew from a sparse matrix, where XGBoost takes for missing what scikit-learn takes for 0.
    """
    order, left, parents = _siblings_together(tree.children_left, tree.children_right)
    inner = left >= 0
    column = np.where(inner, tree.feature[order], 0).astype(np.int32)
    threshold = np.where(inner, tree.threshold[order], 0.0)
    value = (tree.value[order, 0, 0] / N_TREES).astype(np.float32)
    split = np.where(inner, _just_above(threshold), value).astype(np.float32)
    default_left = threshold >= 0 if absent_is_zero else tree.missing_go_to_left[order] != 0
    by_set = inner & np.isin(column, list(orders.place_of))
    sets = [orders.beyond(int(column[node]), threshold[node]) for node in np.flatnonzero(by_set)]
    sizes = np.array([each.size for each in sets], dtype=np.int64)
    impurity = tree.impurity * tree.weighted_n_node_samples
    gain = impurity[order]
    gain[inner] -= gain[left[inner]] + gain[left[inner] + 1]
    return {
        "base_weights": value,
        "categories": np.concatenate([*sets, np.empty(0)]).astype(np.int32),
        "categories_nodes": np.flatnonzero(by_set).astype(np.int32),
        "categories_segments": np.cumsum(sizes) - sizes,
        "categories_sizes": sizes,
        "default_left": (inner & default_left).astype(np.uint8),
        "id": 0,
        "left_children": left,
        "loss_changes": np.where(inner, gain / N_TREES, 0).astype(np.float32),
        "parents": parents,
        "right_children": np.where(inner, left + 1, -1).astype(np.int32),
        "split_conditions": split,
        "split_indices": column,
        "split_type": by_set.astype(np.uint8),
        "sum_hessian": tree.weighted_n_node_samples[order].astype(np.float32),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(tree.n_features),
            "num_nodes": str(order.size),
            "size_leaf_vector": "1",
        },
    }


def _siblings_together(
    left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Nodes level by level, where XGBoost looks for a right child: behind its left one.

    Gives the nodes in that order, the new place of each one's left child (-1: a leaf), and of its parent.
    """
    levels = [np.zeros(1, dtype=np.int64)]
    while (inner := levels[-1][left[levels[-1]] >= 0]).size:
        levels.append(np.stack([left[inner], right[inner]], axis=1).ravel())
    order = np.concatenate(levels)
    inner = np.flatnonzero(left[order] >= 0)
    new_left = np.full(order.size, -1, dtype=np.int32)
    new_left[inner] = 1 + 2 * np.arange(inner.size)
    parents = np.full(order.size, _NO_PARENT, dtype=np.int32)
    parents[1:] = np.repeat(inner, 2)
    return order, new_left, parents


def _just_above(threshold: NDArray[np.float64]) -> NDArray[np.float32]:
    """The least single-precision number that exceeds the threshold."""
    near = threshold.astype(np.float32)
    return np.where(near > threshold, near, np.nextafter(near, np.float32(np.inf)))
