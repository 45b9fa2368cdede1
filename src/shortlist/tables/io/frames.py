"""Data frames of any library as a polars frame; pandas and pyarrow are accepted, never required."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import polars as pl

from shortlist.exceptions import TableError


def is_frame(rows: Any) -> bool:
    """Whether rows have named columns that may hold words and dates."""
    return nw.dependencies.is_into_dataframe(rows) or is_lazy(rows)


def is_lazy(rows: Any) -> bool:
    """Whether rows are a frame that is yet to be computed."""
    return nw.dependencies.is_polars_lazyframe(rows)


def is_spread(rows: Any) -> bool:
    """Whether rows are a collection of Dask, which may lie on many machines."""
    return hasattr(rows, "__dask_graph__")


def is_spark(rows: Any) -> bool:
    """Whether rows are a data frame of Spark, which may lie on many machines.

    >>> is_spark(pl.DataFrame({"amount": [3, 5]}))
    False
    """
    # By name: not every release of narwhals that we allow knows them, and Spark is not imported for other rows.
    kinds = type(rows).__mro__
    return any(kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.") for kind in kinds)


def in_memory(rows: Any) -> Any:
    """A lazy frame as a polars frame; other rows as they are.

    >>> in_memory(pl.LazyFrame({"amount": [3, 5]})).height
    2
    """
    return as_polars(rows) if is_lazy(rows) else rows


def as_polars(source: Any) -> pl.DataFrame:
    """A polars frame with the rows of ``source``: pandas, polars, pyarrow or anything narwhals takes.

    >>> as_polars(pl.DataFrame({"amount": [3, 5]})).height
    2
    """
    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    try:
        return _from_narwhals(nw.from_native(source))
    except nw.exceptions.DuplicateError as error:
        raise _same_names(error) from None
    except TypeError:
        raise TableError(
            f"cannot read a table from {type(source).__name__}; give a path, a database URL, or a data frame "
            "(pandas, polars, pyarrow)."
        ) from None


def index_of(source: Any) -> Any:
    """What pandas calls the rows of a data frame; None for all that has no such names.

    >>> index_of(pl.DataFrame({"amount": [3, 5]})) is None
    True
    """
    return nw.maybe_get_index(nw.from_native(source)) if nw.dependencies.is_pandas_dataframe(source) else None


def check_names(frame: Any) -> None:
    """Refuse a data frame in which two columns have the same name."""
    try:
        nw.from_native(frame).columns  # noqa: B018
    except nw.exceptions.DuplicateError as error:
        raise _same_names(error) from None


def _same_names(error: Exception) -> TableError:
    return TableError(f"two columns have the same name; rename one. {' '.join(str(error).split())}")


def _from_narwhals(frame: Any) -> pl.DataFrame:
    if isinstance(frame, nw.LazyFrame):
        return frame.collect("polars").to_native()
    if frame.implementation.is_pandas_like():
        # narwhals and polars go through pyarrow here, which may be absent and refuses mixed columns.
        columns = [_from_pandas(nw.to_native(column)) for column in frame.iter_columns()]
        return pl.DataFrame(columns)
    return frame.to_polars()


def _from_pandas(column: Any) -> pl.Series:
    name, kind = str(column.name), column.dtype.kind if hasattr(column.dtype, "kind") else "O"
    if hasattr(column, "cat"):
        return _from_categories(name, column)
    if kind == "M" and getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_localize(None)
    if column.dtype.__class__.__module__.startswith("numpy") and kind in "iufbmM":
        values = column.to_numpy()
        # Seconds, which pandas makes of days, and half precision are unknown to polars.
        wider = {"float16": "float32", "datetime64[s]": "datetime64[ms]", "timedelta64[s]": "timedelta64[ms]"}
        return pl.Series(name, values.astype(wider.get(str(values.dtype), values.dtype)), nan_to_null=True)
    values = column.astype(object).to_numpy()
    missing = column.isna().to_numpy()
    return pl.Series(
        name, [None if gone else v for v, gone in zip(values, missing, strict=True)], strict=False
    )


def _from_categories(name: str, column: Any) -> pl.Series:
    categories = pl.Series(name, [str(value) for value in column.cat.categories], dtype=pl.String)
    codes = pl.Series(column.cat.codes.to_numpy()).cast(pl.Int64)
    known = codes.set(codes < 0, None)
    return categories.gather(known).alias(name).cast(pl.Categorical)
