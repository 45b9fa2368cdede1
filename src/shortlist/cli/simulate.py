"""``shortlist simulate``: what a review would have found, played through with known labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli import _options as options
from shortlist.cli._declared import split_names
from shortlist.cli._output import deliver, note, out, progress
from shortlist.counts import counted
from shortlist.question.options import Budget, History, Id, Ignore, Label, Seed, SkipEmptyLabels, Wanted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shortlist.feedback import Simulation
    from shortlist.tables import Table


def command(
    data: History,
    label: Label = None,
    wanted: Wanted = None,
    skip_empty_labels: SkipEmptyLabels = False,
    id_: Id = None,
    ignore: Ignore = (),
    budget: Budget = 50,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            metavar="NAMES",
            callback=options.show_strategies,
            is_eager=True,
            help="Strategies to play, with commas; 'list' shows them all.",
        ),
    ] = "similarity,ojrank,offline",
    trees: Annotated[int, typer.Option("--trees", help="Trees of the isolation forest.")] = 100,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Also draw the chart here (.svg or .html).")
    ] = None,
    output: options.Output = None,
    replace: options.Replace = False,
    verbatim: options.Verbatim = False,
    seed: Seed = 0,
    json: options.Json = False,
) -> None:
    """Play a review with known labels: ask for the top row, tell its label, re-rank, as often as the budget allows.

    Rows are shuffled first, so that their order in the file cannot help.

    Example: [bold]shortlist simulate history.csv --label fraud --id claim_id --budget 100 --strategy similarity,aad[/]
    """
    from shortlist.cli._chart import check_chart_path, write_chart
    from shortlist.tables import Roles, load_table

    options.need_label_or_impact(label, None)
    options.need_target(output, data, replace=replace)
    check_chart_path(plot)
    options.need_file(plot, data)
    roles = Roles(id=id_, label=label, ignore=ignore)
    table = load_table(data, roles, wanted=wanted, skip_empty_labels=skip_empty_labels)
    for message in table.notes:
        note(message)
    result = _play(table, _budget_of(table, budget), split_names(strategy), n_trees=trees, seed=seed)
    if plot is not None:
        write_chart(result["hits"], plot, title=f"wanted rows found by review, {Path(data).name}")
    if not json:
        _draw(result)
    as_json = result if json else None
    deliver(result["strategies"], output, replace=replace, verbatim=verbatim, as_json=as_json)


def _budget_of(table: Table, budget: int) -> int:
    """The budget, or all rows where there are fewer, which is told."""
    if budget > len(table):
        note(f"there are {counted(len(table), 'row')}, fewer than the budget of {budget:,}: all are played.")
    return min(budget, len(table))


def _play(table: Table, budget: int, names: list[str], *, n_trees: int, seed: int) -> dict[str, Any]:
    """What every strategy finds, and which rows it asks for."""
    import numpy as np
    import polars as pl

    from shortlist.feedback.strategies.catalogue import compare

    order = np.random.default_rng(seed).permutation(len(table))
    with progress(f"playing {len(names)} reviews of {counted(budget, 'row')}"):
        rows, labels = table.features.take(order), table.wanted[order]
        played = compare(rows, labels, budget, names, n_trees=n_trees, random_state=seed)
    return {
        "rows": len(table),
        "wanted": int(table.wanted.sum()),
        "budget": budget,
        "strategies": pl.DataFrame([_summary(name, each) for name, each in played.items()]),
        "hits": _hits(played, np.arange(1, budget + 1) * table.wanted.mean()),
        "reviewed": {name: table.ids[order[each.order]].tolist() for name, each in played.items()},
    }


def _hits(played: dict[str, Simulation], chance: NDArray[np.float64]) -> dict[str, list[float]]:
    """Wanted rows found after each review, by every strategy and by chance."""
    return {name: each.hits.tolist() for name, each in played.items()} | {"chance": chance.tolist()}


def _draw(result: dict[str, Any]) -> None:
    from shortlist.cli._chart import terminal_chart

    hits = result["hits"]
    out.print(
        f"{result['wanted']:,} of {result['rows']:,} rows are wanted; chance finds {hits['chance'][-1]:.1f}."
    )
    out.print(terminal_chart(hits, width=max(20, min(72, out.width - 8))), markup=False)


def _summary(name: str, played: Simulation) -> dict[str, Any]:
    return {
        "strategy": name,
        "found": int(played.hits[-1]),
        "precision": played.precision,
        "effort": played.effort if played.order.size > 1 else None,
        "ms per verdict": 1000 * float(played.seconds.mean()),
    }
