"""``shortlist inspect``: what a model file holds."""

from __future__ import annotations

from rich.markup import escape

from shortlist.cli import _options as options
from shortlist.cli._output import out, print_json, print_table
from shortlist.tables.columns.words import number_text


def command(model: options.ModelFile, json: options.Json = False) -> None:
    """Show what a model file holds: where it comes from, what it learned from, how good it was.

    Example: [bold]shortlist inspect fraud.shortlist[/]
    """
    from shortlist.models import TrainedModel

    trained = TrainedModel.load(model)
    if json:
        print_json(trained.facts())
        return
    facts = trained.facts()
    out.print(f"[bold]{escape(trained.name)}[/], version {trained.version}, budget {trained.budget:,}")
    for title in ("training", "measures", "by value", "roles", "libraries"):
        if facts.get(title):
            shown = ", ".join(
                f"{name} = {_shown(value)}" for name, value in facts[title].items() if value != []
            )
            out.print(f"{title}: {escape(shown)}", soft_wrap=True)
    if not trained.measures:
        out.print("measures: none; this model holds no rows out. See what it would find: shortlist backtest")
    print_table(trained.columns())
    out.print(
        "values: of numbers the median, and between which two nine rows of ten lie; of categories how many there are "
        "and the most frequent. missing: the share of rows without a value.",
        soft_wrap=True,
    )


def _shown(value: object) -> str:
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
