"""A model of a table that the tasks of Spark read and train on: a data frame of it, or files that all of them find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.models.batches.cluster import check_model, cluster_model, label_of, which_are_wanted
from shortlist.models.batches.sample import MOST_ROWS
from shortlist.models.trained import TrainedModel
from shortlist.models.training import reporting
from shortlist.question.options import Progress
from shortlist.rankers.base import Ranker
from shortlist.rankers.catalogue import RankerOptions, ranker_for
from shortlist.rankers.cluster.deal import deal_lists
from shortlist.rankers.cluster.on_spark import (
    ROW,
    Columns,
    Read,
    Task,
    count_rows,
    spark_rows,
    tasks_for,
    train_on_spark,
)
from shortlist.rankers.cluster.ready import take_over
from shortlist.tables import Roles, scan_table
from shortlist.tables.io.frames import is_spark
from shortlist.tables.problems import listening


def train_spark(
    table: Any,
    roles: Roles,
    name: str,
    options: RankerOptions,
    *,
    session: Any,
    wanted: Any = None,
    on_progress: Progress | None = None,
) -> TrainedModel:
    """Train the catalogue's model of this name on a data frame of Spark or on files, which the tasks read.

    It is the model of one machine, to the bit.
    """
    ranker = ranker_for(name, options)
    check_model(ranker, name, options)
    names = [*table.columns] if is_spark(table) else scan_table(table).collect_schema().names()
    roles.check(names)
    settled = roles.settled(names)
    features = [column for column in names if column not in settled.hidden]
    said = Roles(category=settled.category, missing=settled.missing)
    columns = Columns(features, Outcomes(label_of(settled), wanted), roles.list, ids=roles.id)
    with listening() as told, reporting(ranker, on_progress) as timed:
        stage, read = _dealt(table, session, ranker, roles.list)
        trained = train_on_spark(ranker, stage, read, columns, roles=said, most=MOST_ROWS)
        take_over(ranker, trained.ranker)
    rows = (trained.n_rows, trained.n_wanted)
    return cluster_model(
        ranker, name, options, settled, trained.sample, wanted, rows=rows, timed=timed, told=told
    )


def _dealt(table: Any, session: Any, ranker: Ranker, groups: str | None) -> tuple[Any, Read]:
    """The rows of a data frame of Spark or of files, dealt to the tasks that train on them."""
    in_lists = groups is not None
    if is_spark(table):
        n_tasks = tasks_for(ranker, session, lambda: count_rows(table), in_lists=in_lists)
        return spark_rows(table, n_tasks, groups)
    n_tasks = tasks_for(
        ranker, session, lambda: int(scan_table(table).select(pl.len()).collect().item()), in_lists=in_lists
    )
    return file_rows(table, session, n_tasks, groups)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Which rows of a task are wanted, by the values that the label has in all tasks."""

    label: str
    wanted: Any

    def __call__(self, rows: pl.DataFrame, task: Task) -> NDArray[np.bool_]:
        """For each row."""
        label = rows[self.label].alias("value")
        label = label.fill_nan(None) if label.dtype.is_float() else label
        counted = pl.concat(task.share(lambda: label.value_counts(name="rows")))
        counts = counted.group_by("value", maintain_order=True).agg(pl.col("rows").sum()).sort("value")
        empty = int(counts.filter(pl.col("value").is_null())["rows"].sum())
        values = counts["value"].alias(self.label)
        meant = which_are_wanted(values, empty, int(counts["rows"].sum()), self.wanted)
        return label.is_in(values.filter(pl.Series(meant)).implode()).to_numpy()


def file_rows(source: str | Path, session: Any, n_tasks: int, groups: str | None) -> tuple[Any, Read]:
    """As many tasks that read files themselves; rows are in the order of one machine, and lists are not torn."""
    here = str(Path(source).absolute())
    table = scan_table(here)
    n_rows = int(table.select(pl.len()).collect().item())
    owner = None
    if groups is not None:
        lists = table.select(pl.col(groups).alias("list")).group_by("list").agg(rows=pl.len()).collect()
        # Sorted, so that they are dealt alike every time.
        owner, _ = deal_lists(lists.sort("list"), [str(number) for number in range(n_tasks)])
    return session.range(0, n_tasks, 1, n_tasks), ReadFiles(here, n_rows, groups, owner)


@dataclass(frozen=True, eq=False)
class ReadFiles:
    """Reads the rows of a task from files, which must be found under the same name everywhere.

    owner : the task of each list; None: each task has rows that follow each other
    """

    source: str
    n_rows: int
    groups: str | None = None
    owner: pl.DataFrame | None = None

    def __call__(self, task: Task, batches: Iterator[Any]) -> tuple[pl.DataFrame, NDArray[np.uint64]]:
        """The rows, and their numbers."""
        for _ in batches:  # they only say that there is a task
            pass
        table = scan_table(self.source).with_row_index(ROW)
        if self.owner is None:
            start, end = (self.n_rows * each // len(task.hosts) for each in (task.number, task.number + 1))
            rows = table.slice(start, end - start).collect()
        else:
            mine = self.owner.filter(pl.col("machine") == str(task.number)).lazy()
            rows = table.join(
                mine, left_on=self.groups, right_on="list", how="semi", nulls_equal=True
            ).collect()
        return rows.drop(ROW), rows[ROW].to_numpy().astype(np.uint64)
