"""Feedback on rows that two workers of Dask hold, beside one process that holds them all.

Rows have 10 numbers; half a percent form a wanted cluster and as many a rare one that is not wanted. Forests have 100
trees of 256 rows, the ranker is LeafSimilarity with its leaf kernel. A verdict is to tell the label of the top row and
to know the next one. Both play the same review in processes of their own, and are compared: the rows that they asked
for, their first thousand rows after every tenth verdict, and the bits of all scores at the end. Seconds are of the
processor, in each worker; bytes are what one worker is sent and sends for a verdict, as they are pickled.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import shortlist
from shortlist.feedback import LeafSimilarity, ScoreSpace
from studies.measure import apart, cpu_seconds, peak_mb
from studies.running import study_parser, tell

COLUMNS, WORKERS = 10, 2
#: Rows are made, and come to the workers, so many at a time.
PIECE = 100_000
#: What a verdict may take of a worker, in seconds.
BAR = 0.5


def make_piece(number: int, n_rows: int) -> NDArray[np.float32]:
    """Some rows of the table; of every 200 the first is wanted."""
    X = np.random.default_rng([0, number]).standard_normal((n_rows, COLUMNS), dtype=np.float32)
    X[::200] += 3
    X[1::200] -= 3
    return X


def pieces(n_rows: int) -> list[tuple[int, int]]:
    """The number and the rows of each."""
    return [(i, min(PIECE, n_rows - start)) for i, start in enumerate(range(0, n_rows, PIECE))]


class Review:
    """A review that is played, and what is seen of it on the way."""

    def __init__(self, space: ScoreSpace) -> None:
        self.ranker = LeafSimilarity(space, kernel="leaf", random_state=0)
        self.asked = [self.ranker.ask()]
        self.tops: list[str] = []

    def verdict(self) -> None:
        """Tell the label of the top row and find the next one."""
        row = self.asked[-1]
        self.ranker.tell(row, row % 200 == 0)
        self.asked.append(self.ranker.ask())

    def look(self) -> None:
        """Note what the first rows are."""
        self.tops.append(_digest(self.ranker.ranking(1000)))

    def seen(self) -> dict[str, Any]:
        """What must be the same wherever rows lie."""
        return {"asked": self.asked, "tops": self.tops, "scores": _digest(self.ranker.scores())}


def _digest(array: NDArray) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()


def play_here(n_rows: int, n_verdicts: int) -> dict[str, Any]:
    """The review with all rows in this process."""
    X = np.concatenate([make_piece(*each) for each in pieces(n_rows)])
    review = Review(ScoreSpace.from_isolation_forest(X, random_state=0))
    seconds = 0.0
    for number in range(n_verdicts):
        seconds += cpu_seconds(review.verdict)
        if number % 10 == 9:
            review.look()
    return {**review.seen(), "cpu": seconds / n_verdicts, "mb": round(peak_mb())}


def play_there(n_rows: int, n_verdicts: int) -> dict[str, Any]:
    """The review with rows on workers, which are processes of this machine."""
    from distributed import Client, LocalCluster  # noqa: PLC0415 - processes without it must stay small

    with (
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        review = Review(ScoreSpace.from_isolation_forest(_table(n_rows), random_state=0))
        sent = count_bytes(review.ranker.space)
        worked, seconds = np.zeros(WORKERS), 0.0
        for number in range(n_verdicts):
            before = _worked(client)
            seconds += cpu_seconds(review.verdict)
            worked += _worked(client) - before
            if number % 10 == 9:
                kept = dict(sent)
                review.look()
                sent.update(kept)
        found = {
            "worker_cpu": (worked / n_verdicts).max(),
            "client_cpu": seconds / n_verdicts,
            "bytes_down": sent["down"] / WORKERS / n_verdicts,
            "bytes_up": sent["up"] / WORKERS / n_verdicts,
            "most_bytes_down": sent["most"],
            "worker_mb": round(max(client.run(peak_mb).values())),
        }
        return {**review.seen(), **found}


def _table(n_rows: int) -> Any:
    """The same rows as an array of Dask: workers make their own."""
    import dask.array as da  # noqa: PLC0415 - as above
    from dask import delayed  # noqa: PLC0415 - as above

    made = [
        da.from_delayed(delayed(make_piece)(number, rows), (rows, COLUMNS), np.float32)
        for number, rows in pieces(n_rows)
    ]
    return da.concatenate(made)


def _worked(client: Any) -> NDArray[np.float64]:
    """Seconds of the processor that each worker has taken so far."""
    return np.array(list(client.run(time.process_time).values()))


def count_bytes(space: Any) -> dict[str, int]:
    """Count what workers are sent and send from now on, and the most that one of them was sent at once."""
    workers, sent = space._workers, {"down": 0, "up": 0, "most": 0}
    ask = workers.ask

    def counted(name: str, given: Any) -> list[Any]:
        down = [len(pickle.dumps((name, each))) for each in given.values()]
        answers = ask(name, given)
        sent["down"] += sum(down)
        sent["most"] = max(sent["most"], *down)
        sent["up"] += sum(len(pickle.dumps(each)) for each in answers)
        return answers

    workers.ask = counted
    return sent


def run(rows: int, n_verdicts: int) -> dict[str, Any]:
    """Both, and whether they are the same."""
    load = os.getloadavg()[0]
    there = apart(play_there, WORKERS * rows, n_verdicts)
    here = apart(play_here, WORKERS * rows, n_verdicts)
    same = {f"same {name}": there.pop(name) == here.pop(name) for name in ("asked", "tops", "scores")}
    figures = {name: round(value, 4 if "cpu" in name else 0) for name, value in there.items()}
    return {
        "command": f"python -m studies speed.spread_feedback --rows {rows} --verdicts {n_verdicts}",
        "version": shortlist.__version__,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "load": [round(load, 1), round(os.getloadavg()[0], 1)],
        "workers": WORKERS,
        "rows of each": rows,
        "trees": 100,
        "verdicts": n_verdicts,
        **same,
        **figures,
        "alone_cpu": round(here["cpu"], 4),
        "alone_mb": here["mb"],
        "bar": BAR,
        "met": bool(all(same.values()) and there["worker_cpu"] <= BAR),
    }


def show(found: dict[str, Any]) -> None:
    for name, value in found.items():
        print(f"{name:<18} {value}")


def main(arguments: Sequence[str]) -> None:
    """Play the review both ways."""
    parser = study_parser(__name__, __doc__, "2 x 20,000 rows, 20 verdicts")
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows that each worker holds")
    parser.add_argument("--verdicts", type=int, default=50)
    options = parser.parse_args(arguments)
    found = run(20_000, 20) if options.quick else run(options.rows, options.verdicts)
    tell(found, options.json, show)
