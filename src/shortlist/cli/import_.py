"""``shortlist import``: verdicts known elsewhere into a queue."""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import out, print_json
from shortlist.verdicts import WRITTEN


def command(
    queue: options.QueueFolder,
    verdicts: Annotated[str, typer.Argument(help="Table with a row's id and its verdict.")],
    id_: Annotated[str, typer.Option("--id", metavar="COLUMN", help="Column that names the row.")] = "id",
    verdict: Annotated[
        str,
        typer.Option("--verdict", metavar="COLUMN", help=f"Column with {WRITTEN}."),
    ] = "verdict",
    json: options.Json = False,
) -> None:
    """Learn verdicts that were given elsewhere, also while the review runs; rows with a verdict keep it.

    Example: [bold]shortlist import new.review verdicts.csv --id claim_id[/]
    """
    from shortlist.review.change import change_queue
    from shortlist.review.export import read_verdicts
    from shortlist.tables import read_table

    frame = read_table(verdicts)
    said = read_verdicts(frame, id=id_, verdict=verdict)
    imported = change_queue(queue, lambda target: target.import_verdicts(said))
    if json:
        print_json({"imported": imported})
    else:
        out.print(f"imported {imported:,} verdicts; {frame.height - imported:,} were empty or known already.")
