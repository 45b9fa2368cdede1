"""``shortlist rank``: learn from labelled history, rank new rows, keep the top."""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import deliver_shortlist, progress


def command(
    history: options.History,
    new: Annotated[str, typer.Argument(help="Rows to rank, with the same columns.")],
    label: options.Label = None,
    wanted: options.Wanted = None,
    skip_empty_labels: options.SkipEmptyLabels = False,
    impact: options.Impact = None,
    impact_known: options.ImpactKnown = False,
    list_: options.ListColumn = None,
    id_: options.Id = None,
    time: options.Time = None,
    ignore: options.Ignore = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", "-k", help="How many rows can be looked at (per list). \\[default: 50]"),
    ] = None,
    model: options.ModelName = None,
    tune: options.Tune = False,
    everything: options.Everything = False,
    output: options.Output = None,
    replace: options.Replace = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    json: options.Json = False,
) -> None:
    """Train on labelled history and write the shortlist of the new rows.

    Example: [bold]shortlist rank history.csv today.csv --label fraud --id claim_id --time date --budget 50[/]
    """
    from shortlist.workflow import rank

    options.need_label_or_impact(label, impact)
    options.need_target(output, history, new, replace=replace)
    with progress(f"learning from {history}") as on_progress:
        found = rank(
            history,
            new,
            label=label,
            impact=impact,
            impact_known=impact_known,
            list=list_,
            id=id_,
            time=time,
            ignore=ignore or (),
            wanted=wanted,
            skip_empty_labels=skip_empty_labels,
            budget=budget,
            model=model,
            tune=tune,
            keep_all=everything,
            random_state=seed,
            n_jobs=jobs,
            on_progress=on_progress,
        )
    deliver_shortlist(found, output, replace=replace, json=json)
