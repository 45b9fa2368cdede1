"""Columns of free text in a table whose wanted rows are known: their weights are learned, or the column is left out."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import TableError
from shortlist.tables.columns.schema import Encoded, Schema
from shortlist.tables.columns.text import Floats, adds_to, held_out_columns
from shortlist.tables.problems import tell


def learn_texts(
    schema: Schema, frame: pl.DataFrame, wanted: NDArray[np.bool_]
) -> tuple[Schema, dict[str, Floats]]:
    """The schema with the weights of its texts, and the columns of these rows by weights learned without them.

    A text that does not help beside the other columns is left out, with a note.
    """
    texts = [feature for feature in schema.features if feature.kind == "text"]
    if not texts:
        return schema, {}
    others = tuple(feature for feature in schema.features if feature.kind != "text")
    known = replace(schema, features=others).matrix(frame)
    used: dict[str, Floats] = {}
    for text in texts:
        columns = None if schema.roles.ignore_text else held_out_columns(text.texts(frame[text.name]), wanted)
        if columns is not None and adds_to(known, columns, wanted):
            used[text.name] = columns
            known = np.hstack([known, columns.astype(np.float32)])
        tell(_what_becomes_of(text.name, text.name in used, schema.roles.ignore_text))
    return _weighed(schema, frame, wanted, used), used


def left_open(schema: Schema) -> Schema:
    """The schema with texts whose weights say nothing yet: each part of the table that learns decides and weighs anew.

    Deciding here would look at rows that a part is to be tested on.
    """
    texts = [feature for feature in schema.features if feature.kind == "text"]
    for text in texts:
        tell(f"column {text.name!r} is text: used wherever its words help the rows that are learned from.")
    features = [each.untaught() if each.kind == "text" else each for each in schema.features]
    return replace(schema, features=tuple(features))


def _weighed(schema: Schema, frame: pl.DataFrame, wanted: NDArray[np.bool_], used: Container[str]) -> Schema:
    kept = [each for each in schema.features if each.kind != "text" or each.name in used]
    if not kept:
        raise TableError(
            "the table has no column to learn from but free text that does not tell which rows are wanted; "
            "give it another column."
        )
    weighed = [each if each.kind != "text" else each.taught(frame[each.name], wanted) for each in kept]
    unused = [each.name for each in schema.features if each not in kept]
    return replace(schema, features=tuple(weighed), dropped=(*schema.dropped, *unused))


def _what_becomes_of(name: str, used: bool, ignored: bool) -> str:
    if used:
        return (
            f"column {name!r} is text: its words and letters are learned from (--ignore-text leaves it out)."
        )
    why = (
        "as you asked"
        if ignored
        else "beside the other columns its words do not help to tell which rows are wanted"
    )
    return (
        f"column {name!r} is text and is not used: {why}. If it names the rows: --id; if its values are names: "
        "--category."
    )


def with_texts(rows: Encoded, columns: dict[str, Floats]) -> Encoded:
    """The same rows with other columns for their texts."""
    if not columns:
        return rows
    matrix = rows.matrix.copy()
    for place, (feature, part) in enumerate(
        zip(rows.schema.feature_of_column, rows.schema.parts, strict=True)
    ):
        if feature.name in columns and feature.kind == "text":
            matrix[:, place] = columns[feature.name][:, feature.parts.index(part)]
    return replace(rows, matrix=matrix)


def encode_texts(rows: Encoded, frame: pl.DataFrame) -> Encoded:
    """The same rows with the columns of their texts by the weights of their schema."""
    texts = [feature for feature in rows.schema.features if feature.kind == "text"]
    return with_texts(rows, {each.name: each.text_columns(frame[each.name]) for each in texts})
