"""``shortlist append``: new rows into a queue."""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import out, print_json
from shortlist.counts import counted


def command(
    queue: options.QueueFolder,
    rows: Annotated[str, typer.Argument(help="New rows with the same columns: a file, a folder or a glob.")],
    json: options.Json = False,
) -> None:
    """Add rows to a queue, also while the review runs; they join the ranking at once.

    Example: [bold]shortlist append new.review later.csv[/]
    """
    from shortlist.review.change import change_queue
    from shortlist.tables import read_table

    frame = read_table(rows, may_be_empty=True)
    if frame.is_empty():  # a quiet day
        if json:
            print_json({"appended": 0})
        else:
            out.print(f"there are no rows in {rows}; the queue stays as it is.")
        return
    total = change_queue(queue, lambda target: target.append(frame))
    if json:
        print_json({"appended": frame.height, "rows": total})
    else:
        out.print(f"appended {counted(frame.height, 'row')}; the queue has {total:,} now.")
