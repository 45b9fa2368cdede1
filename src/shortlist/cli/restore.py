"""``shortlist restore``: a server, or one queue, from its backup."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import print_json, say
from shortlist.counts import counted

Source = Annotated[Path, typer.Argument(metavar="FILE", help="A file that shortlist backup wrote.")]
Folder = Annotated[Path, typer.Argument(help="Folder to make; it must not be there, or be empty.")]


def command(source: Source, folder: Folder, db: options.Db = None, json: options.Json = False) -> None:
    """Make a folder from a backup, anywhere; every file and every log is checked, and nothing is written over.

    What was in a database becomes files, or goes into an empty database with --db.

    Example: [bold]shortlist restore reviews-2026-11-17.tar.gz reviews[/]
    """
    from shortlist.review.archive.restore import restore

    done = restore(source, folder, database=db)
    if json:
        print_json({**asdict(done), "folder": str(folder)})
        return
    say(
        f"made {folder} with {counted(len(done.queues), 'queue')}, as they were. Serve it: shortlist serve {folder}"
    )
