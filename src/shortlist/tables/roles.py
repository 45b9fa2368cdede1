"""Which column plays which part; the columns without a part are features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from shortlist.exceptions import SchemaError

#: Parts that only rows with a known outcome have.
OUTCOMES = ("label", "impact")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence that suggests names close to ``name``, or nothing."""
    close = get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(each) for each in close)}?" if close else ""


@dataclass(frozen=True)
class Roles:
    """Names of the columns that are not features.

    id : names a row; None: rows are numbered from 1
    label : says whether a row was wanted
    impact : how much a row matters, a number >= 0
    list : rows with the same value are ranked against each other only
    time : when the row happened
    ignore : columns to leave out; patterns such as post_* mean all columns they match that have no other part
    impact_known : the impact is known before the outcome, as the amount of a claim is, and is a feature too

    >>> Roles(id="claim", label="fraud", ignore=["note"]).names
    ('claim', 'fraud', 'note')
    """

    id: str | None = None
    label: str | None = None
    impact: str | None = None
    list: str | None = None
    time: str | None = None
    ignore: Sequence[str] = ()
    impact_known: bool = False

    def __post_init__(self) -> None:
        ignore = (self.ignore,) if isinstance(self.ignore, str) else self.ignore
        object.__setattr__(self, "ignore", tuple(dict.fromkeys(ignore)))
        for name, uses in Counter(self.names).items():
            if uses > 1:
                raise SchemaError(f"column {name!r} has {uses} roles; give each column one role.")

    @property
    def parts(self) -> dict[str, str]:
        """The parts that are taken, and by which column; without the ignored ones."""
        # A role that no column has is None; the other fields are no roles.
        parts = {each.name: getattr(self, each.name) for each in fields(self) if each.default is None}
        return {part: name for part, name in parts.items() if name is not None}

    @property
    def names(self) -> tuple[str, ...]:
        """All columns with a role, and the ignored ones."""
        return (*self.parts.values(), *self.ignore)

    @property
    def hidden(self) -> tuple[str, ...]:
        """All columns that are not features."""
        return tuple(name for name in self.names if not (self.impact_known and name == self.impact))

    def check(self, columns: Collection[str], *, optional: Collection[str] = ()) -> None:
        """Every role's column is there, except for the ``optional`` parts.

        Ignored columns may be absent in new rows: name "ignore" among the optional parts there.
        """
        needed = {part: name for part, name in self.parts.items() if part not in optional}
        for part, name in needed.items():
            if name not in columns:
                raise SchemaError(
                    f"the {part} column {name!r} is not in the table.{_what_there_is(name, columns)}"
                )
        for name in () if "ignore" in optional else self.ignore:
            if not self._ignored_by(name, columns):
                raise SchemaError(f"no column to ignore is called {name!r}.{_what_there_is(name, columns)}")

    def settled(self, columns: Collection[str]) -> Roles:
        """The same roles with the ignored columns by name, where patterns may have stood for them.

        >>> Roles(id="claim_id", ignore=["*_id"]).settled(["claim_id", "agent_id", "amount"]).ignore
        ('agent_id',)
        """
        ignored = (name for pattern in self.ignore for name in self._ignored_by(pattern, columns))
        return replace(self, ignore=tuple(ignored))

    def _ignored_by(self, pattern: str, columns: Collection[str]) -> Sequence[str]:
        """The column of exactly this name, or those that it matches and that have no part."""
        if pattern in columns:
            return [pattern]
        free = (name for name in columns if name not in self.parts.values())
        return [name for name in free if fnmatchcase(name, pattern)]

    def to_dict(self) -> dict[str, Any]:
        """The roles as plain values for JSON."""
        known = {"impact_known": True} if self.impact_known else {}
        return {**self.parts, "ignore": [*self.ignore], **known}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Roles:
        """The roles that ``to_dict`` stored."""
        return cls(**stored)


def _what_there_is(name: str, columns: Collection[str]) -> str:
    known = [*columns]
    shown = ", ".join(known[:12]) + (f", ... ({len(known)} in all)" if len(known) > 12 else "")
    return did_you_mean(name, known) + f" Its columns: {shown}."
