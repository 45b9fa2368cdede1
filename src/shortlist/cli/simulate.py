"""``shortlist simulate``: what a review would have found, played through with known labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import deliver, note, out, progress

if TYPE_CHECKING:
    from shortlist.feedback import Simulation


def command(
    data: options.History,
    label: options.Label = None,
    wanted: options.Wanted = None,
    skip_empty_labels: options.SkipEmptyLabels = False,
    id_: options.Id = None,
    ignore: options.Ignore = None,
    budget: options.Budget = 50,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            metavar="NAMES",
            help=f"Strategies to play, with commas: {options.STRATEGIES}.",
        ),
    ] = "similarity,ojrank,offline",
    trees: Annotated[int, typer.Option("--trees", help="Trees of the isolation forest.")] = 100,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Also draw the chart here (.svg or .html).")
    ] = None,
    output: options.Output = None,
    replace: options.Replace = False,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Play a review with known labels: ask for the top row, tell its label, re-rank, as often as the budget allows.

    Rows are shuffled first, so that their order in the file cannot help.

    Example: [bold]shortlist simulate claims.csv --label fraud --id claim_id --budget 100 --strategy similarity,aad[/]
    """
    import numpy as np
    import polars as pl

    from shortlist.cli._chart import check_chart_path, terminal_chart, write_chart
    from shortlist.feedback.strategies import compare
    from shortlist.tables import Roles, load_table

    options.need_label_or_impact(label, None)
    options.need_target(output, data, replace=replace)
    check_chart_path(plot)
    options.need_file(plot, data)
    names = [name.strip() for name in strategy.split(",") if name.strip()]
    roles = Roles(id=id_, label=label, ignore=ignore or ())
    table = load_table(data, roles, wanted=wanted, skip_empty_labels=skip_empty_labels)
    for message in table.notes:
        note(message)
    order = np.random.default_rng(seed).permutation(len(table))
    with progress(f"playing {len(names)} reviews of {budget} rows"):
        rows, labels = table.features.take(order), table.wanted[order]
        played = compare(rows, labels, budget, names, n_trees=trees, random_state=seed)
    chance = np.arange(1, budget + 1) * table.wanted.mean()
    lines = {name: simulation.hits.tolist() for name, simulation in played.items()} | {
        "chance": chance.tolist()
    }
    if plot is not None:
        write_chart(lines, plot, title=f"wanted rows found by review, {Path(data).name}")
    frame = pl.DataFrame([_summary(name, each) for name, each in played.items()])
    if not json:
        out.print(
            f"{int(table.wanted.sum()):,} of {len(table):,} rows are wanted; chance finds {chance[-1]:.1f}."
        )
        out.print(terminal_chart(lines, width=max(20, min(72, out.width - 8))), markup=False)
    reviewed = {name: table.ids[order[each.order]].tolist() for name, each in played.items()}
    facts: dict[str, Any] = {"rows": len(table), "wanted": int(table.wanted.sum()), "budget": budget}
    result = facts | {"strategies": frame, "hits": lines, "reviewed": reviewed}
    deliver(frame, output, replace=replace, as_json=result if json else None)


def _summary(name: str, played: Simulation) -> dict[str, Any]:
    return {
        "strategy": name,
        "found": int(played.hits[-1]),
        "precision": played.precision,
        "effort": played.effort if played.order.size > 1 else None,
        "ms per verdict": 1000 * float(played.seconds.mean()),
    }
