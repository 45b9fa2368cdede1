"""For whom it works: precision and recall for each group of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shortlist.exceptions import SchemaError
from shortlist.tables.columns.values import clean_text
from shortlist.tables.columns.words import number_text
from shortlist.tables.roles import did_you_mean
from shortlist.workflow.history.intervals import share_interval
from shortlist.workflow.history.measures import Floats, looked_at
from shortlist.workflow.history.tally import Tally

#: Groups of a slice, at most; a column of numbers with more values is cut into quarters.
_MOST_GROUPS = 12
OTHERS, MISSING = "all others", "missing"


def sliced_by(columns: Sequence[str], frame: pl.DataFrame) -> dict[str, pl.Series]:
    """The columns that figures are told by; one that is not there is refused before hours of work."""
    for name in columns:
        if name not in frame.columns:
            hint = did_you_mean(name, frame.columns)
            raise SchemaError(
                f"there is no column {name!r} to slice by.{hint} There are: {', '.join(frame.columns)}."
            )
    return {name: frame[name] for name in dict.fromkeys(columns)}


def slices(tally: Tally, ranking: str, columns: dict[str, pl.Series]) -> pl.DataFrame:
    """Precision and recall of a ranking for each group of rows, with intervals; the budget is that of all rows."""
    lines: list[dict[str, Any]] = []
    tests = tally.trials.of(ranking)
    rows = np.concatenate([trial.split.test for trial in tests])
    share = np.concatenate(
        [looked_at(t.score, tally.budget, tally.trials.tested(t.split).in_lists) for t in tests]
    )
    wanted = tally.trials.facts.wanted[rows]
    for name, values in columns.items():
        groups = _groups(values.gather(rows))
        for group in groups.unique(maintain_order=True).sort().to_list():
            here = (groups == group).to_numpy()
            lines.append({"column": name, "group": group, **_line(share[here], wanted[here])})
    return pl.DataFrame(lines, infer_schema_length=None)


def _line(share: Floats, wanted: Any) -> dict[str, Any]:
    found, reviewed = float(share @ wanted), float(share.sum())
    line: dict[str, Any] = {
        "rows": int(share.size),
        "wanted": int(wanted.sum()),
        "looked at": reviewed,
        "found": found,
    }
    for name, whole in (("precision", reviewed), ("recall", float(wanted.sum()))):
        low, high = share_interval(found, whole)
        line |= {name: found / whole if whole else None, f"{name} low": low, f"{name} high": high}
    return line


def _groups(values: pl.Series) -> pl.Series:
    """The group of each row, as text: its value, a quarter of the numbers, or what the rare values are together."""
    if values.dtype.is_numeric() and values.n_unique() > _MOST_GROUPS:
        return _quarters(values.cast(pl.Float64))
    text = clean_text(values)
    frequent = text.drop_nulls().value_counts(sort=True)[text.name][:_MOST_GROUPS]
    kept = text.is_in(frequent.implode()) if len(frequent) else text.is_null()
    groups = text.to_frame().select(
        pl.when(pl.col(text.name).is_null())
        .then(pl.lit(MISSING))
        .when(kept)
        .then(pl.col(text.name))
        .otherwise(pl.lit(OTHERS))
    )
    return groups.to_series()


def _quarters(values: pl.Series) -> pl.Series:
    known = values.to_numpy()
    edges = np.nanquantile(known, [0, 0.25, 0.5, 0.75, 1])
    place = np.clip(np.searchsorted(edges[1:-1], known, side="left"), 0, 3)
    names = [f"{i + 1}: {number_text(edges[i])} to {number_text(edges[i + 1])}" for i in range(4)]
    return pl.Series(
        [MISSING if np.isnan(value) else names[at] for value, at in zip(known, place, strict=True)]
    )
