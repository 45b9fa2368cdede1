"""Whether expected precision is what is found, by set and by the size of the shortlist.

Each set is split 2/3 - 1/3 as in ``quality.ap_boost``; APBoost is trained on the larger part. On the other part, the
share of wanted rows among the first 10, 50 and P rows (P: as many as are wanted there) is compared with the share that
was expected, by the curve of today and by two others: today's without its stretch, and the isotonic curve with one
imagined row at each end that was used before. Sets count alike; every second one by name was used to choose.

    python -m studies quality.calibration --minutes 8
    python -m studies quality.calibration --report --json > studies/results/quality.calibration.json
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats
from sklearn.isotonic import isotonic_regression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from shortlist.rankers.calibration import chance_curve, expected_precision, read_chance
from studies.quality.ap_boost import HALVES, SETS, load
from studies.quality.rivals import fitted
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell

SIZES = ("10", "50", "P")
CURVES = ("today", "not stretched", "isotonic")


def isotonic(score: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Isotonic regression with one imagined unwanted row at the top and one wanted row at the bottom."""
    order = np.argsort(score, kind="stable")
    chance = isotonic_regression(np.r_[1.0, wanted[order], 0.0], y_min=0, y_max=1)[1:-1]
    return np.stack([score[order], chance])


def measure(name: str, split: int, rows: int) -> dict[str, Any]:
    """Found minus expected at each size, and the log-loss of the chances, by each curve."""
    X, y, categorical = load(name, rows)
    train, test = train_test_split(np.arange(y.size), test_size=1 / 3, stratify=y, random_state=split)
    ranker = fitted(X[train], y[train], categorical, split)
    score = ranker._score(X[test]).astype(np.float64)
    assert ranker.oof_score_ is not None
    assert ranker.chance_curve_ is not None
    curves = {
        "today": ranker.chance_curve_,
        "not stretched": chance_curve(ranker.oof_score_, y[train]),
        "isotonic": isotonic(ranker.oof_score_, y[train]),
    }
    found = {"set": name, "split": split, "wanted": int(y[train].sum()), "rows": int(y.size)}
    return {**found, **{curve: judge(knots, score, y[test]) for curve, knots in curves.items()}}


def judge(knots: np.ndarray, score: np.ndarray, wanted: np.ndarray) -> dict[str, float]:
    ranked = np.argsort(-score, kind="stable")
    expected = expected_precision(knots, score)[ranked]
    sizes = {"10": 10, "50": min(50, score.size), "P": int(wanted.sum())}
    off = {size: float(wanted[ranked[:k]].mean() - expected[k - 1]) for size, k in sizes.items()}
    chance = np.clip(read_chance(knots, score), 1e-6, 1 - 1e-6)
    base = log_loss(wanted, np.full(wanted.size, wanted.mean()))
    return {**off, "log-loss": float(log_loss(wanted, chance) / base)}


def report(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean over sets of found minus expected with its 95 % interval, and of the log-loss relative to the base rate."""
    found: dict[str, Any] = {"runs": len(runs), "sets": len({run["set"] for run in runs})}
    for half, sets in HALVES.items():
        here = [run for run in runs if run["set"] in sets]
        if here:
            found[half] = {curve: _summary(here, curve) for curve in CURVES}
    return found


def _summary(runs: list[dict[str, Any]], curve: str) -> dict[str, Any]:
    names = sorted({run["set"] for run in runs})
    by_set = {
        size: np.array([np.mean([run[curve][size] for run in runs if run["set"] == name]) for name in names])
        for size in (*SIZES, "log-loss")
    }
    return {
        "found minus expected": {size: _interval(by_set[size]) for size in SIZES},
        "log-loss": round(float(by_set["log-loss"].mean()), 4),
    }


def _interval(values: np.ndarray) -> str:
    half = stats.t.ppf(0.975, values.size - 1) * stats.sem(values) if values.size > 1 else np.nan
    return f"{values.mean():+.3f} ± {half:.3f}"


def show(found: dict[str, Any]) -> None:
    print(f"{found['runs']} runs on {found['sets']} sets; found minus expected")
    for half in HALVES:
        for curve, line in found.get(half, {}).items():
            off = "   ".join(f"{size}: {line['found minus expected'][size]}" for size in SIZES)
            print(f"{half:8} {curve:14} {off}   log-loss {line['log-loss']:.4f}")


def main(arguments: Sequence[str]) -> None:
    """Run what is missing, and compare expected with found precision."""
    parser = study_parser(__name__, __doc__, "two small sets, one split")
    in_pieces(parser)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--report", action="store_true", help="only report what is there")
    options = parser.parse_args(arguments)
    sets, splits = (["glass", "wbc"], 1) if options.quick else (SETS, options.splits)
    path = runs_file(options, __name__)
    runs = read_runs(path)
    done = {(run["set"], run["split"]) for run in runs}
    end = time.monotonic() + (0 if options.report else 60 * options.minutes)
    for split, name in ((split, name) for split in range(splits) for name in sets):
        if (name, split) not in done and time.monotonic() < end:
            runs.append(measure(name, split, options.rows))
            append_runs(path, runs[-1:])
    tell(report(runs), options.json, show)
