"""Figures as files: SVG for pages and PNG for everything else, readable in print and without colours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shortlist.exceptions import ShortlistError
from studies.frame.cells import Found
from studies.frame.paper import Figure

#: Lines differ in dash and marker as well as in colour (Okabe and Ito's, which all eyes tell apart).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#7F7F7F")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "svg.hashsalt": "shortlist",  # the same figure is the same file
    "svg.fonttype": "none",
}


def draw(figure: Figure, found: Found, folder: Path, stem: str) -> list[Path]:
    """Draw a figure and write both files; where they are."""
    try:
        from matplotlib import rc_context  # noqa: PLC0415  only figures need it
        from matplotlib.figure import Figure as Sheet  # noqa: PLC0415
    except ModuleNotFoundError:
        raise ShortlistError("figures need matplotlib: pip install 'shortlist[plot]'.") from None
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{stem}.{kind}" for kind in ("svg", "png")]
    with rc_context(STYLE):
        sheet = Sheet(layout="constrained")
        figure.draw(found, sheet)
        sheet.savefig(paths[0], metadata={"Date": None})
        sheet.savefig(paths[1], dpi=150)
    return paths


def line_style(place: int) -> dict[str, Any]:
    """The look of the line of this number; beyond the eighth, colours come again with other dashes and markers."""
    turn, again = place % len(COLOURS), place // len(COLOURS)
    dash, marker = DASHES[(turn + again) % len(DASHES)], MARKERS[(turn + 3 * again) % len(MARKERS)]
    return {"color": COLOURS[turn], "linestyle": dash, "marker": marker, "markersize": 4}


def panels(sheet: Any, titles: Sequence[str], *, columns: int = 2, height: float = 2.6) -> dict[str, Any]:
    """Axes side by side, one per title."""
    rows = -(-len(titles) // columns)
    sheet.set_size_inches(3.6 * min(columns, len(titles)), height * rows + 0.6)
    axes = sheet.subplots(rows, min(columns, len(titles)), squeeze=False).ravel()
    for spare in axes[len(titles) :]:
        spare.remove()
    for title, each in zip(titles, axes, strict=False):
        each.set_title(title, fontsize=9)
    return dict(zip(titles, axes, strict=False))


def shared_legend(sheet: Any, axes: Any, columns: int = 4) -> None:
    """One legend below all panels."""
    handles, labels = axes.get_legend_handles_labels()
    sheet.legend(handles, labels, loc="outside lower center", ncols=columns)
