"""``shortlist score``: rank new rows by a model file, keep the top, say why."""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import deliver_shortlist, progress


def command(
    model: options.ModelFile,
    new: Annotated[str, typer.Argument(help="Rows to rank, with the columns of training.")],
    budget: Annotated[
        int | None,
        typer.Option("--budget", "-k", help="How many rows to keep (per list). \\[default: as in training]"),
    ] = None,
    everything: options.Everything = False,
    output: options.Output = None,
    replace: options.Replace = False,
    json: options.Json = False,
) -> None:
    """Rank new rows by a trained model and write the shortlist, with reasons.

    Example: [bold]shortlist score fraud.shortlist claims-today.csv --budget 50 -o shortlist.csv[/]
    """
    from shortlist.workflow import score

    options.need_target(output, new, model, replace=replace)
    with progress(f"ranking {new}"):
        found = score(model, new, budget=budget, keep_all=everything)
    deliver_shortlist(found, output, replace=replace, json=json)
