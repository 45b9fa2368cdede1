"""What files kept from earlier versions are asked: when they are written, and in every test since.

Only public names are used, so that nothing here depends on where a class lives.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
import tarfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix

import shortlist
from shortlist.feedback import FeedbackRanker, ScoreSpace
from shortlist.review import Queue

KEPT = Path(__file__).parents[1] / "data" / "before"
#: When all kept files were last changed: a stream says so when a file changes after it was taken.
CHANGED = 1_700_000_000
#: What a replay said from the beginning; of the chain of hashes it tells since there is one.
REPLAY = ("events", "shown", "differing", "version", "digest", "holds", "equals live ranking")
#: What rests on the libraries and on the machine, or says where a file is.
PASSING = ("ranker", "libraries", "file")


def run(*arguments: Any) -> str:
    """Call the program as a user does, in the working directory; gives what it prints."""
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["shortlist", *map(str, arguments)]),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()) as errors,
    ):
        try:
            runpy.run_module("shortlist", run_name="__main__")
        except SystemExit as stop:
            if stop.code:
                raise RuntimeError(errors.getvalue()) from stop
    return printed.getvalue()


def unpack(name: str, folder: Path) -> Path:
    """Put a kept folder into another one; its files have the time they had."""
    with tarfile.open(KEPT / f"{name}.tar.xz") as kept:
        kept.extractall(folder, filter="data")
    return folder


# -- models


def ask_model(path: Path, rows: Path) -> dict[str, Any]:
    """What a trained model says of itself and of new rows."""
    model = shortlist.TrainedModel.load(path)
    ranked = model.score(shortlist.read_table(rows), budget=3, keep_all=True)
    frame = ranked.frame.sort(model.roles.id or "row")
    measured = [name for name in ("score", "expected_precision") if name in frame.columns]
    return {
        "facts": {name: fact for name, fact in model.facts().items() if name not in PASSING},
        "notes": [*ranked.notes],
        "columns": ranked.frame.columns,
        **{name: frame[name].to_list() for name in measured},
    }


def ask_reasons(path: Path, rows: Path) -> dict[str, str]:
    """The first reason of each row within the budget, by id."""
    top = shortlist.TrainedModel.load(path).score(shortlist.read_table(rows), budget=3).frame
    return dict(zip(top["claim_id"], top["reason_1"], strict=True)) if "reason_1" in top.columns else {}


def ask_array_model(path: Path, rows: Path) -> list[float]:
    """The scores of a ranker that was trained on an array."""
    return shortlist.load(path).decision_function(np.loadtxt(rows, delimiter=",")).tolist()


def ask_sparse_model(path: Path, rows: Path) -> dict[str, list[float]]:
    """The scores of a ranker for the same rows, dense and sparse."""
    ranker, X = shortlist.load(path), np.loadtxt(rows, delimiter=",")
    forms = {"dense": X, "sparse": csr_matrix(X)}
    return {form: ranker.decision_function(given).tolist() for form, given in forms.items()}


# -- feedback


def ask_feedback(folder: Path, name: str) -> dict[str, Any]:
    """Where a feedback ranker stands, and where one more verdict and one taken back bring it."""
    space = ScoreSpace.load(folder / "space")
    ranker: Any = FeedbackRanker.load(folder / f"{name}.npz", space)
    some = np.arange(0, space.n_rows, 3)
    says = {
        "class": type(ranker).__name__,
        "rows": space.n_rows,
        "version": ranker.version,
        "reviewed": ranker.reviewed,
        "unsure": ranker.unsure,
        "scores": ranker.scores(some).tolist(),
        "asked": _asked(ranker),
    }
    free = next(row for row in range(space.n_rows) if row not in _closed(ranker))
    ranker.tell(free, True)
    says["told"] = ranker.scores(some).tolist()
    ranker.untell(ranker.reviewed[0][0])
    return json.loads(json.dumps({**says, "untold": ranker.scores(some).tolist(), "next": _asked(ranker)}))


def _closed(ranker: FeedbackRanker) -> set[int]:
    return {row for row, _ in ranker.reviewed} | {*ranker.unsure}


def _asked(ranker: FeedbackRanker) -> list[float]:
    """The scores of the rows that are asked about: equal scores may change places, these do not."""
    return ranker.scores(ranker.ask(5)).tolist()


# -- the review


def ask_queue(folder: Path) -> dict[str, Any]:
    """What a queue says of its past on the command line."""
    verdicts = folder.parent / f"{folder.name}.csv"
    run("export", folder, "-o", verdicts)
    said = json.loads(run("replay", folder, "--json"))
    return {
        "replay": {name: said[name] for name in REPLAY},
        "replay in words": "".join(run("replay", folder).splitlines(keepends=True)[:2]),
        "export": {"verdicts": json.loads(run("export", folder, "--json"))["verdicts"]},
        "csv": shortlist.read_table(verdicts).cast(pl.String).rows(),
    }


def go_on_reviewing(folder: Path, now: int) -> list[dict[str, Any]]:
    """The next turns of a reviewer: a verdict, another one, one taken back."""
    queue = Queue.open(folder, clock=lambda: float(now))
    try:
        turns = [queue.turn("ann").result()]
        turns.append(queue.record("ann", turns[-1].shown, "wanted", note="seen later").result())
        turns.append(queue.record("ann", turns[-1].shown, "not wanted").result())
        turns.append(queue.undo("ann").result())
        top = [{"id": up.id, "score": up.score} for up in queue.snapshot.top[:5]]
        last = {"reviewed": queue.snapshot.reviewed, "found": queue.snapshot.found, "top": top}
    finally:
        queue.close()
    # How long a row is held follows the time of the log, which never goes back.
    later = ("today", "why", "expected_value")  # not told then
    told = [{name: value for name, value in vars(turn).items() if name not in later} for turn in turns]
    return [*({**turn, "until": None} for turn in told), last]


# -- the stream

STREAMS = {
    "refit": ("--extra-labels", "4"),
    "refit-linear": ("--extra-labels", "4", "--kernel", "linear", "--scheme", "exponential"),
    "perceptron": ("--learner", "perceptron", "--kernel", "linear", "--extra-labels", "6"),
    "perceptron-rbf": (
        *("--learner", "perceptron", "--kernel", "rbf"),
        *("--extra-labels", "6", "--scheme", "inverse"),
    ),
}


def step_stream(folder: Path, name: str) -> dict[str, Any]:
    """Let a stream take what is new in its folder; gives its report and the rows that wait for a label."""
    with contextlib.chdir(folder):
        options = ("--once", "--id", "id", "--budget", "5", "--labels", "answers", *STREAMS[name])
        report = json.loads(run("stream", "in", *options, "--json"))
    files = sorted((folder / "stream" / "to-label").glob("*.csv"))
    asked = {path.stem: shortlist.read_table(path).select("id", "why").rows() for path in files}
    return {"report": report, "asked": {window: sorted(map(list, rows)) for window, rows in asked.items()}}


def go_on_streaming(folder: Path, name: str) -> list[dict[str, Any]]:
    """What the stream does when the labels it waits for come, and then two more windows with theirs."""
    steps = []
    for number in (1, 2, 3):
        for path in (folder / f"later-{number}").iterdir():
            target = folder / ("answers" if path.name.startswith("answers") else "in") / path.name
            path.rename(target)
            os.utime(target, (CHANGED, CHANGED))
        steps.append(step_stream(folder, name))
    return steps


def go_on_asking(path: Path, windows: Path) -> dict[str, Any]:
    """What a saved active ranker does next, by the windows and labels of a file."""
    rows = np.loadtxt(windows, delimiter=",")
    X, wanted = rows[:, :-1], rows[:, -1]
    ranker = shortlist.ActiveRanker.load(path)
    pending = ranker.pending_
    ranker.tell(pending, wanted[pending])
    asked = []
    while ranker.n_rows_ < len(X):
        numbers = ranker.ask(X[ranker.n_rows_ : ranker.n_rows_ + 50])
        while numbers.size:
            asked.append(sorted(numbers.tolist()))
            ranker.tell(numbers, wanted[numbers])
            numbers = ranker.ask()
    scores = ranker.decision_function(X[:20]).tolist()
    return {
        "pending": sorted(pending.tolist()),
        "asked": asked,
        "scores": scores,
        "labels": ranker.labels_asked_,
    }


# -- comparing


def assert_alike(now: Any, then: Any, where: str = "") -> None:
    """Equal, but for numbers: other processors round float32 sums otherwise."""
    if isinstance(then, dict):
        assert list(now) == list(then), where
        for key in then:
            assert_alike(now[key], then[key], f"{where}/{key}")
    elif isinstance(then, list | tuple):
        assert len(now) == len(then), where
        for place, (one, other) in enumerate(zip(now, then, strict=True)):
            assert_alike(one, other, f"{where}/{place}")
    elif isinstance(then, float):
        np.testing.assert_allclose(now, then, rtol=1e-5, atol=1e-7, err_msg=where)
    else:
        assert now == then, where
