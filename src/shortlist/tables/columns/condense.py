"""Columns condensed to what their schema is learned from: parts of a table are condensed apart and brought together.

Of text, that is each value with the number of rows that have it, while they are no more than a category may have, and
then those that tell whether all are numbers or dates; of other types, the few values that say what a column is. So a
table that no machine holds has the schema that it would have on one machine, and what is kept does not grow with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import polars as pl

from shortlist.tables.columns.advice import FEW_ODD
from shortlist.tables.columns.dates import dates_in_digits, first_misfits
from shortlist.tables.columns.learn import MOST_VALUES
from shortlist.tables.columns.numerals import ways_of_writing
from shortlist.tables.columns.values import GAP_WORDS, clean_text, is_category, is_text

#: Of each answer so many, since more odd values than FEW_ODD are no mistakes.
_FEW = FEW_ODD + 1
#: Texts as most are: which format is likely, and whether times of day differ. Only these are left to chance, and to
#: hardly any: a category may have more texts than a century has days, so a column of moments has many with a time.
_SAMPLE = 1_000
#: The parts of texts are texts, too: of this many at a time they take some 20 MB.
_AT_ONCE = 2**17
#: A partition may have many more rows than a batch, and their texts are counted in memory of their own.
_ROWS_AT_ONCE = 2**19


@dataclass(frozen=True, eq=False)
class Condensed:
    """Some values of a column, and how many rows each stands for."""

    values: pl.Series
    rows: pl.Series | None = None  # None: one each
    named: bool = False  # whether the type itself says that values are categories
    more_rows: int = 0  # that have a text which is not kept


def condense(series: pl.Series, *, category: bool = False) -> Condensed:
    """What tells the kind of a column.

    category : whether the user said that it is one, so that every value counts

    >>> condense(pl.Series("make", ["Fiat", "Audi", "Fiat"])).rows.sort().to_list()
    [1, 2]
    >>> condense(pl.Series("amount", [None, 3.5, 9.0])).values.to_list()
    [3.5]
    """
    if category and series.dtype.is_numeric():
        series = clean_text(series)
    if is_text(series.dtype):
        starts = range(0, max(len(series), 1), _ROWS_AT_ONCE)
        return reduce(joined, (_counted(series[start : start + _ROWS_AT_ONCE]) for start in starts))
    telling = _telling(series)
    return Condensed(telling if len(telling) else series.head(1))


def _counted(series: pl.Series) -> Condensed:
    counts = series.cast(pl.String).alias("value").value_counts(name="rows")
    return _of_texts(series.name, counts.cast({"rows": pl.Int64}), is_category(series.dtype))


def _of_texts(name: str, counts: pl.DataFrame, named: bool, more_rows: int = 0) -> Condensed:
    """All texts where they could be a category, else those that tell what they are."""
    if more_rows or counts.height > MOST_VALUES:
        tidy = _tidy(counts)
        known = tidy.filter(~tidy["gap"])
        if more_rows or known.height > MOST_VALUES:
            kept = tidy.filter(tidy["gap"] | tidy["value"].is_in(_telling_texts(known["value"]).implode()))
            more_rows += int(tidy["rows"].sum()) - int(kept["rows"].sum())
            counts = kept
    return Condensed(counts["value"].alias(name), counts["rows"], named, more_rows)


def _tidy(counts: pl.DataFrame) -> pl.DataFrame:
    """Texts without spaces around them, and which of them mean that nothing is known."""
    stripped = counts.with_columns(pl.col("value").str.strip_chars())
    tidy = stripped.group_by("value").sum()
    return tidy.with_columns(gap=clean_text(tidy["value"]).is_null())


def _telling(series: pl.Series) -> pl.Series:
    """A value or two that say as much of a column as all of them; none where all are missing."""
    known = series.drop_nans() if series.dtype.is_float() else series
    known = known.drop_nulls()
    if known.dtype.is_integer() and len(known):
        return _unlike_a_day(known)
    if known.dtype == pl.Datetime:
        return known.filter(known.dt.time().is_first_distinct()).head(2)  # whether times of day differ
    return known.head(1)


def _unlike_a_day(numbers: pl.Series) -> pl.Series:
    """The first number, or one that is no day in digits such as 20150125 where there is any."""
    if dates_in_digits(numbers) is not None:
        return numbers.head(1)
    plain = pl.DataFrame({"number": numbers.unique()})
    odd = plain.filter(
        ~pl.col("number").is_between(1900_01_01, 2100_12_31)
        | pl.col("number").cast(pl.String).str.to_date("%Y%m%d", strict=False).is_null()
    )
    return odd["number"].head(1).alias(numbers.name)


def bring_together(parts: Sequence[Condensed]) -> Condensed:
    """The column of which these are parts, in the order of the table.

    >>> parts = [condense(pl.Series("make", each)) for each in (["Fiat", "Audi"], ["Fiat"])]
    >>> bring_together(parts).rows.sort().to_list()
    [1, 2]
    """
    named = any(part.named for part in parts)
    values = _stacked(part.values for part in parts)
    if all(part.rows is None for part in parts):
        return Condensed(values, None, named)
    rows = _stacked(pl.Series([1] * len(part.values)) if part.rows is None else part.rows for part in parts)
    counts = pl.DataFrame({"value": values, "rows": rows}).group_by("value", maintain_order=True).sum()
    return _of_texts(values.name, counts, named, sum(part.more_rows for part in parts))


def joined(known: Condensed | None, fresh: Condensed) -> Condensed:
    """What is known of a column so far, after more of its rows; it stays small where few values tell its kind.

    >>> parts = [condense(pl.Series("amount", each)) for each in ([3.5, 4.0], [9.0])]
    >>> joined(joined(None, parts[0]), parts[1]).values.to_list()
    [3.5]
    """
    if known is None:
        return fresh
    both = bring_together([known, fresh])
    if both.rows is not None:
        return both
    telling = _telling(both.values)
    return Condensed(telling if len(telling) else both.values.head(1))


def _stacked(series: Iterable[pl.Series]) -> pl.Series:
    """One after the other; numbers may be whole or not, and missing values of no type of their own."""
    given = [*series]
    frames = [each.alias("value").to_frame() for each in given]
    return pl.concat(frames, how="vertical_relaxed").to_series().alias(given[0].name)


def _telling_texts(texts: pl.Series) -> pl.Series:
    """Those of different cleaned texts that tell what all are, in no order.

    Such a column is numbers, or dates, or it is refused, and which of them is asked of each text: whether it is a
    number, with what unit, whether it can be read with a comma for a point; whether it is a date in this format. So a
    few texts of each answer say what all of them do, the one odd value among millions too. Which texts these are
    depends on nothing but the texts: of parts of a table they are taken apart, and then of what was taken, and are
    those of the whole.
    """
    parts = [_told_by(texts[start : start + _AT_ONCE]) for start in range(0, len(texts), _AT_ONCE)]
    return parts[0] if len(parts) == 1 else _told_by(pl.concat(parts))


def _told_by(texts: pl.Series) -> pl.Series:
    drawn = _shuffled(texts)
    return pl.concat([drawn.head(_SAMPLE), first_misfits(drawn, _FEW), _few_of_each_writing(texts)]).unique()


def _shuffled(texts: pl.Series) -> pl.Series:
    """In an order that is that of no table, and the same on every machine."""
    from shortlist.kernels.whole_sums import hash_rows  # noqa: PLC0415  few tables have so many texts
    from shortlist.tables.row_keys import keys_of_ids  # noqa: PLC0415

    drawn = hash_rows(len(texts), keys_of_ids(texts), np.uint64(0))
    return pl.DataFrame({"drawn": drawn, "text": texts}).sort("drawn", "text")["text"]


def _few_of_each_writing(texts: pl.Series) -> pl.Series:
    """The first in the alphabet, which messages quote."""
    small = texts.str.to_lowercase()
    words = small.set(~small.is_in(GAP_WORDS), None).alias("word")
    asked = [*ways_of_writing(texts).iter_columns(), words]
    alike = pl.DataFrame([texts.alias("text"), *asked]).group_by(each.name for each in asked)
    return alike.agg(pl.col("text").bottom_k(_FEW))["text"].explode()
