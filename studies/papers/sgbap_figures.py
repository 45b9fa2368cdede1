"""The figures of the SGBAP paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist.metrics import average_precision, roc_auc
from studies.frame.cells import Found
from studies.frame.figures import line_style, panels, shared_legend
from studies.papers.sgbap_toy import PLACES, pulled, surface

COSTS = {
    "ap_exp": "1 − AP_exp",
    "ap_sig": "1 − AP_sig",
    "rankboost": "pairwise (log)",
    "logistic": "accuracy (logistic)",
}


#: Ranks of the two wanted rows among ten, from 0, in the two lists of Figure 1.
TWO_LISTS = ((3, 4), (1, 7))


def rankings(found: Found, sheet: Any) -> None:
    """Two lists, wanted rows dark, with both measures above."""
    sheet.set_size_inches(4.6, 3.6)
    for axes, places in zip(sheet.subplots(1, 2), TWO_LISTS, strict=True):
        y = np.isin(np.arange(10), places)
        colours = ["#0072B2" if wanted else "#E6E6E6" for wanted in y]
        axes.barh(np.arange(1, 11), 1, color=colours, edgecolor="black", linewidth=0.6, height=0.8)
        score = -np.arange(10.0)
        axes.set_title(f"AUC {roc_auc(y, score):.3f}, AP {average_precision(y, score):.3f}", fontsize=9)
        axes.set(yticks=range(1, 11), xticks=(), ylabel="rank")
        axes.invert_yaxis()
        axes.grid(visible=False)


def pulls(found: Found, sheet: Any) -> None:
    """Share of the pull on all wanted rows, at the rank of each, for both gradients."""
    titles = {"AP (AP_exp)": "ap_exp", "pairs (RankBoost)": "rankboost"}
    for title, axes in panels(sheet, tuple(titles), height=3.0).items():
        axes.barh([place + 1 for place in PLACES], pulled(titles[title]), color="#0072B2", height=0.7)
        axes.set(xlabel="share of the pull", ylabel="rank of the wanted row", xlim=(0, 1), ylim=(12.6, 0.4))
        axes.set_yticks(range(1, 13))


def surfaces(found: Found, sheet: Any) -> None:
    """Costs by offset and slope; the last two are the paper's supplementary ones."""
    offsets, slopes = np.linspace(-2, 2, 21), np.linspace(-2, 2, 201)
    for title, axes in panels(sheet, tuple(COSTS.values()), height=2.8).items():
        loss = next(name for name, told in COSTS.items() if told == title)
        cost = np.array([[surface(loss, offset, slope) for offset in offsets] for slope in slopes])
        drawn = axes.contourf(offsets, slopes, cost, levels=14, cmap="cividis")
        at = np.unravel_index(np.argmin(cost), cost.shape)
        axes.axhline(slopes[at[0]], color="white", linestyle="--", linewidth=1)
        axes.set(xlabel="θ0", ylabel="θ1", title=f"{title}; least at θ1 = {slopes[at[0]]:+.2f}")
        axes.title.set_fontsize(9)
        axes.grid(visible=False)
        sheet.colorbar(drawn, ax=axes)


def falling(found: Found, sheet: Any) -> None:
    """AP and P@k against the share of rows that are still wanted."""
    axes = panels(sheet, ("AP", "P@k"), height=3.0)
    for place, (cell, steps) in enumerate(found.items()):
        for measure, each in axes.items():
            shares = [100 * step["wanted"] for step in steps]
            each.plot(shares, [step[measure] for step in steps], label=cell["method"], **line_style(place))
    for each in axes.values():
        each.invert_xaxis()
        each.set(xlabel="rows that are wanted, %", ylim=(0, None))
    shared_legend(sheet, axes["AP"], columns=3)
