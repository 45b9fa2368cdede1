"""The figures of the OJRank paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from studies.frame.cells import Found
from studies.frame.figures import COLOURS, MARKERS, line_style, panels, shared_legend
from studies.papers.ojrank_tables import METHODS

#: Sets of Figure 3; Figure 5 has the others.
SHOWN_TIMES = (
    "abalone", "ann_thyroid", "cardiotocography", "mammography", "yeast", "clus_vowels", "clus_letters", "clus_statlog",
)  # fmt: skip


def ranks_and_tests(
    found: Found,
    sheet: Any,
    *,
    groups: dict[str, tuple[str, ...]],
    names: dict[str, str],
    rank: Callable[..., dict[str, float]],
    test: Callable[..., dict[str, float]],
) -> None:
    """Mean rank in effort against that in precision, and p-values of OJRank against the others."""
    titles = [f"{group}: {what}" for what in ("mean ranks", "p-values") for group in groups]
    axes = panels(sheet, titles)
    for group, sets in groups.items():
        here = axes[f"{group}: mean ranks"]
        precision, effort = (rank(found, figure, sets, names) for figure in ("precision", "effort"))
        for place, method in enumerate(METHODS):
            name = names.get(method, method)
            if name in precision and name in effort:
                here.scatter(
                    precision[name], effort[name], color=COLOURS[place], marker=MARKERS[place], label=method
                )
                here.annotate(
                    method,
                    (precision[name], effort[name]),
                    xytext=(4, 4),
                    textcoords="offset points",
                    fontsize=7,
                )
        here.set(
            xlabel="mean rank, precision (1 = best)",
            ylabel="mean rank, effort",
            xlim=(0.8, 7.2),
            ylim=(0.8, 7.2),
        )
        here = axes[f"{group}: p-values"]
        values = {what: test(found, what, sets) for what in ("precision", "effort")}
        for shift, (what, tested) in enumerate(values.items()):
            at = np.arange(len(tested)) + 0.4 * shift
            here.bar(
                at, list(tested.values()), 0.4, label=what, color=COLOURS[shift], hatch=("", "//")[shift]
            )
        here.axhline(0.05, color="black", linewidth=0.8, linestyle=":")
        here.set_xticks(np.arange(len(METHODS) - 1) + 0.2, METHODS[1:], rotation=30, ha="right")
        here.set(yscale="log", ylabel="p, OJRank better")
        here.legend(fontsize=7)


def times(found: Found, sheet: Any, *, sets: Sequence[str], strategies: Sequence[str]) -> None:
    """Quartiles and 5 to 95 % of the time of a verdict, one panel per set."""
    run = [name for name in sets if len(found.where(data=name))]
    axes = panels(sheet, run, columns=4, height=1.9)
    for name in run:
        for place, strategy in enumerate(strategies):
            quantiles = [each for each in found.where(data=name, strategy=strategy).each("seconds") if each]
            if quantiles:
                low, first, middle, third, high = (1000 * np.mean(quantiles, axis=0)).tolist()
                box = {"whislo": low, "q1": first, "med": middle, "q3": third, "whishi": high}
                axes[name].bxp([box], positions=[place], widths=0.6, showfliers=False)
        axes[name].set(yscale="log", ylabel="ms")
        axes[name].set_xticks(
            range(len(strategies)), [s.partition(",")[0] for s in strategies], rotation=30, fontsize=7
        )


def sensitivity(
    found: Found, sheet: Any, *, deltas: Sequence[float], pairs: Sequence[int], sets: Sequence[str]
) -> None:
    """Precision by δ and by k, one line per set."""
    axes = panels(sheet, ("δ", "k"), height=3.2)
    for title, name, values in (("δ", "delta", deltas), ("k", "n_pairs", pairs)):
        for place, data in enumerate(sets):
            by = [found.where(data=data, **{name: value}).each("precision") for value in values]
            if all(by):
                style = line_style(place) | {"markersize": 3, "linewidth": 1}
                axes[title].plot(
                    values, [np.mean(each) for each in by], label=data.removeprefix("clus_"), **style
                )
        axes[title].set(xlabel=title, ylabel="precision@b", ylim=(-0.02, 1.02), title="")
    shared_legend(sheet, axes["δ"], columns=6)


def hits(found: Found, sheet: Any, *, sets: Sequence[str], strategies: Sequence[str]) -> None:
    """Wanted rows found after so many reviews, mean over forests."""
    run = [name for name in sets if len(found.where(data=name))]
    axes = panels(sheet, run, columns=3, height=2.0)
    for name in run:
        for place, strategy in enumerate(strategies):
            curves = found.where(data=name, strategy=strategy).each("hits")
            if curves:
                mean = np.mean(curves, axis=0)
                style = line_style(place) | {"marker": "", "linewidth": 1.2}
                axes[name].plot(np.arange(1, mean.size + 1), mean, label=strategy, **style)
        axes[name].set(xlabel="reviews", ylabel="found")
    shared_legend(sheet, axes[run[0]])
