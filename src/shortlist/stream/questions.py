"""The files a stream leaves for people: rows to label, rows it could not take, and what came of each window."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.stream.lines import Refusal
from shortlist.stream.window_rows import WindowRows
from shortlist.tables import atomic_path, write_table


class Folder:
    """to-label/ with a table per window, refused/ with what was set aside, and report.csv."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name in ("to-label", "refused"):
            (path / name).mkdir(parents=True, exist_ok=True)
        for half_written in path.rglob(".*.tmp"):
            half_written.unlink()  # left by a run that was killed

    def write_questions(
        self, rows: WindowRows, places: NDArray[np.int64], k: int, window: int, id_column: str | None
    ) -> str:
        """Write the rows to label, the shortlist first, with an empty column ``wanted`` to fill in."""
        if places.size == 0:
            return ""
        head = pl.DataFrame(
            {
                id_column or "id": [rows.ids[place] for place in places],
                "wanted": pl.Series([None] * places.size, dtype=pl.String),
                "rank": np.arange(1, places.size + 1),
                "why": ["shortlist" if rank < k else "to learn" for rank in range(places.size)],
            }
        )
        others = rows.frame[places.tolist()]
        others = others.drop([name for name in head.columns if name in others.columns])
        file = self.path / "to-label" / f"window-{window:06d}.csv"
        write_table(pl.concat([head, others], how="horizontal"), file)
        return str(file)

    def set_aside(self, refused: list[Refusal], step: int) -> list[str]:
        """Keep what could not be taken; gives what to say of it."""
        if not refused:
            return []
        path = self.path / "refused" / f"step-{step:06d}.jsonl"
        with atomic_path(path) as beside:
            beside.write_text(
                "".join(json.dumps(each.to_dict()) + "\n" for each in refused), encoding="utf-8"
            )
        said = [f"{each.where}: {each.reason}" for each in refused[:5]]
        return [*said, f"{len(refused)} refused and kept in {path}; the stream goes on."]

    def write_report(self, reports: list[dict[str, Any]]) -> None:
        """Write what came of each window so far."""
        if reports:
            write_table(pl.DataFrame(reports, infer_schema_length=None), self.path / "report.csv")
