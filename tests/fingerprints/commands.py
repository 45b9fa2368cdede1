"""Fingerprints of what the library's questions and the commands answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import shortlist
from tests.before.asking import run

from .measures import Line
from .rows import claims, outages

COMMANDS = (
    *("rank", "train", "score", "evaluate", "backtest", "compare", "inspect", "tree", "simulate"),
    *("review", "append", "import", "export", "replay", "stream", "demo"),
)
CLAIMS = {"label": "fraud", "id": "claim_id", "budget": 8}


def lines(jobs: int) -> Iterator[Line]:
    """The library's questions, then the commands on files."""
    yield from _questions(jobs)
    yield from _files(jobs)
    yield from _stream()
    yield from ((f"help/{name}", run(name, "--help")) for name in COMMANDS)


def _questions(jobs: int) -> Iterator[Line]:
    history, new = claims(400, 0), claims(120, 1).drop("fraud")
    asked: dict[str, dict[str, Any]] = {
        "plain": {},
        "lists": {"list": "region", "impact": "amount", "time": "date"},
        "known": {"impact": "amount", "impact_known": True, "ignore": ["pol*", "channel"]},
    }
    for name, options in asked.items():
        top = shortlist.rank(history, new, **CLAIMS, **options, model="xgboost", n_jobs=jobs)
        yield f"rank/{name}", [top.frame, top.notes, top.model]
    studies: dict[str, dict[str, Any]] = {
        "time": {"time": "date", "every": "quarter", "delay": 10, "baselines": ["amount desc"]},
        "folds": {"n_folds": 3, "impact": "amount", "baseline_columns": ["vehicle_age"]},
        "lists": {"n_folds": 3, "list": "region", "impact": "amount"},
    }
    for name, options in studies.items():
        for question in (shortlist.backtest, shortlist.compare):
            result = question(history, **CLAIMS, **options, models=["logistic", "xgboost"], n_jobs=jobs)
            yield f"{question.__name__}/{name}", _lasting(result.to_dict())
    every = shortlist.compare(
        outages(),
        impact="customers_out",
        list="storm",
        budget=3,
        n_folds=2,
        models=["cs-mart", "ada-rank"],
        n_jobs=jobs,
    )
    yield "compare/storms", _lasting(every.to_dict())
    ranked = shortlist.rank(history, new, **CLAIMS, model="logistic", keep_all=True).frame
    known = claims(120, 1).select("claim_id", "fraud", "amount", "region")
    for name, options in {"label": {}, "impact": {"impact": "amount"}, "list": {"list": "region"}}.items():
        result = shortlist.evaluate(
            ranked.drop("amount", "region"), outcomes=known, **CLAIMS, against=["policy_age_days"], **options
        )
        yield f"evaluate/{name}", [result.table, result.notes, result.rows, result.wanted]


def _lasting(result: dict[str, Any]) -> dict[str, Any]:
    """Without the answer of a comparison: among equals it names the one that was quicker to fit."""
    return {name: value for name, value in result.items() if name != "answer" or "pick" not in result}


def _files(jobs: int) -> Iterator[Line]:
    """The same by the command line: what is printed and what is written."""
    claims(400, 0).write_csv("history.csv")
    claims(120, 1).drop("fraud").write_csv("new.csv")
    claims(120, 1).select("claim_id", "fraud").write_csv("outcomes.csv")
    label = ("--label", "fraud", "--id", "claim_id", "--time", "date", "--budget", 8)
    jobs_ = ("--jobs", jobs)
    yield (
        "command/rank",
        json.loads(run("rank", "history.csv", "new.csv", *label, *jobs_, "--model", "xgboost", "--json")),
    )
    run("rank", "history.csv", "new.csv", *label, *jobs_, "--model", "xgboost", "--all", "-o", "ranked.csv")
    yield "command/rank/csv", pl.read_csv("ranked.csv")
    run("rank", "history.csv", "new.csv", *label, *jobs_, "--model", "logistic", "-o", "ranked.parquet")
    yield "command/rank/parquet", pl.read_parquet("ranked.parquet")
    run("train", "history.csv", *label, *jobs_, "--model", "target", "-o", "target.shortlist")
    yield "command/inspect", json.loads(run("inspect", "target.shortlist", "--json"))
    yield (
        "command/inspect/words",
        [line for line in run("inspect", "target.shortlist").splitlines() if "seconds" not in line],
    )
    yield "command/score", json.loads(run("score", "target.shortlist", "new.csv", "--json"))
    for form in ("--rules", "--sql", "--sqlite", "--svg", "--json"):
        yield f"command/tree/{form[2:]}", run("tree", "target.shortlist", form)
    measured = run(
        "evaluate", "ranked.csv", "--outcomes", "outcomes.csv", *label[:4], "--against", "amount", "--json"
    )
    yield "command/evaluate", json.loads(measured)
    played = run("simulate", "history.csv", *label[:4], "--trees", 20, "--budget", 15, "--json")
    yield "command/simulate", json.loads(played)
    for study in ("backtest", "compare"):
        options = (*label, *jobs_, "--every", "quarter", "--models", "logistic,xgboost")
        printed = run(study, "history.csv", *options, "--report", f"{study}.html", "--json")
        yield f"command/{study}", _lasting(json.loads(printed))
        yield f"command/{study}/report", sorted(path.name for path in Path().glob(f"{study}.*"))


def _stream() -> Iterator[Line]:
    """A folder of windows with answers: the report, and the files of rows to label."""
    rows = claims(400, 0)
    Path("in").mkdir()
    for number in range(5):
        rows[80 * number : 80 * (number + 1)].drop("fraud", "date").write_csv(f"in/day-{number}.csv")
    rows.select("claim_id", wanted="fraud").write_csv("answers.csv")
    for learner in ("refit", "perceptron"):
        options = (
            "--once",
            "--id",
            "claim_id",
            "--budget",
            8,
            "--learner",
            learner,
            "--labels",
            "answers.csv",
        )
        own = ("--state", f"{learner}.state", "-o", learner)
        yield f"command/stream/{learner}", json.loads(run("stream", "in", *options, *own, "--json"))
        files = sorted(Path(learner).rglob("*.csv"))
        yield f"command/stream/{learner}/files", {str(path): path.read_text() for path in files}
    rows.drop("date").write_csv("windows.csv")
    simulated = ("--simulate", "--label", "fraud", "--id", "claim_id", "--window-rows", 80, "--budget", 8)
    yield (
        "command/stream/simulated",
        json.loads(
            run(
                "stream", "windows.csv", *simulated, "--state", "simulated.state", "-o", "simulated", "--json"
            )
        ),
    )
