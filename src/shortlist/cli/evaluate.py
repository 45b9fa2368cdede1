"""``shortlist evaluate``: measure a ranking once outcomes are known."""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import deliver, note, out


def command(
    scored: Annotated[str, typer.Argument(help="Rows with a score each: a file, a folder or a glob.")],
    label: options.Label = None,
    wanted: options.Wanted = None,
    skip_empty_labels: options.SkipEmptyLabels = False,
    impact: options.Impact = None,
    list_: options.ListColumn = None,
    id_: options.Id = None,
    score: Annotated[str, typer.Option("--score", metavar="COLUMN", help="Column with the score.")] = "score",
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against", metavar="COLUMN", help="Compare with sorting by this column; may be repeated."
        ),
    ] = None,
    outcomes: Annotated[
        str | None,
        typer.Option(
            "--outcomes", metavar="FILE", help="Where the outcomes are, if elsewhere; joined by --id."
        ),
    ] = None,
    budget: options.Budget = 50,
    output: options.Output = None,
    replace: options.Replace = False,
    json: options.Json = False,
) -> None:
    """Measure a ranking by what it puts within the budget, beside chance and simple rules.

    Example: [bold]shortlist evaluate ranked.csv --outcomes outcomes.csv --id claim_id --label fraud --budget 50[/]
    """
    from shortlist.workflow import evaluate

    options.need_label_or_impact(label, impact)
    options.need_target(output, scored, outcomes, replace=replace)
    result = evaluate(
        scored,
        label=label,
        impact=impact,
        list=list_,
        id=id_,
        score=score,
        against=against or (),
        outcomes=outcomes,
        wanted=wanted,
        skip_empty_labels=skip_empty_labels,
        budget=budget,
    )
    for message in result.notes:
        note(message)
    if not json:
        out.print(f"{result.wanted:,} of {result.rows:,} rows are wanted; budget {result.budget:,}.")
    summary = {
        "rows": result.rows,
        "wanted": result.wanted,
        "budget": result.budget,
        "notes": result.notes,
        "rankings": result.table,
    }
    deliver(result.side_by_side(), output, replace=replace, as_json=summary if json else None)
