"""Rounds of training: what the gradient takes of one, and what two processes that train in step send each other."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from shortlist.kernels.ap_surrogates import MAX_BINS
from shortlist.lists import Lists
from shortlist.rankers import APBoost
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.ap_losses import make_loss
from shortlist.rankers.boosting.trees.draws import Draw
from shortlist.rankers.boosting.trees.engine import Growth, newton_step
from shortlist.rankers.cluster.collective import Collective, start_tracker, stop_tracker
from shortlist.rankers.cluster.joining import LOCAL, joined_cluster
from shortlist.rankers.cluster.part import Part, train_part
from studies.speed.scale_works import COLUMNS

CATEGORICAL = np.zeros(COLUMNS, dtype=bool)
#: Two histograms of float64 of the rows and two of their pulls, at the most bins: no round of the mix sends more.
MIX_CAP_BYTES = 4 * 8 * MAX_BINS


def rows_of(n_rows: int, first: int, last: int) -> Part:
    """Some of so many rows, of which about 2 % are wanted; any share of them is the same whoever makes it."""
    X = np.random.default_rng(3).standard_normal((n_rows, COLUMNS), dtype=np.float32)[first:last]
    noise = np.random.default_rng(4).standard_normal(n_rows)[first:last]
    wanted = X[:, 0] + X[:, 1] * X[:, 2] + noise > 3.2
    return Part(X=X, y=wanted, rows=np.arange(first, last, dtype=np.uint64))


def gradient_share(n_rows: int, rounds: int) -> dict[str, float]:
    """Milliseconds of a round of the mix, and the share of it that goes to gradients and drawing rows; one thread."""
    part = rows_of(n_rows, 0, n_rows)
    batch = Batch(part.X, part.y, Lists.single(n_rows), None, CATEGORICAL)
    matrix = xgb.QuantileDMatrix(part.X, nthread=1)
    loss, draw = make_loss("mix", batch, alpha=5.0, mix=1.0), Draw(0.8, seed=0)
    params = {"max_depth": 6, "learning_rate": 0.1, "max_bin": 256, "nthread": 1}
    ours: list[float] = []

    def settled(margin: NDArray[np.float32]) -> Any:
        begin = time.process_time()
        grad, hess = loss(margin)
        draw.settle(grad, hess, len(ours))
        ours.append(time.process_time() - begin)
        return grad, hess

    growth = Growth(matrix, newton_step(settled), params)
    times = [_seconds(growth.grow) for _ in range(rounds)]
    share = statistics.median(ours[1:]) / statistics.median(times[1:])
    return {
        "rows": n_rows,
        "ms a round": round(1e3 * statistics.median(times[1:]), 1),
        "share": round(share, 3),
    }


def one_process(loss: str, n_rows: int, rounds: int) -> dict[str, Any]:
    """Training on all rows in one process with one thread."""
    part = rows_of(n_rows, 0, n_rows)
    batch = Batch(part.X, part.y, Lists.single(n_rows), None, CATEGORICAL)
    times: list[float] = []
    ranker = _ranker(loss, rounds, times)
    begin = time.process_time()
    ranker._fit(batch)
    return {"rows": n_rows, "cpu": round(time.process_time() - begin, 2), "ms a round": _per_round(times)}


def two_processes(loss: str, n_rows: int, rounds: int) -> dict[str, Any]:
    """The same rows on two Dask workers with one thread each: time of both, and bytes that each sends in a round.

    Time is of the whole processes while they train: with Dask's own threads, and with waiting for each other.
    """
    half = n_rows // 2
    with joined_cluster(LOCAL, n_jobs=2) as client:
        addresses = sorted(client.scheduler_info()["workers"])
        communicator = client.run_on_scheduler(start_tracker, 2, "127.0.0.1", "scale")
        waiting = [
            client.submit(
                one_of_two,
                (loss, n_rows, rounds, number * half, (number + 1) * half),
                {**communicator, "dmlc_task_id": f"{number:06d}"},
                workers=[address],
                allow_other_workers=False,
                pure=False,
            )
            for number, address in enumerate(addresses)
        ]
        found = client.gather(waiting)
        client.run_on_scheduler(stop_tracker, "scale")
    told: dict[str, Any] = {
        "rows": n_rows,
        "cpu": round(sum(each["cpu"] for each in found), 2),
        "ms a round": round(sum(each["ms a round"] for each in found), 1),
        "bytes a round": found[0]["bytes a round"],
        "most bytes a round": found[0]["most bytes a round"],
    }
    return {**told, "cap bytes a round": MIX_CAP_BYTES} if loss == "mix" else told


def one_of_two(given: tuple[str, int, int, int, int], communicator: dict[str, Any]) -> dict[str, Any]:
    """What each worker does: train its half in step with the other, counting what it sends."""
    loss, n_rows, rounds, first, last = given
    part = rows_of(n_rows, first, last)
    sent, times, bytes_after = [0], [], []

    def count(*_: Any) -> None:
        times.append(time.process_time())
        bytes_after.append(sent[0])

    ranker = _ranker(loss, rounds, [])
    ranker.classes_ = np.array([False, True])
    ranker.set_params(callback=count)
    begin = time.process_time()
    with mock.patch.object(Collective, "_reduced", _counting(Collective._reduced, sent)):
        train_part(ranker, part, CATEGORICAL, communicator)
    each = np.diff(bytes_after)
    return {
        "cpu": time.process_time() - begin,
        "ms a round": _per_round(times),
        "bytes a round": int(np.median(each)),
        "most bytes a round": int(each.max()),
    }


def _counting(reduced: Callable[..., NDArray], sent: list[int]) -> Callable[..., NDArray]:
    def counted(self: Collective, values: NDArray, how: Any) -> NDArray:
        sent[0] += values.nbytes
        return reduced(self, values, how)

    return counted


def _ranker(loss: str, rounds: int, times: list[float]) -> APBoost:
    """One that does not stop early, so that rounds are told by the loss alone."""
    return APBoost(
        loss=loss,
        folds=0,
        n_estimators=rounds,
        early_stopping_rounds=None,
        random_state=0,
        n_jobs=1,
        callback=lambda *_: times.append(time.process_time()),
    )


def _per_round(times: list[float]) -> float:
    return round(1e3 * statistics.median(np.diff(times).tolist()), 1)


def _seconds(run: Callable[[], Any]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin
