"""A model of a table that lies on the workers of a cluster: partitions stay there, and a sample of rows comes here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shortlist.exceptions import InvalidInputError, TableError
from shortlist.models.batches.sample import MOST_ROWS
from shortlist.models.batches.training import guarded, sampled_table
from shortlist.models.profile import Profile
from shortlist.models.trained import TrainedModel
from shortlist.models.training import learn_by_value, model_of, reporting
from shortlist.question.options import Progress
from shortlist.rankers.base import Ranker
from shortlist.rankers.catalogue import RankerOptions, find_model, ranker_for
from shortlist.rankers.cluster.on_dask import fit_spread, told_in_a_sentence
from shortlist.tables import Roles, scan_table
from shortlist.tables.io.files import ARROW, PARQUET, find_files
from shortlist.tables.io.frames import as_polars
from shortlist.tables.label import wanted_rows
from shortlist.tables.problems import listening

#: Rows that a worker reads at a time.
MOST_PART_ROWS = 500_000


def train_cluster(
    table: Any,
    roles: Roles,
    name: str,
    options: RankerOptions,
    *,
    client: Any,
    wanted: Any = None,
    on_progress: Progress | None = None,
) -> TrainedModel:
    """Train the catalogue's model of this name on a data frame of Dask; it is that of one machine, to the bit."""
    ranker = ranker_for(name, options)
    check_model(ranker, name, options)
    roles.check([*table.columns])
    settled = roles.settled([*table.columns])
    features = [column for column in table.columns if column not in settled.hidden]
    with listening() as told, told_in_a_sentence(client), reporting(ranker, on_progress) as timed:
        y = _outcomes(table, settled, wanted)
        groups = None if roles.list is None else table[roles.list]
        said = Roles(category=settled.category, missing=settled.missing)
        ids = None if roles.id is None else table[roles.id]
        fit_spread(ranker, table[features], y, groups=groups, ids=ids, roles=said)
        n_rows, n_wanted = (int(each) for each in client.gather(client.compute([y.size, y.sum()])))
        part = table.map_partitions(_every, max(1, -(-n_rows // MOST_ROWS))).compute()
    return cluster_model(
        ranker,
        name,
        options,
        settled,
        as_polars(part),
        wanted,
        rows=(n_rows, n_wanted),
        timed=timed,
        told=told,
    )


def cluster_model(
    ranker: Ranker,
    name: str,
    options: RankerOptions,
    roles: Roles,
    part: pl.DataFrame,
    wanted: Any,
    *,
    rows: tuple[int, int],
    timed: dict[str, float],
    told: Sequence[str],
) -> TrainedModel:
    """A model of a ranker that a cluster has trained, with what a part of the rows tells of all of them.

    rows : how many there are, and how many of them are wanted
    """
    assert ranker.schema_ is not None
    schema = replace(ranker.schema_, roles=roles)
    ranker.schema_ = schema
    sample = sampled_table(part, schema, wanted)
    n_rows, n_wanted = rows
    return model_of(
        ranker,
        name,
        options,
        sample=sample.features,
        profile=replace(Profile.of(sample.X, schema), rows=n_rows),
        training={"rows": n_rows, "wanted": n_wanted, **timed},
        measures={},
        notes=(*told, *schema.notes, *guarded(sample, n_rows)),
        by_value=learn_by_value(ranker, sample, options) if roles.value is not None else None,
    )


def check_parts(source: Any) -> None:
    """Refuse what the workers of a cluster could not read, and files whose columns differ."""
    if not isinstance(source, str | Path) or "://" in str(source):
        raise InvalidInputError(
            "a cluster trains on files that all workers find, or in Python on a data frame of Dask or Spark; give one "
            "of them."
        )
    if find_files(source).format not in (PARQUET, ARROW):
        raise TableError(
            f"a cluster reads Parquet and Arrow files, parts of which can be read alone; write {source} as .parquet."
        )
    scan_table(source)  # names the first column in which files differ


def read_parts(source: str | Path, n_workers: int) -> Any:
    """Files as a data frame of Dask; workers read them, and must find them under the same name."""
    import dask.dataframe as dd  # noqa: PLC0415 - an extra

    here = str(Path(source).absolute())
    table = scan_table(here)
    n_rows = int(table.select(pl.len()).collect().item())
    size = max(1, min(MOST_PART_ROWS, -(-n_rows // n_workers)))
    reader = _Reader(here, size)
    return dd.from_map(reader, range(0, max(1, n_rows), size), meta=table.head(1).collect().to_pandas()[:0])


class _Reader:
    """Reads some rows of a table, as pandas has them."""

    def __init__(self, source: str, n_rows: int) -> None:
        self.source, self.n_rows = source, n_rows

    def __call__(self, start: int) -> Any:
        return scan_table(self.source).slice(start, self.n_rows).collect().to_pandas()


def check_model(ranker: Ranker, name: str, options: RankerOptions) -> None:
    """Refuse what a cluster does not train."""
    if not ranker._trains_spread or find_model(name).learns_from != "label" or options.tune:
        raise InvalidInputError(
            f"a cluster trains models of a label that grow in step, without tuning: --model ap-boost; {name!r}"
            f"{' with --tune' if options.tune else ''} needs all rows on one machine."
        )


def _outcomes(table: Any, roles: Roles, wanted: Any) -> Any:
    """Which rows are wanted, yet to be computed where they lie."""
    label = table[label_of(roles)]
    counts = label.value_counts(dropna=False).compute()
    values = counts.index.to_list()
    empty = int(counts[counts.index.isna()].sum())
    meant = which_are_wanted(pl.Series(roles.label, values, strict=False), empty, int(counts.sum()), wanted)
    return label.map_partitions(_flags, dict(zip(values, meant, strict=True)), meta=(roles.label, bool))


def label_of(roles: Roles) -> str:
    """The column that says which rows are wanted; there must be one."""
    if roles.label is None:
        raise InvalidInputError("name the column that says which rows are wanted: --label COLUMN")
    return roles.label


def which_are_wanted(values: pl.Series, empty: int, n_rows: int, wanted: Any) -> list[bool]:
    """Which values of the label mean that a row is wanted, where so many of all rows have none."""
    if empty:
        raise TableError(
            f"label column {values.name!r} is empty in {empty:,} of {n_rows:,} rows; leave them out of the "
            "table: on a cluster every row needs its label."
        )
    return wanted_rows(values, wanted).tolist()


def _flags(labels: Any, meant: dict[Any, bool]) -> Any:
    return labels.map(meant).astype(bool)


def _every(part: Any, step: int) -> Any:
    return part.iloc[::step]
