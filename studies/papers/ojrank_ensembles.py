"""The table of ensembles: what is found on each that the OJRank paper names, and whether OJRank learns there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from studies.frame.cells import Cell, Found
from studies.frame.claims import Judged, all_of, paired
from studies.frame.paper import Entry, Plan
from studies.papers.ojrank_ensembles_runs import ENSEMBLES, on_ensemble

#: The five that the paper names.
NAMED = ("iForest", "HS-Trees", "RS-Forest", "LODA", "bagged LOF")
LEARNERS = ("Offline", "OJRank", "Similarity")
QUICK_SETS = ("clus_vehicle", "wbc")


def plan(sets: Sequence[str]) -> Plan:
    """Each learner on each ensemble of each set, a third of the repeats."""

    def cells(repeats: int, quick: bool) -> list[Cell]:
        return [
            Cell.of(on_ensemble, data=name, seed=seed, ensemble=ensemble, strategy=strategy)
            for seed in range(max(1, repeats // 3))
            for name in (QUICK_SETS if quick else sets)
            for ensemble in ENSEMBLES
            for strategy in LEARNERS
        ]

    return cells


def by_set(found: Found, ensemble: str, strategy: str) -> dict[str, float]:
    """The mean precision over repeats on each set that was run."""
    runs: dict[str, list[float]] = {}
    for cell, value in found.where(ensemble=ensemble, strategy=strategy).items():
        runs.setdefault(cell["data"], []).append(value["precision"])
    return {name: float(np.mean(values)) for name, values in runs.items()}


def entries(found: Found) -> Iterator[Entry]:
    """Mean precision over sets, and its standard error over sets."""
    for ensemble in ENSEMBLES:
        for strategy in LEARNERS:
            values = list(by_set(found, ensemble, strategy).values())
            mean = float(np.mean(values)) if values else None
            error = float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else None
            yield Entry(ensemble, strategy, mean, error, runs=len(values))


def learns(found: Found) -> Judged:
    """OJRank against reviewing without learning, over the sets, on each ensemble that the paper names."""
    parts = {}
    for ensemble in NAMED:
        ours, theirs = (by_set(found, ensemble, strategy) for strategy in ("OJRank", "Offline"))
        both = [name for name in ours if name in theirs]
        parts[ensemble] = paired([ours[name] for name in both], [theirs[name] for name in both])
    return all_of(parts)
