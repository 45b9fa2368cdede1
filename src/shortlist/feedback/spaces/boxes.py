"""Trees that cut boxes without a look at the rows in them: what HS-Trees and RS-Forest share.

All trees grow at once, level by level. The rows only say where to stop: a box that holds few of them is not cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.spaces.forest import Floats, Forest, Integers, Tree
from shortlist.validation import check_budget, make_generator

#: A box that is cut has more than this share of the sampled rows, unless the caller says how many.
SIZE_LIMIT = 0.1
#: An empty box counts as if it held half a row.
LEAST_COUNT = 0.5


@dataclass(frozen=True)
class Cuts:
    """How boxes are drawn, the only thing in which the two ensembles differ."""

    #: From a generator and a shape: where boxes begin and end; 0 and 1 are the least and the largest known value.
    ranges: Callable[[np.random.Generator, tuple[int, int]], tuple[Floats, Floats]]
    #: From a generator and a number: which share of each box lies below its cut.
    shares: Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True)
class Limits:
    """How far trees are grown."""

    n_trees: int
    sample_size: int
    max_depth: int
    size_limit: int | None  # a box with at most so many of the sampled rows is not cut; None: a tenth of them

    @classmethod
    def checked(cls, n_trees: Any, sample_size: Any, max_depth: Any, size_limit: Any) -> Self:
        """Limits as a caller gives them."""
        named = {"n_trees": n_trees, "sample_size": sample_size, "max_depth": max_depth}
        limit = None if size_limit is None else check_budget(size_limit, name="size_limit")
        return cls(
            **{name: check_budget(value, name=name) for name, value in named.items()}, size_limit=limit
        )

    def fewest(self, size: int) -> int:
        """How many of its tree's sampled rows a box must hold to be cut."""
        return 1 + max(1, int(SIZE_LIMIT * size) if self.size_limit is None else self.size_limit)


class _Level(NamedTuple):
    """The nodes of one depth, of all trees; an inner node has its children side by side in the next level."""

    tree: Integers
    feature: Integers  # -1 at leaves
    threshold: Floats
    missing_left: NDArray[np.bool_]
    child: Integers  # the first of two, by its place in the next level
    value: Floats


def grow_box_forest(
    X: NDArray, categorical: NDArray[np.bool_], cuts: Cuts, limits: Limits, random_state: Any
) -> tuple[Forest, Floats]:
    """A forest of boxes, and of each leaf -log density: its share of the volume over its share of the sampled rows."""
    rng = make_generator(random_state)
    low, high = (reduce(X, axis=0).astype(np.float64) for reduce in (np.fmin.reduce, np.fmax.reduce))
    varies = np.flatnonzero(high > low)
    if not varies.size:
        raise InvalidInputError(
            f"no column has two values, so no tree can tell the {X.shape[0]} rows apart. "
            "Give columns that differ between rows."
        )
    low[categorical], high[categorical] = -0.5, high[categorical] + 0.5
    places = {int(j): _category_places(high[j], limits.n_trees, rng) for j in varies if categorical[j]}
    rows = _sample(X, limits, places, rng)
    if limits.fewest(rows.shape[1]) > rows.shape[1]:
        raise InvalidInputError(
            f"a box is cut where it holds more than {limits.fewest(rows.shape[1]) - 1} rows, but trees have "
            f"{rows.shape[1]}. Lower size_limit, or raise sample_size."
        )
    begin, end = cuts.ranges(rng, (limits.n_trees, X.shape[1]))
    boxes = _Boxes.first(rows, low * (1 - begin) + high * begin, low * (1 - end) + high * end)
    return _join(_grow(boxes, varies, cuts, limits, rng), limits.n_trees, places)


def _category_places(high: float, n_trees: int, rng: np.random.Generator) -> Integers:
    """Categories have no order: each tree gives them places of its own, so that a cut sets any of them apart."""
    return np.array([rng.permutation(int(high + 0.5)) for _ in range(n_trees)])


def _sample(X: NDArray, limits: Limits, places: dict[int, Integers], rng: np.random.Generator) -> Floats:
    """Rows for each tree, categories as their places: (trees, rows, columns)."""
    size = min(limits.sample_size, X.shape[0])
    drawn = [rng.choice(X.shape[0], size, replace=False) for _ in range(limits.n_trees)]
    rows = np.asarray(X[np.array(drawn)], dtype=np.float64)
    for column, by_tree in places.items():
        known = ~np.isnan(rows[:, :, column])
        rows[known, column] = by_tree[np.nonzero(known)[0], rows[known, column].astype(np.int64)]
    return rows


@dataclass(frozen=True)
class _Boxes:
    """The boxes of one level, each of a tree, and the sampled rows in them."""

    tree: Integers
    low: Floats  # (boxes, columns)
    high: Floats
    log_volume: Floats  # of each box, as a share of its tree's
    rows: Floats
    box: Integers  # the box that each row is in

    @classmethod
    def first(cls, rows: Floats, low: Floats, high: Floats) -> _Boxes:
        """The whole box of each tree, with all its rows."""
        n_trees, size, n_columns = rows.shape
        trees = np.arange(n_trees)
        return cls(trees, low, high, np.zeros(n_trees), rows.reshape(-1, n_columns), np.repeat(trees, size))

    def counts(self) -> Integers:
        """How many rows each box holds."""
        return np.bincount(self.box, minlength=self.tree.size)

    def cut(
        self, inner: NDArray[np.bool_], feature: Integers, threshold: Floats, share: Floats, to_left: NDArray
    ) -> _Boxes:
        """The two halves of each inner box, side by side, and the rows of those boxes."""
        stay = inner[self.box]
        rows, box = self.rows[stay], self.box[stay]
        x = rows[np.arange(box.size), feature[box]]
        right = np.where(np.isnan(x), ~to_left[box], x > threshold[box])
        low, high = (np.repeat(side[inner], 2, axis=0) for side in (self.low, self.high))
        first = np.arange(0, low.shape[0], 2)
        high[first, feature[inner]] = low[first + 1, feature[inner]] = threshold[inner]
        halves = np.column_stack([np.log(share[inner]), np.log1p(-share[inner])]).ravel()
        volume = np.repeat(self.log_volume[inner], 2) + halves
        place = np.cumsum(inner) - 1
        return _Boxes(np.repeat(self.tree[inner], 2), low, high, volume, rows, 2 * place[box] + right)


def _grow(
    boxes: _Boxes, varies: Integers, cuts: Cuts, limits: Limits, rng: np.random.Generator
) -> list[_Level]:
    """Cut level by level, columns drawn evenly among those that vary, until no box may be cut."""
    size = boxes.rows.shape[0] // limits.n_trees
    levels: list[_Level] = []
    while True:
        n, counts = boxes.tree.size, boxes.counts()
        inner = (counts >= limits.fewest(size)) & (len(levels) < limits.max_depth)
        drawn, share, to_left = varies[rng.integers(varies.size, size=n)], cuts.shares(rng, n), rng.random(n)
        low, high = (side[np.arange(n), drawn] for side in (boxes.low, boxes.high))
        threshold = low + share * (high - low)
        value = boxes.log_volume - np.log(np.maximum(counts, LEAST_COUNT) / size)
        child = np.where(inner, 2 * (np.cumsum(inner) - 1), 0)
        levels.append(_Level(boxes.tree, np.where(inner, drawn, -1), threshold, to_left < 0.5, child, value))
        if not inner.any():
            return levels
        boxes = boxes.cut(inner, drawn, threshold, share, to_left < 0.5)


def _join(levels: list[_Level], n_trees: int, places: dict[int, Integers]) -> tuple[Forest, Floats]:
    """The levels of all trees as one tree after the other, and the values of their leaves."""
    starts = np.cumsum([level.tree.size for level in levels])
    children = [level.child + start for level, start in zip(levels, starts, strict=True)]
    nodes = _Level._make(np.concatenate(part) for part in zip(*levels, strict=True))
    order = np.argsort(nodes.tree, kind="stable")  # parents stay before their children
    sizes = np.bincount(nodes.tree, minlength=n_trees)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    inner = nodes.feature >= 0
    child = np.zeros(order.size, dtype=np.int64)
    child[inner] = place[np.concatenate(children)[inner]]
    nodes = _Level._make(part[order] for part in nodes._replace(child=child))
    parts = np.split(np.arange(order.size), np.cumsum(sizes)[:-1])
    trees = [_tree(_Level._make(part[at] for part in nodes), places) for at in parts]
    return Forest.of(trees), nodes.value[nodes.feature < 0]


def _tree(nodes: _Level, places: dict[int, Integers]) -> Tree:
    """One tree; of a column of categories, those beyond the cut in the tree's own order go to the second child."""
    number = nodes.tree[0]
    codes = {
        at: np.flatnonzero(places[column][number] > nodes.threshold[at]).tolist()
        for at, column in enumerate(nodes.feature.tolist())
        if column in places
    }
    child = np.column_stack([nodes.child, nodes.child + (nodes.feature >= 0)]).ravel()
    return Tree(nodes.feature.astype(np.int32), nodes.threshold, child, nodes.missing_left, codes)
