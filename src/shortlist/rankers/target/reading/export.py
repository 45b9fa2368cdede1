"""A tree as text, as JSON and as SQL; the scores of all three equal the model's."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.rankers.target.reading.words import Column, Words
from shortlist.rankers.target.tree import Tree

Dialect = Literal["standard", "sqlite"]

#: Readers of JSON recurse: Python's own gives up at about 1,000 levels (some releases later), others sooner.
_JSON_LEVELS = 500

#: Parts of a date as the schema computes them, for a column {0}.
_DATE_PARTS: dict[str, dict[str, str]] = {
    "standard": {
        "days": "(CAST({0} AS DATE) - DATE '1970-01-01')",
        "month": "EXTRACT(MONTH FROM {0})",
        "weekday": "EXTRACT(ISODOW FROM {0})",
        "hour": "(EXTRACT(HOUR FROM {0}) + EXTRACT(MINUTE FROM {0}) / 60.0)",
    },
    "sqlite": {
        "days": "(julianday(date({0})) - 2440587.5)",
        "month": "CAST(strftime('%m', {0}) AS INTEGER)",
        "weekday": "((CAST(strftime('%w', {0}) AS INTEGER) + 6) % 7 + 1)",
        "hour": "(CAST(strftime('%H', {0}) AS INTEGER) + CAST(strftime('%M', {0}) AS INTEGER) / 60.0)",
    },
}


def tree_text(tree: Tree, words: Words) -> str:
    """The tree, one line per branch; leaves with their rank, share and count."""
    depth, line = [0] * tree.feature.size, ["all rows"] * tree.feature.size
    for node in range(tree.feature.size):  # parents before children: a tree may be deeper than Python's stack
        if tree.feature[node] < 0:
            line[node] += f": {words.leaf(tree, node)}"
            continue
        for left, child in ((True, node + 1), (False, int(tree.right[node]))):
            depth[child] = depth[node] + 1
            line[child] = "|   " * depth[node] + words.test(tree, node, left)
    return "\n".join(line[1:] or line)


def rules_text(tree: Tree, words: Words) -> str:
    """One rule per leaf, best first."""
    leaves = sorted(tree.leaves, key=lambda leaf: tree.rank[leaf])
    return "\n".join(f"{words.leaf(tree, leaf)}: {words.rule(tree, leaf)}" for leaf in leaves)


def tree_document(tree: Tree, words: Words) -> dict[str, Any]:
    """The tree as nested dicts of plain values, ready for JSON."""
    if tree.levels > _JSON_LEVELS:
        raise InvalidInputError(
            f"the tree has {tree.levels:,} levels, and JSON nested deeper than {_JSON_LEVELS} is not read everywhere. "
            "Use to_sql() or views[0].rules(), or train with fewer max_leaves."
        )
    below: list[dict[str, Any]] = [{}] * tree.feature.size
    for node in reversed(range(tree.feature.size)):  # children before parents
        below[node] = {
            "rows": float(tree.rows[node]),
            "gain": float(tree.gain[node]),
            "score": float(tree.score[node]),
        }
        if tree.feature[node] < 0:
            below[node]["rank"] = int(tree.rank[node])
        else:
            below[node] |= _split(tree, words, node)
            below[node] |= {"left": below[node + 1], "right": below[int(tree.right[node])]}
    return below[0]


def _split(tree: Tree, words: Words, node: int) -> dict[str, Any]:
    column = words.column(tree, node)
    return {
        "column": column.name,
        **_left_side(tree, words, node, column),
        "missing": "left" if tree.missing_left[node] else "right",
    }


def _left_side(tree: Tree, words: Words, node: int, column: Column) -> dict[str, Any]:
    """Which known values go left: all of them, those up to a number, or some categories.

    Categories are listed also where all of them go left: those that training did not have count as missing.
    """
    if column.kind != "category":
        if words.parts_missing(tree, node):
            return {"left_if": "known"}
        return {"left_if": "at most", "threshold": float(tree.threshold[node])}
    sides = {
        "left": words.categories(tree, node, left=True),
        "right": words.categories(tree, node, left=False),
    }
    return {"left_if": "in", "categories": sides}


def trees_sql(trees: list[Tree], words: Words, dialect: Dialect = "standard") -> str:
    """The score as an SQL expression over the columns of the table: CASE, a mean of them, or the sum of a scorecard."""
    if dialect not in _DATE_PARTS:
        raise InvalidInputError(f"dialect must be 'standard' or 'sqlite'; got {dialect!r}.")
    cases = [_case(tree, words, 0, dialect, "") for tree in trees]
    total = "(" + "\n + ".join(cases) + "\n)"
    if len(cases) == 1:
        return cases[0]
    return total if trees[0].points is not None else f"{total} / {len(cases)}.0"


def _case(tree: Tree, words: Words, node: int, dialect: Dialect, indent: str) -> str:
    """The tree below a node as CASE: a WHEN for the smaller side of each split on the way down the larger one.

    So CASEs are nested no deeper than the logarithm of the leaves: SQLite's parser gives up at about 20.
    """
    branches, deeper = [], indent + "  "
    while tree.feature[node] >= 0:
        right = int(tree.right[node])
        left_is_smaller = right - (node + 1) <= tree.end(right) - right
        smaller, larger = (node + 1, right) if left_is_smaller else (right, node + 1)
        condition = _condition(tree, words, node, left_is_smaller, dialect)
        branches.append(f"{deeper}WHEN {condition} THEN {_case(tree, words, smaller, dialect, deeper)}\n")
        node = larger
    # A quotient is exact where a long decimal depends on how the database reads it.
    score = f"({float(tree.gain[node])!r} / {float(tree.rows[node])!r})"
    if tree.points is not None:
        score = f"{tree.points[node]:.0f}"
    return f"CASE\n{''.join(branches)}{deeper}ELSE {score}\n{indent}END" if branches else score


def _condition(tree: Tree, words: Words, node: int, left: bool, dialect: Dialect) -> str:
    """What holds for one side of a node. The side that missing values take is all that is not the other side."""
    column = words.column(tree, node)
    value = _DATE_PARTS[dialect].get(column.kind, "{0}").format(_quoted(column.source, '"'))
    if column.kind == "category":
        named = left != tree.missing_left[node]  # else this is the side of NULL and of categories never seen
        names = ", ".join(_quoted(each, "'") for each in words.categories(tree, node, left == named))
        return f"{value} IN ({names})" if named else f"({value} IS NULL OR {value} NOT IN ({names}))"
    if words.parts_missing(tree, node):
        return f"{value} IS {'NOT ' if left else ''}NULL"
    if column.kind == "flag":
        test = f"{value} = {'FALSE' if left else 'TRUE'}"
    else:
        test = f"{value} {'<=' if left else '>'} {np.float64(tree.threshold[node]).item()!r}"
    return f"({value} IS NULL OR {test})" if left == tree.missing_left[node] else test


def _quoted(text: str, quote: str) -> str:
    return quote + text.replace(quote, quote * 2) + quote
