"""Whether the chances that a model gives are what is found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shortlist.report import Chart, Line
from shortlist.workflow.history.intervals import share_interval
from shortlist.workflow.history.sentences.words import Words
from shortlist.workflow.history.trials import Trials

#: Chances are told in these groups.
_CHANCES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def calibration(trials: Trials, rankings: Sequence[str]) -> pl.DataFrame:
    """Rows in groups of like chances: what a model expected of them, and what was found; rows it had not seen.

    Of the first of the rankings that knows chances; none where no one does.
    """
    kinds = {"ranking": pl.String, "chance": pl.String, "rows": pl.Int64}
    schema = kinds | dict.fromkeys(("expected", "found", "found low", "found high"), pl.Float64)
    known = (name for name in rankings if all(trial.calibrated is not None for trial in trials.of(name)))
    ranking = next(known, None)
    if ranking is None:
        return pl.DataFrame(schema=schema)
    chance = np.concatenate(
        [trial.calibrated for trial in trials.of(ranking) if trial.calibrated is not None]
    )
    wanted = np.concatenate([trials.tested(trial.split).wanted for trial in trials.of(ranking)])
    group = np.searchsorted(_CHANCES[1:-1], chance, side="right")
    lines = []
    for at in np.unique(group).tolist():
        rows = group == at
        ends = share_interval(float(wanted[rows].sum()), float(rows.sum()))
        name = f"{100 * _CHANCES[at]:g} to {100 * _CHANCES[at + 1]:g} %"
        shares = (float(chance[rows].mean()), float(wanted[rows].mean()))
        lines.append((ranking, name, int(rows.sum()), *shares, *ends))
    return pl.DataFrame(lines, schema=schema, orient="row")


def calibration_chart(frame: pl.DataFrame, words: Words) -> list[Chart]:
    """Expected and found, group by group."""
    if frame.is_empty():
        return []
    found = Line("found", *(frame[name].to_list() for name in ("found", "found low", "found high")))
    says = f"Rows by the chance that {frame['ranking'][0]} gave them; where the lines meet, chances are what they say."
    return [
        Chart(
            "Chances and what was found",
            frame["chance"].to_list(),
            [found, Line("expected", frame["expected"].to_list())],
            x_label="chance given",
            y_label=f"share that are {words.many}",
            percent=True,
            says=says,
        )
    ]
