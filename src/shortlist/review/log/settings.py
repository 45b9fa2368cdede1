"""The settings of a queue: those fixed when it is made, and those that may change as the review goes on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from shortlist.languages.catalogues import language
from shortlist.languages.words import Message
from shortlist.review.errors import BadRequestError
from shortlist.review.log.team import Team

#: The most a number in the settings may be; beyond it something was mistyped.
MOST = 10_000_000
#: The longest time between two beats of an open page.
MOST_BEAT_SECONDS = 60.0


@dataclass(frozen=True)
class Settings(Team):
    """What may change during a review; every change is an event. What a team sets for its own work is in ``Team``.

    budget : how many rows can be reviewed; None: no end
    audit : share of the rows served that are drawn at random, to tell what is still missed
    learn_from_audit : whether the ranking learns from random checks; what is told of missed rows holds either way
    second_opinions : share of the rows decided by one person that another one judges too, without knowing what was said
    lease_seconds : how long a shown row is kept for a reviewer whose page is silent
    park_seconds : how long "later" is
    unit : what the value column counts, such as €
    link_hosts : hosts to which a link in a field may lead
    goal : how many rows each reviewer means to review in a day; None: no goal
    language : of the pages, such as de or en-GB; empty: the one that each browser asks for

    >>> Settings().changed({"budget": 20}).budget
    20
    """

    budget: int | None = 100
    audit: float = 0.0
    learn_from_audit: bool = False
    second_opinions: float = 0.0
    lease_seconds: float = 600.0
    park_seconds: float = 3600.0
    unit: str = ""
    link_hosts: tuple[str, ...] = ()
    language: str = ""
    goal: int | None = None

    def changed(self, changes: dict[str, Any]) -> Self:
        """These settings with some changed, checked."""
        known = {field.name for field in fields(self)}
        for name in changes:
            if name not in known:
                raise BadRequestError(
                    Message(
                        "there is no setting '%(name)s'; there are: %(known)s.",
                        name=name,
                        known=", ".join(sorted(known)),
                    )
                )
        lists = {name: tuple(value) for name, value in changes.items() if isinstance(value, list)}
        settings = replace(self, **{**changes, **lists})
        settings._check()
        settings._check_team()
        return settings

    @property
    def beat_seconds(self) -> float:
        """How often an open page says that it is there: two beats may be lost before its row is.

        >>> Settings().beat_seconds, Settings(lease_seconds=60).beat_seconds
        (60.0, 20.0)
        """
        return min(self.lease_seconds / 3, MOST_BEAT_SECONDS)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "link_hosts": [*self.link_hosts], "columns": [*self.columns]}

    def _check(self) -> None:
        if not _is_count(self.budget):
            raise BadRequestError(
                Message(
                    "budget must be a whole number of at least 1, or null for no end; got %(got)s.",
                    got=repr(self.budget),
                )
            )
        if not _is_count(self.goal):
            raise BadRequestError(
                Message(
                    "goal must be a whole number of at least 1, or null for none; got %(got)s.",
                    got=repr(self.goal),
                )
            )
        if not _within(self.audit, 0, 0.5):
            raise BadRequestError(
                Message("audit is a share from 0 to 0.5, such as 0.05; got %(got)s.", got=repr(self.audit))
            )
        if not _within(self.second_opinions, 0, 1):
            raise BadRequestError(
                Message(
                    "second_opinions is a share from 0 to 1, such as 0.1; got %(got)s.",
                    got=repr(self.second_opinions),
                )
            )
        for name in ("lease_seconds", "park_seconds"):
            if not _within(getattr(self, name), 1, MOST):
                raise BadRequestError(
                    Message(
                        "%(name)s must be a number of seconds, at least 1; got %(got)s.",
                        name=name,
                        got=repr(getattr(self, name)),
                    )
                )
        if not isinstance(self.learn_from_audit, bool):
            raise BadRequestError(
                Message("learn_from_audit is true or false; got %(got)s.", got=repr(self.learn_from_audit))
            )
        if not all(isinstance(text, str) for text in (self.unit, self.language, *self.link_hosts)):
            raise BadRequestError(Message("unit and language are texts, link_hosts a list of texts."))
        if self.language:
            language(self.language)  # or an error that says which there are


@dataclass(frozen=True)
class Fixed:
    """What never changes after a queue is made."""

    seed: int
    strategy: str
    space: str  # "isolation forest", or the model file it was made from
    id: str | None
    label: str | None
    value: str | None
    ignore: tuple[str, ...]
    source: str  # the data file, as given
    fingerprint: dict[str, Any]
    first_rows: int
    settings: dict[str, Any]
    by_value: bool = False  # rows are ranked by expected value; queues of before only added their values up

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """What ``vars`` gave, read back from JSON."""
        return cls(**{**stored, "ignore": tuple(stored["ignore"])})


def _is_count(value: Any) -> bool:
    """Whether it is a whole number of at least 1, or None."""
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST)


def _within(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
