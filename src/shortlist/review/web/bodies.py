"""The bodies of requests and answers of the REST API."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from shortlist.review.desk.queue import Queue
from shortlist.review.desk.rules.asked import MOST_TOGETHER
from shortlist.review.desk.snapshot import Snapshot, Today, Turn
from shortlist.review.log.events import Assigned, Drawn, Event, NameErased, to_payload
from shortlist.verdicts import Verdict

Number = Annotated[int, Field(ge=0, le=2**53 - 1)]
Text = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, Field(max_length=200)]
#: Verdicts that one request may bring; a client sends more in several.
MOST_IMPORTS = 2000
#: Rows that one request may erase: files are written anew meanwhile.
MOST_ERASED = 1000


def _finite(total: float | None) -> float | None:
    """JSON has no infinity: a sum that overflowed is null."""
    return total if math.isfinite(total or 0.0) else None


def _with_finite_sum(today: Today) -> Today:
    return replace(today, value=_finite(today.value))


class Strict(BaseModel):
    """A body without fields we do not know: a misspelt one is an error, not a silence."""

    model_config = ConfigDict(extra="forbid")


class VerdictIn(Strict):
    """What a reviewer says of the row they were shown."""

    shown: Number = Field(description="the number under which the row was shown")
    verdict: Verdict
    note: Text = ""
    reason: Annotated[str, Field(max_length=100)] = Field("", description="a reason code of yours")
    also: Annotated[list[Text], Field(max_length=MOST_TOGETHER)] = Field(
        [], description="ids of other rows for which the verdict is given too, such as near copies"
    )


class UndoIn(Strict):
    """Which verdict to take back."""

    verdict: Number | None = Field(
        None,
        description=(
            "its number in the log, which every turn tells as `undo`: sent again, it is taken back once. null: your "
            "last one; sent again, the one before it is taken back too"
        ),
    )


class ParkIn(Strict):
    """Put the shown row off."""

    shown: Number
    seconds: Annotated[float, Field(ge=1, le=366 * 86_400)] | None = None
    note: Text = ""


class DecisionIn(Strict):
    """A lead decides on a row."""

    verdict: Verdict
    note: Text = ""


class NoteIn(Strict):
    """A remark on a row."""

    note: Annotated[str, Field(min_length=1, max_length=2000)]


class AssignIn(Strict):
    """Whose row it is from now on."""

    to: Annotated[str, Field(min_length=1, max_length=60)] | None = Field(
        description="a name; null: nobody's"
    )


class EraseIn(Strict):
    """Rows of which nothing shall be known any more."""

    ids: Annotated[list[Text], Field(min_length=1, max_length=MOST_ERASED)]


class ErasureOut(BaseModel):
    """What was erased, and what may still hold it."""

    rows: int = Field(description="rows that were erased; those that were before do not count")
    files: list[str] = Field(description="files of the queue that were written anew without them")
    removed: list[str] = Field(description="what was learned from them, and is gone")
    elsewhere: list[str] = Field(description="files that may still hold them: yours to erase")


class NameIn(Strict):
    """Somebody, as the log calls them."""

    name: Annotated[str, Field(min_length=1, max_length=200)]


class NameErasureOut(BaseModel):
    """Where a name was erased."""

    queues: list[str] = Field(description="queues whose logs had the name; a number stands for it there")
    account: bool = Field(description="whether there was an account, which is gone with all that it opened")
    unread: list[str] = Field(description="queues that cannot be opened now, and may still have the name")


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
    second_opinions: Annotated[float, Field(ge=0, le=1)] | None = None
    lease_seconds: Annotated[float, Field(ge=1, le=10_000_000)] | None = None
    park_seconds: Annotated[float, Field(ge=1, le=10_000_000)] | None = None
    unit: Annotated[str, Field(max_length=10)] | None = None
    link_hosts: Annotated[list[Annotated[str, Field(max_length=253)]], Field(max_length=50)] | None = None
    language: Annotated[str, Field(max_length=20)] | None = None
    columns: Annotated[list[Name], Field(max_length=50)] | None = None
    words: dict[Verdict, Annotated[str, Field(max_length=30)]] | None = None
    reasons: (
        dict[Verdict, Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=9)]] | None
    ) = None
    reasons_required: bool | None = None
    criteria: Annotated[str, Field(max_length=20_000)] | None = None
    links: Annotated[dict[Name, Text], Field(max_length=10)] | None = None
    formats: dict[Name, Annotated[str, Field(max_length=20)]] | None = Field(
        None,
        description='what columns are, where it is not as their values look, such as {"amount": "money EUR"}',
    )
    goal: Annotated[int, Field(ge=1, le=10_000_000)] | None = None


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
    today: Annotated[Today, AfterValidator(_with_finite_sum)] = Field(
        description="what you have done since midnight: rows you gave a verdict on, also as a second opinion, and "
        "what was found among those you judged first"
    )
    fields: dict[str, str] = Field(description="the row's columns, most unusual first")
    reasons: list[str] = Field(description="why the row is where it is, as of when it was shown")
    expected_value: float | None = Field(
        default=None, description="chance of such a score x value of the row, where rows are ranked by it"
    )
    reviewed: int
    found: int

    @classmethod
    def of(cls, turn: Turn, queue: Queue) -> TurnOut:
        """A turn with the fields of its row."""
        fields = {} if turn.row is None else fields_of(queue, turn.row)
        seen = queue.snapshot
        plain = {name: value for name, value in vars(turn).items() if name in cls.model_fields}
        said = [str(queue.rows.usual.message(said)) for said in turn.why.said]
        return cls(**plain, fields=fields, reasons=said, reviewed=seen.reviewed, found=seen.found)


class EstimateOut(BaseModel):
    """A number with its 90 % interval."""

    middle: float
    low: float
    high: float


class BoundsOut(BaseModel):
    """An interval that is true at all times at once with 90 % confidence."""

    low: float
    high: float


class RankedOut(BaseModel):
    """A row near the top."""

    row: int
    id: str
    score: float
    move: int | None
    expected_value: float | None = Field(
        default=None,
        description="chance x value, where rows are ranked by it and verdicts of both kinds are there",
    )


class QueueOut(BaseModel):
    """A queue at a glance."""

    name: str
    rows: int
    reviewed: int
    found: int
    value_found: Annotated[float | None, AfterValidator(_finite)]
    unsure: int
    disputed: int = Field(description="rows on which two people differ, and no lead has decided")
    second_opinions_open: int = Field(description="rows that wait for a second opinion")
    assigned: int = Field(description="open rows that are for one person")
    parked: int
    imported: int
    version: int
    seq: int
    read_only: bool
    settings: dict[str, Any]
    unseen_wanted: BoundsOut | None = Field(description="null before the first random check has a verdict")
    recall: BoundsOut | None
    random_checks: int
    random_checks_wanted: int
    random_checks_undecided: int = Field(description="verdicts on these make the bounds narrower")
    next_ten: EstimateOut | None = Field(
        description="how many of the next ten rows are wanted; null while neither the queue's model nor verdicts say"
    )
    reviewers: list[str]

    @classmethod
    def of(cls, seen: Snapshot) -> QueueOut:
        """What the snapshot says."""
        missed, ten = seen.missed, seen.next_ten
        return cls(
            name=seen.name, rows=seen.n_rows, reviewed=seen.reviewed, found=seen.found,
            value_found=seen.value_found, unsure=len(seen.unsure), disputed=len(seen.disputed),
            second_opinions_open=len(seen.waiting), assigned=len(seen.assigned),
            parked=seen.parked, imported=seen.imported,
            version=seen.version, seq=seen.seq, read_only=seen.read_only, settings=seen.settings.to_dict(),
            unseen_wanted=BoundsOut(low=missed.low, high=missed.high) if missed else None,
            recall=BoundsOut(low=missed.recall[0], high=missed.recall[1]) if missed else None,
            random_checks=missed.checks if missed else 0, random_checks_wanted=missed.wanted if missed else 0,
            random_checks_undecided=missed.undecided if missed else 0,
            next_ten=EstimateOut(**vars(ten)) if ten else None,
            reviewers=sorted(seen.reviewers),
        )  # fmt: skip


class MadeOut(QueueOut):
    """A queue that was made."""

    notes: list[str] = Field(
        description="what whoever made it should know: columns that are shown and not learned from"
    )


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
        payload = to_payload(event.body)
        if isinstance(event.body, Assigned):
            payload["to"] = queue.person(event.body.to)
        if isinstance(event.body, NameErased):
            payload["person"] = queue.person(event.body.person)
        return cls(seq=event.seq, at=event.at, who=event.who, kind=event.kind, id=id, payload=payload)


class RowOut(BaseModel):
    """A row, why it is where it is, and what was said of it."""

    row: int
    id: str
    fields: dict[str, str]
    verdict: Verdict | None
    reasons: list[str]
    resembles: list[str]
    assigned_to: str | None
    reasons_of: int | None = Field(
        description="the event with which these reasons were shown; null: they are of now"
    )
    history: list[EventOut]


def fields_of(queue: Queue, row: int) -> dict[str, str]:
    """The columns of a row as text, most unusual first."""
    return {field.name: field.text for field in queue.rows.usual.fields(queue.rows.fields(row))}
