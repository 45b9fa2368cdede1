"""Rows that stand twice, in one table or in two, and columns that name rows instead of describing them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.tables.table import Table

#: What columns that name rows are called; whole numbers in every row are also dense where rows are just counted.
_NAMES = re.compile(
    r"(^|[^a-z])(id|ids|no|nr|num|number|key|row|index|serial|ref|reference|uuid)([^a-z]|$)", re.I
)
_DENSE = 4
#: Near copies are looked for among at least so many columns, and at most so many values: it would take long.
_FEWEST_COLUMNS, _MOST_VALUES = 4, 40_000_000
#: Where chance alone makes this many pairs of near copies for each row, they say nothing.
_BY_CHANCE = 1e-3
#: Fewer rows than this may all differ by chance.
_FEWEST_ROWS = 50


def repeated_rows(table: Table) -> NDArray[np.bool_]:
    """Which rows repeat an earlier one in every column but the id.

    >>> from shortlist.tables import Roles, load_table
    >>> rows = pl.DataFrame({"fraud": [0, 1, 0, 0], "amount": [3.0, 3.0, 4.0, 3.0]})
    >>> repeated_rows(load_table(rows, Roles(label="fraud"))).tolist()
    [False, False, False, True]
    """
    rows = table.frame.drop(table.roles.id) if table.roles.id is not None else table.frame
    if any(dtype.is_nested() or dtype == pl.Object for dtype in rows.dtypes):
        return _not_first(rows)
    # Rows that are alike have one hash. To compare the others, too, would take more memory than the table.
    alike = rows.hash_rows().is_duplicated().to_numpy()
    repeated = np.zeros(rows.height, dtype=np.bool_)
    repeated[alike] = _not_first(rows.filter(alike))
    return repeated


def _not_first(rows: pl.DataFrame) -> NDArray[np.bool_]:
    return (~rows.select(pl.struct(pl.all()).is_first_distinct()).to_series()).to_numpy()


@dataclass(frozen=True)
class Near:
    """How many rows differ from another in one column only, and in which most of them do."""

    rows: int
    column: str


def nearly_repeated(table: Table) -> Near | None:
    """Rows that agree with another in every column that is learned from but one; None where chance alone makes some.

    Each value is hashed, a row is the sum of its hashes, and the sum without one column is the same for rows that agree
    in all others. Rows that repeat another in every column count once. Chance, if columns had nothing to do with each
    other, would make n²/2 times the product of their chances to agree, column by column left out.

    >>> from shortlist.tables import Roles, load_table
    >>> columns = {f"x{i}": [(7 * i + 3) * k % 83 for k in range(80)] for i in range(5)}
    >>> rows = pl.DataFrame({"fraud": [0, 1] * 40, **columns})
    >>> again = rows.head(20).with_columns(pl.col("x3") + 100)
    >>> nearly_repeated(load_table(pl.concat([rows, again]), Roles(label="fraud")))
    Near(rows=40, column='x3')
    """
    kinds = table.frame.schema
    names = [each.name for each in table.schema.features if _has_text(kinds[each.name])]
    if len(names) < _FEWEST_COLUMNS or len(table) * len(names) > _MOST_VALUES:
        return None
    agree = np.log([_chance_to_agree(table.frame[name]) for name in names])
    if np.exp(agree.sum() - agree).sum() * len(table) > _BY_CHANCE:
        return None
    whole = np.zeros(len(table), dtype=np.uint64)
    for each in _hashes(table.frame, names):
        whole += each  # sums of hashes wrap around
    first = pl.Series(whole).is_first_distinct().to_numpy()
    near, counts = np.zeros(np.count_nonzero(first), dtype=bool), []
    for each in _hashes(table.frame, names):
        alike = pl.Series((whole - each)[first]).is_duplicated().to_numpy()
        near |= alike
        counts.append(int(np.count_nonzero(alike)))
    return Near(int(np.count_nonzero(near)), names[int(np.argmax(counts))])


def _hashes(frame: pl.DataFrame, names: list[str]) -> Iterator[NDArray[np.uint64]]:
    """Of one column after the other: those of all at once would take more memory than the table."""
    return (frame[name].hash(seed=place).to_numpy() for place, name in enumerate(names))


def _chance_to_agree(values: pl.Series) -> float:
    """The chance that two rows have the same value."""
    counts = values.value_counts()["count"].to_numpy()
    return float(np.sum((counts / counts.sum()) ** 2))


def can_differ(table: Table) -> bool:
    """Whether rows have so many possible values that two alike are no chance: more than the square of their number.

    >>> from shortlist.tables import Roles, load_table
    >>> rows = pl.DataFrame({"fraud": [0, 1] * 30, "shop": ["a", "b", "c"] * 20})
    >>> can_differ(load_table(rows, Roles(label="fraud")))
    False
    """
    kinds = table.frame.schema
    columns = [name for name, kind in kinds.items() if name != table.roles.id and _has_text(kind)]
    ways = sum(np.log(max(table.frame[name].n_unique(), 1)) for name in columns)
    return bool(ways > 2 * np.log(len(table)))


def known_rows(new: Table, history: Table) -> NDArray[np.bool_]:
    """Which new rows stand in the history: by their id where rows have one, else by all columns that both have."""
    if new.roles.id is not None:
        return (
            pl.Series(new.ids)
            .cast(pl.String)
            .is_in(pl.Series(history.ids).cast(pl.String).implode())
            .to_numpy()
        )
    beside = {*new.roles.parts.values()} - {new.roles.list}
    shared = [name for name in new.frame.columns if name in history.frame.columns and name not in beside]
    names = [name for name in shared if all(_has_text(table.frame.schema[name]) for table in (new, history))]
    rows = [_as_text(table.frame, names) for table in (new, history)]
    return rows[0].is_in(rows[1].implode()).to_numpy() if names else np.zeros(len(new), dtype=np.bool_)


def _has_text(dtype: pl.DataType) -> bool:
    return not dtype.is_nested() and dtype not in (pl.Binary, pl.Duration, pl.Object)


def _as_text(frame: pl.DataFrame, names: list[str]) -> pl.Series:
    return frame.select(
        pl.concat_str(pl.col(names).cast(pl.String).fill_null(""), separator="\0")
    ).to_series()


def row_names(table: Table) -> list[str]:
    """Columns of whole numbers that are all different, and dense or called like a name.

    >>> from shortlist.tables import Roles, load_table
    >>> rows = pl.DataFrame({"fraud": [0, 1] * 30, "policy_number": range(7000, 7060)})
    >>> row_names(load_table(rows, Roles(label="fraud")))
    ['policy_number']
    """
    if len(table) < _FEWEST_ROWS:
        return []
    numbers = [feature.name for feature in table.schema.features if feature.kind == "number"]
    return [name for name in numbers if _names_rows(table.frame[name])]


def _names_rows(values: pl.Series) -> bool:
    if not values.dtype.is_integer() or values.null_count() or values.n_unique() < len(values):
        return False
    width = int(values.max()) - int(values.min())  # type: ignore[arg-type]
    called = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", values.name).replace("_", " ")
    return width < _DENSE * len(values) or _NAMES.search(called) is not None
