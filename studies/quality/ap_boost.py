"""How well APBoost ranks beside its rivals, on imbalanced public sets.

Each set is split 2/3 - 1/3 at random (stratified), as often as ``--splits`` says; every method is tuned on
training rows only, by average precision. Sets of more than ``--rows`` rows are cut to a stratified sample of that
size. One line of JSON per set, split and method is appended to ``--results``; what is there already is not run again,
so the study can be run in pieces::

    python -m studies quality.ap_boost --minutes 8
    python -m studies quality.ap_boost --report --json > studies/results/quality.ap_boost.json

Every second set by name is there to choose by, the others to confirm (``--half``). What a comparison can
see is told too: the gain that so many sets would find in four of five such studies.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import stats
from sklearn.model_selection import train_test_split

from shortlist.metrics import average_precision, precision_at_k, roc_auc
from shortlist.tables import Schema
from studies.large_sets import LARGE_SETS
from studies.measure import cpu_seconds
from studies.paper_sets import load_paper_set
from studies.quality.rivals import FORMS, METHODS
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell

SETS = [
    "abalone",
    "ann_thyroid",
    "breast_ljubljana",
    "car_insurance_cost",
    "carclaims",
    "cardiotocography",
    "clus_letters",
    "clus_optdigits",
    "clus_segment",
    "clus_statlog",
    "clus_svmguide",
    "clus_vehicle",
    "clus_vowels",
    "cover",
    "covtype54_10k",
    "creditcard_part",
    "ecoli",
    "glass",
    "heart_cleveland",
    "hiv_schilling",
    "mammography",
    "pima",
    "thyroid",
    "vertebral",
    "w8a_train",
    "wbc",
    "wisconsin",
    "yeast",
]


def in_halves(sets: list[str]) -> dict[str, list[str]]:
    """Every second set by name is there to choose by, the others to confirm."""
    return {"choose": sets[::2], "confirm": sets[1::2], "both": sets}


HALVES = in_halves(SETS)
#: Standard errors of a gain that is found, at the 5 % level, in four of five studies.
DETECTED = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
DROPPED = {"carclaims": ["PolicyNumber"]}


@lru_cache(1)
def load(name: str, rows: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Features as numbers, labels, and which columns are category codes."""
    data = LARGE_SETS[name].load(name, rows) if name in LARGE_SETS else load_paper_set(name)
    y = np.asarray(data.y) > 0
    if data.frame is None:
        X, categorical = data.X, np.zeros(data.X.shape[1], dtype=bool)
    else:
        frame = data.X.drop(DROPPED.get(name, []))
        schema = Schema.learn(frame)
        X, categorical = schema.matrix(frame), schema.categorical
    if y.size > rows:
        kept, _ = train_test_split(np.arange(y.size), train_size=rows, stratify=y, random_state=0)
        X, y = X[np.sort(kept)], y[np.sort(kept)]
    return X, y, categorical


def measure(name: str, split: int, method: str, rows: int, methods: dict[str, Any]) -> dict[str, Any]:
    X, y, categorical = load(name, rows)
    train, test = train_test_split(np.arange(y.size), test_size=1 / 3, stratify=y, random_state=split)
    scores: list[np.ndarray] = []
    seconds = cpu_seconds(
        lambda: scores.append(methods[method](X[train], y[train], categorical, split)(X[test]))
    )
    score = scores[0]
    wanted = int(y[test].sum())
    return {
        "set": name,
        "split": split,
        "method": method,
        "rows": int(y.size),
        "at_most": rows,
        "ap": average_precision(y[test], score),
        "ap_worst": average_precision(y[test], score, ties="worst"),
        "auc": roc_auc(y[test], score),
        "precision_at_P": precision_at_k(y[test], score, wanted),
        "cpu_seconds": round(seconds, 3),
    }


def run(
    results: Path, sets: list[str], splits: int, rows: int, minutes: float, methods: dict[str, Any]
) -> list[dict[str, Any]]:
    """Measure what is missing in the file, one line per run; gives all runs."""
    runs = read_runs(results)
    done = {(each["set"], each["split"], each["method"]) for each in runs if each["at_most"] == rows}
    end = time.monotonic() + 60 * minutes
    for split in range(splits):
        for name in sets:
            for method in methods:
                if (name, split, method) in done:
                    continue
                if time.monotonic() > end:
                    return runs
                runs.append(measure(name, split, method, rows, methods))
                append_runs(results, runs[-1:])
    return runs


def report(rows: list[dict[str, Any]], methods: list[str], ours: str) -> dict[str, Any]:
    """Per set the mean over splits; over sets what ``beside`` tells."""
    frame = pl.DataFrame(rows).filter(pl.col("method").is_in(methods))
    whole = frame.group_by("set", "split").agg(pl.col("method").n_unique().alias("n"))
    frame = frame.join(whole.filter(pl.col("n") == len(methods)), on=["set", "split"])
    table = frame.group_by("set", "method").agg(pl.col("ap").mean()).pivot("method", index="set", values="ap")
    table = table.select("set", *methods).sort("set")
    seconds = dict(frame.group_by("method").agg(pl.col("cpu_seconds").mean()).iter_rows())
    splits = frame.group_by("set").agg(pl.col("split").n_unique())["split"].to_list()
    return {
        "sets": table.height,
        "splits": [min(splits), max(splits)],
        "summary": [
            {**line, "CPU seconds": round(seconds[line["method"]], 2)} for line in beside(table, ours)
        ],
        "by set": table.to_dicts(),
    }


def beside(table: pl.DataFrame, ours: str) -> list[dict[str, Any]]:
    """Over sets the mean difference of each method with its 95 % interval, sets won and mean rank.

    Ranks are those among ours and its rivals; of another form of ours, as if it stood in the place of ours.
    """
    methods = [name for name in table.columns if name != "set"]
    ap = table.select(methods).to_numpy()
    rivals = [name for name in methods if name not in (ours, *FORMS)]
    lines = []
    for k, method in enumerate(methods):
        gain = ap[:, methods.index(ours)] - ap[:, k]
        half = stats.t.ppf(0.975, gain.size - 1) * stats.sem(gain) if gain.size > 1 else np.nan
        lines.append(
            {
                "method": method,
                "mean AP": ap[:, k].mean(),
                "mean rank": _mean_rank(table, method, [method if method in FORMS else ours, *rivals]),
                f"{ours} minus it": gain.mean(),
                "± 95 %": half,
                "would be seen": DETECTED * stats.sem(gain) if gain.size > 1 else np.nan,
                "sets won": int((gain > 5e-4).sum()),
                "sets lost": int((gain < -5e-4).sum()),
                "p (Wilcoxon)": stats.wilcoxon(gain).pvalue if np.any(gain) else 1.0,
            }
        )
    return lines


def _mean_rank(table: pl.DataFrame, method: str, among: list[str]) -> float:
    ranks = stats.rankdata(-np.round(table.select(among).to_numpy(), 4), axis=1).mean(axis=0)
    return float(ranks[among.index(method)])


def report_halves(
    rows: list[dict[str, Any]], methods: list[str], ours: str, halves: dict[str, list[str]]
) -> dict[str, Any]:
    """The report of each half, and of all sets."""
    parts = {half: [row for row in rows if row["set"] in sets] for half, sets in halves.items()}
    return {half: report(part, methods, ours) for half, part in parts.items() if part}


def show(found: dict[str, Any]) -> None:
    if "summary" not in found:
        for part, told in found.items():
            print(f"{part}:")
            show(told)
        return
    with pl.Config(
        tbl_rows=-1, tbl_cols=-1, tbl_width_chars=200, float_precision=4, tbl_hide_dataframe_shape=True
    ):
        print(
            f"{found['sets']} sets"
            + (", {} to {} splits each".format(*found["splits"]) if "splits" in found else "")
        )
        print(pl.DataFrame(found["summary"]))
        if "by set" in found:
            print(pl.DataFrame(found["by set"]))


def rivals_parser(
    module: str, text: str | None, splits: int, methods: dict[str, Any]
) -> argparse.ArgumentParser:
    """The options of a study of several methods on splits of the sets."""
    parser = study_parser(module, text, "two small sets, one split")
    in_pieces(parser)
    parser.add_argument("--methods", nargs="*", default=[*methods])
    parser.add_argument("--splits", type=int, default=splits)
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--report", action="store_true", help="only report what is there")
    return parser


def study(
    module: str,
    options: argparse.Namespace,
    sets: list[str],
    methods: dict[str, Any],
    halves: dict[str, list[str]] = HALVES,
) -> dict[str, Any]:
    """Run what is missing, and report on the sets asked for; the first method is compared with the others."""
    if options.quick:
        sets, options.splits = ["glass", "wbc"], 1
    methods = {name: methods[name] for name in options.methods}
    # A report is a run that has no time to add anything.
    minutes = 0 if options.report else options.minutes
    runs = run(runs_file(options, module), sets, options.splits, options.rows, minutes, methods)
    rows = [row for row in runs if row["set"] in sets and row["at_most"] == options.rows]
    ours = next(iter(methods))
    if sets == halves["both"]:
        return report_halves(rows, [*methods], ours, halves)
    return report(rows, [*methods], ours)


def main(arguments: Sequence[str]) -> None:
    """Run what is missing, and compare APBoost with its rivals."""
    parser = rivals_parser(__name__, __doc__, 10, METHODS)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--half", choices=HALVES, default="both", help="of the sets, if none are named")
    options = parser.parse_args(arguments)
    found = study(__name__, options, options.sets or HALVES[options.half], METHODS)
    tell(found, options.json, show)
