"""The settings of a queue: those fixed when it is made, and those that may change as the review goes on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from shortlist.review.errors import BadRequestError

#: The most a number in the settings may be; beyond it something was mistyped.
MOST = 10_000_000
#: The longest time between two beats of an open page.
MOST_BEAT_SECONDS = 60.0


@dataclass(frozen=True)
class Settings:
    """What may change during a review; every change is an event.

    budget : how many rows can be reviewed; None: no end
    audit : share of the rows served that are drawn at random, to tell what is still missed
    learn_from_audit : whether the ranking learns from random checks; the estimate of what is missed then leans
        on rows that are no longer a random sample of the rest
    lease_seconds : how long a shown row is kept for a reviewer whose page is silent
    park_seconds : how long "later" is
    unit : what the value column counts, such as €
    link_hosts : hosts to which a link in a field may lead

    >>> Settings().changed({"budget": 20}).budget
    20
    """

    budget: int | None = 100
    audit: float = 0.0
    learn_from_audit: bool = False
    lease_seconds: float = 600.0
    park_seconds: float = 3600.0
    unit: str = ""
    link_hosts: tuple[str, ...] = ()

    def changed(self, changes: dict[str, Any]) -> Self:
        """These settings with some changed, checked."""
        known = {field.name for field in fields(self)}
        for name in changes:
            if name not in known:
                raise BadRequestError(f"there is no setting {name!r}; there are: {', '.join(sorted(known))}.")
        hosts = changes.get("link_hosts", self.link_hosts)
        settings = replace(self, **{**changes, "link_hosts": tuple(hosts)})
        settings._check()
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
        return {**asdict(self), "link_hosts": [*self.link_hosts]}

    def _check(self) -> None:
        whole = isinstance(self.budget, int) and not isinstance(self.budget, bool)
        if self.budget is not None and not (whole and 1 <= self.budget <= MOST):
            raise BadRequestError(
                f"budget must be a whole number of at least 1, or null for no end; got {self.budget!r}."
            )
        if not _within(self.audit, 0, 0.5):
            raise BadRequestError(f"audit is a share from 0 to 0.5, such as 0.05; got {self.audit!r}.")
        for name in ("lease_seconds", "park_seconds"):
            if not _within(getattr(self, name), 1, MOST):
                raise BadRequestError(
                    f"{name} must be a number of seconds, at least 1; got {getattr(self, name)!r}."
                )
        if not isinstance(self.learn_from_audit, bool):
            raise BadRequestError(f"learn_from_audit is true or false; got {self.learn_from_audit!r}.")
        if not isinstance(self.unit, str) or not all(isinstance(host, str) for host in self.link_hosts):
            raise BadRequestError("unit is a text, link_hosts a list of texts.")


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

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """What ``vars`` gave, read back from JSON."""
        return cls(**{**stored, "ignore": tuple(stored["ignore"])})


def _within(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
