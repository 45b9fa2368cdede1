"""The figures of the TARGET paper that show figures: the probabilities of Simulation 1, and what imbalance does."""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.frame.cells import Found
from studies.frame.figures import line_style, panels
from studies.papers.target_runs import chance_1, simulation_1


def probabilities(found: Found, sheet: Any) -> None:
    """P(y = 1 | x) over the first two features, and 1,000 rows drawn from it."""
    surface, rows = panels(sheet, ("P(y = 1 | x)", "1,000 rows of one draw"), height=3.0).values()
    at = np.linspace(0, 1, 201)
    surface.contourf(
        at, at, chance_1(at[None, :], at[:, None]), levels=(0, 0.075, 0.125, 0.3, 0.5), cmap="Greys"
    )
    for place, chance in ((0.15, 0.05), (0.35, 0.10), (0.62, 0.15), (0.86, 0.45)):
        dark = chance > 0.3
        surface.text(place, place, f"{chance:.2f}", ha="center", color="white" if dark else "black")
    X, y = simulation_1(np.random.default_rng(0))
    X, y = X[:1_000], y[:1_000] == 1
    rows.plot(*X[~y, :2].T, ".", color="#999999", markersize=3, label="others")
    rows.plot(*X[y, :2].T, "o", color="#D55E00", markersize=3, label="wanted")
    rows.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    for axes in (surface, rows):
        axes.set(xlabel="x1", ylabel="x2", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.grid(visible=False)


def advantage(found: Found, sheet: Any) -> None:
    """AP of TARGET over that of CART, by the share of wanted rows; bars are standard errors."""
    experiments = list(dict.fromkeys(cell["experiment"] for cell in found))
    for experiment, axes in panels(sheet, experiments, height=3.0).items():
        runs = found.where(experiment=experiment)
        shares = sorted({cell["share"] for cell in runs})
        for place, ranker in enumerate(dict.fromkeys(cell["ranker"] for cell in runs)):
            gains = [ratios(runs, ranker, share) for share in shares]
            if ranker != "CART-A":
                errors = [np.std(gain) / max(len(gain), 1) ** 0.5 for gain in gains]
                means = [np.mean(gain) for gain in gains]
                percents = [100 * share for share in shares]
                axes.errorbar(percents, means, errors, capsize=2, label=ranker, **line_style(place))
        axes.axhline(1, color="#7F7F7F", linewidth=1)
        axes.set(xlabel="rows that are wanted, %", ylabel="AP / AP of CART")
        axes.invert_xaxis()
        axes.legend()


def ratios(runs: Found, ranker: str, share: float) -> list[float]:
    """AP over that of CART on the same rows, draw by draw."""
    ours, theirs = (
        {cell["draw"]: value["AP"] for cell, value in runs.where(ranker=r, share=share).items()}
        for r in (ranker, "CART-A")
    )
    return [ours[draw] / theirs[draw] for draw in ours if draw in theirs]
