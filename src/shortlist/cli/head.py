"""``shortlist head``: the hash that stands for the whole log of a queue, to be kept elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import out, print_json

To = Annotated[
    str | None,
    typer.Option(
        "--to", metavar="TARGET", help="Add the line to this file, or send it to this URL or mailto:."
    ),
]


def command(queue: options.QueueFolder, to: To = None, json: options.Json = False) -> None:
    """Print one line that stands for the whole log of a queue: kept elsewhere, it proves that nothing was rewritten.

    A line a day, in a file or mail that the owner of the server cannot change, is enough; shortlist replay --heads
    checks that the log still holds all of them.

    Example: [bold]shortlist head new.review --to heads.txt[/]
    """
    from shortlist.review.publish import line_of, tell
    from shortlist.review.reading import head_of

    name, seq, head = head_of(queue)
    line = line_of(name, seq, head)
    if to is not None:
        tell(to, line)
    if json:
        print_json({"queue": name, "event": seq, "head": head})
    elif to is None:
        out.print(line, soft_wrap=True, markup=False, highlight=False)
