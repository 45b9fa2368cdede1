"""``shortlist replay``: rebuild the ranking of a queue from its log, and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import out, print_json, progress


def command(queue: options.QueueFolder, json: options.Json = False) -> None:
    """Replay the log of a queue from its start and say whether it gives the ranking reviewers saw.

    Every score shown is compared, bit for bit; so is the whole ranking of a server that is running.

    Example: [bold]shortlist replay claims.review[/]
    """
    from shortlist.review.reading import prove_folder

    with progress("replaying the log"):
        proof = prove_folder(queue)
    same = _equals_live(queue, proof)
    if json:
        print_json({**vars(proof), "holds": proof.holds, "equals live ranking": same})
    else:
        _tell(proof.holds, proof.shown, proof.events, proof.differing, same)
    if not proof.holds or same is False:
        raise typer.Exit(1)


def _equals_live(queue: Path, proof: Any) -> bool | None:
    """Whether a running server has the replayed ranking; None where none runs, or it has moved on meanwhile."""
    from shortlist.review.client import Client

    client = Client.of_workspace(queue)
    if client is None:
        return None
    with client:
        now = client.digest()
    return bool(now["digest"] == proof.digest) if now["version"] == proof.version else None


def _tell(holds: bool, shown: int, events: int, differing: list[int], same: bool | None) -> None:
    out.print(f"{events:,} events, {shown:,} rows shown.")
    if holds:
        out.print("Replaying the log gives every score that was shown, bit for bit.")
    else:
        out.print(f"{len(differing)} rows were shown with another score, first at event {differing[0]}.")
    if same is not None:
        out.print(f"The running server's ranking is {'the same' if same else 'NOT the same'}.")
