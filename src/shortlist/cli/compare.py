"""``shortlist compare``: models side by side on the same folds."""

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
    """Compare models on the same folds: all measures of the top, what is noise, which to use.

    With --time, each period is ranked by what the rows before it teach.

    Example: [bold]shortlist compare history.csv --label fraud --id claim_id --time date --models logistic,target[/]
    """
    from shortlist.workflow import compare

    options.need_study(question, report, output, replace=replace)
    with progress(f"ranking {question.history}") as on_progress:
        result = compare(**vars(dataclasses.replace(question, on_progress=on_progress)))
    deliver_result(result, output, report, replace=replace, verbatim=verbatim, json=json)
