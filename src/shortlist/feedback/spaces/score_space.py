"""A score space: an ensemble seen as leaves, over which feedback rankers learn."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.rows.part import RowPart
from shortlist.feedback.rows.parts import Here, Parts
from shortlist.feedback.spaces.boxes import Limits
from shortlist.feedback.spaces.ensembles import check_columns, check_width, read_boosted, read_random_forest
from shortlist.feedback.spaces.forest import Floats, Forest, Integers
from shortlist.feedback.spaces.given import given_rows, rows_here
from shortlist.feedback.spaces.half_space import grow_half_space_trees
from shortlist.feedback.spaces.index import LeafIndex
from shortlist.feedback.spaces.isolation import (
    grow_isolation_forest,
    isolation_values,
    on_usual_scale,
    read_isolation_forest,
)
from shortlist.feedback.spaces.loda import Projection, make_loda
from shortlist.feedback.spaces.member_scores import bin_scores
from shortlist.feedback.spaces.rs_forest import grow_rs_forest
from shortlist.feedback.spaces.space_files import SpaceFile
from shortlist.kernels.feedback import trees as kernels
from shortlist.kernels.feedback.leaf_scores import add_up
from shortlist.tables.features import Columns
from shortlist.validation import check_budget

#: Rows are placed this many at a time, so that converting them needs little memory.
ROWS_AT_ONCE = 16 * kernels.BLOCK
#: The index is made anew when more than this share of the rows arrived after it was made.
UNINDEXED_SHARE = 0.125
#: What a file keeps: the parts that a space is made of, and the rows that were placed in it.
_MADE_OF = ("forest", "values", "columns", "leaf_counts", "projection", "single")
_ROWS = ("leaf_ids", "n_rows", "first_rows")


class ScoreSpace:
    """Rows by the leaves they fall into: n rows, m members (trees), l leaves.

    Each row is in exactly one leaf of each member; its score under weights w is ::

        score(x) = sum over members t of  w[leaf_t(x)] * value[leaf_t(x)]

    with ``values`` from the ensemble: 1 / (depth + c(count)) in an isolation forest, the leaf's output in boosted
    trees and random forests, -log density in half-space trees, RS-Forest and LODA. Feedback rankers learn w from
    verdicts.

    Leaf numbers take n·m bytes where members have at most 256 leaves (isolation trees always do), twice that
    up to 65,536. They are kept in blocks of rows, member by member within a block, so that scoring all rows is
    one sequential pass. ``build_index`` adds rows by leaf (4·n·m bytes), which makes small changes nearly free.

    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(500, 3)), rng.normal(6, 0.3, size=(5, 3))])
    >>> space = ScoreSpace.from_isolation_forest(X, n_trees=50, random_state=0)
    >>> space.n_rows, space.n_members, space.leaf_ids.dtype.name
    (505, 50, 'uint8')
    >>> space
    ScoreSpace(505 rows, 50 members)
    >>> sorted(np.argsort(-space.base_scores())[:5].tolist())
    [500, 501, 502, 503, 504]
    """

    def __init__(
        self,
        forest: Forest,
        values: Floats,
        columns: Columns,
        *,
        leaf_counts: Floats | None = None,
        projection: Projection | None = None,
        single: bool = False,
    ) -> None:
        check_width(forest, len(columns.names) if projection is None else forest.n_trees)
        self.forest = forest
        self.values = np.asarray(values, dtype=np.float64)
        self.columns = columns
        #: Sampled rows in each leaf of an isolation forest; None in other ensembles.
        self.leaf_counts = leaf_counts
        self.projection = projection
        self.single = single  # the ensemble was trained on float32, so its thresholds hold for float32 only
        self.index: LeafIndex | None = None
        self.n_rows = 0
        #: Rows the space was made with; what is measured of them stays fixed when rows arrive.
        self.first_rows = 0
        widest = int(np.diff(forest.leaf_starts).max())
        dtype = np.uint8 if widest <= 256 else np.uint16 if widest <= 65_536 else np.uint32
        self.leaf_ids: NDArray = np.zeros((0, forest.n_trees, kernels.BLOCK), dtype=dtype)

    @classmethod
    def from_isolation_forest(
        cls,
        X: Any,
        *,
        n_trees: int = 100,
        sample_size: int = 256,
        max_depth: int | None = 8,
        random_state: Any = 0,
        forest: Any = None,
    ) -> Self:
        """Leaves of an isolation forest, grown here or given as a fitted scikit-learn ``IsolationForest``.

        ``max_depth=None`` grows trees until every sampled row is alone, as OMD wants them. Missing values go to
        a side drawn once per node; of a categorical column a node sets one category apart. The rows of a table of Dask
        stay on its workers, here and with boosted models, random forests and LODA.
        """
        if forest is not None:
            trees, counts = read_isolation_forest(forest)
            rows = given_rows(X)
            check_columns(rows.columns, forest)
            return rows.placed(
                cls(trees, isolation_values(trees, counts), rows.columns, leaf_counts=counts, single=True)
            )
        check_budget(n_trees, name="n_trees")
        check_budget(sample_size, name="sample_size")
        depth = sample_size if max_depth is None else check_budget(max_depth, name="max_depth")
        rows = given_rows(X)
        trees, counts = grow_isolation_forest(
            rows, rows.columns.categorical, n_trees, sample_size, depth, random_state
        )
        if trees.n_leaves == trees.n_trees:
            raise InvalidInputError(
                f"all sampled rows are identical, so no tree can tell the {rows.n_rows} rows apart. "
                "Give columns that differ between rows."
            )
        return rows.placed(cls(trees, isolation_values(trees, counts), rows.columns, leaf_counts=counts))

    @classmethod
    def from_boosted(cls, X: Any, ranker: Any) -> Self:
        """Leaves of a fitted ranker of boosted trees (anything with ``booster_``, or an ``xgboost.Booster``).

        With all weights equal the score is the model's, so a supervised ranking goes on learning on the job.
        """
        if getattr(ranker, "sparse_", False):
            raise InvalidInputError(
                "this ranker was fitted on a sparse matrix, in which zeros are missing; a score space reads them as "
                "zeros. Fit it on an array or a table."
            )
        booster, schema = getattr(ranker, "booster_", ranker), getattr(ranker, "schema_", None)
        trees, values = read_boosted(booster)
        rows = given_rows(X, None if schema is None else Columns.of_schema(schema))
        if schema is None:
            check_columns(rows.columns, booster)
        return rows.placed(cls(trees, values, rows.columns, single=True))

    @classmethod
    def from_random_forest(cls, X: Any, forest: Any) -> Self:
        """Leaves of a fitted scikit-learn forest; a leaf's value is its output (of the last class) / m."""
        trees, values = read_random_forest(forest)
        rows = given_rows(X)
        check_columns(rows.columns, forest)
        return rows.placed(cls(trees, values, rows.columns, single=True))

    @classmethod
    def from_loda(
        cls, X: Any, *, n_projections: int = 100, n_bins: int | None = None, random_state: Any = 0
    ) -> Self:
        """Bins of the histograms of LODA: sparse random projections, value -log density of the bin."""
        check_budget(n_projections, name="n_projections")
        n_bins = None if n_bins is None else check_budget(n_bins, name="n_bins")
        rows = given_rows(X)
        projection, trees, values = make_loda(rows, n_projections, n_bins, random_state)
        return rows.placed(cls(trees, values, rows.columns, projection=projection))

    @classmethod
    def from_half_space_trees(
        cls,
        X: Any,
        *,
        n_trees: int = 100,
        sample_size: int = 256,
        max_depth: int = 15,
        size_limit: int | None = None,
        random_state: Any = 0,
    ) -> Self:
        """Leaves of HS-Trees: boxes halved until they hold few rows, value -log density on an isolation forest's scale.

        A box with at most ``size_limit`` of its tree's sampled rows is not cut; None: a tenth of them.
        """
        limits = Limits.checked(n_trees, sample_size, max_depth, size_limit)
        rows = rows_here(X)
        trees, values = grow_half_space_trees(rows.matrix, rows.columns.categorical, limits, random_state)
        return rows.placed(cls(trees, on_usual_scale(values), rows.columns))

    @classmethod
    def from_rs_forest(
        cls,
        X: Any,
        *,
        n_trees: int = 100,
        sample_size: int = 256,
        max_depth: int = 15,
        size_limit: int | None = None,
        random_state: Any = 0,
    ) -> Self:
        """Leaves of RS-Forest: as those of HS-Trees, but boxes are cut anywhere, not in the middle.

        A box with at most ``size_limit`` of its tree's sampled rows is not cut; None: a tenth of them.
        """
        limits = Limits.checked(n_trees, sample_size, max_depth, size_limit)
        rows = rows_here(X)
        trees, values = grow_rs_forest(rows.matrix, rows.columns.categorical, limits, random_state)
        return rows.placed(cls(trees, on_usual_scale(values), rows.columns))

    @classmethod
    def from_scores(cls, scores: Any, *, n_bins: int = 64) -> Self:
        """Any other ensemble: a column of scores per member, high = rare; a leaf is a bin of a member's scores,
        its value their mean on the scale of isolation forests.

        Members may be of any kind, bagged LOF say. Rows that arrive (``append``) are given by their scores too.
        """
        n_bins = check_budget(n_bins, name="n_bins")
        rows = rows_here(scores)
        trees, values = bin_scores(rows.matrix, n_bins)
        return rows.placed(cls(trees, on_usual_scale(values), rows.columns))

    @property
    def n_members(self) -> int:
        """How many trees (or projections) the ensemble has."""
        return self.forest.n_trees

    @property
    def n_leaves(self) -> int:
        """How many leaves all members have together."""
        return self.forest.n_leaves

    @cached_property
    def leaf_rows(self) -> Floats:
        """How many of the first rows each leaf holds."""
        return self.leaf_sums(np.ones(self.first_rows))

    @property
    def leaf_numbers(self) -> Floats:
        """The sum of the numbers, from 1, of the first rows in each leaf."""
        return self.leaf_sums(np.arange(1.0, self.first_rows + 1))

    @cached_property
    def node_rows(self) -> Floats:
        """How many of the first rows each node holds."""
        return self.forest.sum_up(self.leaf_rows)

    @cached_property
    def fingerprint(self) -> str:
        """Tells spaces apart: trees, values, and which of the first rows is where."""
        parts = (
            self.forest.roots,
            self.forest.feature,
            self.forest.threshold,
            self.values,
            self.leaf_numbers,
        )
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()

    @property
    def column_names(self) -> list[str]:
        """What members cut: the columns, or the projections of LODA."""
        return self.columns.labels if self.projection is None else self.projection.names(self.columns.labels)

    def append(self, X: Any, leaves: Mapping[int, Sequence[int]] | None = None) -> range:
        """Place new rows; returns their positions. Rankers on this space rank them from their next call on.

        leaves : rows, by position, whose values are lost and whose leaves (``local_leaves``) are known
        """
        first = self.n_rows
        self._place(self.columns.matrix(X))
        for row, known in (leaves or {}).items():
            self.leaf_ids[row // kernels.BLOCK, :, row % kernels.BLOCK] = known
        if self.index is not None and self.n_rows - self.index.n_rows > UNINDEXED_SHARE * self.n_rows:
            self.build_index()
        return range(first, self.n_rows)

    def build_index(self) -> Self:
        """Sort rows by leaf, for 4·n·m bytes; rankers then re-score only the rows whose leaves changed."""
        self.index = LeafIndex.of(self.leaf_ids, self.n_rows, self.forest.leaf_starts)
        return self

    def leaves(self, rows: ArrayLike) -> Integers:
        """Global leaf numbers, one line per row and one column per member."""
        rows = np.asarray(rows, dtype=np.int64)
        local = self.leaf_ids[rows // kernels.BLOCK, :, rows % kernels.BLOCK]
        return local + self.forest.leaf_starts[:-1]

    def local_leaves(self, row: int) -> tuple[int, ...]:
        """The leaf of each member that a row is in, counted within the member."""
        return tuple(self.leaf_ids[row // kernels.BLOCK, :, row % kernels.BLOCK].tolist())

    def own_score(self, row: int) -> float:
        """The score of one row before any verdict, added up as those of all rows are."""
        local, out = self.leaves([row]) - self.forest.leaf_starts[:-1], np.empty(1)
        add_up(local[:, :, None], 0, 1, self.values, self.forest.leaf_starts, out)
        return float(out[0])

    def base_scores(self) -> Floats:
        """Scores of all rows before any verdict: every weight 1."""
        return self.row_sums(self.values, self.n_rows)

    def row_sums(self, per_leaf: Floats, last: int, *, first: int = 0) -> Floats:
        """Per row, from ``first`` to ``last`` - 1: the sum over its leaves of a number per leaf, members in order."""
        out = np.empty(last - first)
        add_up(self.leaf_ids, first, last, per_leaf, self.forest.leaf_starts, out)
        return out

    def leaf_sums(self, weight: Floats) -> Floats:
        """Per leaf: the sum of a weight per row over the first ``weight.size`` rows."""
        out = np.zeros(self.n_leaves)
        kernels.leaf_sums(self.leaf_ids, weight.size, weight, self.forest.leaf_starts, out)
        return out

    def parts(self, seed: int) -> Parts:
        """What a ranker with this seed asks about rows."""
        return Here(RowPart(self, seed))

    #: Whether rows lie on the machines of a cluster.
    is_spread = False

    def check_here(self, what: str, instead: str) -> None:
        """Refuse what needs all rows on one machine, where they are not."""

    def save(self, folder: Any) -> None:
        """Write the space to a folder: leaf numbers as one memory-mappable file, the rest beside it."""
        SpaceFile(
            **{name: getattr(self, name) for name in (*_MADE_OF, *_ROWS)}, indexed=self.index is not None
        ).write(folder)

    @classmethod
    def load(cls, folder: Any, *, mmap: bool = True) -> Self:
        """Read a saved space; with ``mmap`` leaf numbers stay on disk until they are used."""
        file = SpaceFile.read(folder, mmap=mmap)
        space = cls(**{name: getattr(file, name) for name in _MADE_OF})
        for name in _ROWS:
            setattr(space, name, getattr(file, name))
        return space.build_index() if file.indexed else space

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_rows:,} rows, {self.n_members} members)"

    def fill(self, matrices: Iterable[NDArray], n_rows: int) -> Self:
        """Place the rows that the space is made with, so many in all."""
        self._grow(n_rows)
        for X in matrices:
            self._place(X)
        self.first_rows = self.n_rows
        return self

    def _place(self, X: NDArray) -> None:
        first, total = self.n_rows, self.n_rows + X.shape[0]
        self._grow(total)
        for start in range(0, X.shape[0], ROWS_AT_ONCE):
            self.forest.place(self._prepare(X[start : start + ROWS_AT_ONCE]), first + start, self.leaf_ids)
        self.n_rows = total

    def _prepare(self, X: NDArray) -> NDArray:
        if self.projection is not None:
            return self.projection.apply(X)
        return X.astype(np.float32, copy=False) if self.single else X

    def _grow(self, n_rows: int) -> None:
        """Make room in whole blocks, with some to spare when rows arrive, so that few arrivals copy all."""
        needed = -(-n_rows // kernels.BLOCK)
        if needed <= self.leaf_ids.shape[0] and self.leaf_ids.flags.writeable:
            return
        spare = needed // 8 if self.n_rows else 0
        grown = np.zeros((needed + spare, *self.leaf_ids.shape[1:]), dtype=self.leaf_ids.dtype)
        grown[: self.leaf_ids.shape[0]] = self.leaf_ids
        self.leaf_ids = grown
