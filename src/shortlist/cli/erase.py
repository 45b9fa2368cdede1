"""``shortlist erase``: forget a reviewer's name, or the rows of a claimant; the log can still be proved."""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import out, print_json
from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError


def command(
    queue: options.QueueFolder,
    name: Annotated[
        str | None, typer.Argument(help="The name under which verdicts were given.", show_default=False)
    ] = None,
    row: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A row to erase, by its id; may be given several times."),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The server of a team that runs, such as https://reviews.example."),
    ] = None,
    token: Annotated[
        str,
        typer.Option(envvar="SHORTLIST_TOKEN", show_envvar=True, help="With --server: an admin's API token."),
    ] = "",
    json: options.Json = False,
) -> None:
    """Erase the name of a reviewer, or rows with all that was written of them; the log can still be proved.

    Also while the review runs: the server is asked, that of a team with --server and an admin's token.

    A name: a number takes its place; with --server in every queue of that server, and the account goes. What people
    wrote into notes stays.

    Rows: their ids and values, notes, and reasons as they were shown. Verdicts stay in force, and the ranking replays
    as before. A model that was trained in the queue's folder is removed.

    Example: [bold]shortlist erase new.review "Ann Smith"[/]

    Example: [bold]shortlist erase new.review --row C-000017[/]
    """
    if bool(name) == bool(row):
        raise InvalidInputError(
            "say what to erase: the NAME of a reviewer, or --row ID for each row of a claimant."
        )
    if row:
        _erase_rows(queue, row, server, token, json=json)
    elif name:
        _erase_name(queue, name, server, token, json=json)


def _erase_name(queue: options.QueueFolder, name: str, server: str | None, token: str, *, json: bool) -> None:
    from shortlist.review.change import erase_name

    queues = erase_name(queue, name, server=server, token=token)
    if json:
        print_json({"erased": name, "queues": queues})
        return
    where = f" in {', '.join(queues)}" if queues else ""
    out.print(f"{name!r} is erased; a number stands in its place{where}.", markup=False, soft_wrap=True)


def _erase_rows(
    queue: options.QueueFolder, ids: list[str], server: str | None, token: str, *, json: bool
) -> None:
    from shortlist.review.change import erase_rows

    done = erase_rows(queue, ids, server=server, token=token)
    if json:
        print_json(vars(done))
        return
    say = [
        f"{counted(done.rows, 'row')} erased; a number stands in the place of each.",
        *(f"{model} had learned from them and is removed; train it anew: shortlist export {queue} --model FILE"
          for model in done.removed),
        *(f"{path} may still hold them: erase them there, too." for path in done.elsewhere),
        "Backups made before, files exported before and models trained from this queue elsewhere still hold what they "
        "held: remove them, or make them anew.",
    ]  # fmt: skip
    for sentence in say:
        out.print(sentence, markup=False, soft_wrap=True)
