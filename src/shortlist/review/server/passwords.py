"""Passwords: what one must be, how it is kept, and how often one may be tried."""

from __future__ import annotations

import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from shortlist.languages.words import Message
from shortlist.review.errors import BadRequestError, TooOftenError

LEAST, MOST = 10, 200
#: Wrong passwords in a quarter of an hour: for a name from one address, from one address, and for a name from anywhere.
WINDOW = 900.0
MOST_WRONG = {"name and address": 5, "address": 20, "name": 50}
_HASHER = PasswordHasher()
#: One password takes 64 MB for a moment: those who sign in at once wait for each other.
_ONE_AT_A_TIME = threading.Lock()
#: What a name that nobody has is compared with, so that it takes as long as a name that somebody has.
_NOBODY = _HASHER.hash("nobody has this password")


def hash_password(name: str, password: str) -> str:
    """What is kept of a password; refuses one that is easily guessed."""
    if not LEAST <= len(password) <= MOST:
        raise BadRequestError(
            Message("a password has %(least)s to %(most)s characters.", least=LEAST, most=MOST)
        )
    if name.casefold() in password.casefold() or len({*password}) < 5:
        raise BadRequestError(
            Message("this password is too easy to guess: it holds the name, or hardly differing characters.")
        )
    with _ONE_AT_A_TIME:
        return _HASHER.hash(password)


def no_password() -> str:
    """What is kept of somebody who signs in otherwise: no password is theirs, and trying one takes as long."""
    with _ONE_AT_A_TIME:
        return _HASHER.hash(secrets.token_urlsafe(32))


def is_password(kept: str | None, password: str) -> bool:
    """Whether a password is the one that was kept; None: there is no such person.

    >>> is_password(hash_password("ann", "correct horse"), "correct horse"), is_password(None, "correct horse")
    (True, False)
    """
    with _ONE_AT_A_TIME:
        try:
            return _HASHER.verify(kept or _NOBODY, password[:MOST]) and kept is not None
        except (Argon2Error, InvalidHashError):
            return False


class Throttle:
    """Counts wrong passwords, and asks for patience where there were too many.

    >>> throttle = Throttle(lambda: 0.0)
    >>> for _ in range(5):
    ...     throttle.wrong("ann", "10.0.0.7")
    >>> throttle.check("ann", "10.0.0.7")
    Traceback (most recent call last):
    shortlist.review.errors.TooOftenError: too many wrong passwords; try again in 15 minutes.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[tuple[str, ...], list[float]] = defaultdict(list)

    def check(self, key: str, address: str) -> None:
        """Refuse one more try where there were too many."""
        now = self._clock()
        for kind, who in self._kinds(key, address).items():
            recent = [at for at in self._wrong.get(who, ()) if at > now - WINDOW]
            if len(recent) >= MOST_WRONG[kind]:
                minutes = -int(-(recent[-MOST_WRONG[kind]] + WINDOW - now) // 60)
                raise TooOftenError(
                    Message("too many wrong passwords; try again in %(minutes)s minutes.", minutes=minutes)
                )

    def wrong(self, key: str, address: str) -> None:
        """A wrong password was tried."""
        now = self._clock()
        self._forget(now)
        for who in self._kinds(key, address).values():
            self._wrong[who].append(now)

    def right(self, key: str, address: str) -> None:
        """The right one was found: its owner has not been guessing."""
        self._wrong.pop(("name and address", key, address), None)

    def _kinds(self, key: str, address: str) -> dict[str, tuple[str, ...]]:
        return {
            "name and address": ("name and address", key, address),
            "address": ("address", address),
            "name": ("name", key),
        }

    def _forget(self, now: float) -> None:
        for who, tries in [*self._wrong.items()]:
            if tries[-1] <= now - WINDOW:
                del self._wrong[who]
