"""``shortlist train``: learn from labelled history and keep the model in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import note, print_json, progress, say
from shortlist.counts import counted
from shortlist.question import TrainQuestion


def command(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Write the model here.")],
    question: TrainQuestion,
    json: options.Json = False,
) -> None:
    """Train on labelled history and write the model to a file.

    Example: [bold]shortlist train history.csv --label fraud --id claim_id --time date --budget 50 -o fraud.shortlist[/]
    """
    from shortlist.workflow import train

    options.need_label_or_impact(question.label, question.impact)
    options.need_file(output, question.history)
    with progress(f"learning from {question.history}") as on_progress:
        trained = train(**vars(replace(question, on_progress=on_progress)))
    trained.save(output)
    for message in trained.notes:
        note(message)
    if json:
        print_json({"file": output, **trained.facts()})
        return
    learned = trained.training
    say(
        f"learned from {counted(learned['rows'], 'row')}, {learned['wanted']:,} of them wanted, in "
        f"{learned['fit seconds']:.1f} s; wrote {output} ({trained.name}, version {trained.version})"
    )
