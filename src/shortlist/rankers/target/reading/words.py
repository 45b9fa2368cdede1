"""What the columns of a matrix are called, and a split in the words of the table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.rankers.target.binning import SET_BITS, Bins
from shortlist.rankers.target.tree import Tree
from shortlist.tables import Schema
from shortlist.tables.columns.words import percent

_EPOCH = dt.date(1970, 1, 1)
_MANY = 8  # categories named in a rule before it counts the rest


@dataclass(frozen=True, eq=False)
class Column:
    """One column of the matrix: its name, the table column it comes from, its kind and its categories."""

    name: str
    source: str
    kind: str  # "number", "flag", "category", or a part of a date: "days", "month", "weekday", "hour"
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Words:
    """The columns of a model, which of them had missing values in training, and what its scores are."""

    columns: tuple[Column, ...]
    bins: Bins
    had_missing: NDArray[np.bool_]
    impacts: bool = False  # a score is a mean gain, not the share of rows that are wanted

    @staticmethod
    def columns_of(schema: Schema | None, names: Sequence[str], bins: Bins) -> tuple[Column, ...]:
        """The columns by the schema of a table, or by plain names."""
        if schema is None:
            codes = [tuple(str(c) for c in range(lookup.size)) for lookup in bins.bin_of_code]
            kinds = ["category" if c else "number" for c in bins.categorical]
            return tuple(Column(n, n, k, c) for n, k, c in zip(names, kinds, codes, strict=True))
        columns = []
        for name, feature in zip(schema.columns, schema.feature_of_column, strict=True):
            kind = feature.kind if feature.kind != "date" else name.rsplit("(", 1)[1].rstrip(")")
            columns.append(Column(name, feature.name, kind, tuple(feature.categories)))
        return tuple(columns)

    def column(self, tree: Tree, node: int) -> Column:
        """The column that a node splits."""
        return self.columns[tree.feature[node]]

    def categories(self, tree: Tree, node: int, left: bool) -> list[str]:
        """Categories on one side of a node, those too rare for a bin of their own last."""
        feature = int(tree.feature[node])
        lookup, names = self.bins.bin_of_code[feature], self.columns[feature].categories
        members = int(tree.left_bins[node])
        on_side = [code for code, bin in enumerate(lookup) if bool(members >> int(bin) & 1) == left]
        return [names[code] for code in sorted(on_side, key=lambda code: lookup[code])]

    def rare(self, tree: Tree, node: int, left: bool) -> int:
        """How many of these categories are too rare for a bin of their own."""
        feature = int(tree.feature[node])
        last_is_here = bool(int(tree.left_bins[node]) >> (SET_BITS - 1) & 1) == left
        if not (self.bins.has_rare(feature) and last_is_here):
            return 0
        return int(np.sum(self.bins.bin_of_code[feature] == SET_BITS - 1))

    def parts_missing(self, tree: Tree, node: int) -> bool:
        """Whether a node does no more than part known values from missing ones."""
        if not self.bins.categorical[tree.feature[node]]:
            return bool(np.isinf(tree.threshold[node]))
        return not self.categories(tree, node, left=False)

    def test(self, tree: Tree, node: int, left: bool) -> str:
        """What holds for the rows on one side of a node, such as ``amount <= 250``."""
        return " ".join(self.name_and_test(tree, node, left))

    def name_and_test(self, tree: Tree, node: int, left: bool) -> tuple[str, str]:
        """The same in two parts, such as ``amount`` and ``<= 250``."""
        column = self.column(tree, node)
        name = _plain(column.source if column.kind == "days" else column.name)
        if self.parts_missing(tree, node):
            return name, f"is {'known' if left else 'missing'}"
        text = self._known(tree, node, left)
        if self.had_missing[tree.feature[node]] and tree.missing_left[node] == left:
            text += " or missing"
        return name, text

    def _known(self, tree: Tree, node: int, left: bool) -> str:
        kind = self.column(tree, node).kind
        if kind == "category":
            return self._members(tree, node, left)
        if kind == "flag":
            return f"is {'false' if left else 'true'}"
        sign = "<=" if left else ">"
        if kind == "days":
            day = _EPOCH + dt.timedelta(days=int(np.floor(tree.threshold[node])))
            return f"{sign} {day.isoformat()}"
        return f"{sign} {tree.threshold[node]:.15g}"

    def _members(self, tree: Tree, node: int, left: bool) -> str:
        """A set of categories; where it is long and the others are few, those that are not in it."""
        here, others = (self.categories(tree, node, side) for side in (left, not left))
        if len(here) > _MANY >= len(others) and not self.rare(tree, node, not left):
            listed = _listed(others, 0)
            return f"not {listed}" if listed.startswith("in") else listed.replace("is", "is not", 1)
        return _listed(here, self.rare(tree, node, left))

    def rule(self, tree: Tree, leaf: int) -> str:
        """The way from the root to a leaf, in words; steps that a later one makes superfluous are left out."""
        path = tree.path(leaf)
        steps = [
            self.test(tree, *step)
            for place, step in enumerate(path)
            if not any(self._implies(tree, later, step) for later in path[place + 1 :])
        ]
        if len(steps) > 1:
            steps = [f"({step})" if step.endswith(" or missing") else step for step in steps]
        return " and ".join(steps) or "all rows"

    def _implies(self, tree: Tree, later: tuple[int, bool], step: tuple[int, bool]) -> bool:
        """Whether a step is a tighter bound of the same number, or a smaller set of the same categories."""
        (node, left), (before, before_left) = later, step
        feature = int(tree.feature[node])
        if feature != tree.feature[before]:
            return False
        lets_missing_in = tree.missing_left[node] == left and tree.missing_left[before] != before_left
        if self.had_missing[feature] and lets_missing_in:
            return False
        if self.bins.categorical[feature]:
            return {*self.categories(tree, *later)} <= {*self.categories(tree, *step)}
        tighter, looser = tree.threshold[[node, before]] * (1 if left else -1)
        return bool(left == before_left and tighter <= looser)

    def score(self, tree: Tree, node: int) -> str:
        """What the rows of a node are worth: the share that is wanted, or of impacts an amount."""
        score = float(tree.share[node])
        return f"{score:,.4g}" if self.impacts else percent(score, 1)

    def leaf(self, tree: Tree, leaf: int) -> str:
        """Rank (or points), share (or mean worth) and count of a leaf, such as ``rank 1, 45.2 % of 310 rows``."""
        worth = f"{self.score(tree, leaf)} {'each,' if self.impacts else 'of'}"
        return f"{self.place(tree, leaf)}, {worth} {tree.rows[leaf]:,.6g} rows"

    def place(self, tree: Tree, leaf: int) -> str:
        """Where a leaf stands: its rank, or what it adds to a scorecard."""
        return f"rank {tree.rank[leaf]}" if tree.points is None else counted_points(tree.points[leaf])


def counted_points(points: float) -> str:
    """Points in words: ``1 point``, ``12 points``."""
    return f"{points:.0f} point{'' if points == 1 else 's'}"


def _listed(names: list[str], n_rare: int) -> str:
    """A set of categories in words; the rare ones, which stand last, are only counted."""
    shown = [_plain(name, listed=True) for name in names[: len(names) - n_rare]]
    if len(shown) > _MANY:
        shown = [*shown[: _MANY - 1], f"{len(shown) - _MANY + 1} more"]
    if n_rare:
        shown = [*shown, f"{n_rare} rare ones"]
    return f"is {shown[0]}" if len(shown) == 1 else "in {" + ", ".join(shown) + "}"


def _plain(name: str, listed: bool = False) -> str:
    """A name that stays on its line and in its list: quoted where it is blank, has odd letters, or commas in a list."""
    odd = not name.isprintable() or name != name.strip() or not name
    return repr(name) if odd or (listed and any(letter in name for letter in ",{}")) else name
