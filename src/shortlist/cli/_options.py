"""Options that several commands share, so that they read and mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.exceptions import InvalidInputError

#: The names of ``shortlist.feedback.STRATEGIES``, here as text so that ``--help`` does not import them.
STRATEGIES = "similarity, ojrank, aad, omd, omd-llh, omd-logistic, offline"

History = Annotated[str, typer.Argument(help="Labelled rows: a file, a folder or a glob.")]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by shortlist train.")]
QueueFolder = Annotated[
    Path, typer.Argument(metavar="QUEUE", help="The folder of the queue, such as claims.review.")
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label", metavar="COLUMN", help="Column that says which rows are wanted (1/0, yes/no, ...)."
    ),
]
Wanted = Annotated[
    str | None,
    typer.Option(
        "--wanted", metavar="VALUE", help="Value of the label that means wanted, if it is not 1, true or yes."
    ),
]
SkipEmptyLabels = Annotated[
    bool,
    typer.Option(
        "--skip-empty-labels", help="Leave out rows whose label is empty, instead of refusing them."
    ),
]
Impact = Annotated[
    str | None,
    typer.Option("--impact", metavar="COLUMN", help="Column with a number >= 0: how much a row matters."),
]
ImpactKnown = Annotated[
    bool,
    typer.Option(
        "--impact-known",
        help="The impact is known beforehand, as the amount of a claim is: learn from it too.",
    ),
]
ListColumn = Annotated[
    str | None,
    typer.Option(
        "--list", metavar="COLUMN", help="Rows with the same value are ranked against each other only."
    ),
]
Time = Annotated[
    str | None,
    typer.Option("--time", metavar="COLUMN", help="Column with the date or time of a row; not learned from."),
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column that names a row. \\[default: row numbers from 1]"),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="COLUMN",
        help="Column to leave out, or a pattern such as 'post_*'; may be given several times.",
    ),
]
Budget = Annotated[
    int, typer.Option("--budget", "-k", help="How many rows can be looked at (per list, with --list).")
]


def _show_models(name: str | None) -> str | None:
    if name != "list":
        return name
    import polars as pl

    from shortlist.cli._output import print_table
    from shortlist.rankers.catalogue import MODELS

    rows = [(name, model.learns_from, model.summary) for name, model in MODELS.items()]
    print_table(pl.DataFrame(rows, schema=["model", "learns from", "what it is"], orient="row"), fold=True)
    raise typer.Exit


ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="NAME",
        callback=_show_models,
        is_eager=True,
        help="Ranker to train; 'list' shows them all.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write here (.csv, .parquet, .jsonl, .arrow, or URL::table for a database). "
        "\\[default: a table on the terminal]",
    ),
]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="With -o URL::table: replace the table if it exists. Files always are."),
]
Tune = Annotated[
    bool,
    typer.Option(
        "--tune", help="Try a few settings by cross-validation first (takes about 8 times as long)."
    ),
]
Everything = Annotated[
    bool, typer.Option("--all", help="Write every new row in ranked order, not only the top.")
]
Models = Annotated[
    str | None,
    typer.Option(
        "--models",
        metavar="NAME,NAME",
        callback=_show_models,
        is_eager=True,
        help="Rankers to try; 'list' shows them, 'all' takes every one that fits. \\[default: a good and a plain one]",
    ),
]
Baselines = Annotated[
    list[str] | None,
    typer.Option(
        "--baseline", metavar="RULE", help='A rule to compare with, such as "amount desc"; may be repeated.'
    ),
]
BaselineColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--baseline-column",
        metavar="COLUMN",
        help="Scores in use today: compared with, and not learned from; may be repeated.",
    ),
]
Every = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="PERIOD",
        help="Length of a period with --time: day, week, '2 months', ...; a number where times are numbers.",
    ),
]
Delay = Annotated[
    float,
    typer.Option(
        "--delay", help="How long outcomes take to be known: days, or the unit of a time in numbers."
    ),
]
Folds = Annotated[int, typer.Option("--folds", min=2, help="Folds, where there is no --time.")]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE.html", help="Write a page with charts, and its figures as .json beside."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
#: The seeds that all random generators take.
LARGEST_SEED = 2**32 - 1
Seed = Annotated[int, typer.Option("--seed", min=0, max=LARGEST_SEED, help="Same seed, same result.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Threads to use; -2 is all but one. \\[default: all]"),
]


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
        from shortlist.tables.io.write import check_place

        check_place(output.expanduser())
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
    from shortlist.tables.io.sql import hide_password, same_table

    target = Path(output).expanduser()
    for each in inputs:
        if each is None:
            continue
        same_file = target.exists() and Path(each).expanduser().resolve() == target.resolve()
        if same_file or same_table(each, output):
            raise InvalidInputError(
                f"{hide_password(str(output))} is read here, and writing would replace it; choose another name."
            )


def names(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]
