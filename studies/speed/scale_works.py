"""What is measured as a table grows; each work runs in a process of its own."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import xgboost as xgb

from shortlist.metrics import average_precision
from shortlist.models.batches.scoring import score_batches
from shortlist.models.trained import TrainedModel
from shortlist.rankers import APBoost
from shortlist.rankers.boosting import ap_training
from shortlist.rankers.boosting.trees.bins import CUT_ROWS
from shortlist.tables import Roles, load_table, memory, read_batches, read_table
from shortlist.workflow import train
from studies.measure import cpu_seconds, peak_mb

COLUMNS = 40
#: Rows of a file, and of its groups.
FILE_ROWS, GROUP_ROWS = 500_000, 100_000
#: Trees of the model that scores, and rounds of training.
TREES, ROUNDS = 20, 2
ROLES = Roles(id="id", label="y")
NAMES = [f"x{i}" for i in range(COLUMNS)]


def make(folder: str, n_rows: int, first: int = 0) -> None:
    """Files of rows of which about 2 % are wanted; those that are there stay. ``first`` is the number of the first."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    weights = np.random.default_rng(1).normal(size=COLUMNS) * (np.arange(COLUMNS) % 3 == 0)
    for number, start in enumerate(range(0, n_rows, FILE_ROWS)):
        path, rows = Path(folder) / f"part{number:03d}.parquet", min(FILE_ROWS, n_rows - start)
        if path.exists():
            continue
        rng = np.random.default_rng([2, first + number])
        X = rng.standard_normal((rows, COLUMNS), dtype=np.float32)
        chance = 1 / (1 + np.exp(4.6 - 1.5 * (X @ weights) / np.linalg.norm(weights)))
        named = {"id": np.arange(start, start + rows), **{name: X[:, i] for i, name in enumerate(NAMES)}}
        frame = pl.DataFrame({**named, "y": (rng.random(rows) < chance).astype(np.int8)})
        frame.write_parquet(path, row_group_size=GROUP_ROWS)


def make_model(path: str, n_rows: int) -> None:
    """A model of few trees, which knows the chances of its scores."""
    with tempfile.TemporaryDirectory() as folder:
        make(folder, n_rows)
        model = train(folder, label="y", id="id", model="ap-boost")
    ranker = model.ranker
    ranker.booster_ = ranker.booster_[:TREES]
    model.save(path)


def score_by_batch(rows: str, model: str, fresh: str) -> dict[str, float]:
    """The shortlist, batch by batch."""
    trained = TrainedModel.load(model)
    return _figures(lambda: score_batches(trained, rows, 50, named=True))


def bare_score(rows: str, model: str, fresh: str) -> dict[str, float]:
    """Reading the same batches and predicting them, and nothing else."""
    booster = TrainedModel.load(model).ranker.booster_

    def run() -> None:
        for batch in read_batches(rows):
            booster.inplace_predict(batch.select(NAMES).to_numpy(), predict_type="margin")

    return _figures(run)


def fit_by_batch(rows: str, model: str, fresh: str) -> dict[str, float]:
    """Training from rows on disk, a few rounds; the seconds of the last one apart."""
    told: list[float] = []
    ranker = _ranker().set_params(callback=lambda *_: told.append(time.process_time()))
    found = _figures(lambda: ranker.fit_table(rows, ROLES))
    return {**found, "round": round(told[-1] - told[-2], 3), "ap": _ap(ranker, fresh)}


def score_at_once(rows: str, model: str, fresh: str) -> dict[str, float]:
    """The shortlist, with all rows in memory."""
    trained = TrainedModel.load(model)
    return _figures(
        lambda: trained.score_table(load_table(rows, ROLES, schema=trained.schema, labelled=False), 50)
    )


def fit_at_once(rows: str, model: str, fresh: str) -> dict[str, float]:
    """Training with all rows in memory."""
    ranker = _ranker()

    def run() -> None:
        table = load_table(rows, ROLES)
        ranker.fit(table.features, table.wanted, **table.for_fit)

    return {**_figures(run), "ap": _ap(ranker, fresh)}


def train_at_once(rows: str, model: str, fresh: str) -> dict[str, float]:
    """All that ``train`` does, in as few rounds: of its memory, none depends on how many there are."""
    with mock.patch.object(ap_training, "most_rounds", return_value=ROUNDS):
        return _figures(lambda: train(rows, label="y", id="id", model="ap-boost"))


def bare_fit_by_batch(rows: str, model: str, fresh: str) -> dict[str, float]:
    """XGBoost's own loss on rows that it keeps on disk itself, with cuts from as many rows as ours."""

    class Batches(xgb.DataIter):
        def __init__(self, prefix: str) -> None:
            super().__init__(cache_prefix=prefix)
            self.reset()

        def next(self, input_data: Callable[..., None]) -> bool:
            batch = next(self.batches, None)
            if batch is None:
                return False
            input_data(data=batch.select(NAMES).to_numpy(), label=batch["y"].to_numpy())
            return True

        def reset(self) -> None:
            self.batches = read_batches(rows)

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            cuts = xgb.QuantileDMatrix(next(read_batches(rows, batch_rows=CUT_ROWS)).select(NAMES).to_numpy())
            matrix = xgb.ExtMemQuantileDMatrix(Batches(f"{folder}/bins"), ref=cuts, nthread=2)
            xgb.train({"objective": "binary:logistic", "tree_method": "hist", "nthread": 2}, matrix, ROUNDS)
            del matrix

    return _figures(run)


def bare_fit(rows: str, model: str, fresh: str) -> dict[str, float]:
    """XGBoost's own loss on the same rows, which are let go of once they are a matrix."""

    def run() -> None:
        frame = read_table(rows)
        X, y = frame.select(NAMES).to_numpy(), frame["y"].to_numpy()
        del frame
        matrix = xgb.QuantileDMatrix(X, y, nthread=2)
        xgb.train({"objective": "binary:logistic", "tree_method": "hist", "nthread": 2}, matrix, ROUNDS)

    return _figures(run)


#: By the name that figures have: what is done with every size, and what with the smallest only.
BY_BATCH: dict[str, Callable[..., dict[str, float]]] = {
    "score batch by batch": score_by_batch,
    "read and predict, bare": bare_score,
    "fit_table": fit_by_batch,
    "fit XGBoost from disk, bare": bare_fit_by_batch,
}
AT_ONCE: dict[str, Callable[..., dict[str, float]]] = {
    "score at once": score_at_once,
    "fit at once": fit_at_once,
    "train": train_at_once,
    "fit XGBoost, bare": bare_fit,
}
#: What each takes by the estimate that is made before work begins.
_TOLD = {
    "score_by_batch": memory.BY_BATCH["score"],
    "fit_by_batch": memory.BY_BATCH["train"],
    "score_at_once": memory.WHOLE["score"],
    "fit_at_once": memory.WHOLE["train"],
    "train_at_once": memory.WHOLE["train"],
}


def estimate(work: str, rows: str) -> dict[str, int]:
    """What a work is estimated to take, where commands estimate it."""
    size = memory.table_size(rows)
    assert size is not None
    return {"estimated mb": round(_TOLD[work].bytes(size) / 2**20)} if work in _TOLD else {}


def _ranker() -> APBoost:
    return APBoost(folds=0, n_estimators=ROUNDS, random_state=0, n_jobs=2)


def _ap(ranker: APBoost, fresh: str) -> float:
    frame = read_table(fresh)
    return round(average_precision(frame["y"].to_numpy(), ranker.decision_function(frame.select(NAMES))), 4)


def _figures(run: Callable[[], Any]) -> dict[str, float]:
    seconds = cpu_seconds(run)
    return {"cpu": round(seconds, 2), "mb": round(peak_mb())}
