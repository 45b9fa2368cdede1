"""Why a row is where it is, as a reviewer is told: by its own values, and by the reviewed rows it is like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from shortlist.feedback.why import Why
from shortlist.models.statements import Statement
from shortlist.review.log.events import Event
from shortlist.review.telling.fields import Usual
from shortlist.tables import Schema

#: Reviewed rows that are less like a row than this are no reason for its place.
ALIKE = 0.25
MOST_ALIKE = 3


@dataclass(frozen=True)
class Likeness:
    """A reviewed row that a row is like, and the number of the verdict on it in the log."""

    row: int
    wanted: bool
    verdict: int


@dataclass(frozen=True)
class Reasons:
    """What is said of a row; every statement was true of its values when it was made."""

    said: tuple[Statement, ...] = ()
    like: tuple[Likeness, ...] = ()

    def stored(self) -> dict[str, Any]:
        """Plain values for the log, in no language.

        >>> reasons = Reasons((Statement("shop", "category", "North", "alone"),), (Likeness(3, True, 7),))
        >>> reasons.stored()
        {'said': [{'name': 'shop', 'part': 'category', 'value': 'North', 'form': 'alone'}], 'like': [[3, True, 7]]}
        >>> Reasons.read(reasons.stored()) == reasons
        True
        """
        return {
            "said": [_told(each) for each in self.said],
            "like": [[each.row, each.wanted, each.verdict] for each in self.like],
        }

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Reasons:
        """What ``stored`` gave."""
        said = tuple(Statement(**each) for each in stored["said"])
        return cls(said, tuple(Likeness(*each) for each in stored["like"]))


def give_reasons(
    why: Why,
    row: Mapping[str, Any],
    usual: Usual,
    schema: Schema,
    verdicts: Mapping[int, Event],
    value: str | None = None,
) -> Reasons:
    """The columns that lift a row, each by what is true of the row's value there, and reviewed rows it is like.

    value : the column that chances are multiplied by, where rows are ranked so; it is told first
    """
    said = tuple(usual.state(schema, each.column, row) for each in why.reasons)
    if value is not None and value in usual.columns:  # neither the id nor the label
        worth = usual.state_whole(value, row)
        said = (worth, *(each for each in said if each != worth))
    alike = [each for each in why.resembles if each.similarity >= ALIKE][:MOST_ALIKE]
    return Reasons(said, tuple(Likeness(each.row, each.wanted, verdicts[each.row].seq) for each in alike))


def _told(said: Statement) -> dict[str, Any]:
    """A statement without what it does not say."""
    return {
        each.name: getattr(said, each.name)
        for each in fields(said)
        if getattr(said, each.name) != each.default
    }
