"""``shortlist review``: open a page that shows the top row, takes a verdict, and learns at once."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from shortlist.cli import _options as options
from shortlist.cli._output import err, note, print_json
from shortlist.question.declare import Option
from shortlist.question.options import SEED, Id, Ignore, Wanted

Data = Annotated[str, typer.Argument(help="Rows to review: a file, a folder or a glob.")]
Budget = Annotated[int | None, Option("How many rows can be reviewed", short="-k", default="100")]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        "-m",
        metavar="FILE",
        help="Review the alerts of this trained model. \\[default: start cold]",
    ),
]
StrategyName = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        callback=options.show_strategies,
        is_eager=True,
        help="Strategy by which the list learns; 'list' shows them all. \\[default: similarity]",
    ),
]
Audit = Annotated[
    str | None,
    typer.Option(
        "--audit", metavar="SHARE", help="Share of rows drawn at random, such as 5%, to tell what is missed."
    ),
]
Value = Annotated[
    str | None,
    typer.Option(
        "--value",
        metavar="COLUMN",
        help="Column with what a row is worth: rank by expected value, once one row was wanted and another was not.",
    ),
]
Known = Annotated[
    str | None, Option("Column with verdicts known already, empty where unknown", metavar="COLUMN")
]
Place = Annotated[
    Path | None,
    typer.Option("--workspace", metavar="FOLDER", help="Where the queue lives. \\[default: beside DATA]"),
]
Port = Annotated[
    int | None, typer.Option("--port", min=1, max=65535, help="Port. \\[default: 8765, or a free one]")
]
Language = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="TAG",
        help="Language of the page, such as de or en-GB. \\[default: the browser's]",
    ),
]
Formats = Annotated[
    list[str],
    typer.Option(
        "--format",
        metavar="COLUMN=KIND",
        help="What a column is, where it is not as it looks: id, code, year, count, number, money, money EUR or share.",
    ),
]
Publish = Annotated[
    str | None,
    typer.Option(
        "--publish", metavar="TARGET", help="Tell the head of the log once a day: a file, a URL or mailto:."
    ),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address, open nothing.")]
Seed = Annotated[int | None, dataclasses.replace(SEED, default="0")]


def command(
    data: Data,
    id_: Id = None,
    budget: Budget = None,
    model: Model = None,
    strategy: StrategyName = None,
    audit: Audit = None,
    value: Value = None,
    label: Known = None,
    wanted: Wanted = None,
    ignore: Ignore = (),
    workspace: Place = None,
    port: Port = None,
    language: Language = None,
    format_: Formats = [],  # noqa: B006
    no_browser: NoBrowser = False,
    publish: Publish = None,
    seed: Seed = None,
    json: options.Json = False,
) -> None:
    """Review rows in the browser: one key confirms, one rejects, and the list is re-ranked before the next row.

    Run again, it goes on where it stopped. The page is for this machine only.

    Example: [bold]shortlist review new.csv --id claim_id --budget 100 --audit 5%[/]
    """
    from shortlist.review.web.server import listen, serve
    from shortlist.review.workspace import Workspace

    place = Workspace(workspace) if workspace else Workspace.beside(data)
    settings = _settings(budget, audit, language, format_)
    asked = {"id": id_, "label": label, "value": value, "strategy": strategy, "seed": seed}
    with listen(port) as sock:
        if not place.exists:
            made = {**asked, "wanted": wanted, "ignore": ignore, "model": model}
            if not _create(data, place, made, settings, json):
                return
        queue = _open(data, place, {**asked, "space": str(model) if model else None}, settings)
        if queue.read_only:
            note(f"another server owns {place.folder}; this one is for reading only.")
        with _published(queue, publish):
            serve(queue, sock, ready=lambda url: _tell(url, place, json, no_browser))


@contextmanager
def _published(queue: Any, target: str | None) -> Iterator[None]:
    """Tell the head of the log to the outside while the review runs."""
    from shortlist.review.publish import Publisher

    publisher = Publisher(queue, target).start() if target and not queue.read_only else None
    try:
        yield
    finally:
        if publisher is not None:
            publisher.stop()


def _open(data: str, place: Any, asked: dict[str, Any], settings: dict[str, Any]) -> Any:
    """The queue, if it was made from this file with these options."""
    from shortlist.review.change import take_settings
    from shortlist.review.create import check_same, check_unchanged
    from shortlist.review.desk.queue import Queue

    queue = Queue.open(place.folder)
    try:
        check_unchanged(data, queue.fixed)
        check_same(queue.fixed, asked)
        if not queue.read_only:
            for name, value in take_settings(queue, settings).items():
                option = "format" if name == "formats" else name
                note(
                    f"{name} stays {value}, as it was set on the page; change it there, or give another --{option}."
                )
    except BaseException:
        queue.close()
        raise
    return queue


def _create(data: str, place: Any, options_: dict[str, Any], settings: dict[str, Any], json: bool) -> bool:
    """Make the queue; False: there are no rows to review, which is said, as on a quiet day."""
    from shortlist.review.create import create
    from shortlist.review.errors import NothingToReviewError

    options_ = {**options_, "seed": options_["seed"] or 0}
    try:
        if not err.is_terminal:
            notes = create(data, place, settings=settings, **options_)
        else:
            with err.status("starting") as status:
                notes = create(data, place, settings=settings, say=status.update, **options_)
    except NothingToReviewError as quiet:
        note(str(quiet))
        if json:
            print_json({"url": None, "workspace": None})
        return False
    for each in notes:
        note(each)
    return True


def _tell(url: str, place: Any, json: bool, no_browser: bool) -> None:
    if json:
        print_json({"url": url, "workspace": str(place.folder)})
        sys.stdout.flush()  # whoever started us waits for the address
    else:
        err.print(
            f"Reviewing in {escape(str(place.folder))}. Open [bold]{url}[/] (it works once); stop with Ctrl-C.",
            soft_wrap=True,
        )
    if not no_browser:
        import webbrowser

        webbrowser.open(url)


def _settings(
    budget: int | None, audit: str | None, language: str | None, formats: list[str]
) -> dict[str, Any]:
    """The settings that were asked for."""
    share = None if audit is None else _share(audit)
    asked = {
        "budget": budget,
        "audit": share,
        "language": language,
        "formats": dict(map(_format, formats)) or None,
    }
    return {name: value for name, value in asked.items() if value is not None}


def _format(text: str) -> tuple[str, str]:
    from shortlist.exceptions import InvalidInputError

    column, _, kind = text.rpartition("=")
    if not column.strip():
        raise InvalidInputError(f"--format is a column and what it is, such as amount=money; got {text!r}.")
    return column.strip(), kind.strip()


def _share(text: str) -> float:
    from shortlist.exceptions import InvalidInputError

    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        raise InvalidInputError(f"--audit is a share such as 5% or 0.05; got {text!r}.") from None
    return number / 100 if text.strip().endswith("%") else number
