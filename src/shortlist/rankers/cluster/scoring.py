"""Rows of a cluster scored where they lie, and the first of them found without bringing scores together."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError, SchemaError
from shortlist.rankers.cluster.troubles import told_by_spark
from shortlist.tables import Schema
from shortlist.tables.io.frames import is_spread
from shortlist.validation import check_budget

Score = Callable[[Any], NDArray[np.float64]]
#: How many rows a partition has, the first of each list, and where each list begins.
Top = tuple[int, pl.DataFrame, pl.DataFrame]
#: The column of scores in a data frame of Spark.
SCORE = "score"


def spread_scores(score: Score, X: Any) -> Any:
    """The scores of a Dask data frame (a series with its index) or array, yet to be computed where rows lie."""
    if hasattr(X, "map_partitions"):
        return X.map_partitions(_score_frame, score, meta=(None, "float64"))
    return X.rechunk({1: -1}).map_blocks(_score_block, score, drop_axis=1, dtype=np.float64)


def _score_frame(frame: Any, score: Score) -> Any:
    return frame.iloc[:, 0].__class__(_score_block(frame, score), index=frame.index)


def _score_block(rows: Any, score: Score) -> NDArray[np.float64]:
    return score(rows) if len(rows) else np.empty(0)


def spark_scores(score: Score, X: Any, schema: Schema | None) -> Any:
    """A data frame of Spark with a column of scores, yet to be computed where rows lie."""
    if schema is None:
        raise InvalidInputError(
            "the ranker was trained on an array, and X is a data frame; train it on one, too."
        )
    if SCORE in X.columns:
        raise InvalidInputError(
            f"X has a column {SCORE!r} already; rename it, so that rows can get their score."
        )
    names = [each.name for each in schema.features]
    lacking = [name for name in names if name not in X.columns]
    if lacking:
        raise SchemaError(
            f"X lacks columns that the ranker was trained with: {', '.join(map(repr, lacking))}. Add them."
        )

    def add_scores(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415 - Spark needs it too

        for batch in batches:
            rows = pl.DataFrame(pl.from_arrow(batch)).select(names)
            found = score(schema.encode(rows)) if rows.height else np.empty(0)
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, pa.array(found)], names=[*batch.schema.names, SCORE]
            )

    with told_by_spark():
        return X.mapInArrow(add_scores, deepcopy(X.schema).add(SCORE, "double"))


def spark_top(scored: Any, budget: int, groups: Any = None) -> NDArray[np.int64]:
    """As :func:`spread_top`, of a data frame of Spark with a column of scores; groups is the name of another."""
    for name in (SCORE, groups):
        if name is not None and (not isinstance(name, str) or name not in scored.columns):
            raise InvalidInputError(
                f"scores are a data frame of Spark without a column {name!r}; it needs a column {SCORE!r}, as "
                "decision_function gives it, and groups is the name of another column."
            )

    def find_top(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415 - Spark needs it too

        rows = [pl.DataFrame(pl.from_arrow(each)) for each in batches]
        if rows:
            columns = pl.concat(rows).iter_columns()
            top = pickle.dumps(_top(budget, *(each.to_numpy() for each in columns)))
            yield pa.RecordBatch.from_arrays([pa.array([top], pa.binary())], names=["content"])

    needed = scored.select(SCORE, *([] if groups is None else [groups]))
    with told_by_spark():
        found = needed.mapInArrow(find_top, "content binary").collect()
    return _merged([pickle.loads(bytes(each.content)) for each in found], budget, groups is None)


def spread_top(scores: Any, budget: int, groups: Any = None) -> NDArray[np.int64]:
    """Positions of the top rows in the whole table, as ``top_rows`` would give them with all scores here.

    Each partition gives the first rows of its lists; only those are brought together.
    """
    import dask  # noqa: PLC0415 - an extra

    given = [_partitions(each) for each in (scores, groups) if each is not None]
    if len({len(each) for each in given}) > 1:
        raise InvalidInputError(
            "scores and groups have different partitions; give both as columns of one table."
        )
    tops = dask.compute(*(dask.delayed(_top)(budget, *each) for each in zip(*given, strict=True)))
    return _merged(tops, budget, groups is None)


def _merged(tops: Sequence[Top], budget: int, one_list: bool) -> NDArray[np.int64]:
    """The first rows of all partitions from the first of each, in order."""
    starts = np.cumsum([0, *(n_rows for n_rows, _, _ in tops)])
    if one_list:
        check_budget(budget, int(starts[-1]))
    pairs = [*zip(starts, tops, strict=False)]
    best = pl.concat([top.with_columns(pl.col("row") + start) for start, (_, top, _) in pairs])
    first = pl.concat([seen.with_columns(pl.col("first") + start) for start, (_, _, seen) in pairs])
    return _ranked(best, first, budget)


def _partitions(given: Any) -> list[Any]:
    if not is_spread(given):
        raise InvalidInputError("scores are a collection of Dask, and groups are not; give both as such.")
    return list(np.ravel(given.to_delayed()))


def _top(budget: int, score: Any, groups: Any = None) -> Top:
    """How many rows there are, the first of each list, and where each list begins."""
    values = np.asarray(score, dtype=np.float64)
    if not np.isfinite(values).all():
        raise InvalidInputError("a score is missing or infinite; rows can be ranked by finite scores only.")
    names = pl.Series(np.zeros(values.size, np.int64) if groups is None else np.asarray(groups).tolist())
    rows = pl.DataFrame({"list": names, "score": values, "row": np.arange(values.size)})
    first = rows.group_by("list").agg(first=pl.col("row").min())
    return values.size, _best(rows, budget), first


def _best(rows: pl.DataFrame, budget: int) -> pl.DataFrame:
    """The first rows of each list; equal scores in the order of the table."""
    ordered = rows.sort(["score", "row"], descending=[True, False])
    return ordered.group_by("list", maintain_order=True).head(budget)


def _ranked(best: pl.DataFrame, first: pl.DataFrame, budget: int) -> NDArray[np.int64]:
    """List after list in order of first appearance."""
    lists = first.group_by("list").agg(pl.col("first").min())
    ranked = _best(best, budget).join(lists, on="list", how="left", maintain_order="left")
    return ranked.sort("first", maintain_order=True)["row"].to_numpy()
