"""``shortlist score``: rank new rows by a model file, keep the top, say why."""

from __future__ import annotations

from typing import Annotated

from shortlist.cli import _options as options
from shortlist.cli._output import deliver_shortlist, progress
from shortlist.question.declare import Argument, Option
from shortlist.question.options import KeepAll, Memory


def command(
    model: options.ModelFile,
    new: Annotated[str, Argument("Rows to rank, with the columns of training")],
    budget: Annotated[
        int | None, Option("How many rows to keep (per list)", short="-k", default="as in training")
    ] = None,
    keep_all: KeepAll = False,
    memory: Memory = None,
    output: options.Output = None,
    replace: options.Replace = False,
    verbatim: options.Verbatim = False,
    json: options.Json = False,
) -> None:
    """Rank new rows by a trained model and write the shortlist, with reasons.

    Example: [bold]shortlist score fraud.shortlist new.csv --budget 50 -o shortlist.csv[/]
    """
    from shortlist.models import TrainedModel  # not the workflow, which would load reports and studies

    options.need_target(output, new, model, replace=replace)
    how = {"budget": budget, "keep_all": keep_all, "memory": memory}
    with progress(f"ranking {new}") as on_progress:
        found = TrainedModel.load(model).score(new, **how, on_progress=on_progress)
    deliver_shortlist(found, output, replace=replace, verbatim=verbatim, json=json)
