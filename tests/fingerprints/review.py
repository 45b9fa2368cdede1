"""Fingerprints of reviews: the log, the ranking, the export and the trained model, for every strategy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import shortlist
from shortlist.feedback import STRATEGIES
from shortlist.rankers import APBoost
from shortlist.review import Queue, Workspace, create

from .commands import run
from .measures import Line
from .rankers import header_of
from .rows import claims


def lines(jobs: int) -> Iterator[Line]:
    """A cold review with each strategy, and one that starts from a model."""
    rows = claims(130, 5).drop("date")
    known = pl.when(pl.int_range(pl.len()) < 4).then(pl.col("fraud").cast(pl.String))
    rows.head(110).with_columns(known=known).drop("fraud").write_csv("claims.csv")
    rows.tail(20).drop("fraud").with_columns(known=pl.lit(None, dtype=pl.String)).write_csv("more.csv")
    for strategy in STRATEGIES:
        yield from _review(f"cold/{strategy}", rows, strategy=strategy)
    few = {"n_estimators": 8, "folds": 0, "random_state": 0, "n_jobs": jobs}
    start = APBoost(**few).fit(rows.drop("claim_id", "fraud"), rows["fraud"].to_numpy())
    shortlist.save(start, "start.shortlist")
    for strategy in ("similarity", "ojrank"):
        yield from _review(f"model/{strategy}", rows, strategy=strategy, model=Path("start.shortlist"))


def _review(name: str, rows: pl.DataFrame, **options: Any) -> Iterator[Line]:
    place = Workspace(f"{name.replace('/', '-')}.review")
    settings = {"budget": 60, "audit": 0.2}
    create(
        "claims.csv",
        place,
        id="claim_id",
        label="known",
        value="amount",
        settings=settings,
        seed=1,
        **options,
    )
    truth = dict(zip(rows["claim_id"], rows["fraud"], strict=True))
    turns = _work(place.folder, truth, 12)
    run("append", place.folder, "more.csv")
    _write_said(place.folder, rows)
    run("import", place.folder, "said.csv", "--id", "claim_id")
    turns += _work(place.folder, truth, 5)
    yield f"review/{name}/turns", turns
    queue = Queue.open(place.folder)
    snapshot = queue.snapshot
    log = [{"kind": event.kind, "who": event.who, "body": event.body} for event in queue.log()]
    figures = [
        snapshot.reviewed,
        snapshot.found,
        snapshot.value_found,
        snapshot.top,
        snapshot.curve,
        snapshot.missed,
    ]
    yield f"review/{name}/log", log
    yield f"review/{name}/snapshot", figures
    yield f"review/{name}/why", [str(queue.why(up.row).result()) for up in snapshot.top[:4]]
    queue.close()
    yield f"review/{name}/replay", json.loads(run("replay", place.folder, "--json"))
    yield f"review/{name}/export", json.loads(run("export", place.folder, "--json"))
    yield from _trained(name, place.folder)


def _write_said(folder: Path, rows: pl.DataFrame) -> None:
    """Verdicts from elsewhere on rows that nobody has seen."""
    queue = Queue.open(folder)
    seen = {event.row for event in queue.log()}
    queue.close()
    unseen = [row for row in range(rows.height) if row not in seen][:3]
    rows[unseen].select("claim_id", verdict=pl.Series(["wanted", "no", "unsure"])).write_csv("said.csv")


def _trained(name: str, folder: Path) -> Iterator[Line]:
    path = Path("next.shortlist")
    run("export", folder, "--model", path)
    trained = shortlist.TrainedModel.load(path)
    yield f"review/{name}/model/scores", trained.score("more.csv", keep_all=True).frame["score"]
    yield f"review/{name}/model/file", header_of(path)


def _work(folder: Path, truth: dict[str, int], times: int) -> list[Any]:
    queue = Queue.open(folder)
    turns = [queue.turn("ann").result()]
    for number in range(times):
        verdict = "unsure" if number == 3 else "wanted" if truth[turns[-1].id] else "not wanted"
        turns.append(queue.record("ann", turns[-1].shown, verdict, note=f"note {number}").result())
    queue.park("ann", turns[-1].shown, 3000.0).result()
    said = queue.in_force()
    turns.append(queue.undo("ann", said[-2].seq).result())
    queue.override("lead", said[-4].row, type(said[-4].body.verdict)("wanted"), "I know").result()
    queue.note("ann", 3, "a remark").result()
    queue.close()
    return turns
