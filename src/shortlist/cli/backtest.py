"""``shortlist backtest``: walk through history as it would have happened."""

from __future__ import annotations

import dataclasses

from shortlist.cli import _options as options
from shortlist.cli._output import deliver_result, progress
from shortlist.question import StudyQuestion


def command(
    question: StudyQuestion,
    report: options.Report = None,
    output: options.Output = None,
    replace: options.Replace = False,
    verbatim: options.Verbatim = False,
    json: options.Json = False,
) -> None:
    """Walk through your own history: learn from the past, rank the next period, count what would have been found.

    Without --time, folds stand in for periods: whole lists with --list, else rows.

    Example: [bold]shortlist backtest history.csv --label fraud --id claim_id --time date --every quarter[/]
    """
    from shortlist.workflow import backtest

    options.need_study(question, report, output, replace=replace)
    with progress(f"ranking {question.history}") as on_progress:
        result = backtest(**vars(dataclasses.replace(question, on_progress=on_progress)))
    deliver_result(result, output, report, replace=replace, verbatim=verbatim, json=json)
