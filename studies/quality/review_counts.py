"""What a log holds of what was acknowledged, counted: what was lost, gaps, doubles, and where a replay differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from shortlist.review.desk.proof import Proof
from shortlist.review.log.events import Event
from shortlist.review.log.store import Store
from shortlist.review.reading import prove_folder
from shortlist.review.workspace import Workspace


@dataclass(frozen=True)
class Held:
    """What was found in logs; all but the first should be 0."""

    acknowledged: int = 0
    lost: int = 0  # acknowledged, and not in the log, or there as another verdict
    gaps: int = 0  # numbers of events that are missing
    doubles: int = 0  # events that answer what another one had answered
    unequal: int = (
        0  # rows that were shown with another score, breaks of the chain, a live ranking that is another
    )

    def __add__(self, other: Held) -> Held:
        """Both together."""
        return Held(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def is_well(self) -> bool:
        """Whether nothing was lost, doubled or different."""
        return not (self.lost or self.gaps or self.doubles or self.unequal)

    def told(self) -> dict[str, Any]:
        """The counts by their names."""
        return {**asdict(self), "well": self.is_well}


def count_events(events: Sequence[Event], acknowledged: Mapping[int, str]) -> Held:
    """The events of a log beside the verdicts that were acknowledged, by the event that each answers."""
    stored = {event.answers: str(getattr(event.body, "verdict", "")) for event in events}
    answers = [event.answers for event in events if event.answers is not None]
    last = max((event.seq for event in events), default=0)
    return Held(
        acknowledged=len(acknowledged),
        lost=sum(stored.get(shown) != str(said) for shown, said in acknowledged.items()),
        gaps=last - len({event.seq for event in events}),
        doubles=len(answers) - len({*answers}) + len(events) - len({event.seq for event in events}),
    )


def count_folder(folder: Path, acknowledged: Mapping[int, str], proof: Proof | None = None) -> Held:
    """The same for the folder of a queue, with a replay of its log, where none was made just now."""
    proof = proof or prove_folder(folder)
    unequal = Held(unequal=len(proof.differing) + len(proof.faults))
    workspace = Workspace(folder)
    with closing(Store.open(workspace.place, read_only=True)) as store:
        events = list(store.events(store.number_of(workspace.name)))
    return count_events(events, acknowledged) + unequal
