"""JSON as programs hand it out: a list of objects, or objects line by line under the wrong ending."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO

import polars as pl

from shortlist.exceptions import TableError
from shortlist.tables.io.dialect import chunks


def read_objects(path: Path) -> pl.DataFrame:
    """The rows of a file that holds a list of objects."""
    text = b"".join(chunks(path)).removeprefix(b"\xef\xbb\xbf").strip()
    if not text:
        raise TableError(f"{path} is empty; write it anew.")
    if not text.startswith(b"["):
        return _lines(path, text)
    return pl.read_json(io.BytesIO(text), infer_schema_length=None)


def sink_objects(rows: pl.LazyFrame, file: IO[bytes], ending: str) -> None:
    """Write rows as a list of objects."""
    file.write(rows.collect().write_json().encode())


def _lines(path: Path, text: bytes) -> pl.DataFrame:
    lines = text.splitlines()
    if len(lines) > 1 and all(
        line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}") for line in lines[:2]
    ):
        return pl.read_ndjson(io.BytesIO(text), infer_schema_length=None)
    raise TableError(
        f"{path} holds no list of rows; a table in JSON is a list of objects, [{{...}}, {{...}}], one for each row "
        "(in pandas: to_json(orient='records'))."
    )
