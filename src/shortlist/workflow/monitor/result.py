"""What monitoring found: its figures, its page, and a file of metrics for schedulers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shortlist._version import __version__
from shortlist.exceptions import InvalidInputError
from shortlist.report import Chart, Line, Page, Sheet
from shortlist.tables.columns.words import percent
from shortlist.tables.io.write import atomic_path
from shortlist.tables.plain import plain
from shortlist.workflow.history.result import Result, with_intervals
from shortlist.workflow.monitor.columns import FALSE_LOOKS

_SHARES = ("precision", "expected", "recall", "base rate", "promised")
#: Names of metrics and what they mean; each is a gauge.
_METRICS = {
    "found": "Wanted rows found on shortlists, of those whose outcome is known",
    "outcomes": "Rows of shortlists whose outcome is known",
    "precision": "Share of the rows looked at that were wanted",
    "promised": "Precision that was promised",
    "expected": "Precision that the models expected",
    "recall": "Share of all wanted rows that was found",
    "value found": "What the rows found are worth",
}
#: From which run to which each alarm rang.
ALARMS = {"from": pl.Date, "to": pl.Date, "alarm": pl.String}


@dataclass(frozen=True, eq=False, repr=False)
class Monitor(Result):
    """How runs did, once outcomes came back.

    table : all runs in one line: found, precision, expected precision, recall and value, with 95 % intervals
    periods : the same for each period; ``state`` says whether it is whole
    runs : every run, with the sums that alarms are made from, as shares of their level
    alarms : from which run to which each rang; no end: it still does
    versions : what each version of the model found, the newest first
    columns : how far each column lies from the first runs, and whether that is more than chance; empty if runs are few
    challenger : champion and challenger on the days that both have; empty where there is none
    """

    answer: str
    table: pl.DataFrame
    periods: pl.DataFrame
    runs: pl.DataFrame
    alarms: pl.DataFrame
    versions: pl.DataFrame
    columns: pl.DataFrame
    challenger: pl.DataFrame
    setup: dict[str, Any]
    notes: tuple[str, ...]

    def page(self) -> Page:
        """The report as a page of text, charts and tables."""
        return _page(self)

    def metrics(self) -> dict[str, float]:
        """The figures a scheduler watches: those of all runs, how many alarms there were, how near the next one is."""
        row = self.table.row(0, named=True)
        told = {name.replace(" ", "_"): float(row[name]) for name in _METRICS if row.get(name) is not None}
        sums = [name for name in self.runs.columns if name.startswith("sum against")]
        nearest = max((each for name in sums for each in self.runs[name].drop_nulls().tail(1)), default=0.0)
        return told | {
            "runs": float(self.runs.height),
            "alarms": float(self.alarms.height),
            "alarms_ringing": float(self.alarms["to"].null_count()),
            "alarm_nearness": float(nearest),
            **({"columns_moved": float(self.columns["moved"].sum())} if self.columns.height else {}),
        }

    def write_metrics(self, path: str | Path) -> Path:
        """Write the metrics: as JSON where the name ends in .json, else as text for Prometheus (.prom)."""
        target = check_metrics_path(path)
        with atomic_path(target) as beside:
            beside.write_text(self._metrics_text(target.suffix.lower()), encoding="utf-8")
        return target

    def _metrics_text(self, suffix: str) -> str:
        if suffix == ".json":
            last = None if self.alarms.is_empty() else str(self.alarms["from"][-1])
            return json.dumps(plain({**self.metrics(), "last_alarm": last}), indent=1) + "\n"
        words = {name.replace(" ", "_"): text for name, text in _METRICS.items()} | {
            "runs": "Runs that are watched",
            "alarms": "Alarms so far",
            "alarms_ringing": "Alarms that ring now",
            "alarm_nearness": "How near the next alarm is: 1 raises it",
            "columns_moved": "Columns whose values have moved since the first runs",
        }
        lines = []
        for name, value in self.metrics().items():
            lines += [
                f"# HELP shortlist_{name} {words[name]}",
                f"# TYPE shortlist_{name} gauge",
                f"shortlist_{name} {value:.10g}",
            ]
        return "\n".join(lines) + "\n"


def quiet(notes: tuple[str, ...]) -> Monitor:
    """What is told where nothing was ranked on any day: that it was not, and zeros for schedulers."""
    return Monitor(
        answer="Every shortlist is empty: nothing was ranked, so there is nothing to measure yet.",
        table=pl.DataFrame({"runs": [0], "rows": [0], "outcomes": [0], "found": [0]}),
        periods=pl.DataFrame(),
        runs=pl.DataFrame(),
        alarms=pl.DataFrame(schema=ALARMS),
        versions=pl.DataFrame(),
        columns=pl.DataFrame(),
        challenger=pl.DataFrame(),
        setup={"runs": 0, "shortlist version": __version__},
        notes=notes,
    )


def check_metrics_path(path: str | Path) -> Path:
    """Metrics are a .prom or a .json file."""
    target = Path(path).expanduser()
    if target.suffix.lower() not in (".prom", ".json"):
        raise InvalidInputError(f"metrics are written to a file that ends in .prom or .json, not {path}.")
    return target


def _page(result: Monitor) -> Page:
    sheets = [Sheet("In all", *with_intervals(result.table, _SHARES), says="Intervals cover 95 %.")]
    if result.challenger.height:
        sheets.append(
            Sheet(
                "Champion and challenger",
                *with_intervals(result.challenger, _SHARES),
                says="On the days that both have.",
            )
        )
    if result.alarms.height:
        sheets.append(Sheet("Alarms", result.alarms, says=result.setup["alarms"]))
    if result.versions.height:
        says = "The newest first. The way back: score with the file of an earlier version."
        sheets.append(Sheet("Versions of the model", *with_intervals(result.versions, _SHARES), says=says))
    if result.columns.height:
        says = (
            "The newest runs, a quarter of all rows, beside the first. A column has moved where it differs more than "
            f"if runs are dealt anew; if nothing changes, one is named in {percent(FALSE_LOOKS, digits=0)} of looks."
        )
        sheets.append(Sheet("Columns that moved", result.columns, says=says, fold=10))
    if result.runs.height:
        says = "A period that is still running or waits for outcomes is not drawn."
        sheets.append(Sheet("By period", *with_intervals(result.periods, _SHARES), says=says))
        sheets.append(Sheet("Runs", result.runs.reverse(), ("precision",), says="The newest first.", fold=10))
    return Page(
        title="Monitoring: what shortlists really found",
        answer=result.answer,
        notes=result.notes,
        charts=[*_by_period(result), _sums(result), *_drift(result.periods)] if result.runs.height else [],
        sheets=sheets,
        setup=result.setup,
    )


def _by_period(result: Monitor) -> list[Chart]:
    periods, promised = result.periods, result.table["promised"][0]
    whole = periods["state"] == "whole"
    names = periods["period"].to_list()

    def line(name: str, words: str) -> Line:
        values = [
            [value if drawn else None for value, drawn in zip(periods[column].to_list(), whole, strict=True)]
            for column in (name, f"{name} low", f"{name} high")
            if column in periods.columns
        ]
        return Line(words, *values)

    lines = [line("precision", "found"), Line("promised", [promised] * len(names))]
    if periods["expected"].null_count() < periods.height:
        lines.append(line("expected", "expected by the model"))
    charts = [_shares("Precision", names, lines, "share that was wanted")]
    if "recall" in periods.columns:
        charts.append(_shares("Recall", names, [line("recall", "recall")], "share of wanted rows found"))
    if "value found" in periods.columns:
        low_high = [line("value found", "value found")]
        charts.append(Chart("Value found", names, low_high, x_label="period", y_label="value"))
    return charts


def _shares(title: str, x: list[Any], lines: list[Line], y_label: str) -> Chart:
    return Chart(
        title, x, lines, x_label="period", y_label=y_label, percent=True, says="Bands are 95 % intervals."
    )


def _sums(result: Monitor) -> Chart:
    sums = [name for name in result.runs.columns if name.startswith("sum against")]
    days = [str(day) for day in result.runs["run"].to_list()]
    lines = [Line(name.removeprefix("sum against "), result.runs[name].to_list()) for name in sums]
    says = "The sums that alarms are made from; at 1 there is an alarm."
    return Chart(
        "How near an alarm is",
        days,
        [*lines, Line("alarm", [1.0] * len(days))],
        x_label="run",
        y_label="share of the level",
        says=says,
    )


def _drift(periods: pl.DataFrame) -> list[Chart]:
    if periods["score drift"].null_count() == periods.height:
        return []
    line = Line("stability index", periods["score drift"].to_list())
    says = "How much scores differ from those of the first quarter of all rows; above 0.25 is a marked shift."
    return [
        Chart(
            "Score drift",
            periods["period"].to_list(),
            [line],
            x_label="period",
            y_label="stability index",
            says=says,
        )
    ]
