"""``shortlist monitor``: how shortlists did that were really written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import deliver_result, say
from shortlist.question import MonitorQuestion


def command(
    question: MonitorQuestion,
    report: options.Report = None,
    metrics: Annotated[
        Path | None,
        typer.Option(
            "--metrics", metavar="FILE", help="Write figures for a scheduler: .prom (Prometheus) or .json."
        ),
    ] = None,
    output: options.Output = None,
    replace: options.Replace = False,
    verbatim: options.Verbatim = False,
    json: options.Json = False,
) -> None:
    """Measure shortlists that were really written by the outcomes that came back; run it after every run.

    Example: [bold]shortlist monitor shortlist.csv --outcomes outcomes.csv --id claim_id --label fraud --time date[/]
    """
    from shortlist.workflow import monitor
    from shortlist.workflow.monitor.result import check_metrics_path

    inputs = (question.outcomes, question.shortlists)
    options.need_target(output, *inputs, replace=replace)
    options.need_page(report, *inputs)
    if metrics is not None:
        options.need_file(check_metrics_path(metrics), *inputs)
    result = monitor(**vars(question))
    if metrics is not None:
        result.write_metrics(metrics)
        say(f"wrote {metrics}")
    deliver_result(result, output, report, replace=replace, verbatim=verbatim, json=json)
