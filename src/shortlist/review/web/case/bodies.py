"""Bodies of requests and answers about what case workers and leads look up."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BaseModel, Field

from shortlist.models.profile import Shift
from shortlist.review.casework.copies import Copy
from shortlist.review.casework.related import Related
from shortlist.review.casework.search import Desk, Page
from shortlist.review.desk.queue import Queue
from shortlist.review.desk.rules.asked import MOST_TOGETHER
from shortlist.review.lead.agreement import Agreement, agreement
from shortlist.review.lead.drift import drift
from shortlist.review.lead.figures import Line, Share, figures_of
from shortlist.review.log.events import Event
from shortlist.review.log.opinions import Given
from shortlist.review.log.state import verdict_of
from shortlist.review.web.bodies import BoundsOut, QueueOut, Strict, Text, fields_of
from shortlist.verdicts import Verdict


class TogetherIn(Strict):
    """One verdict for rows chosen from the list."""

    ids: Annotated[list[Text], Field(min_length=1, max_length=MOST_TOGETHER)]
    verdict: Verdict
    note: Text = ""
    reason: Annotated[str, Field(max_length=100)] = ""


class TakeIn(Strict):
    """A row to put on your screen."""

    id: Text


class ListedOut(BaseModel):
    """A row of the list, and what has become of it."""

    row: int
    id: str
    fields: dict[str, str] = Field(description="the row's columns, most unusual first")
    verdict: Verdict | None
    seq: int | None = Field(description="the number of the verdict, by which it can be taken back")
    who: str | None
    at: float | None
    note: str
    reason: str
    put_off_until: float | None
    assigned_to: str | None

    @classmethod
    def of(cls, row: int, desk: Desk, queue: Queue) -> ListedOut:
        """A row as matters stand."""
        event = desk.said.get(row)
        told: dict[str, Any] = {
            "verdict": verdict_of(event) if event else None,
            "seq": event.seq if event else None,
            "who": event.who if event else None,
            "at": event.at if event else None,
            "note": getattr(event.body, "note", "") if event else "",
            "reason": getattr(event.body, "reason", "") if event else "",
        }
        id, fields = queue.rows.id(row), fields_of(queue, row)
        told |= {"put_off_until": desk.later.get(row), "assigned_to": queue.snapshot.assigned.get(row)}
        return cls(row=row, id=id, fields=fields, **told)


class ListOut(BaseModel):
    """One page of the rows that were asked for."""

    rows: list[ListedOut]
    total: int
    page: int
    pages: int

    @classmethod
    def of(cls, found: Page, desk: Desk, queue: Queue) -> ListOut:
        """A page of the list."""
        rows = [ListedOut.of(row, desk, queue) for row in found.rows]
        return cls(rows=rows, total=found.total, page=found.number, pages=found.pages)


class RelatedOut(BaseModel):
    """The other rows with the same value in one column."""

    column: str
    value: str
    others: int
    wanted: int
    not_wanted: int
    worth: float | None = Field(description="of all these rows; null without a value column")
    common: bool = Field(description="so many rows have the value that it says little")

    @classmethod
    def of(cls, each: Related, queue: Queue) -> RelatedOut:
        """What rows share in one column."""
        plain = {name: value for name, value in vars(each).items() if name in cls.model_fields}
        return cls(**{**plain, "value": _written(queue, each.column, each.value)}, common=each.is_common)


class CopyOut(BaseModel):
    """A row without a verdict that is nearly the same."""

    row: int
    id: str
    differences: dict[str, str]

    @classmethod
    def of(cls, copy: Copy, queue: Queue) -> CopyOut:
        """A near copy, its values as they are written."""
        differences = {name: _written(queue, name, value) for name, value in copy.differences.items()}
        return cls(row=copy.row, id=copy.id, differences=differences)


class OpinionOut(BaseModel):
    """What one person says of a row."""

    who: str
    at: float
    verdict: Verdict
    note: str
    reason: str

    @classmethod
    def of(cls, event: Event) -> OpinionOut:
        """A verdict or a second opinion."""
        said = {name: getattr(event.body, name) for name in ("verdict", "note", "reason")}
        return cls(who=event.who, at=event.at, **said)


class DisputeOut(BaseModel):
    """A row on which two people differ."""

    row: int
    id: str
    first: OpinionOut
    second: OpinionOut

    @classmethod
    def of(cls, row: int, given: Given, queue: Queue) -> DisputeOut:
        """Both opinions."""
        first, second = OpinionOut.of(given.first), OpinionOut.of(given.second)
        return cls(row=row, id=queue.rows.id(row), first=first, second=second)


class BeyondOut(BaseModel):
    """Agreement beyond chance: 1 where all say the same, 0 where it is as by chance."""

    value: float
    low: float = Field(description="of its 90 % interval")
    high: float
    rows: int


class PairOut(BaseModel):
    """Two people and the rows that both decided."""

    one: str
    other: str
    rows: int
    same: int
    kappa: BeyondOut | None = Field(description="Cohen's kappa; null where it is not defined")


class AgreementOut(BaseModel):
    """What second opinions tell."""

    rows: int = Field(description="on which both have decided")
    same: int
    unsure: int = Field(description="on which the second did not decide")
    alpha: BeyondOut | None = Field(
        description="Krippendorff's alpha over all people; null where it is not defined"
    )
    pairs: list[PairOut]

    @classmethod
    def of(cls, told: Agreement) -> AgreementOut:
        """The agreement of all second opinions."""
        return cls.model_validate(asdict(told))


class ShareOut(BaseModel):
    """Part of a whole with its 90 % interval."""

    value: float
    low: float
    high: float
    part: int
    whole: int

    @classmethod
    def of(cls, share: Share | None) -> ShareOut | None:
        """A share; null where there is nothing to share."""
        return cls(value=share.value, **vars(share)) if share else None


class LineOut(BaseModel):
    """The figures of a week, a reviewer, a reason code, or of the whole review."""

    name: str
    reviewed: int = Field(
        description="rows; of a reviewer, those they gave a verdict on, also as a second opinion"
    )
    unsure: int
    found: int = Field(description="a row counts once, for the first who judged it")
    value: float | None = Field(description="of what was found; null without a value column")
    precision: ShareOut | None = Field(description="of the rows that the ranking put forward")
    agreement: ShareOut | None = Field(description="where two people decided; null where nobody looked twice")
    taken_back: int
    hours: float = Field(description="with a row on the screen")
    verdicts: int = Field(description="first and second ones")
    per_hour: float | None = Field(description="verdicts by hours")
    value_per_hour: float | None

    @classmethod
    def of(cls, line: Line) -> LineOut:
        """What a line says."""
        shares = {"precision": ShareOut.of(line.precision), "agreement": ShareOut.of(line.agreement)}
        return cls(**{**vars(line), **shares}, per_hour=line.per_hour, value_per_hour=line.value_per_hour)


class ShiftOut(BaseModel):
    """How far a column of the added rows lies from the first rows."""

    column: str
    stability: float = Field(description="population stability index")
    marked: bool = Field(description="more than chance, and much")

    @classmethod
    def of(cls, shift: Shift) -> ShiftOut:
        """What a shift says."""
        return cls(column=shift.name, stability=shift.stability, marked=shift.is_marked)


class FiguresOut(BaseModel):
    """What a lead looks at."""

    whole: LineOut
    weeks: list[LineOut]
    reviewers: list[LineOut]
    reasons: list[LineOut]
    unseen_wanted: BoundsOut | None
    recall: BoundsOut | None
    drift: list[ShiftOut] | None = Field(description="null while no row was added")
    second_opinions: AgreementOut

    @classmethod
    def of(cls, queue: Queue) -> FiguresOut:
        """The figures of a queue as it stands."""
        told, seen = figures_of(queue), QueueOut.of(queue.snapshot)
        drifted = drift(queue.rows, queue.schema, queue.fixed.first_rows)
        return cls(
            whole=LineOut.of(told.whole),
            weeks=[LineOut.of(line) for line in told.weeks],
            reviewers=[LineOut.of(line) for line in told.reviewers],
            reasons=[LineOut.of(line) for line in told.reasons],
            unseen_wanted=seen.unseen_wanted,
            recall=seen.recall,
            drift=None if drifted is None else [ShiftOut.of(shift) for shift in drifted.shifts],
            second_opinions=AgreementOut.of(agreement(queue.opinions())),
        )


def _written(queue: Queue, column: str, value: Any) -> str:
    known = queue.rows.usual.columns.get(column)
    return known.write(value) if known else str(value)
