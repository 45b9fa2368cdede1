"""``shortlist backup``: a server, or one queue, as one file, while it runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import print_json, say
from shortlist.counts import counted

Folder = Annotated[Path, typer.Argument(help="Folder of a server, or of one queue.")]
Target = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="File to write, such as reviews.tar.gz.")
]


def command(folder: Folder, output: Target, db: options.Db = None, json: options.Json = False) -> None:
    """Write all queues of a folder, and its people, to one file; the server may run on.

    Logs in PostgreSQL are in it, too. Who is signed in, and keys of this machine, are not.

    Example: [bold]shortlist backup reviews -o reviews-2026-11-17.tar.gz[/]
    """
    from shortlist.review.archive.backup import back_up

    done = back_up(folder, output, database=db)
    if json:
        print_json({**asdict(done), "file": str(output)})
        return
    events = sum(queue.seq for queue in done.queues)
    say(f"wrote {counted(len(done.queues), 'queue')} with {counted(events, 'event')} to {output}")
