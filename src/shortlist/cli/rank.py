"""``shortlist rank``: learn from labelled history, rank new rows, keep the top."""

from __future__ import annotations

import dataclasses

from shortlist.cli import _options as options
from shortlist.cli._output import deliver_shortlist, progress
from shortlist.question import RankQuestion


def command(
    question: RankQuestion,
    output: options.Output = None,
    replace: options.Replace = False,
    verbatim: options.Verbatim = False,
    json: options.Json = False,
) -> None:
    """Train on labelled history and write the shortlist of the new rows.

    Example: [bold]shortlist rank history.csv new.csv --label fraud --id claim_id --time date --budget 50[/]
    """
    from shortlist.workflow import rank

    options.need_label_or_impact(question.label, question.impact)
    options.need_target(output, question.history, question.new, replace=replace)
    with progress(f"learning from {question.history}") as on_progress:
        found = rank(**vars(dataclasses.replace(question, on_progress=on_progress)))
    deliver_shortlist(found, output, replace=replace, verbatim=verbatim, json=json)
