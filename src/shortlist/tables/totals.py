"""Sums under a table, which spreadsheets and reports add: they are no rows."""

from __future__ import annotations

import polars as pl

from shortlist.tables.columns.values import clean_text, is_text
from shortlist.tables.problems import tell

_TOTAL = r"(?i)^(grand |sub ?)?(totals?|sum|summe|gesamt(summe)?|total général|totale|suma)\s*:?$"


def without_totals(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows without a last one that says "Total" and is empty for the most part.

    >>> without_totals(pl.DataFrame({"id": ["a", "b", "Total"], "make": ["x", "y", None], "amount": [1, 2, 3]})).height
    2
    """
    if frame.height < 2:
        return frame
    last = frame.tail(1)
    texts = [clean_text(column) for column in last.iter_columns() if is_text(column.dtype)]
    empty = sum(column.null_count() for column in last.iter_columns() if not is_text(column.dtype))
    empty += sum(text.null_count() for text in texts)
    says = [text[0] for text in texts if text.str.contains(_TOTAL).any()]
    if not says or 3 * empty < frame.width:
        return frame
    tell(f"the last row is left out: it holds sums ({says[0]!r}).")
    return frame.head(-1)
