"""Which columns matter: how much each moves the scores."""

from __future__ import annotations

import numpy as np
import polars as pl

from shortlist.models.abilities import contributions
from shortlist.models.trained import TrainedModel
from shortlist.report import Chart, Line
from shortlist.tables import Table

#: Rows whose scores are taken apart: enough for shares in whole percents, and few enough where trees are deep.
_EXPLAINED = 500


def importance(model: TrainedModel, rows: Table) -> pl.DataFrame:
    """How much each column moves the scores of rows that training did not see: its share of all that does.

    The mean of the absolute parts of the score (SHAP values, or weight times value), by column; none for models that
    cannot be taken apart.
    """
    some = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _EXPLAINED)).astype(np.int64))
    parts = contributions(model.ranker, rows.features.take(some))
    schema = {"column": pl.String, "share": pl.Float64}
    if parts is None:
        return pl.DataFrame(schema=schema)
    moved = np.abs(parts - parts.mean(axis=0)).mean(axis=0)
    names = [feature.name for feature in rows.schema.feature_of_column]
    frame = pl.DataFrame({"column": names, "share": moved}, schema=schema)
    summed = frame.group_by("column", maintain_order=True).sum()
    whole = float(moved.sum()) or 1.0
    return summed.with_columns(pl.col("share") / whole).sort("share", descending=True, maintain_order=True)


def importance_chart(frame: pl.DataFrame, model: str) -> list[Chart]:
    """Bars of the columns that matter most."""
    top = frame.head(12)
    if top.is_empty():
        return []
    line = Line("share", top["share"].to_list())
    says = f"How much each column moves the scores of {model}, as a share of all that moves them."
    return [
        Chart(
            "What matters",
            top["column"].to_list(),
            [line],
            x_label="column",
            y_label="share",
            kind="bars",
            percent=True,
            says=says,
        )
    ]
