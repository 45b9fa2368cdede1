"""``shortlist export``: the verdicts of a queue as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import print_json, print_table, say


def command(
    queue: options.QueueFolder,
    output: options.Output = None,
    replace: options.Replace = False,
    verbatim: options.Verbatim = False,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model", metavar="FILE", help="Also train a model from the verdicts and write it here."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Write the verdicts of a queue: id, verdict, who, when, rank, score, note, model version.

    With --json also between how many and how many wanted rows are still unseen, where there were random checks.

    Example: [bold]shortlist export new.review -o verdicts.csv[/]
    """
    from shortlist.review.export import write_verdicts
    from shortlist.review.reading import read_queue
    from shortlist.review.train import train_model
    from shortlist.tables.io.sql import hide_password

    options.need_target(output, replace=replace)
    options.need_file(model)
    found = read_queue(queue)
    frame = found.verdicts()
    if output is not None:
        write_verdicts(frame, output, replace=replace or None, formula_safe=not verbatim)
        say(f"wrote {frame.height:,} verdicts to {hide_password(output)}")
    if model is not None:
        budget, schema = found.state.settings.budget, found.engine.schema
        train_model(found.state.verdict, found.rows, schema, model, budget=budget, seed=found.fixed.seed)
        say(f"wrote a model to {model}")
    if json:
        missed = found.missed()
        print_json({"verdicts": frame, "missed": missed and missed.to_dict()})
    elif output is None and model is None:
        print_table(frame)
