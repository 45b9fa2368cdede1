"""Write the files under ``tests/data/before``: python -m tests.data.make_before FOLDER, from the project's root.

The files in the repository must stay as they are: they stand for what users have on their disks. Most were written by
version 0.1.0, before the package was divided into sub-rooms; the queue ``cold`` was also kept from after that
(``cold-house``) and from 0.2.0, and models of sparse rows are from after it. Run this into another folder to see what
the present version would write.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tarfile
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier

import shortlist
from shortlist.datasets import make_claims
from shortlist.feedback import STRATEGIES, ScoreSpace, make_strategy
from shortlist.objectives import AUC, NDCG, AveragePrecision, CostSaved, PrecisionAtK
from shortlist.rankers import APBoost, LambdaMART, TargetTree
from shortlist.rankers.catalogue import MODELS
from shortlist.review import Queue, Workspace, create
from shortlist.tables import Roles
from tests.before import asking

ROLES = ("--label", "fraud", "--id", "claim_id", "--time", "date", "--impact", "amount", "--list", "region")


def claims(n_rows: int, seed: int) -> pl.DataFrame:
    """A column of each kind: numbers, a flag, a category, a day as people write it, a moment; some with gaps."""
    rows = make_claims(n_rows, random_state=seed, fraud_rate=0.2)
    start = pl.col("date") - pl.duration(days=pl.col("policy_age_days"))
    reported = pl.col("date").cast(pl.Datetime("us")) + pl.duration(hours=7 * pl.col("witnesses") + 3)
    kept = ["policy_age_days", "driver_age", "police_report", "vehicle"]
    return rows.select(
        "claim_id",
        "date",
        pl.col("region").replace({"east": "north", "centre": "south"}),
        *kept,
        policy_start=start.dt.strftime("%d.%m.%Y"),
        reported=reported,
        post_check=pl.col("fraud") * 7,
        amount="amount",
        fraud="fraud",
    )


def make_models(folder: Path) -> dict[str, Any]:
    """A file of each model of the catalogue, by the command line; few trees, to be small."""
    folder.mkdir()
    claims(100, 0).write_csv(folder / "history.csv")
    rows = claims(30, 1).drop("fraud", "post_check")
    strange = (
        pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("tractor")).otherwise("vehicle").alias("vehicle")
    )
    rows.with_columns(strange).write_csv(folder / "rows.csv")
    says = {}
    for name, entry in [*MODELS.items()]:
        MODELS[name] = replace(entry, make=lambda wish, make=entry.make: _small(make(wish)))
        path, options = folder / f"{name}.shortlist", ("--budget", 3, "--jobs", 1, "--ignore", "post_*")
        asking.run("train", folder / "history.csv", *ROLES, *options, "--model", name, "-o", path)
        MODELS[name] = entry
        says[name] = _model(path)
    path, options = folder / "impact-known.shortlist", ("--impact-known", "--model", "logistic")
    asking.run("train", folder / "history.csv", *ROLES[:8], *options, "--ignore", "post_*", "-o", path)
    return {**says, "impact-known": _model(path), **make_rankers(folder)}


def make_rankers(folder: Path) -> dict[str, Any]:
    """Rankers trained on a table by hand: one of each objective, and one from a table on disk."""
    history = claims(100, 0).drop("post_check", "date", "region")
    X, fraud, amount = history.drop("fraud", "amount"), history["fraud"], history["amount"]
    rankers: dict[str, Any] = {}
    for objective in (AUC(), AveragePrecision(), PrecisionAtK(k=5)):
        mart = LambdaMART(objective=objective, n_estimators=3, random_state=0, n_jobs=1)
        rankers[f"mart-{type(objective).__name__}"] = mart.fit(X.drop("claim_id"), fraud)
    weighed = LambdaMART(objective=NDCG(k=5), list_weight=CostSaved(k=5), n_estimators=3, random_state=0)
    rankers["mart-weighed"] = weighed.fit(X.drop("claim_id"), amount * fraud, groups=claims(100, 0)["region"])
    trees = TargetTree(n_estimators=3, objective=PrecisionAtK(k=9), generations=5, random_state=0)
    rankers["trees"] = trees.fit(X.drop("claim_id"), fraud)
    roles = Roles(id="claim_id", label="fraud", ignore=("amount",))
    rankers["from-disk"] = APBoost(folds=0, n_estimators=5, random_state=0).fit_table(history.lazy(), roles)
    says = {}
    for name, ranker in rankers.items():
        shortlist.save(ranker, folder / f"{name}.shortlist", budget=3)
        says[name] = {"says": asking.ask_model(folder / f"{name}.shortlist", folder / "rows.csv")}
    return says


def make_array_models(folder: Path) -> dict[str, Any]:
    """Rankers that know no names of columns."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(80, 3)), 3)
    y = X[:, 0] + X[:, 1] > 1
    np.savetxt(folder / "rows.csv", X[:20], delimiter=",", fmt="%g")
    rankers = {
        "ap-boost": APBoost(n_estimators=5, random_state=0, n_jobs=1),
        "ap-exp": APBoost(loss="ap_exp_faithful", folds=0, n_estimators=5, random_state=0),
        "tuned": APBoost(tune=AveragePrecision(), n_estimators=4, folds=2, random_state=0, n_jobs=1),
        "tree": TargetTree(generations=5, random_state=0),
        "stream": shortlist.ActiveRanker(5, kernel=None, random_state=0),
        "stream-rbf": shortlist.ActiveRanker(5, learner="perceptron", kernel="rbf", random_state=0),
        "stream-perceptron": shortlist.ActiveRanker(5, learner="perceptron", random_state=0),
    }
    says = {}
    for name, ranker in rankers.items():
        ranker.fit(X, y)
        if name.startswith("stream"):
            ranker.ask(X)  # so that a window is open
        shortlist.save(ranker, folder / f"{name}.shortlist")
        says[name] = asking.ask_array_model(folder / f"{name}.shortlist", folder / "rows.csv")
    return says


def make_sparse_models(folder: Path) -> dict[str, Any]:
    """Rankers that learned from a sparse matrix of flags, most of them 0."""
    folder.mkdir()
    rng = np.random.default_rng(8)
    X = rng.binomial(1, 0.25, size=(120, 4)).astype(float)
    y = (X[:, 0] > 0) & (X[:, 1] == 0)
    np.savetxt(folder / "rows.csv", X[:40], delimiter=",", fmt="%g")
    rankers = {
        "ap-boost": APBoost(n_estimators=5, random_state=0, n_jobs=1),
        "lambda-mart": LambdaMART(objective=AveragePrecision(), n_estimators=5, random_state=0, n_jobs=1),
    }
    for name, ranker in rankers.items():
        shortlist.save(ranker.fit(csr_matrix(X), y), folder / f"{name}.shortlist")
    return {
        name: asking.ask_sparse_model(folder / f"{name}.shortlist", folder / "rows.csv") for name in rankers
    }


def _small(ranker: Any) -> Any:
    sizes = ("generations",) if ranker.get_params().get("scorecard") else ("n_estimators", "generations")
    return ranker.set_params(**{name: 5 for name in ranker.get_params() if name.endswith(sizes)})


def _model(path: Path) -> dict[str, Any]:
    rows = path.parent / "rows.csv"
    clear = _clear(path, rows)
    reasons = {name: reason for name, reason in asking.ask_reasons(path, rows).items() if name in clear}
    return {"says": asking.ask_model(path, rows), "reasons": reasons}


def _clear(path: Path, rows: Path) -> set[str]:
    """Rows of which one column says more than any other: rounding cannot change their first reason."""
    model, frame = shortlist.TrainedModel.load(path), shortlist.read_table(rows)
    if not hasattr(model.ranker, "contributions"):
        return set()
    X = model.schema.matrix(frame)
    parts = np.sort(model.ranker.contributions(X)[:, : X.shape[1]], axis=1)
    clear = parts[:, -1] - parts[:, -2] > 0.01 * np.abs(parts).max()
    return {*frame["claim_id"].filter(pl.Series(clear))}


def make_feedback(folder: Path) -> dict[str, Any]:
    """Rankers of all strategies in the middle of a review, on a space of each kind, with rows appended."""
    table, more = claims(60, 2).drop("claim_id", "date", "amount", "post_check"), claims(6, 3)
    X, fraud = table.drop("fraud"), table["fraud"]
    numbers = X.select("policy_age_days", pl.col("driver_age").fill_null(40)).to_numpy()
    boosted = APBoost(folds=0, n_estimators=6, max_depth=3, random_state=0, n_jobs=1).fit(X, fraud)
    forest = RandomForestClassifier(n_estimators=6, max_depth=4, random_state=0).fit(numbers, fraud)
    spaces = {
        "isolation": ScoreSpace.from_isolation_forest(X, n_trees=8, max_depth=None, random_state=0),
        "indexed": ScoreSpace.from_isolation_forest(X, n_trees=8, random_state=0).build_index(),
        "loda": ScoreSpace.from_loda(numbers, n_projections=8, random_state=0),
        "boosted": ScoreSpace.from_boosted(X, boosted),
        "random-forest": ScoreSpace.from_random_forest(numbers, forest),
    }
    says = {}
    for kind, space in spaces.items():
        arrives = more.select(X.columns) if kind in ("isolation", "indexed", "boosted") else numbers[:6] + 1
        rankers = {
            name: make_strategy(name, space, random_state=1)
            for name, strategy in STRATEGIES.items()
            if kind == "isolation" or not strategy.needs_forest
        }
        for ranker in rankers.values():
            _review(ranker, fraud.to_list())
        space.append(arrives)
        space.save(folder / kind / "space")
        for name, ranker in rankers.items():
            ranker.scores()
            ranker.save(folder / kind / f"{name}.npz")
            says[f"{kind}/{name}"] = asking.ask_feedback(folder / kind, name)
    return says


def _review(ranker: Any, truth: list[int]) -> None:
    for number in range(10):
        row = ranker.ask()
        ranker.tell(row, None if number == 4 else bool(truth[row]))
    ranker.untell(ranker.reviewed[3][0])


def make_queue(folder: Path, name: str, **options: Any) -> dict[str, Any]:
    """A queue with every kind of event; gives what it says and does next."""
    rows = claims(70, 4).drop("date", "post_check").with_columns(known=pl.lit(None, dtype=pl.String))
    truth = dict(zip(rows["claim_id"], rows["fraud"], strict=True))
    known = pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("no")).otherwise("known")
    rows.head(60).drop("fraud").with_columns(known=known).write_csv(folder / "claims.csv")
    rows.tail(10).drop("fraud").write_csv(folder / "more.csv")
    rows[3:6].select("claim_id", verdict=pl.Series(["wanted", "0", "unsure"])).write_csv(folder / "said.csv")
    place = Workspace(folder / f"{name}.review")
    os.chdir(folder)
    create("claims.csv", place, id="claim_id", label="known", value="amount", settings={"budget": 40, "audit": 0.2},
           **options)  # fmt: skip
    _work(place.folder, truth, 8)
    asking.run("append", place.folder, "more.csv")
    asking.run("import", place.folder, "said.csv", "--id", "claim_id")
    _work(place.folder, truth, 4)
    now = round(time.time()) + 60  # the log keeps it to the last digit
    asking.run("export", place.folder, "--model", folder / f"{name}.shortlist")
    _drop_passing(place.folder)
    copy = Path(shutil.copytree(place.folder, folder / "copy" / place.folder.name))
    says = {"now": now, "past": asking.ask_queue(copy), "next": asking.go_on_reviewing(copy, now)}
    return {**says, "after": asking.ask_queue(copy)}


def _work(folder: Path, truth: dict[str, int], times: int) -> None:
    """What two reviewers and a lead do: verdicts of all kinds with notes, undo, later, an override, settings."""
    queue = Queue.open(folder)
    turn = {who: queue.turn(who).result() for who in ("ann", "bob")}
    for number in range(times):
        for who in [*turn]:
            verdict = "unsure" if number == 3 else "wanted" if truth[turn[who].id] else "not wanted"
            note = {"note": f"=note {number} ü", "reason": "habit"} if number % 3 == 0 else {}
            turn[who] = queue.record(who, turn[who].shown, verdict, **note).result()
    turn["bob"] = queue.park("bob", turn["bob"].shown, 3000.0).result()
    turn["ann"] = queue.undo("ann").result()
    said = queue.in_force()
    queue.undo("bob", said[-3].seq).result()
    queue.override("lead", said[4].row, type(said[4].body.verdict)("wanted"), "I know").result()
    queue.note("ann", 7, "a remark").result()
    queue.change("lead", {"budget": 40 + times, "unit": "€"}).result()
    queue.close()


def _drop_passing(folder: Path) -> None:
    for name in ("lock", "secret", "server.json", "log.sqlite-shm", "log.sqlite-wal"):
        (folder / name).unlink(missing_ok=True)


def make_stream(folder: Path, name: str) -> list[dict[str, Any]]:
    """A stream after four windows, the labels of the last of which are awaited."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=280), rng.normal(size=280) * 1e3
    wanted = a + b / 1e3 + 0.2 * rng.normal(size=280) > 1.2
    ids = [f"r{i:03d}" for i in range(280)]
    kind = rng.choice(["x", "y"], size=280)
    rows = pl.DataFrame({"id": ids, "a": a.round(4), "b": b.round(2), "kind": kind})
    answers = pl.DataFrame({"id": ids, "wanted": np.where(wanted, "yes", "no")})
    answers[17, "wanted"] = "unsure"
    for place in ("in", "answers", "later-1", "later-2", "later-3"):
        (folder / place).mkdir(parents=True)
    for number in range(6):
        place = "in" if number < 4 else f"later-{number - 2}"
        _dated(rows[40 * number : 40 * (number + 1)], folder / place / f"day-{number}.csv")
    _dated(answers.head(120), folder / "answers" / "answers-0.csv")
    _dated(answers[120:160], folder / "later-1" / "answers-1.csv")
    _dated(answers[160:], folder / "later-3" / "answers-2.csv")
    for _ in range(2):
        asking.step_stream(folder, name)
    Path(folder / "stream.state.lock").unlink(missing_ok=True)
    return asking.go_on_streaming(Path(shutil.copytree(folder, folder.parent / f"{name}-copy")), name)


def _dated(frame: pl.DataFrame, path: Path) -> None:
    frame.write_csv(path)
    os.utime(path, (asking.CHANGED, asking.CHANGED))


def make_active(folder: Path) -> dict[str, Any]:
    """Active rankers of each learner with an open window, saved."""
    folder.mkdir()
    rng = np.random.default_rng(6)
    X = np.round(rng.normal(size=(400, 4)), 3)
    wanted = X[:, 0] * X[:, 1] + X[:, 2] > 1.5
    np.savetxt(folder / "windows.csv", np.column_stack([X, wanted]), delimiter=",", fmt="%g")
    says = {}
    for name, options in ACTIVE.items():
        ranker = shortlist.ActiveRanker(5, random_state=0, **options)
        for window in np.split(X[:200], 4):
            numbers = ranker.ask(window)
            while numbers.size and ranker.n_rows_ < 200:
                numbers = ranker.tell(numbers, wanted[numbers]).ask()
        ranker.tell(numbers[:2], wanted[numbers[:2]])
        ranker.save(folder / f"{name}.state")
        says[name] = asking.go_on_asking(folder / f"{name}.state", folder / "windows.csv")
    return says


ACTIVE: dict[str, dict[str, Any]] = {
    "refit": {"kernel": None, "scheme": "uniform", "total_labels": 60},
    "perceptron": {"learner": "perceptron", "extra_labels": 8, "scheme": "exponential"},
    "perceptron-average": {"learner": "perceptron", "average": True, "balance": False},
    "perceptron-rbf": {"learner": "perceptron", "kernel": "rbf", "scheme": "inverse"},
}


def pack(folder: Path, archive: Path) -> None:
    """A folder as one file that says nothing of who made it."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        return entry.replace(uid=0, gid=0, uname="", gname="", mtime=asking.CHANGED, deep=False)

    with tarfile.open(archive, "w:xz") as target:
        target.add(folder, ".", filter=plain)


def rounded(value: Any) -> Any:
    """Plain values with numbers as short as the comparison allows."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def main(target: Path) -> None:
    """Make everything in a passing folder and keep it as archives, each with what it must say."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        here = Path(place)
        made: dict[str, Any] = {
            "models": make_models(here / "models"),
            "arrays": make_array_models(here / "arrays"),
            "sparse": make_sparse_models(here / "sparse"),
        }
        made |= {"feedback": make_feedback(here / "feedback"), "active": make_active(here / "active")}
        for name, options in QUEUES.items():
            (here / name).mkdir()
            if "model" in options:
                shutil.copy(here / "models" / "mart-AUC.shortlist", here / name / options["model"])
            made[name] = make_queue(here / name, name, **options)
            shutil.rmtree(here / name / "copy")
        for name in asking.STREAMS:
            made[f"stream-{name}"] = make_stream(here / f"stream-{name}", name)
        for name, says in made.items():
            pack(here / name, target / f"{name}.tar.xz")
            text = json.dumps(rounded(says), separators=(",", ":"), ensure_ascii=False, default=str)
            (target / f"{name}.json").write_text(text + "\n", encoding="utf-8")


QUEUES: dict[str, dict[str, Any]] = {
    "cold": {"seed": 3},
    "alerts": {"model": Path("start.shortlist"), "strategy": "ojrank"},
}

if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
