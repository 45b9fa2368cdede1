"""The files a stream leaves for people: rows to label, rows it could not take, and what came of each window."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.stream.run.ledger import WindowReport
from shortlist.stream.run.lines import Refusal
from shortlist.tables import read_table, write_table
from shortlist.tables.io.write import atomic_path


@dataclass(frozen=True)
class Round:
    """Which time a window is asked about, and how many of its rows were asked about before."""

    window: int
    k: int
    number: int = 1
    asked_before: int = 0

    @property
    def name(self) -> str:
        """What its file is called."""
        return f"window-{self.window:06d}" + (f"-round-{self.number}" if self.number > 1 else "")


class StreamFolder:
    """to-label/ with tables per window, refused/ with what was set aside, and report.csv.

    Where labels are asked for in rounds, open/ keeps the rows of windows that may have another one.
    """

    def __init__(self, path: Path, *, formula_safe: bool = True) -> None:
        self.path, self.formula_safe = path, formula_safe
        for name in ("to-label", "refused"):
            (path / name).mkdir(parents=True, exist_ok=True)
        for half_written in path.rglob(".*.tmp"):
            half_written.unlink()  # left by a run that was killed

    def write_to_label(self, frame: pl.DataFrame, ids: NDArray, round_: Round, id_column: str | None) -> str:
        """Write rows to label, the shortlist first, with an empty column ``wanted`` to fill in."""
        if ids.size == 0:
            return ""
        ranks = round_.asked_before + np.arange(1, ids.size + 1)
        head = pl.DataFrame(
            {
                id_column or "id": ids.tolist(),
                "wanted": pl.Series([None] * ids.size, dtype=pl.String),
                "rank": ranks,
                "why": np.where(ranks <= round_.k, "shortlist", "to learn"),
            }
        )
        others = frame.drop([name for name in head.columns if name in frame.columns])
        file = self.path / "to-label" / f"{round_.name}.csv"
        write_table(pl.concat([head, others], how="horizontal"), file, formula_safe=self.formula_safe)
        return str(file)

    def keep_rows(self, frame: pl.DataFrame, window: int) -> None:
        """Keep the rows of a window for the rounds to come."""
        (self.path / "open").mkdir(exist_ok=True)
        write_table(frame, self._kept(window))

    def kept_rows(self, window: int) -> pl.DataFrame:
        """The rows of a window that may have another round."""
        return read_table(self._kept(window))

    def drop_rows(self, still_open: set[int]) -> None:
        """Forget the rows of windows that have all their labels."""
        wanted = {self._kept(window) for window in still_open}
        for path in (self.path / "open").glob("*.parquet"):
            if path not in wanted:
                path.unlink()

    def _kept(self, window: int) -> Path:
        return self.path / "open" / f"window-{window:06d}.parquet"

    def set_aside(self, refused: list[Refusal], step: int) -> list[str]:
        """Keep what could not be taken; gives what to say of it."""
        if not refused:
            return []
        path = self.path / "refused" / f"step-{step:06d}.jsonl"
        with atomic_path(path) as beside:
            beside.write_text(
                "".join(json.dumps(each.to_dict()) + "\n" for each in refused), encoding="utf-8"
            )
        said = [each.says for each in refused[:5]]
        return [*said, f"{len(refused)} refused and kept in {path}; the stream goes on."]

    def write_report(self, reports: list[WindowReport]) -> None:
        """Write what came of each window so far."""
        if reports:
            frame = pl.DataFrame([report.to_dict() for report in reports], infer_schema_length=None)
            write_table(frame, self.path / "report.csv", formula_safe=self.formula_safe)
