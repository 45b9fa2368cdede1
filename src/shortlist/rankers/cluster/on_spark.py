"""Spark starts the machines: the tasks of a barrier stage run at once and train in step, each on its share of the rows.

What they tell each other before training goes over the barrier, so that what is wrong in one of them is known to all.
"""

from __future__ import annotations

import base64
import pickle
import socket
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone

from shortlist.exceptions import ClusterError, InvalidInputError, ShortlistError
from shortlist.rankers.base import Ranker
from shortlist.rankers.cluster.collective import start_tracker, stop_tracker
from shortlist.rankers.cluster.deal import check_capacity
from shortlist.rankers.cluster.part import Part, train_part
from shortlist.rankers.cluster.pieces import EVERY_COLUMN, Piece, WholeTable, describe, no_rows
from shortlist.rankers.cluster.ready import clone_with_state, ready_to_train, take_over
from shortlist.rankers.cluster.troubles import first_line, told_by_spark
from shortlist.tables import Roles
from shortlist.tables.memory import free_memory
from shortlist.tables.problems import listening, tell

#: The column that numbers rows while they are on their way.
ROW = "__row_of_shortlist__"
#: Spark numbers rows by their partition, in the upper digits, and their place in it, in so many bits.
PLACE_BITS = 33


class Task:
    """One of the tasks of a barrier stage, and what it tells the others."""

    def __init__(self, context: Any) -> None:
        self.context, self.number = context, int(context.partitionId())
        self.hosts = [str(each.address).rsplit(":", 1)[0] for each in context.getTaskInfos()]
        self.failed = False  # and all know it

    def share(self, work: Callable[[], Any]) -> list[Any]:
        """What the work gives in every task; where it fails in one it fails in all, with the same error."""
        mine: tuple[Any, ShortlistError | None]
        try:
            mine = (work(), None)
        except Exception as error:  # whatever it is, the others must not wait for this task
            mine = (None, self._as_told(error))
        sent = base64.b64encode(pickle.dumps(mine)).decode("ascii")
        told = [pickle.loads(base64.b64decode(each)) for each in self.context.allGather(sent)]
        errors = [error for _, error in told if error is not None]
        if errors:
            self.failed = True
            raise min(errors, key=lambda each: isinstance(each, Echo))
        return [given for given, _ in told]

    def step(self, work: Callable[[], Any]) -> Any:
        """What the work gives in this task, once all have done theirs."""
        kept: list[Any] = []
        self.share(lambda: kept.append(work()))
        return kept[0]

    def fail(self, error: Exception) -> ShortlistError:
        """Let all know of an error, where they do not yet; and what is said of it."""

        def raised() -> None:
            raise error

        if not self.failed:
            with suppress(ShortlistError):
                self.share(raised)
        return self._as_told(error)

    def _as_told(self, error: Exception) -> ShortlistError:
        if isinstance(error, ShortlistError):
            return error
        kind = Echo if type(error).__name__ == "XGBoostError" else ClusterError
        host = self.hosts[self.number]
        return kind(f"a worker on {host} failed, and there is no model: {first_line(error)}")


class Echo(ClusterError):
    """What a machine says that has lost the others: one of them knows why."""


#: What gives the rows of a task, of whose partition these are the batches, and numbers in the order of the table.
Read = Callable[[Task, Iterator[Any]], tuple[pl.DataFrame, NDArray[np.uint64]]]


@dataclass(frozen=True, eq=False)
class Columns:
    """Which columns of the rows are what.

    y : the name of a column, or what makes outcomes of the rows of a task and of what the other tasks tell it
    """

    features: list[str]
    y: str | Callable[[pl.DataFrame, Task], Any]
    groups: str | None = None
    sample_weight: str | None = None
    ids: str | None = None

    def piece(self, rows: pl.DataFrame, task: Task) -> Piece:
        """The rows as they are described and encoded for any engine."""
        y = rows[self.y].to_numpy() if isinstance(self.y, str) else self.y(rows, task)
        beside = {"groups": self.groups, "sample_weight": self.sample_weight, "ids": self.ids}
        given = {name: rows[column].to_numpy() for name, column in beside.items() if column is not None}
        return Piece(rows.select(self.features), y, **given)


@dataclass(frozen=True, eq=False)
class Trained:
    """What the tasks have made.

    sample : rows at even distances, no more than were asked for, in the order of the table
    """

    ranker: Ranker
    n_rows: int
    n_wanted: int
    sample: pl.DataFrame


def fit_spark(
    ranker: Ranker, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None, eval_set: Any = None
) -> None:
    """Train the ranker on a data frame of Spark, of which y, groups and sample_weight are columns, given by name."""
    if eval_set is not None:
        raise InvalidInputError(
            "eval_set is for rows on this machine; leave it out: rows of X are held out by themselves."
        )
    beside = {"y": y, "groups": groups, "sample_weight": sample_weight}
    named = {what: column for what, column in beside.items() if column is not None}
    for what, column in named.items():
        if not isinstance(column, str) or column not in X.columns:
            raise InvalidInputError(
                f"X is a data frame of Spark, so {what} is the name of one of its columns, such as "
                f"{what}={X.columns[-1]!r}; got {column!r}."
            )
    features = [name for name in X.columns if name not in named.values()]
    n_tasks = tasks_for(ranker, X.sparkSession, lambda: count_rows(X), in_lists=groups is not None)
    stage, read = spark_rows(X, n_tasks, groups)
    take_over(ranker, train_on_spark(ranker, stage, read, Columns(features, **named)).ranker)


def spark_rows(X: Any, n_tasks: int, groups: str | None = None) -> tuple[Any, Read]:
    """A data frame of Spark, dealt to so many tasks, and what reads it there; lists are not torn."""
    from pyspark.sql import functions  # noqa: PLC0415 - an extra

    # Numbered before they are dealt, so that it does not matter who gets which.
    numbered = X.withColumn(ROW, functions.monotonically_increasing_id())
    with told_by_spark():
        empty = pl.DataFrame(pl.from_arrow(numbered.limit(0).toArrow()))
    return numbered.repartition(n_tasks, ROW if groups is None else groups), ReadBatches(empty)


@dataclass(frozen=True, eq=False)
class ReadBatches:
    """Takes the rows that Spark gives a task; where it gives none, they have columns all the same."""

    empty: pl.DataFrame

    def __call__(self, task: Task, batches: Iterator[Any]) -> tuple[pl.DataFrame, NDArray[np.uint64]]:
        """The rows, and their numbers."""
        rows = pl.concat([self.empty, *(pl.DataFrame(pl.from_arrow(each)) for each in batches)])
        return rows.drop(ROW), rows[ROW].to_numpy().astype(np.uint64)


def train_on_spark(
    ranker: Ranker, stage: Any, read: Read, columns: Columns, *, roles: Roles = EVERY_COLUMN, most: int = 0
) -> Trained:
    """Train on a data frame of Spark with a partition for each task; the ranker itself stays as it is.

    most : rows of the sample
    """
    if not ranker._trains_spread:
        ranker._check_here(stage)
    ranker._check_limits()
    ranker._check_objectives()
    sent = clone(ranker)
    sent.__dict__["callback"] = None  # it speaks to this machine only

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        return run_task(sent, read, columns, roles, most, batches)

    with told_by_spark():
        rows = stage.mapInArrow(work, "content binary", barrier=True).collect()
    told = [pickle.loads(bytes(row.content)) for row in rows]
    if not told:  # Spark starts no task where it sees beforehand that there is nothing to do
        raise no_rows()
    error, trained, _, notes = told[0]
    if error is not None:
        raise error
    for note in notes:
        tell(note)
    sample = pl.concat([sampled for _, _, sampled, _ in told]).sort(ROW).drop(ROW)
    learned, n_rows, n_wanted = trained
    return Trained(learned, n_rows, n_wanted, sample)


def run_task(
    ranker: Ranker, read: Read, columns: Columns, roles: Roles, most: int, batches: Iterator[Any]
) -> Iterator[Any]:
    """What each task does: one row that holds what it has made, or why there is nothing."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyspark import BarrierTaskContext  # noqa: PLC0415 - an extra

    task = Task(BarrierTaskContext.get())
    with listening() as notes:
        try:
            made: tuple[Any, ...] = (None, *_train(task, ranker, read, columns, roles, most, batches), notes)
        except Exception as error:
            made = (task.fail(error), None, None, notes)
    yield pa.RecordBatch.from_pydict({"content": pa.array([pickle.dumps(made)], pa.binary())})


def _train(task: Task, ranker: Ranker, *how: Any) -> tuple[tuple[Ranker, int, int] | None, pl.DataFrame]:
    """The model, in the first task, with how many rows taught it; and the rows of this task that are in the sample."""
    ready, part, categorical, taught, sample = _prepare(task, ranker, *how)
    trained = _in_step(task, ready, part, categorical)
    return (trained, *taught) if task.number == 0 else None, sample


def _prepare(
    task: Task,
    ranker: Ranker,
    read: Read,
    columns: Columns,
    roles: Roles,
    most: int,
    batches: Iterator[Any],
) -> tuple[Ranker, Part, NDArray[np.bool_], tuple[int, int], pl.DataFrame]:
    """What this task trains, its rows as numbers and which are categories, how many rows there are and are wanted."""
    rows, places = read(task, batches)
    piece = columns.piece(rows, task)
    numbers = dense(places, task.share(lambda: Counter((places >> np.uint64(PLACE_BITS)).tolist())))
    facts = task.share(lambda: describe(piece, ranker._takes_impact, roles))
    table = WholeTable(ranker, facts, roles)
    _check_room(task, table)
    part = replace(table.encoders()[task.number](piece), rows=numbers)
    n_wanted = sum(task.share(lambda: int((part.y > 0).sum())))
    step = max(1, -(-table.n_rows // most)) if most else table.n_rows + 1
    sample = rows.with_columns(pl.Series(ROW, numbers)).filter(pl.col(ROW) % step == 0)
    ready = ready_to_train(ranker, piece.X, table)
    return ready, part, table.categorical, (table.n_rows, n_wanted), sample


def _in_step(task: Task, ranker: Ranker, part: Part, categorical: NDArray[np.bool_]) -> Ranker:
    key = uuid.uuid4().hex

    def listen() -> dict[str, Any]:
        return start_tracker(len(task.hosts), socket.gethostbyname(task.hosts[0]), key)

    own = clone_with_state(ranker, n_jobs=task.context.cpus())
    if len(task.hosts) == 1:
        return train_part(own, part, categorical, None)
    given = task.share(lambda: listen() if task.number == 0 else None)[0]
    communicator = {**given, "dmlc_task_id": f"{task.number:06d}"}
    try:
        return task.step(lambda: train_part(own, part, categorical, communicator))
    finally:
        stop_tracker(key)


def dense(places: NDArray[np.uint64], counted: list[Counter[int]]) -> NDArray[np.uint64]:
    """Numbers from 0 on without gaps, from a partition and a place in it, and the rows of each partition in all tasks.

    >>> dense(np.array([1, (2 << 33) + 1], dtype=np.uint64), [Counter({0: 2, 2: 1}), Counter({2: 1})]).tolist()
    [1, 3]
    """
    partition = (places >> np.uint64(PLACE_BITS)).astype(np.int64)
    sizes = sum(counted, Counter())
    names = np.array(sorted(sizes), dtype=np.int64)
    starts = np.cumsum([0, *(sizes[name] for name in names.tolist())])[:-1]
    place = (places & np.uint64((1 << PLACE_BITS) - 1)).astype(np.int64)
    return (starts[np.searchsorted(names, partition)] + place).astype(np.uint64) if places.size else places


def _check_room(task: Task, table: WholeTable) -> None:
    """Refuse rows that do not fit into the memory of their machine, which the tasks there share."""
    free = task.share(free_memory)
    names = [f"{number} on {host}" for number, host in enumerate(task.hosts)]
    shares = [
        None if has is None else has // task.hosts.count(at) for has, at in zip(free, task.hosts, strict=True)
    ]
    sizes = {name: facts.n_rows for name, facts in zip(names, table.facts, strict=True)}
    check_capacity(table, sizes, dict(zip(names, shares, strict=True)))


def tasks_for(ranker: Ranker, session: Any, count: Callable[[], int], *, in_lists: bool) -> int:
    """How many tasks train: one where all rows must lie together or are few, else as many as can run at once."""
    together = not in_lists and not ranker._splits_a_list  # the one list lies on one machine
    # To count is work for the cluster, which who never learns rows whole is spared.
    few = ranker._learns_whole(0) and ranker._learns_whole(count())
    return 1 if together or few else room_for(session)


def count_rows(X: Any) -> int:
    """How many rows a data frame of Spark has."""
    with told_by_spark():
        return int(X.count())


def room_for(session: Any) -> int:
    """How many tasks the cluster of a session can run at once."""
    context = getattr(session, "_sc", None)
    if context is None:
        raise ClusterError(
            "this session of Spark runs elsewhere (Spark Connect) and does not tell how many tasks fit there; train "
            "in the driver of the cluster, such as a notebook or a job of it."
        )
    with told_by_spark():
        session.range(1).count()  # machines that were asked for are there once one of them has worked
        return max(1, context.defaultParallelism // int(context.getConf().get("spark.task.cpus", "1")))
