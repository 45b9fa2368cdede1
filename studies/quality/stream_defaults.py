"""Defaults of ActiveRanker's refit, chosen on the streams of one group and confirmed on those of another.

Every setting differs from the default in one thing. Each stream has 30 windows of random rows, with and without a
drift: from the middle on, the (standardised) columns change places, so that nothing learned before holds. The
measure is the share of the wanted rows that the top 20 of all windows but the first could have held.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from shortlist.stream import ActiveRanker
from shortlist.stream.learners import refit
from studies.paper_sets import load_paper_set
from studies.papers.prec_at_k_runs import SETS, Stream, load_stream
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell

CHOOSE = ["cod_rna", "cod_rna 1:50", "covtype54_10k"]
CONFIRM = ["cover 1:100", "creditcard 1:500", "mammography", "shuttle", "sensorless_part"]
K, WINDOWS, MOST_ROWS = 20, 30, 60_000
DEFAULT = "default"
#: What differs from the default: a parameter, or a constant of the learner.
SETTINGS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "kernel = None": {"kernel": None},
    **{f"explore = {share:g}": {"explore": share} for share in (0.0, 0.25, 0.75, 1.0)},
    **{f"decay = {decay:g}": {"decay": decay} for decay in (0.8, 0.9, 1.0)},
    **{f"drift_decay = {decay:g}": {"drift_decay": decay} for decay in (0.1, 0.3, 1.0)},
    **{f"gamma of the kernel = {gamma:g}": {"_GAMMA": gamma} for gamma in (0.0625, 1.0)},
    **{f"linear part = {size:g}": {"_LINEAR_SIZE": size} for size in (1.0, 4.0)},
}


def load(name: str, seed: int, drift: bool) -> Stream:
    if name in SETS:
        stream = load_stream(name, seed, rows=MOST_ROWS)
        X, y = stream.X, stream.y
    else:
        data = load_paper_set(name)
        order = np.random.default_rng(seed).permutation(data.y.size)
        X, y = data.X.to_numpy().astype(np.float64)[order], (data.y > 0)[order]
    if drift:
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        X[len(X) // 2 :] = np.roll(X[len(X) // 2 :], 1, axis=1)
    return Stream(X, y, np.array_split(np.arange(y.size), WINDOWS))


def measure(stream: Stream, setting: dict[str, Any], seed: int) -> float:
    """Wanted rows in the top k of all windows but the first, as a share of what they could have been."""
    constants = {name: value for name, value in setting.items() if name.startswith("_")}
    parameters = {name: value for name, value in setting.items() if name not in constants}
    ranker = ActiveRanker(K, random_state=seed, **parameters)
    hits = possible = 0
    with patch.multiple(refit, **constants) if constants else patch.object(refit, "_GAMMA", refit._GAMMA):
        for number, window in enumerate(stream.windows):
            rows = ranker.ask(stream.X[window])
            if number:
                hits += int(stream.y[rows[:K]].sum())
                possible += min(K, int(stream.y[window].sum()))
            ranker.tell(rows, stream.y[rows])
    return hits / possible


def run(
    results: Path, sets: list[str], drifts: list[bool], seeds: int, minutes: float
) -> list[dict[str, Any]]:
    """Measure what is missing in the file, one line per run; gives all runs of these sets."""
    runs = read_runs(results)
    done = {(each["set"], each["drift"], each["seed"], each["setting"]) for each in runs}
    end = time.monotonic() + 60 * minutes
    for seed in range(seeds):
        for name in sets:
            for drift in drifts:
                missing = [each for each in SETTINGS if (name, drift, seed, each) not in done]
                stream = load(name, seed, drift) if missing else None
                for setting in missing:
                    if time.monotonic() > end or stream is None:
                        return runs
                    value = measure(stream, SETTINGS[setting], seed)
                    runs.append(
                        {"set": name, "drift": drift, "seed": seed, "setting": setting, "value": value}
                    )
                    append_runs(results, runs[-1:])
    return runs


def summarise(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By setting and group of streams: the mean, and the mean gain over the default with its standard error."""
    value = {(each["set"], each["drift"], each["seed"], each["setting"]): each["value"] for each in runs}
    rows = []
    for setting in SETTINGS:
        for group, names in (("choose", CHOOSE), ("confirm", CONFIRM)):
            for drift in (False, True):
                cells = [key for key in value if key[0] in names and key[1] == drift and key[3] == setting]
                pairs = [(value[key], value.get((*key[:3], DEFAULT))) for key in cells]
                gains = np.array([mine - base for mine, base in pairs if base is not None])
                if gains.size:
                    error = gains.std(ddof=1) / np.sqrt(gains.size) if gains.size > 1 else 0.0
                    mean = float(np.mean([mine for mine, _ in pairs]))
                    row = {"setting": setting, "group": group, "drift": drift, "mean": mean}
                    rows.append(
                        row | {"gain": float(gains.mean()), "error": float(error), "runs": gains.size}
                    )
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    for group in ("choose", "confirm"):
        for drift in (False, True):
            print(
                f"\n{group}, {'with' if drift else 'without'} drift: mean, gain over the default ± error, runs"
            )
            for row in (each for each in rows if (each["group"], each["drift"]) == (group, drift)):
                figures = f"{row['mean']:.3f}  {row['gain']:+.3f} ± {row['error']:.3f}  {row['runs']}"
                print(f"  {row['setting']:<28} {figures}")


def main(arguments: Sequence[str]) -> None:
    """Run what is missing and compare every setting with the default."""
    parser = study_parser(__name__, __doc__, "two small sets, one seed, no drift")
    in_pieces(parser)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    results = runs_file(options, __name__)
    if options.quick:
        runs = run(results, ["covtype54_10k", "mammography"], [False], 1, options.minutes)
    else:
        runs = run(results, [*CHOOSE, *CONFIRM], [False, True], options.seeds, options.minutes)
    tell(summarise(runs), options.json, show)
