"""Whether κ, how much surer the mean of fold models is than one of them, is measured right from training rows alone.

Each set is split 2/3 - 1/3; a fold ensemble without extra trees is trained on the larger part, of depth 6, of depths 3
and 6, and of 3, 6 and 10. On the other part, which no model saw, κ is known: the variance of the scores by one fold's
models over that of the scores by the mean of all. It is compared with what training rows told: by how much depths
differ, or, with one depth, models that saw a row. Sets to choose by are cut to 4,000 rows, some larger ones to 36,000.

    python -m studies quality.kappa --minutes 4
    python -m studies quality.kappa --report --json > studies/results/quality.kappa.json
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from shortlist.rankers.boosting import ap_training
from shortlist.rankers.boosting.fold_ensemble import FoldEnsemble, Pooled, average
from shortlist.rankers.boosting.trees.boosted import margins
from studies.quality.ap_boost import HALVES, load
from studies.quality.rivals import fitted
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell

#: Sets that are taken as they are, beside those to choose by, which are cut to 4,000 rows.
LARGE = ("carclaims", "cod_rna", "mammography", "shuttle", "w8a_train")
LARGEST, USUAL = 36_000, 4_000
DEPTHS = {"one depth": 6, "two depths": (3, 6), "three depths": (3, 6, 10)}


def measure(name: str, rows: int) -> dict[str, Any]:
    """κ as it was measured in training and as it is on new rows, with one depth and with several."""
    X, y, categorical = load(name, rows)
    train, test = train_test_split(np.arange(y.size), test_size=1 / 3, stratify=y, random_state=0)
    run: dict[str, Any] = {"set": name, "at_most": rows, "rows": train.size, "wanted": int(y[train].sum())}
    for label, depth in DEPTHS.items():
        depths, weights, ensemble = fold_models(X[train], y[train], categorical, max_depth=depth)
        new = known(depths, weights, X[test])
        run[label] = {"measured": round(ensemble.kappa(len(depths[0].boosters)), 4), "known": round(new, 4)}
    return run


def fold_models(
    X: Any, y: Any, categorical: Any, **settings: Any
) -> tuple[list[Pooled], NDArray[np.float64], FoldEnsemble]:
    """The models of each depth, their weights, and what they are averaged to."""
    kept: list[Any] = []

    def keep(depths: list[Pooled], weights: NDArray[np.float64]) -> FoldEnsemble:
        kept.extend([depths, weights, average(depths, weights)])
        return kept[2]

    with mock.patch.object(ap_training, "average", keep):
        fitted(X, y, categorical, 0, committee=False, **settings)
    return kept[0], kept[1], kept[2]


def known(depths: list[Pooled], weights: NDArray[np.float64], X: Any) -> float:
    """The variance of new rows' scores by one model per depth, over that by the mean of all."""
    by_fold = np.average(
        [[margins(booster, X) / depth.margin.std() for booster in depth.boosters] for depth in depths],
        axis=0,
        weights=weights,
    )
    return float(by_fold.var(axis=1).mean() / by_fold.mean(axis=0).var())


def report(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean κ - 1 of sets by their size, as measured and as known; and each set."""
    groups = {
        "fewer than 1,000 rows": [run for run in runs if run["rows"] < 1_000],
        "1,000 to 3,000 rows": [run for run in runs if 1_000 <= run["rows"] < 3_000],
        "more": [run for run in runs if run["rows"] >= 3_000],
    }
    means = {
        group: {"sets": len(here)}
        | {
            label: {
                kind: round(float(np.mean([run[label][kind] for run in here]) - 1), 4)
                for kind in ("measured", "known")
            }
            for label in DEPTHS
        }
        for group, here in groups.items()
        if here
    }
    return {"κ - 1": means, "by set": runs}


def show(found: dict[str, Any]) -> None:
    for run in found["by set"]:
        told = "   ".join(
            f"{label}: {run[label]['measured']:.3f}, is {run[label]['known']:.3f}" for label in DEPTHS
        )
        print(f"{run['set']:18} {run['rows']:6} rows {run['wanted']:5} wanted   {told}")
    for group, means in found["κ - 1"].items():
        print(f"{group}: {means}")


def main(arguments: Sequence[str]) -> None:
    """Run what is missing, and compare κ as it was measured with what it is."""
    parser = study_parser(__name__, __doc__, "two small sets")
    in_pieces(parser)
    parser.add_argument("--report", action="store_true", help="only report what is there")
    options = parser.parse_args(arguments)
    sets = [(name, USUAL) for name in HALVES["choose"]] + [(name, LARGEST) for name in LARGE]
    path = runs_file(options, __name__)
    runs = read_runs(path)
    done = {(run["set"], run["at_most"]) for run in runs}
    end = time.monotonic() + (0 if options.report else 60 * options.minutes)
    for name, rows in [("glass", USUAL), ("wbc", USUAL)] if options.quick else sets:
        if (name, rows) not in done and time.monotonic() < end:
            runs.append(measure(name, rows))
            append_runs(path, runs[-1:])
    tell(report(runs), options.json, show)
