"""Of texts that are too many for a category, those by which a column is told.

Such a column is numbers, or dates, or it is refused, and which of them is asked of each text: whether it is a number,
with what unit, whether it can be read with a comma for a point; whether it is a date in this format. So a few texts of
each answer say what all of them do, the one odd value among millions too.

Which texts these are depends on nothing but the texts: of parts of a table they are taken apart, and then of what was
taken, and are those of the whole.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from shortlist.tables.columns.advice import FEW_ODD
from shortlist.tables.columns.dates import first_misfits
from shortlist.tables.columns.numerals import ways_of_writing
from shortlist.tables.columns.values import GAP_WORDS

#: Of each answer so many, since more odd values than FEW_ODD are no mistakes.
_FEW = FEW_ODD + 1
#: Texts as most are: which format is likely, and whether times of day differ. Only these are left to chance, and to
#: hardly any: a category may have more texts than a century has days, so a column of moments has many with a time.
_SAMPLE = 1_000
#: The parts of texts are texts, too: of this many at a time they take some 20 MB.
_AT_ONCE = 2**17


def telling_texts(texts: pl.Series) -> pl.Series:
    """Those of different cleaned texts that tell what all are, in no order.

    >>> numbers = pl.Series([f"{each}.5" for each in range(100_000)] + ["unknown", "12-13"])
    >>> told = telling_texts(numbers)
    >>> len(told) < 1_100, told.is_in(["unknown", "12-13"]).sum()
    (True, 2)
    """
    parts = [_telling(texts[start : start + _AT_ONCE]) for start in range(0, len(texts), _AT_ONCE)]
    return parts[0] if len(parts) == 1 else _telling(pl.concat(parts))


def _telling(texts: pl.Series) -> pl.Series:
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
