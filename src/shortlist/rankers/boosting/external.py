"""Training from a table that does not fit into memory.

The outcome and the list column are read whole, features one column at a time to learn what they are, then rows batch by
batch into bins that XGBoost keeps on disk. Margins and gradients (12 bytes a row) stay in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import xgboost as xgb
from numpy.typing import NDArray

from shortlist.rankers.boosting.engine import feature_types
from shortlist.tables import Roles, Schema, read_batches, scan_table
from shortlist.tables.table import RowFacts, read_facts


def read_outcomes(source: Any, roles: Roles, wanted: Any = None) -> tuple[RowFacts, Schema]:
    """All that training needs beside the features, and their schema."""
    table = scan_table(source)
    schema = Schema.learn_by_column(table, roles)
    # What is left out here is not learned from; any other role is.
    used = replace(roles, id=None, time=None, ignore=())
    return read_facts(table.select(used.names).collect(), used, wanted=wanted), schema


def boost_from_disk(
    source: Any,
    schema: Schema,
    grow: Callable[[xgb.DMatrix], xgb.Booster],
    *,
    batch_rows: int,
    max_bin: int,
    n_jobs: int | None,
) -> xgb.Booster:
    """What ``grow`` makes of the features in bins, which lie in a folder that is removed afterwards."""

    def rows() -> Iterator[NDArray]:
        return (schema.matrix(batch) for batch in read_batches(source, batch_rows=batch_rows))

    def inside(folder: Path) -> xgb.Booster:
        batches = _Batches(rows, feature_types(schema.categorical), folder)
        matrix = xgb.ExtMemQuantileDMatrix(batches, max_bin=max_bin, nthread=n_jobs, enable_categorical=True)
        # A copy, because the booster holds on to the matrix it was trained on, and that to its files.
        return grow(matrix).copy()

    with tempfile.TemporaryDirectory(prefix="shortlist-") as folder:
        return inside(Path(folder))


class _Batches(xgb.DataIter):
    """Rows as XGBoost asks for them: again and again from the start."""

    def __init__(self, read: Callable[[], Iterator[NDArray]], types: list[str], folder: Path) -> None:
        self.read, self.types = read, types
        self.rows = read()
        super().__init__(cache_prefix=str(folder / "bins"))

    def next(self, input_data: Callable[..., None]) -> bool:
        """Hand over the next batch; False when there is none."""
        batch = next(self.rows, None)
        if batch is None:
            return False
        input_data(data=batch, feature_types=self.types)
        return True

    def reset(self) -> None:
        """Begin again."""
        self.rows = self.read()
