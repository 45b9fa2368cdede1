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
OUTCOMES = ("label", "impact", "checked")
#: What columns are named for that have no part.
_USE = {"ignore": "to ignore", "category": "of names"}


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
    category : columns whose values are names, whatever they look like, such as a postcode; patterns as for ignore
    missing : texts that mean that a value is not known, beside the usual ones
    ignore_text : leave out columns of free text
    checked : with which chance the row was drawn as a random check; empty where it was looked at for its rank
    impact_known : the impact is known before the outcome, as the amount of a claim is, and is a feature too

    >>> Roles(id="claim", label="fraud", ignore=["note"]).names
    ('claim', 'fraud', 'note')
    """

    id: str | None = None
    label: str | None = None
    impact: str | None = None
    list: str | None = None
    time: str | None = None
    checked: str | None = None
    ignore: Sequence[str] = ()
    category: Sequence[str] = ()
    missing: Sequence[str] = ()
    ignore_text: bool = False
    impact_known: bool = False

    def __post_init__(self) -> None:
        for several in ("ignore", "category", "missing"):
            given = getattr(self, several)
            names = (given,) if isinstance(given, str) else map(str, given)
            object.__setattr__(self, several, tuple(dict.fromkeys(names)))
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
    def value(self) -> str | None:
        """The column that says beforehand what a wanted row is worth: rows can be ranked by expected value.

        >>> Roles(label="fraud", impact="amount", impact_known=True).value
        'amount'
        """
        return self.impact if self.impact_known and self.label is not None else None

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
        absent = [
            f"the {self._word_for(part)} column {name!r} is not in the table.{did_you_mean(name, columns)}"
            for part, name in self.parts.items()
            if part not in optional and name not in columns
        ]
        for what, names in {"ignore": self.ignore, "category": self.category}.items():
            if "ignore" not in optional:
                absent += [
                    f"no column {_USE[what]} is called {name!r}.{did_you_mean(name, columns)}"
                    for name in names
                    if not self._meant_by(name, columns)
                ]
        if absent:
            raise SchemaError(f"{' '.join(absent)} {_what_there_is(columns)}")

    def _word_for(self, part: str) -> str:
        """What a part is called when it is asked for: an impact that is known beforehand is a value."""
        return "value" if part == "impact" and self.impact_known else part

    def settled(self, columns: Collection[str]) -> Roles:
        """The same roles with the ignored columns by name, where patterns may have stood for them.

        >>> Roles(id="claim_id", ignore=["*_id"]).settled(["claim_id", "agent_id", "amount"]).ignore
        ('agent_id',)
        """
        return replace(
            self,
            ignore=self._all_meant(self.ignore, columns),
            category=self._all_meant(self.category, columns),
        )

    def _all_meant(self, patterns: Sequence[str], columns: Collection[str]) -> tuple[str, ...]:
        return tuple(name for pattern in patterns for name in self._meant_by(pattern, columns))

    def _meant_by(self, pattern: str, columns: Collection[str]) -> Sequence[str]:
        """The column of exactly this name, or those that it matches and that have no part."""
        if pattern in columns:
            return [pattern]
        free = (name for name in columns if name not in self.parts.values())
        return [name for name in free if fnmatchcase(name, pattern)]

    def to_dict(self) -> dict[str, Any]:
        """The roles as plain values for JSON."""
        given = {name: getattr(self, name) for name in ("category", "missing", "ignore_text", "impact_known")}
        told = {
            name: [*value] if isinstance(value, tuple) else value for name, value in given.items() if value
        }
        return {**self.parts, "ignore": [*self.ignore], **told}

    @property
    def spoken(self) -> dict[str, Any]:
        """The roles as they are asked for today: an impact that is known beforehand is a value.

        >>> Roles(label="fraud", impact="amount", impact_known=True).spoken
        {'value': 'amount', 'label': 'fraud', 'ignore': []}
        """
        told = self.to_dict()
        if self.value is None:
            return told
        value = {"value": told.pop("impact")}
        return {**value, **{name: given for name, given in told.items() if name != "impact_known"}}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Roles:
        """The roles that ``to_dict`` stored."""
        return cls(**stored)


def _what_there_is(columns: Collection[str]) -> str:
    known = [*columns]
    shown = ", ".join(known[:12]) + (f", ... ({len(known)} in all)" if len(known) > 12 else "")
    return f"Its columns: {shown}."
