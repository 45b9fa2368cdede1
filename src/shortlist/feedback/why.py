"""Why a row is where it is, in conditions on columns a reviewer can read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shortlist.feedback.spaces.forest import Floats, Integers
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.tables.columns.words import percent

#: A leaf's path may hold many cuts; these many columns, the ones that set the row apart most, are shown.
MOST_CONDITIONS = 3


@dataclass(frozen=True)
class Reason:
    """A region the row is in, and how much it pushes the row up beyond what its members give an average row."""

    conditions: tuple[str, ...]
    push: float

    def __str__(self) -> str:
        return " and ".join(self.conditions) or "every row"


@dataclass(frozen=True)
class Resemblance:
    """A reviewed row and how like it is: 1 = in the same leaf of every member."""

    row: int
    wanted: bool
    similarity: float


@dataclass(frozen=True)
class Why:
    """The strongest reasons for a row's place, and the reviewed rows it is most like."""

    row: int
    reasons: tuple[Reason, ...]
    resembles: tuple[Resemblance, ...]

    def __str__(self) -> str:
        reasons = "; ".join(str(reason) for reason in self.reasons)
        like = ", ".join(
            f"{r.row} {'✓' if r.wanted else '✗'} {percent(r.similarity)}" for r in self.resembles
        )
        return f"row {self.row}: {reasons}" + (f" (like {like})" if like else "")


def explain(
    space: ScoreSpace,
    contribution: Floats,
    row: int,
    reviewed: list[tuple[int, bool]],
    n_reasons: int,
    n_similar: int,
) -> Why:
    """The leaves that push a row up, told by what sets them apart, and the most similar reviewed rows."""
    leaves = space.leaves([row])[0]
    push = contribution[leaves] - _average(space, contribution)
    return Why(row, _reasons(space, leaves, push, n_reasons), _resembling(space, leaves, reviewed, n_similar))


def _average(space: ScoreSpace, contribution: Floats) -> Floats:
    """What each member adds to an average row."""
    return np.add.reduceat(contribution * space.leaf_rows, space.forest.leaf_starts[:-1]) / space.first_rows


def _reasons(space: ScoreSpace, leaves: Integers, push: Floats, n_reasons: int) -> tuple[Reason, ...]:
    """Leaves that say the same (the same columns, cut on the same sides) count as one reason."""
    groups: dict[tuple[str, ...], list[tuple[float, Path]]] = {}
    for leaf, pushed in zip(leaves, push, strict=True):
        if pushed > 0:
            path = Path(space, int(space.forest.leaf_nodes[leaf]))
            groups.setdefault(path.signature(), []).append((float(pushed), path))
    ranked = sorted(groups.values(), key=lambda group: -sum(pushed for pushed, _ in group))
    strongest = ((group, max(group, key=lambda pair: pair[0])[1]) for group in ranked[:n_reasons])
    return tuple(
        Reason(tuple(path.conditions()), sum(pushed for pushed, _ in group)) for group, path in strongest
    )


def _resembling(
    space: ScoreSpace, leaves: Integers, reviewed: list[tuple[int, bool]], n: int
) -> tuple[Resemblance, ...]:
    if not reviewed:
        return ()
    size = np.abs(space.values)
    others = space.leaves([row for row, _ in reviewed])
    shared = np.sum((others == leaves) * size[leaves], axis=1)
    norm = np.sqrt(size[others].sum(axis=1) * size[leaves].sum())
    similarity = np.divide(shared, norm, out=np.zeros(norm.size), where=norm > 0)
    best = np.argsort(-similarity, kind="stable")[:n]
    return tuple(
        Resemblance(row=reviewed[i][0], wanted=reviewed[i][1], similarity=float(similarity[i]))
        for i in best
        if similarity[i] > 0
    )


class Path:
    """The way from a root to a leaf, summed up by column."""

    def __init__(self, space: ScoreSpace, leaf_node: int) -> None:
        self.space = space
        self.ways: dict[int, list[tuple[int, bool]]] = {}
        self.narrowing: dict[int, float] = {}  # how much smaller the cuts on a column make the region
        forest, steps = space.forest, list(space.forest.path(leaf_node))
        for node, left in steps:
            column = int(forest.feature[node])
            below = forest.child[2 * node + (not left)]
            self.ways.setdefault(column, []).append((node, left))
            kept = (space.node_rows[below] + 1) / (space.node_rows[node] + 1)
            self.narrowing[column] = self.narrowing.get(column, 0.0) - float(np.log(kept))

    def columns(self) -> list[int]:
        """The columns that narrow the region most, strongest first."""
        return sorted(self.ways, key=lambda column: (-self.narrowing[column], column))[:MOST_CONDITIONS]

    def signature(self) -> tuple[str, ...]:
        """The columns and the sides they are cut on, without numbers."""
        sides = {
            column: "".join(sorted({"<>"[not left] for _, left in self.ways[column]}))
            for column in self.columns()
        }
        return tuple(f"{column}{sides[column]}" for column in sorted(sides))

    def conditions(self) -> list[str]:
        """One condition per column."""
        return [self._condition(column) for column in self.columns()]

    def _condition(self, column: int) -> str:
        forest, columns = self.space.forest, self.space.columns
        name = self.space.column_names[column]
        if any(forest.category_set[node] >= 0 for node, _ in self.ways[column]):
            return f"{name} {self._categories(column)}"
        low = max((forest.threshold[node] for node, left in self.ways[column] if not left), default=-np.inf)
        high = min((forest.threshold[node] for node, left in self.ways[column] if left), default=np.inf)
        if low == np.inf:
            return f"{name} is missing"
        if self.space.projection is None and columns.is_flag(column) and low < high:
            return f"{name} is {'true' if np.isfinite(low) else 'false'}"
        if np.isinf(low) and np.isinf(high):
            return f"{name} is known"
        if np.isinf(low):
            return f"{name} ≤ {self._number(column, high)}"
        above = self._number(column, low)
        return f"{name} > {above}" if np.isinf(high) else f"{above} < {name} ≤ {self._number(column, high)}"

    def _number(self, column: int, value: float) -> str:
        """A threshold as the table would write it."""
        in_words = self.space.projection is None and np.isfinite(value)
        return self.space.columns.value_text(column, float(value)) if in_words else f"{value:.4g}"

    def _categories(self, column: int) -> str:
        """``is a`` where the way takes categories, ``is not a or b`` where it only leaves some aside."""
        taken: set[int] | None = None
        left_aside: set[int] = set()
        for node, left in self.ways[column]:
            codes = set(self.space.forest.categories(node))
            if left:
                left_aside |= codes
            else:
                taken = codes if taken is None else taken & codes
        shown = left_aside if taken is None else taken - left_aside
        words = " or ".join(self.space.columns.value_text(column, code) for code in sorted(shown))
        return f"is {'not ' if taken is None else ''}{words}"
