"""A tree as an SVG drawing: splits as boxes, leaves with their rank, share and count."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from shortlist.rankers.target.export import share_text
from shortlist.rankers.target.tree import Tree
from shortlist.rankers.target.words import Words

_WIDTH, _HEIGHT, _LEVEL = 156, 58, 104  # of a leaf's column, of a box, from level to level
_LINE = 20  # letters in a box, also where the font is a wide one
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1a1a1a;text-anchor:middle}"
    ".edge{stroke:#888;fill:none}.split{fill:#fff;stroke:#555}.leaf{stroke:#333}"
    ".leaf-0{font-weight:600}.side{font-size:11px;fill:#666}"
)


def tree_svg(tree: Tree, words: Words) -> str:
    """The drawing; the stronger the colour of a leaf, the higher its rank."""
    x, depth = _positions(tree)
    width, height = int(_WIDTH * tree.leaves.size), int(_LEVEL * depth.max() + _HEIGHT)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="-4 -4 {width + 8} {height + 8}" '
        f'width="{width + 8}" height="{height + 8}"><title>{escape(_title(tree))}</title><style>{_STYLE}</style>'
    ]
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        parts += [_edge(x, depth, node, child) for child in (node + 1, int(tree.right[node]))]
    for node in range(tree.feature.size):
        draw = _leaf if tree.feature[node] < 0 else _split
        parts.append(draw(tree, words, node, x[node], _LEVEL * depth[node]))
    return "\n".join([*parts, "</svg>"])


def _title(tree: Tree) -> str:
    return f"Decision tree with {tree.leaves.size} leaves, trained on {tree.rows[0]:,.6g} rows"


def _positions(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Centre and level of each node: leaves side by side, a parent between its children."""
    x, depth = np.zeros(tree.feature.size), np.zeros(tree.feature.size, dtype=np.int64)
    x[tree.leaves] = _WIDTH * (np.arange(tree.leaves.size) + 0.5)
    inner = np.flatnonzero(tree.feature >= 0)
    for node in inner:
        depth[node + 1] = depth[tree.right[node]] = depth[node] + 1
    for node in inner[::-1]:
        x[node] = (x[node + 1] + x[tree.right[node]]) / 2
    return x, depth


def _edge(x: NDArray[np.float64], depth: NDArray[np.int64], node: int, child: int) -> str:
    top, bottom = _LEVEL * depth[node] + _HEIGHT, _LEVEL * depth[child]
    middle = (top + bottom) / 2
    label = "yes" if child == node + 1 else "no"
    return (
        f'<path class="edge" d="M{x[node]:g} {top}V{middle:g}H{x[child]:g}V{bottom}"/>'
        f'<text class="side" x="{(x[node] + x[child]) / 2:g}" y="{middle - 4:g}">{label}</text>'
    )


def _split(tree: Tree, words: Words, node: int, x: float, y: float) -> str:
    test = words.test(tree, node, left=True)
    return _box(
        "split", "", x, y, [*_wrapped(test), f"{share_text(tree, node)} · {tree.rows[node]:,.6g}"], test
    )


def _leaf(tree: Tree, words: Words, node: int, x: float, y: float) -> str:
    strength = 1 - (tree.rank[node] - 1) / max(tree.leaves.size - 1, 1)
    fill = f' fill="hsl(28 90% {96 - 40 * strength:.0f}%)"'
    lines = [f"rank {tree.rank[node]}", share_text(tree, node), f"{tree.rows[node]:,.6g} rows"]
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


def _wrapped(text: str) -> list[str]:
    """At most two lines; what does not fit is cut, and shown whole when the mouse rests on the box."""
    if len(text) <= _LINE:
        return [text]
    at = text.rfind(" ", 0, _LINE + 1)
    at = at if at > 0 else _LINE
    second = text[at:].strip()
    return [text[:at], second if len(second) <= _LINE else second[: _LINE - 1] + "…"]
