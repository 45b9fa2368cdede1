"""What a lead takes away: verdicts beside the columns of their rows, and the figures, as CSV or in one workbook."""

from __future__ import annotations

from dataclasses import asdict
from io import BytesIO
from typing import Any

import polars as pl

from shortlist.exceptions import MissingExtraError
from shortlist.review.desk.rows import Rows
from shortlist.review.lead.figures import Figures, Line, Share
from shortlist.tables.io.spreadsheets import write_sheets

SHARES = ("precision", "agreement")


def figures_table(figures: Figures) -> pl.DataFrame:
    """All figures under each other; the first two columns say what a line is about."""
    parts = {
        "all": [figures.whole],
        "week": figures.weeks,
        "reviewer": figures.reviewers,
        "reason": figures.reasons,
    }
    lines = [{"part": part, **_flat(line)} for part, of_part in parts.items() for line in of_part]
    return pl.DataFrame(lines, infer_schema_length=None)


def with_data(verdicts: pl.DataFrame, rows: Rows) -> pl.DataFrame:
    """Verdicts beside the columns of their rows; a column that both have is told apart by its name."""
    places = [rows.position(id) for id in verdicts["id"]]
    data = rows.frame([place for place in places if place is not None])
    kept = [name for name in data.columns if name != rows.roles.id]
    named = {name: f"{name} (data)" for name in kept if name in verdicts.columns}
    return verdicts.hstack(data.select(kept).rename(named))


def workbook(sheets: dict[str, pl.DataFrame]) -> bytes:
    """An Excel workbook; no text in it is taken for a formula or a link."""
    content = BytesIO()
    try:
        write_sheets({name: _without_zones(frame) for name, frame in sheets.items()}, content)
    except ImportError:
        raise MissingExtraError.of("xlsxwriter", "excel") from None
    return content.getvalue()


def _without_zones(frame: pl.DataFrame) -> pl.DataFrame:
    """Excel knows no time zones: the name of the column tells it."""
    zoned = {
        name: dtype.time_zone
        for name, dtype in frame.schema.items()
        if isinstance(dtype, pl.Datetime) and dtype.time_zone
    }
    plain = frame.with_columns(pl.col(name).dt.replace_time_zone(None) for name in zoned)
    return plain.rename({name: f"{name} ({zone})" for name, zone in zoned.items()})


def _flat(line: Line) -> dict[str, Any]:
    """A line as columns: each share with its ends and its counts."""
    plain = {name: value for name, value in asdict(line).items() if name not in SHARES}
    for name in SHARES:
        share: Share | None = getattr(line, name)
        parts = (share.value, share.low, share.high, share.whole) if share else (None, None, None, 0)
        plain |= dict(zip((name, f"{name} low", f"{name} high", f"{name} of"), parts, strict=True))
    return {**plain, "per hour": line.per_hour, "value per hour": line.value_per_hour}
