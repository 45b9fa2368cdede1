"""Some rows of a table that is encoded: what they alone teach of the columns, without reading any text again."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.tables.columns.feature import Feature
from shortlist.tables.columns.learn import date_feature
from shortlist.tables.columns.schema import Encoded, Schema


def learn_again(rows: Encoded, frame: pl.DataFrame) -> Schema:
    """The schema of these rows alone: the categories they have, without columns that are empty in them.

    What kind a column is, and how its dates are written, stays as the whole table told it: few rows may not be
    enough to tell. ``frame`` holds the same rows, as they were read.

    >>> frame = pl.DataFrame({"make": ["Audi", "Fiat", "Audi", "Fiat"], "seats": [4, 5, 2, None]})
    >>> last = learn_again(Schema.learn(frame).encode(frame).take(slice(3, 4)), frame[3:])
    >>> last.features[0].categories, last.dropped
    (('Fiat',), ('seats',))
    """
    known = rows.schema
    first = _first_columns(known)
    learned = {
        feature.name: _again(feature, rows.matrix[:, first[feature.name]], frame[feature.name])
        for feature in known.features
    }
    unused = dict.fromkeys(known.dropped)
    in_order = {name: learned.get(name) for name in frame.columns if name in learned or name in unused}
    return Schema.of_features(in_order, known.roles, frame.columns)


def encode_again(rows: Encoded, schema: Schema) -> Encoded:
    """The same rows by the schema that ``learn_again`` gave for some of the table's rows."""
    first = _first_columns(rows.schema)
    before = {feature.name: feature for feature in rows.schema.features}
    places = [first[feature.name] + i for feature in schema.features for i in range(len(feature.columns))]
    matrix = np.take(rows.matrix, places, axis=1)
    for column, feature in enumerate(schema.feature_of_column):
        if feature.kind == "category" and feature.categories != before[feature.name].categories:
            _recode(matrix[:, column], before[feature.name], feature)
    return Encoded(matrix, schema)


def _first_columns(schema: Schema) -> dict[str, int]:
    """Where the columns of each feature begin."""
    starts = accumulate((len(feature.columns) for feature in schema.features), initial=0)
    return {feature.name: start for feature, start in zip(schema.features, starts, strict=False)}


def _again(feature: Feature, column: NDArray[np.float32], series: pl.Series) -> Feature | None:
    known = column[~np.isnan(column)]
    if not known.size:
        return None
    if feature.kind == "category":
        codes = np.unique(known).astype(np.int64)
        return Feature(feature.name, "category", tuple(feature.categories[code] for code in codes))
    if feature.clock:  # the matrix has no seconds, in which times of day may differ
        return date_feature(feature.name, feature.dates(series), feature.date_format)
    return feature


def _recode(codes: NDArray[np.float32], old: Feature, new: Feature) -> None:
    """Codes of the old categories become codes of the new ones, in place; NaN where there is none."""
    numbers = {value: code for code, value in enumerate(new.categories)}
    table = np.array([numbers.get(value, np.nan) for value in old.categories], dtype=np.float32)
    known = ~np.isnan(codes)
    codes[known] = table[codes[known].astype(np.int64)]
