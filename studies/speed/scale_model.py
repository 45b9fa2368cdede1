"""What figures of sizes that can be run say of those that cannot: lines, their error, and 10 billion rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.exceptions import ShortlistError
from shortlist.rankers.cluster.deal import bytes_to_train
from studies.frame.figures import STYLE, line_style

FAR_ROWS = 10_000_000_000
#: The cluster that the far end is told for.
WORKERS, CORES = 64, 16
#: XGBoost sends a sum of gradients and one of curvatures, float64, for each bin of each node that it builds on the
#: deepest level: with subtraction, half of 2^5.
_HISTOGRAM_BYTES, _NODES = 16, 32
BINS = 256
LINES = {"score batch by batch": "cpu", "fit_table": "cpu"}

Figures = Sequence[dict[str, Any]]


def capacity(growth: Figures, rounds: dict[str, Any]) -> dict[str, Any]:
    """Lines of seconds and memory for each work, and the far end by them."""
    lines = {
        f"{what}, {measure}": line_of(growth, what, measure) for what in LINES for measure in ("cpu", "mb")
    }
    known = {name: line for name, line in lines.items() if line is not None}
    return {"lines": known, "far": far_end(growth, known, rounds)}


def line_of(growth: Figures, what: str, measure: str) -> dict[str, Any] | None:
    """The line a + b x millions of rows, fitted to relative errors; and how far off it is.

    "largest, by the others" is the error of the line through all sizes but the largest, at the largest: what
    extrapolation was worth where that can be seen.
    """
    found = [(each["rows"] / 1e6, each[measure]) for each in growth if each["what"] == what]
    if len(found) < 2:
        return None
    millions, values = np.array(found).T
    fixed, slope = _fitted(millions, values)
    off = np.abs(fixed + slope * millions - values) / values
    line = {"fixed": round(fixed, 2), "per million": round(slope, 3), "largest error": round(off.max(), 3)}
    if len(found) > 2:
        a, b = _fitted(millions[:-1], values[:-1])
        line["largest, by the others"] = round(float((a + b * millions[-1]) / values[-1] - 1), 3)
    return line


def _fitted(millions: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    X = np.stack([np.ones_like(millions), millions], axis=1) / values[:, None]
    (fixed, slope), *_ = np.linalg.lstsq(X, np.ones(values.size), rcond=None)
    return float(fixed), float(slope)


def far_end(growth: Figures, lines: dict[str, Any], rounds: dict[str, Any]) -> dict[str, Any]:
    """10 billion rows: one machine that scores, and a cluster that trains in memory."""
    columns = growth[0]["columns"] if growth else 0
    millions = FAR_ROWS / 1e6
    far: dict[str, Any] = {"rows": FAR_ROWS, "columns": columns, "workers": WORKERS, "cores": CORES}
    if (score := lines.get("score batch by batch, cpu")) is not None:
        far["score, cpu hours"] = round(score["per million"] * millions / 3600, 1)
    if (held := lines.get("fit_table, mb")) is not None:
        far["fit_table, GB"] = round(held["per million"] * millions / 1024)
    far["GB a worker"] = round(bytes_to_train(FAR_ROWS // WORKERS, columns) / 1e9, 1)
    far["histogram MB a round"] = round(_HISTOGRAM_BYTES * _NODES * columns * BINS / 1e6, 1)
    if "one process, mix" in rounds:
        one = rounds["one process, mix"]
        ns = 1e6 * one["ms a round"] / one["rows"]
        far["ns a row and round"] = round(ns, 1)
        far["seconds a round"] = round(ns * 1e-9 * FAR_ROWS / WORKERS / CORES, 2)
    return far


def draw_growth(found: dict[str, Any], path: Path) -> None:
    """Seconds and memory by rows, side by side, as an SVG file."""
    try:
        from matplotlib import rc_context  # noqa: PLC0415  only figures need it
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ModuleNotFoundError:
        raise ShortlistError("figures need matplotlib: pip install 'shortlist[plot]'.") from None
    with rc_context(STYLE):
        sheet = Figure(figsize=(7.2, 3.0), layout="constrained")
        for axes, measure, title in zip(
            sheet.subplots(1, 2), ("cpu", "mb"), ("processor, s", "largest size, MB"), strict=True
        ):
            _draw(axes, found["growth"], measure)
            axes.set(xlabel="million rows", title=title, xlim=(0, None), ylim=(0, None))
        handles, labels = axes.get_legend_handles_labels()
        sheet.legend(handles, labels, loc="outside lower center", ncols=3)
        sheet.savefig(path, metadata={"Date": None})


def _draw(axes: Any, growth: Figures, measure: str) -> None:
    for place, what in enumerate(
        ("score batch by batch", "read and predict, bare", "fit_table", "fit XGBoost from disk, bare")
    ):
        points = [(each["rows"] / 1e6, each[measure]) for each in growth if each["what"] == what]
        axes.plot(*zip(*points, strict=True), label=what, **line_style(place))
