"""Whether expected precision is what is found, by set and by the size of the shortlist, and how sure that is.

Each set is split 2/3 - 1/3 as in ``quality.ap_boost``; APBoost is trained on the larger part. On the other part, the
share of wanted rows among the first 10, 50 and P rows (P: as many as are wanted there) is compared with the share that
was expected, by three curves through the same out-of-fold scores: the one of the model, the same without κ, and the
one of before (Platt's line, isotonic steps, and a stretch by the number of wanted rows). Log loss and Brier score are
divided by those of the base rate; the slope is that of the outcome on the log-odds, 1 where chances are neither too
bold nor too shy. Whether the number found lies within its bounds of 90 % is counted at each size. Sets count alike;
every second one by name was used to choose.

    python -m studies quality.calibration --minutes 8
    python -m studies quality.calibration --report --json > studies/results/quality.calibration.json
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, logit
from sklearn.isotonic import isotonic_regression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split

from shortlist.rankers.chances.calibration import (
    ChanceCurve,
    chance_curve,
    expected_found,
    logistic_line,
    read_chance,
)
from studies.quality.ap_boost import HALVES, load
from studies.quality.rivals import fitted
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell

SIZES = ("10", "50", "P")
CURVES = ("after", "without κ", "before")
#: Sets by how many wanted rows there are to learn from.
GROUPS = {"< 40": (0, 40), "40-99": (40, 100), ">= 100": (100, np.inf)}
SCORES = ("log loss", "Brier", "slope")


def before(score: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The curve of before: isotonic through a mean of labels and Platt's line, stretched by a rule of thumb."""
    slope, base = logistic_line(score, wanted, None)
    smooth = min(1.0, 100 / wanted.sum())
    order = np.argsort(score, kind="stable")
    target = ((wanted + smooth * expit(slope * score + base)) / (1 + smooth))[order]
    distinct, first, counts = np.unique(score[order], return_index=True, return_counts=True)
    chance = isotonic_regression(np.add.reduceat(target, first) / counts, sample_weight=counts)
    stretch = 1 + 0.3 / wanted.sum() ** (1 / 3)
    return np.stack([score.mean() + (distinct - score.mean()) / stretch, chance])


def measure(name: str, split: int, rows: int) -> dict[str, Any]:
    """What was found beside what each curve expected."""
    X, y, categorical = load(name, rows)
    train, test = train_test_split(np.arange(y.size), test_size=1 / 3, stratify=y, random_state=split)
    ranker = fitted(X[train], y[train], categorical, split)
    score = ranker._score(X[test]).astype(np.float64)
    assert ranker.oof_score_ is not None
    assert ranker.chance_curve_ is not None
    curves = {
        "after": ranker.chance_curve_,
        "without κ": chance_curve(ranker.oof_score_, y[train]).points,
        "before": before(ranker.oof_score_, y[train]),
    }
    run = {"set": name, "split": split, "wanted": int(y[train].sum()), "rows": int(y.size)}
    run |= {curve: judge(points, score, y[test]) for curve, points in curves.items()}
    whole = ChanceCurve(ranker.chance_curve_, ranker.chance_error_)
    run["covers"] = covers(whole, score, y[test])
    run["covers, curve taken as sure"] = covers(whole._replace(error=0 * whole.error), score, y[test])
    return run


def sizes_of(wanted: np.ndarray) -> dict[str, int]:
    return {"10": 10, "50": min(50, wanted.size), "P": int(wanted.sum())}


def judge(points: np.ndarray, score: np.ndarray, wanted: np.ndarray) -> dict[str, float]:
    """Found minus expected at each size, and how good chances are beside the base rate."""
    ranked = np.argsort(-score, kind="stable")
    chance = np.clip(read_chance(points, score), 1e-6, 1 - 1e-6)
    off = {size: float((wanted - chance)[ranked[:k]].mean()) for size, k in sizes_of(wanted).items()}
    base = np.full(wanted.size, wanted.mean())
    slope = LogisticRegression(C=1e3).fit(logit(chance)[:, None], wanted).coef_[0, 0]
    return {
        **off,
        "log loss": float(log_loss(wanted, chance) / log_loss(wanted, base)),
        "Brier": float(brier_score_loss(wanted, chance) / brier_score_loss(wanted, base)),
        "slope": float(slope),
    }


def covers(curve: ChanceCurve, score: np.ndarray, wanted: np.ndarray) -> dict[str, bool]:
    """Whether the number found at each size lies within its bounds."""
    ranked = np.argsort(-score, kind="stable")
    chance = read_chance(curve.points, score)
    told = {}
    for size, k in sizes_of(wanted).items():
        bounds = expected_found(curve, chance[ranked[:k]])
        told[size] = bool(bounds.low <= wanted[ranked[:k]].sum() <= bounds.high)
    return told


def report(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over sets with their 95 % intervals: by half, and by the number of wanted rows to learn from."""
    found: dict[str, Any] = {"runs": len(runs), "sets": len({run["set"] for run in runs})}
    parts = {half: [run for run in runs if run["set"] in sets] for half, sets in HALVES.items()}
    for group, (low, high) in GROUPS.items():
        parts[group] = [run for run in runs if low <= run["wanted"] < high]
    return found | {part: _summary(here) for part, here in parts.items() if here}


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    loss = {curve: _by_set(runs, curve, "log loss") for curve in CURVES}
    told: dict[str, Any] = {"sets": loss["after"].size, "runs": len(runs)}
    for curve in CURVES:
        off = {size: _interval(_by_set(runs, curve, size)) for size in SIZES}
        # Where the few wanted rows of a split all come first, their slope has no bound: medians.
        means = {name: round(float(_by_set(runs, curve, name).mean()), 4) for name in SCORES[:2]}
        slope = round(float(np.median(_by_set(runs, curve, "slope", np.median))), 3)
        told[curve] = {"found minus expected": off, **means, "slope": slope}
    told["log loss, after minus before"] = _interval(loss["after"] - loss["before"], 4)
    told["sets whose log loss is not worse"] = int((loss["after"] <= loss["before"]).sum())
    for name in ("covers", "covers, curve taken as sure"):
        share = {size: round(float(_by_set(runs, name, size).mean()), 3) for size in SIZES}
        told[name] = share | {"all": round(float(np.mean([*share.values()])), 3)}
    return told


def _by_set(
    runs: list[dict[str, Any]], curve: str, name: str, middle: Callable[[list[float]], Any] = np.mean
) -> np.ndarray:
    """The mean over splits of each set."""
    sets = sorted({run["set"] for run in runs})
    return np.array([middle([run[curve][name] for run in runs if run["set"] == each]) for each in sets])


def _interval(values: np.ndarray, digits: int = 3) -> str:
    half = stats.t.ppf(0.975, values.size - 1) * stats.sem(values) if values.size > 1 else np.nan
    return f"{values.mean():+.{digits}f} ± {half:.{digits}f}"


def show(found: dict[str, Any]) -> None:
    print(f"{found['runs']} runs on {found['sets']} sets; found minus expected")
    for part in (*HALVES, *GROUPS):
        for curve in CURVES if part in found else ():
            line = found[part][curve]
            off = "   ".join(f"{size}: {line['found minus expected'][size]}" for size in SIZES)
            scores = "  ".join(f"{name} {line[name]:.4f}" for name in SCORES)
            print(f"{part:8} {curve:10} {off}   {scores}")
        if part in found:
            here = found[part]
            not_worse = f"{here['sets whose log loss is not worse']} of {here['sets']} sets not worse"
            print(
                f"{'':8} log loss {here['log loss, after minus before']}, {not_worse}; covers {here['covers']}"
            )


def main(arguments: Sequence[str]) -> None:
    """Run what is missing, and compare what was expected with what was found."""
    parser = study_parser(__name__, __doc__, "two small sets, one split")
    in_pieces(parser)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--half", choices=HALVES, default="both", help="of the sets")
    parser.add_argument("--report", action="store_true", help="only report what is there")
    options = parser.parse_args(arguments)
    sets, splits = (["glass", "wbc"], 1) if options.quick else (HALVES[options.half], options.splits)
    path = runs_file(options, __name__)
    runs = read_runs(path)
    done = {(run["set"], run["split"]) for run in runs}
    end = time.monotonic() + (0 if options.report else 60 * options.minutes)
    for split, name in ((split, name) for split in range(splits) for name in sets):
        if (name, split) not in done and time.monotonic() < end:
            runs.append(measure(name, split, options.rows))
            append_runs(path, runs[-1:])
    tell(report(runs), options.json, show)
