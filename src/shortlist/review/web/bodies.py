"""The bodies of requests and answers of the REST API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shortlist.review.desk.fields import show
from shortlist.review.desk.queue import Queue
from shortlist.review.desk.snapshot import Snapshot, Turn
from shortlist.review.log.events import Drawn, Event, to_payload
from shortlist.verdicts import Verdict

Number = Annotated[int, Field(ge=0, le=2**53 - 1)]
Text = Annotated[str, Field(max_length=2000)]
#: Verdicts that one request may bring; a client sends more in several.
MOST_IMPORTS = 2000


class Strict(BaseModel):
    """A body without fields we do not know: a misspelt one is an error, not a silence."""

    model_config = ConfigDict(extra="forbid")


class VerdictIn(Strict):
    """What a reviewer says of the row they were shown."""

    shown: Number = Field(description="the number under which the row was shown")
    verdict: Verdict
    note: Text = ""
    reason: Annotated[str, Field(max_length=100)] = Field("", description="a reason code of yours")


class UndoIn(Strict):
    """Which verdict to take back."""

    verdict: Number | None = Field(None, description="its number in the log; null: your last one")


class ParkIn(Strict):
    """Put the shown row off."""

    shown: Number
    seconds: Annotated[float, Field(ge=1, le=366 * 86_400)] | None = None


class DecisionIn(Strict):
    """A lead decides on a row."""

    verdict: Verdict
    note: Text = ""


class NoteIn(Strict):
    """A remark on a row."""

    note: Annotated[str, Field(min_length=1, max_length=2000)]


class ImportIn(Strict):
    """A verdict that was known before."""

    id: Text
    verdict: Verdict
    note: Text = ""


class SettingsIn(Strict):
    """Settings to change; those left out stay."""

    budget: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    audit: Annotated[float, Field(ge=0, le=0.5)] | None = None
    learn_from_audit: bool | None = None
    lease_seconds: Annotated[float, Field(ge=1, le=10_000_000)] | None = None
    park_seconds: Annotated[float, Field(ge=1, le=10_000_000)] | None = None
    unit: Annotated[str, Field(max_length=10)] | None = None
    link_hosts: Annotated[list[Annotated[str, Field(max_length=253)]], Field(max_length=50)] | None = None


class TurnOut(BaseModel):
    """A row to judge, or why there is none."""

    state: Literal["row", "budget", "waiting", "finished", "read-only"]
    shown: int | None
    row: int | None
    id: str | None
    rank: int | None
    score: float | None
    drawn: Drawn | None
    version: int | None
    until: float | None
    undo: int | None
    fields: dict[str, str] = Field(description="the row's columns, most unusual first")
    reviewed: int
    found: int

    @classmethod
    def of(cls, turn: Turn, queue: Queue) -> TurnOut:
        """A turn with the fields of its row."""
        fields = {} if turn.row is None else fields_of(queue, turn.row)
        seen = queue.snapshot
        return cls(**vars(turn), fields=fields, reviewed=seen.reviewed, found=seen.found)


class EstimateOut(BaseModel):
    """A number with its 90 % interval."""

    middle: float
    low: float
    high: float


class RankedOut(BaseModel):
    """A row near the top."""

    row: int
    id: str
    score: float
    move: int | None


class QueueOut(BaseModel):
    """A queue at a glance."""

    name: str
    rows: int
    reviewed: int
    found: int
    value_found: float | None
    unsure: int
    parked: int
    imported: int
    version: int
    seq: int
    read_only: bool
    settings: dict[str, Any]
    unseen_wanted: EstimateOut | None = Field(description="null without random checks that could tell")
    recall: EstimateOut | None
    next_ten: EstimateOut | None
    reviewers: list[str]

    @classmethod
    def of(cls, seen: Snapshot) -> QueueOut:
        """What the snapshot says."""
        missed, ten = seen.missed, seen.next_ten
        return cls(
            name=seen.name, rows=seen.n_rows, reviewed=seen.reviewed, found=seen.found,
            value_found=seen.value_found, unsure=len(seen.unsure), parked=seen.parked, imported=seen.imported,
            version=seen.version, seq=seen.seq, read_only=seen.read_only, settings=seen.settings.to_dict(),
            unseen_wanted=EstimateOut(**vars(missed.unseen)) if missed else None,
            recall=EstimateOut(**vars(missed.recall)) if missed else None,
            next_ten=EstimateOut(**vars(ten)) if ten else None,
            reviewers=sorted(seen.reviewers),
        )  # fmt: skip


class EventOut(BaseModel):
    """One line of the log."""

    seq: int
    at: float
    who: str
    kind: str
    id: str | None
    payload: dict[str, Any]

    @classmethod
    def of(cls, event: Event, queue: Queue) -> EventOut:
        """An event with the name of its row."""
        id = None if event.row is None else queue.rows.id(event.row)
        return cls(
            seq=event.seq, at=event.at, who=event.who, kind=event.kind, id=id, payload=to_payload(event.body)
        )


class RowOut(BaseModel):
    """A row, why it is where it is, and what was said of it."""

    row: int
    id: str
    fields: dict[str, str]
    verdict: Verdict | None
    reasons: list[str]
    resembles: list[str]
    history: list[EventOut]


def fields_of(queue: Queue, row: int) -> dict[str, str]:
    """The columns of a row as text, most unusual first."""
    return {field.name: show(field.value) for field in queue.rows.usual.fields(queue.rows.fields(row))}
