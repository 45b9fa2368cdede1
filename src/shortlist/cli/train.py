"""``shortlist train``: learn from labelled history and keep the model in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import note, print_json, progress, say


def command(
    history: options.History,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Write the model here.")],
    label: options.Label = None,
    wanted: options.Wanted = None,
    skip_empty_labels: options.SkipEmptyLabels = False,
    impact: options.Impact = None,
    impact_known: options.ImpactKnown = False,
    list_: options.ListColumn = None,
    id_: options.Id = None,
    time: options.Time = None,
    ignore: options.Ignore = None,
    budget: options.Budget = 50,
    model: options.ModelName = None,
    tune: options.Tune = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    json: options.Json = False,
) -> None:
    """Train on labelled history and write the model to a file.

    Example: [bold]shortlist train claims-2024.csv --label fraud --id claim_id --budget 50 -o fraud.shortlist[/]
    """
    from shortlist.workflow import train

    options.need_label_or_impact(label, impact)
    options.need_file(output, history)
    with progress(f"learning from {history}") as on_progress:
        trained = train(
            history,
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
            random_state=seed,
            n_jobs=jobs,
            on_progress=on_progress,
        )
    trained.save(output)
    for message in trained.notes:
        note(message)
    if json:
        print_json({"file": output, **trained.facts()})
        return
    learned = trained.training
    say(
        f"learned from {learned['rows']:,} rows, {learned['wanted']:,} of them wanted, in "
        f"{learned['fit seconds']:.1f} s; wrote {output} ({trained.name}, version {trained.version})"
    )
