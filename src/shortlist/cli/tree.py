"""``shortlist tree``: show the tree of a saved model as text, drawing, JSON or SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import say
from shortlist.exceptions import InvalidInputError


def command(
    model: Annotated[Path, typer.Argument(help="Model file of a target tree or a scorecard.")],
    rules: Annotated[bool, typer.Option("--rules", help="One rule per leaf, best first.")] = False,
    sql: Annotated[bool, typer.Option("--sql", help="The score as an SQL expression.")] = False,
    sqlite: Annotated[
        bool, typer.Option("--sqlite", help="The same, with dates as SQLite reads them.")
    ] = False,
    svg: Annotated[bool, typer.Option("--svg", help="A drawing.")] = False,
    json: options.Json = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write here. \\[default: the terminal]"),
    ] = None,
) -> None:
    """Show the tree of a saved model, or all of a scorecard: who is ranked first, and by which rule.

    Example: [bold]shortlist tree risk.shortlist --sql[/]
    """
    from shortlist.models.file import load
    from shortlist.rankers import TargetTree
    from shortlist.tables.io.write import atomic_path

    if rules + sql + sqlite + svg + json > 1:
        raise InvalidInputError("choose one of --rules, --sql, --sqlite, --svg and --json.")
    options.need_file(output, model)
    ranker = load(model)
    if not isinstance(ranker, TargetTree):
        raise InvalidInputError(
            f"{model} holds {type(ranker).__name__}, which has no trees to read. Train some: --model target, or "
            "--model scorecard"
        )
    if rules:
        text = ranker.to_rules()
    elif sql or sqlite:
        text = ranker.to_sql("sqlite" if sqlite else "standard")
    elif svg:
        text = ranker.to_svg()
    else:
        text = ranker.to_json(indent=2) if json else ranker.to_text()
    if output is None:
        print(text)
        return
    with atomic_path(output) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    say(f"wrote {output}")
