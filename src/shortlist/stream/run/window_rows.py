"""The rows of a window that can be ranked: each has an id of its own."""

from __future__ import annotations

import json
from collections.abc import Container

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.stream.run.lines import Refusal
from shortlist.tables import Roles


def row_ids(frame: pl.DataFrame, roles: Roles, first_row: int) -> NDArray:
    """What rows are called, as text; without an id column they are numbered over the stream, from 1."""
    if roles.id is None:
        return np.array(
            [str(number) for number in range(first_row + 1, first_row + frame.height + 1)], dtype=object
        )
    return frame[roles.id].cast(pl.String).to_numpy()


def take_rows(
    frame: pl.DataFrame, roles: Roles, asked: Container[str], name: str
) -> tuple[pl.DataFrame, list[Refusal]]:
    """The rows that can be asked about, and the others.

    A row is refused if it has no id, if another row of the window has the same one, or if that id was asked
    about before: a label for it would not say which row it means.
    """
    if roles.id is None or frame.height == 0:
        return frame, []
    roles.check(frame.columns, optional=("ignore", "time"))
    reasons = _reasons(frame[roles.id].cast(pl.String).to_list(), asked)
    good = [place for place, reason in enumerate(reasons) if not reason]
    refused = [
        Refusal(f"{name}, row {place + 1}", reason, json.dumps(frame.row(place, named=True), default=str))
        for place, reason in enumerate(reasons)
        if reason
    ]
    return frame[good] if refused else frame, refused


def _reasons(ids: list[str | None], asked: Container[str]) -> list[str]:
    seen: set[str] = set()
    reasons = []
    for each in ids:
        if each is None:
            reasons.append("the row has no id")
        elif each in seen:
            reasons.append(f"id {each} stands twice in this window; the first row is ranked")
        elif each in asked:
            reasons.append(f"id {each} was asked about in an earlier window")
        else:
            reasons.append("")
            seen.add(each)
    return reasons
