"""Beyond the SGBAP paper's own tables: what its supplement says of AP and F1, and what it leaves for later."""

from __future__ import annotations

from collections.abc import Iterator

from scipy.stats import pearsonr

from studies.frame.cells import Cell, Found
from studies.frame.claims import LEVEL, Judged, Verdict, all_of
from studies.frame.paper import Entry, entry
from studies.papers.sgbap_future_runs import GRADIENTS, net

SETS = ("pima", "breast_ljubljana", "heart_cleveland")


def nets(repeats: int, quick: bool) -> list[Cell]:
    """A small net with each loss, a third of the splits."""
    return [
        Cell.of(net, data=name, seed=seed, loss=loss)
        for seed in range(max(1, repeats // 3))
        for name in (SETS[2:] if quick else SETS)
        for loss in GRADIENTS
    ]


def entries_nets(found: Found) -> Iterator[Entry]:
    """Sets and losses by measures; the paper has no figures for it."""
    for name in SETS:
        for loss in GRADIENTS:
            runs = found.where(data=name, loss=loss)
            for measure in ("AUC", "AP", "NDCG"):
                yield entry(f"{name}, {loss}", measure, runs.each(measure))


def correlation(found: Found, name: str) -> tuple[float, float] | None:
    """Of AP and P@k over splits and methods, and its one-sided p; with k = the wanted rows, P@k is F1."""
    runs = found.where(data=name)
    if len(runs) < 3:
        return None
    tested = pearsonr(runs.each("AP"), runs.each("P@k"), alternative="greater")
    return float(tested.statistic), float(tested.pvalue)


def entries_f1(found: Found) -> Iterator[Entry]:
    """The correlation on each set, and over how many runs."""
    for name in SETS:
        told = correlation(found, name)
        yield Entry(
            name, "correlation of AP and F1", told[0] if told else None, runs=len(found.where(data=name))
        )


def correlated(found: Found) -> Judged:
    """The paper says highly, and has the figure in a supplement that is not at hand: ours is in the statistic."""
    parts = {}
    for name in SETS:
        if told := correlation(found, name):
            verdict: Verdict = "holds" if told[1] < LEVEL else "cannot be decided"
            parts[name] = Judged(verdict, f"r = {told[0]:.2f}, p = {told[1]:.2g}")
    return all_of(parts) if parts else Judged("cannot be decided", "nothing was run")
