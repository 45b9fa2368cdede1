"""A tree as an SVG drawing: splits as boxes, leaves with their rank, share and count."""

from __future__ import annotations

import re
import unicodedata
from html import escape

import numpy as np
from numpy.typing import NDArray

from shortlist.rankers.target.reading.words import Words
from shortlist.rankers.target.tree import Tree

_WIDTH, _HEIGHT, _LEVEL = 156, 58, 104  # of a box with its margin, of a box, from level to level
_GAP = 28  # above each tree of a scorecard, for its number
_LINE = 20  # small letters in a box, also where the font is a wide one
_WIDE = frozenset("MWmw@%…")
# Rules inside a drawing hold for the whole page that shows it: each names the drawing. The page is painted white, for
# notebooks may have a dark one, and show drawings as images, which cannot know that.
_RULES = {
    "text": "font:12px system-ui,sans-serif;fill:#1a1a1a;text-anchor:middle",
    ".page": "fill:#fff",
    ".edge": "stroke:#888;fill:none",
    ".split": "fill:#fff;stroke:#555",
    ".leaf": "stroke:#333",
    ".leaf-0": "font-weight:600",
    ".side": "font-size:11px;fill:#555",
}
_STYLE = "".join(f".shortlist-tree {what}{{{how}}}" for what, how in _RULES.items())


def tree_svg(tree: Tree, words: Words) -> str:
    """The drawing; the stronger the colour of a leaf, the higher its rank."""
    x, depth = _positions(tree)
    width, height = int(x.max() + _WIDTH / 2) + 8, int(_LEVEL * depth.max() + _HEIGHT) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" class="shortlist-tree" '
        f'viewBox="-4 -4 {width} {height}" width="{width}" height="{height}">'
        f"<title>{escape(_title(tree))}</title><style>{_STYLE}</style>"
        f'<rect class="page" x="-4" y="-4" width="{width}" height="{height}"/>'
    ]
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        parts += [_edge(x, depth, node, child) for child in (node + 1, int(tree.right[node]))]
    for node in range(tree.feature.size):
        draw = _leaf if tree.feature[node] < 0 else _split
        parts.append(draw(tree, words, node, x[node], _LEVEL * depth[node]))
    return "\n".join([*parts, "</svg>"])


def scorecard_svg(trees: list[Tree], words: Words) -> str:
    """The drawings of all trees of a scorecard, one below the other."""
    drawings = [tree_svg(tree, words) for tree in trees]
    sizes = [tuple(map(int, re.findall(r'(?:width|height)="(\d+)"', each)[:2])) for each in drawings]
    width, height = max(wide for wide, _ in sizes), sum(high + _GAP for _, high in sizes)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" class="shortlist-tree" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}"><title>Scorecard of {len(trees)} trees: add up their points</title>'
        f'<style>{_STYLE}</style><rect class="page" width="{width}" height="{height}"/>'
    ]
    top = 0
    for number, (drawing, (_, high)) in enumerate(zip(drawings, sizes, strict=True), 1):
        parts.append(f'<text class="leaf-0" x="40" y="{top + 20}">tree {number}</text>')
        parts.append(drawing.replace("<svg ", f'<svg y="{top + _GAP}" ', 1))
        top += high + _GAP
    return "\n".join([*parts, "</svg>"])


def _title(tree: Tree) -> str:
    leaves = "1 leaf" if tree.leaves.size == 1 else f"{tree.leaves.size} leaves"
    return f"Decision tree with {leaves}, trained on {tree.rows[0]:,.6g} rows"


def _positions(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Centre and level of each node: subtrees as close as their boxes allow, a parent between its children."""
    size = tree.feature.size
    shift, x, depth = np.zeros(size), np.zeros(size), np.zeros(size, dtype=np.int64)
    # Leftmost and rightmost centre on each level from a node down, seen from it.
    outline = [np.zeros((1, 2))] * size
    inner = np.flatnonzero(tree.feature >= 0)
    for node in inner[::-1]:
        left, right = node + 1, tree.right[node]
        shared = min(len(outline[left]), len(outline[right]))
        apart = _WIDTH + (outline[left][:shared, 1] - outline[right][:shared, 0]).max()
        shift[left], shift[right] = -apart / 2, apart / 2
        outline[node] = _joined(outline[left] - apart / 2, outline[right] + apart / 2)
    for node in inner:
        for child in (node + 1, tree.right[node]):
            x[child], depth[child] = x[node] + shift[child], depth[node] + 1
    return x - x.min() + _WIDTH / 2, depth


def _joined(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """The outline of a node above two subtrees."""
    longer = left if len(left) > len(right) else right
    shared = min(len(left), len(right))
    below = longer.copy()
    below[:shared] = np.column_stack([left[:shared, 0], right[:shared, 1]])
    return np.vstack([np.zeros((1, 2)), below])


def _edge(x: NDArray[np.float64], depth: NDArray[np.int64], node: int, child: int) -> str:
    top, bottom = _LEVEL * depth[node] + _HEIGHT, _LEVEL * depth[child]
    middle = (top + bottom) / 2
    label = "yes" if child == node + 1 else "no"
    return (
        f'<path class="edge" d="M{x[node]:g} {top}V{middle:g}H{x[child]:g}V{bottom}"/>'
        f'<text class="side" x="{(x[node] + x[child]) / 2:g}" y="{middle - 4:g}">{label}</text>'
    )


def _split(tree: Tree, words: Words, node: int, x: float, y: float) -> str:
    lines = _wrapped(*words.name_and_test(tree, node, left=True))
    lines.append(f"{words.score(tree, node)} · {tree.rows[node]:,.6g}")
    return _box("split", "", x, y, lines, words.test(tree, node, left=True))


def _leaf(tree: Tree, words: Words, node: int, x: float, y: float) -> str:
    strength = 1 - (tree.rank[node] - 1) / max(tree.leaves.size - 1, 1)
    fill = f' fill="hsl(28 90% {96 - 40 * strength:.0f}%)"'
    lines = [words.place(tree, node), words.score(tree, node), f"{tree.rows[node]:,.6g} rows"]
    return _box("leaf", fill, x, y, lines, words.rule(tree, node))


def _box(kind: str, fill: str, x: float, y: float, lines: list[str], hint: str) -> str:
    left = x - _WIDTH / 2 + 4
    rect = (
        f'<rect class="{kind}"{fill} x="{left:g}" y="{y:g}" width="{_WIDTH - 8}" height="{_HEIGHT}" rx="5"/>'
    )
    first = y + _HEIGHT / 2 + 4 - 8 * (len(lines) - 1)
    texts = [
        f'<text class="{kind}-{n}" x="{x:g}" y="{first + 16 * n:g}">{escape(line)}</text>'
        for n, line in enumerate(lines)
    ]
    return f"<g><title>{escape(hint)}</title>{rect}{''.join(texts)}</g>"


def _wrapped(name: str, test: str) -> list[str]:
    """At most two lines; what does not fit is cut, and shown whole when the mouse rests on the box."""
    text = f"{name} {test}"
    if _room(text) <= _LINE:
        return [text]
    if _room(text) <= 2 * _LINE + 1:
        spaces = [at for at, letter in enumerate(text) if letter == " "]
        for at in spaces[::-1]:
            if max(_room(text[:at]), _room(text[at + 1 :])) <= _LINE:
                return [text[:at], text[at + 1 :]]
    return [_cut(name), _cut(test)]


def _cut(text: str) -> str:
    """As much of a text as a line has room for, with a mark where something is missing."""
    if _room(text) <= _LINE:
        return text
    text = text[:_LINE]
    while _room(text + "…") > _LINE:
        text = text[:-1]
    return text + "…"


def _room(text: str) -> float:
    """The room a text takes, in small letters."""
    return sum(_letter_room(letter) for letter in text)


def _letter_room(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 2.0
    if letter in _WIDE:
        return 1.7
    return 1.25 if letter.isupper() else 1.0
