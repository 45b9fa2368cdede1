"""``shortlist replay``: rebuild the ranking of a queue from its log, and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import out, print_json, progress

QueueFolder = Annotated[
    Path, typer.Argument(metavar="QUEUE", help="The folder of the queue, such as claims.review.")
]


def command(queue: QueueFolder, json: options.Json = False) -> None:
    """Replay the log of a queue from its start and say whether it gives the ranking reviewers saw.

    Every score shown is compared, bit for bit; so is the whole ranking of a server that is running.

    Example: [bold]shortlist replay claims.review[/]
    """
    from shortlist.review.client import Client
    from shortlist.review.proof import prove_folder

    with progress("replaying the log"):
        proof = prove_folder(queue)
    live = Client.of_workspace(queue)
    # A live review goes on while the log is replayed: only equal versions can be compared.
    now = live.digest() if live is not None else None
    same = None if now is None or now["version"] != proof.version else now["digest"] == proof.digest
    if json:
        print_json({**vars(proof), "holds": proof.holds, "equals live ranking": same})
    else:
        _tell(proof.holds, proof.shown, proof.events, proof.differing, same)
    if not proof.holds or same is False:
        raise typer.Exit(1)


def _tell(holds: bool, shown: int, events: int, differing: list[int], same: bool | None) -> None:
    out.print(f"{events:,} events, {shown:,} rows shown.")
    if holds:
        out.print("Replaying the log gives every score that was shown, bit for bit.")
    else:
        out.print(f"{len(differing)} rows were shown with another score, first at event {differing[0]}.")
    if same is not None:
        out.print(f"The running server's ranking is {'the same' if same else 'NOT the same'}.")
