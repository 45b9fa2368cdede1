"""``shortlist score``: rank new rows by a model file, keep the top, say why."""

from __future__ import annotations

from typing import Annotated

from shortlist.cli import _options as options
from shortlist.cli._output import deliver_shortlist, progress
from shortlist.question.declare import Argument, Option
from shortlist.question.options import KeepAll


def command(
    model: options.ModelFile,
    new: Annotated[str, Argument("Rows to rank, with the columns of training")],
    budget: Annotated[
        int | None, Option("How many rows to keep (per list)", short="-k", default="as in training")
    ] = None,
    keep_all: KeepAll = False,
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
        found = score(model, new, budget=budget, keep_all=keep_all)
    deliver_shortlist(found, output, replace=replace, json=json)
