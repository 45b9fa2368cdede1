"""Line charts: on the terminal, and as SVG or HTML files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.tables.io.write import atomic_path

Lines = Mapping[str, Sequence[float]]
MARKS = "●▲■◆▼○△□"
COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#be185d", "#64748b")


def terminal_chart(lines: Lines, *, width: int = 60, height: int = 14) -> str:
    """Lines over 1, 2, ... as text; where lines meet, the first one given is seen.

    >>> print(terminal_chart({"hits": [0, 1, 2]}, width=6, height=3))
      2 ┤    ●●
      1 ┤  ●●
      0 ┤●●
        └──────
         1    3
         ● hits
    """
    top = max(1.0, *(max(values) for values in lines.values()))
    length = max(len(values) for values in lines.values())
    grid = np.full((height, width), " ")
    for mark, values in reversed([*zip(MARKS, lines.values(), strict=False)]):
        where = np.round(np.linspace(0, len(values) - 1, width)).astype(int)
        level = np.round(np.asarray(values, dtype=float)[where] / top * (height - 1)).astype(int)
        grid[height - 1 - level, np.arange(width)] = mark
    digits = 0 if top >= height - 1 else 1  # where rows lie closer than 1, whole numbers would repeat
    labels = [f"{top * (height - 1 - i) / (height - 1):.{digits}f}" for i in range(height)]
    body = [f"{label:>3} ┤{''.join(row)}".rstrip() for label, row in zip(labels, grid, strict=True)]
    axis = f"     1{length:>{width - 1}}"
    legend = "     " + "  ".join(f"{mark} {name}" for mark, name in zip(MARKS, lines, strict=False))
    return "\n".join([*body, "    └" + "─" * width, axis, legend])


def svg_chart(lines: Lines, *, title: str, width: int = 720, height: int = 420) -> str:
    """The same lines as a picture that needs nothing else."""
    top = max(1.0, *(max(values) for values in lines.values()))
    length = max(len(values) for values in lines.values())
    left, bottom, plot_width, plot_height = 50, height - 40, width - 220, height - 90

    def point(i: int, value: float) -> str:
        return f"{left + plot_width * i / max(1, length - 1):.1f},{bottom - plot_height * value / top:.1f}"

    parts = [f'<text x="{left}" y="28" font-size="16">{escape(title)}</text>']
    parts.append(
        f'<path d="M{left} {bottom - plot_height}V{bottom}h{plot_width}" fill="none" stroke="#888"/>'
    )
    for value in (0.0, top / 2, top):
        parts.append(
            f'<text x="8" y="{bottom - plot_height * value / top + 4:.0f}" font-size="12">{value:g}</text>'
        )
    parts.append(f'<text x="{left + plot_width - 20}" y="{bottom + 20}" font-size="12">{length}</text>')
    for i, (name, values) in enumerate(lines.items()):
        colour, points = COLOURS[i % len(COLOURS)], " ".join(point(j, v) for j, v in enumerate(values))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = 70 + 22 * i
        parts.append(
            f'<text x="{width - 155}" y="{y}" font-size="13" fill="{colour}">— {escape(name)}</text>'
        )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="white"/>', *parts, "</svg>\n"])


def check_chart_path(path: Path | None) -> None:
    """Refuse a file that no chart can be written to, before the work is done."""
    if path is not None and path.suffix not in (".svg", ".html"):
        raise InvalidInputError(f"a chart is written as .svg or .html; {path.name} is neither.")


def write_chart(lines: Lines, path: Path, *, title: str) -> None:
    """Write an SVG picture, or an HTML page that holds it."""
    picture = svg_chart(lines, title=title)
    page = f"<!doctype html>\n<meta charset=utf-8>\n<title>{escape(title)}</title>\n{picture}"
    with atomic_path(path) as beside:
        beside.write_text(picture if path.suffix == ".svg" else page, encoding="utf-8")
