"""Options that only the command line has and several commands share; what can be asked is in ``shortlist.question``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.exceptions import InvalidInputError
from shortlist.question import StudyQuestion
from shortlist.tables.io.files import usual_endings

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by shortlist train.")]
QueueFolder = Annotated[
    Path, typer.Argument(metavar="QUEUE", help="The folder of the queue, such as claims.review.")
]


def show_strategies(name: str | None) -> str | None:
    """Show all strategies, those of plug-ins too, where a list is asked for."""
    if name != "list":
        return name
    import polars as pl

    from shortlist.cli._output import print_names
    from shortlist.feedback.strategies.catalogue import STRATEGIES

    rows = [(name, each.summary) for name, each in STRATEGIES.working().items()]
    print_names(pl.DataFrame(rows, schema=["strategy", "what it is"], orient="row"))
    raise typer.Exit


Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=f"Write here ({', '.join(usual_endings())}, or URL::table for a database). "
        "\\[default: a table on the terminal]",
    ),
]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="With -o URL::table: replace the table if it exists. Files always are."),
]
Verbatim = Annotated[
    bool,
    typer.Option(
        "--verbatim",
        help="Write text in CSV files as it is, for programs. By default an apostrophe stands before text that a "
        "spreadsheet would run as a formula.",
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE.html", help="Write a page with charts, and its figures as .json beside."
    ),
]
Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        envvar="SHORTLIST_DB",
        show_envvar=True,
        help="PostgreSQL database for people and logs. \\[default: files of FOLDER]",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def need_study(question: StudyQuestion, report: Path | None, output: str | None, *, replace: bool) -> None:
    """Refuse a backtest or a comparison that cannot be held or written, before hours of work go into it."""
    need_label_or_impact(question.label, question.impact)
    need_target(output, question.history, replace=replace)
    need_page(report, question.history)


def need_label_or_impact(label: str | None, impact: str | None) -> None:
    """Refuse a call that says nothing about which rows matter."""
    if label is None and impact is None:
        raise InvalidInputError(
            "say what makes a row worth looking at: --label COLUMN (wanted or not) or --impact COLUMN (how much)."
        )


def need_target(output: str | None, *inputs: str | Path | None, replace: bool = False) -> None:
    """Refuse a table that cannot be written, or would replace an input, before hours of work go into it."""
    if output is not None:
        from shortlist.tables.io.write import check_target

        keep_inputs(output, *inputs)
        check_target(output, replace=replace)


def need_file(output: Path | None, *inputs: str | Path | None) -> None:
    """The same for a file that is no table."""
    if output is not None:
        from shortlist.tables.io.paths import place_to_write

        place_to_write(output)
        keep_inputs(output, *inputs)


def need_page(page: Path | None, *inputs: str | Path | None) -> None:
    """The same for a report and the figures beside it."""
    if page is not None:
        from shortlist.report.write import check_page_path

        target = check_page_path(page)
        for file in (target, target.with_suffix(".json")):
            need_file(file, *inputs)


def keep_inputs(output: str | Path, *inputs: str | Path | None) -> None:
    """Refuse to write over the rows that are read: they may be the only copy."""
    from shortlist.tables.io.paths import is_same, named_path
    from shortlist.tables.io.sql import hide_password, same_table

    target = named_path(output)
    for each in inputs:
        if each is None:
            continue
        if is_same(named_path(each), target) or same_table(each, output):
            raise InvalidInputError(
                f"{hide_password(str(output))} is read here, and writing would replace it; choose another name."
            )
