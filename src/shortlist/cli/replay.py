"""``shortlist replay``: rebuild the ranking of a queue from its log, and compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import out, print_json, progress
from shortlist.counts import counted

if TYPE_CHECKING:
    from shortlist.review.telling.missed import Missed

Heads = Annotated[
    Path | None,
    typer.Option(
        "--heads", metavar="FILE", help="Lines of shortlist head, kept elsewhere, that must still hold."
    ),
]


def command(queue: options.QueueFolder, heads: Heads = None, json: options.Json = False) -> None:
    """Replay the log of a queue from its start and say whether it gives the ranking reviewers saw.

    Every score shown is compared, bit for bit; so is the whole ranking of a server that is running. The chain of hashes
    over the log and the sums of all files tell whether anything was changed, and where. Exit code 1: something differs.

    Example: [bold]shortlist replay new.review[/]
    """
    from shortlist.review.reading import prove_folder

    live = _standing(queue)
    with progress("replaying the log"):
        proof = prove_folder(queue, at=[] if live is None else [live["seq"]], published=_published(heads))
    same = None if live is None else proof.digests.get(live["seq"]) == live["digest"]
    if json:
        told = {name: value for name, value in vars(proof).items() if name not in ("digests", "missed")}
        missed = proof.missed and proof.missed.to_dict()
        print_json({**told, "holds": proof.holds, "equals live ranking": same, "missed": missed})
    else:
        _tell(proof, same)
    if not proof.holds or same is False:
        raise typer.Exit(1)


def _published(heads: Path | None) -> list[tuple[int, str]]:
    from shortlist.exceptions import InvalidInputError
    from shortlist.review.publish import read_heads

    try:
        return [] if heads is None else list(read_heads(heads.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"{heads} cannot be read ({error}). Name a file of lines of shortlist head."
        ) from None


def _standing(queue: Path) -> dict[str, Any] | None:
    """The ranking of the server that runs and the event it follows; None where none runs."""
    from shortlist.review.client import Client

    client = Client.of_workspace(queue)
    if client is None:
        return None
    with client:
        return client.digest()


def _tell(proof: Any, same: bool | None) -> None:
    out.print(f"{counted(proof.events, 'event')}, {counted(proof.shown, 'row')} shown.")
    if proof.faults and not proof.events:
        out.print("The log was not replayed: it or a file beside it is not as it was written.")
    elif proof.differing:
        first = proof.differing[0]
        out.print(f"{len(proof.differing)} rows were shown with another score, first at event {first}.")
        if proof.nearly == proof.differing:
            out.print(
                "Only their last digits differ: strategies that take exponentials are rounded otherwise by processors "
                "with other instructions. Replay the log on one like that where it was made.",
                soft_wrap=True,
            )
    else:
        out.print("Replaying the log gives every score that was shown, bit for bit.")
    for fault in proof.faults:
        out.print(f"CHANGED: {fault}", markup=False, soft_wrap=True)
    if not proof.faults:
        out.print(
            f"The chain of hashes holds{_since(proof.unchained)}; its head is {proof.head}.", soft_wrap=True
        )
    if same is not None:
        out.print(f"The running server's ranking is {'the same' if same else 'NOT the same'}.")
    if proof.missed:
        out.print(_in_words(proof.missed), soft_wrap=True)


def _in_words(missed: Missed) -> str:
    from shortlist.languages.words import ENGLISH
    from shortlist.models.statements import Percent

    share = Percent(missed.recall[0], at_least=True).written(ENGLISH)
    return (
        f"Between {missed.low:,} and {missed.high:,} wanted rows are still unseen (sure 90 %, however often you look); "
        f"at least {share} of all are found."
    )


def _since(unchained: int) -> str:
    return f" since event {unchained:,}, when it was begun" if unchained else ""
