"""The answer: the top rows in order, with what is known of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.rankers.base import Ranker
from shortlist.tables import Table

N_REASONS = 3


@dataclass(frozen=True, eq=False)
class Shortlist:
    """The top rows in order, and what was used to find them.

    The frame has: rank, the id (or the row number), the list, score, expected_precision (where the model
    knows it), reason_1 to reason_3 (where the model gives reasons), model_version; then the columns of
    the new rows.
    """

    frame: pl.DataFrame
    model: str
    version: str
    ranker: Ranker
    notes: tuple[str, ...]  # what the user should know of the new rows

    def _repr_html_(self) -> str:
        return self.frame._repr_html_()


def ranked_frame(
    table: Table,
    kept: NDArray[np.int64],
    *,
    rank: NDArray[np.int64],
    score: NDArray[np.float64],
    expected: NDArray[np.float64] | None,
    reasons: list[list[str]] | None,
    version: str,
) -> pl.DataFrame:
    """The kept rows, list by list and best first; their ranks and reasons are in order of ``kept``."""
    head: dict[str, object] = {"rank": rank, table.roles.id or "row": table.ids[kept]}
    if table.roles.list is not None:
        head[table.roles.list] = table.frame[table.roles.list][kept]
    head["score"] = score[kept]
    if expected is not None:
        head["expected_precision"] = expected[kept]
    if reasons is not None:
        head |= _reason_columns(reasons)
    head["model_version"] = pl.Series([version], dtype=pl.String).new_from_index(0, kept.size)
    taken = [name for name in head if name in table.frame.columns]
    return pl.DataFrame(head).hstack(table.frame[kept].drop(taken))


def replaced_notes(frame: pl.DataFrame, table: Table) -> list[str]:
    """Which columns of the new rows gave way to the shortlist's own of that name, as a note."""
    own = frame.columns[: frame.columns.index("model_version") + 1]
    kept = {table.roles.id, table.roles.list}
    replaced = [name for name in own if name in table.frame.columns and name not in kept]
    says = f"the shortlist's own columns replace those of the new rows: {', '.join(replaced)}."
    return [says] if replaced else []


def _reason_columns(reasons: list[list[str]]) -> dict[str, pl.Series]:
    filled: list[list[str | None]] = [[*row, *[None] * (N_REASONS - len(row))] for row in reasons]
    return {
        f"reason_{i + 1}": pl.Series([row[i] for row in filled], dtype=pl.String) for i in range(N_REASONS)
    }
