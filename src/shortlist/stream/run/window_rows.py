"""The rows of a window that can be ranked: each has an id of its own."""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass, field

import polars as pl

from shortlist.stream.run.lines import Refusal
from shortlist.tables import Roles


@dataclass(frozen=True)
class WindowRows:
    """Rows to rank, their ids, and the rows that were refused."""

    frame: pl.DataFrame
    ids: list[str]
    refused: list[Refusal] = field(default_factory=list)

    @classmethod
    def again(cls, frame: pl.DataFrame, roles: Roles, first_row: int) -> WindowRows:
        """Rows that were taken before."""
        if roles.id is None:
            return cls(frame, [str(number) for number in range(first_row + 1, first_row + frame.height + 1)])
        return cls(frame, frame[roles.id].cast(pl.String).to_list())


def take_rows(
    frame: pl.DataFrame, roles: Roles, asked: Container[str], first_row: int, name: str
) -> WindowRows:
    """Rows with ids; without an id column they are numbered over the stream, from 1.

    A row is refused if it has no id, if another row of the window has the same one, or if that id was asked
    about before: a label for it would not say which row it means.
    """
    if roles.id is None or frame.height == 0:
        return WindowRows.again(frame, Roles(), first_row)
    roles.check(frame.columns, optional=("ignore", "time"))
    ids = frame[roles.id].cast(pl.String).to_list()
    reasons = _reasons(ids, asked)
    good = [place for place, reason in enumerate(reasons) if not reason]
    refused = [
        Refusal(f"{name}, row {place + 1}", reason, json.dumps(frame.row(place, named=True), default=str))
        for place, reason in enumerate(reasons)
        if reason
    ]
    return WindowRows(frame[good] if refused else frame, [ids[place] for place in good], refused)


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
