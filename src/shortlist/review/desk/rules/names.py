"""Under which names nobody can review: what stands for an erased one, and those erased since the server started."""

from __future__ import annotations

import hashlib
import re
import secrets

from shortlist.languages.words import Message
from shortlist.review.errors import BadRequestError

#: What stands for a name that was erased.
ERASED = re.compile(r"erased \d+")


def check_person(name: str) -> None:
    """Refuse what stands for an erased name: the store would, together with all that others send at the same time."""
    if ERASED.fullmatch(name):
        raise BadRequestError(
            Message("'%(name)s' stands for somebody whose name was erased; choose another.", name=name)
        )


class Forgotten:
    """Names that were erased since the server started: a page that is still open must not bring one back.

    What is kept of them tells nobody the name.

    >>> names = Forgotten()
    >>> names.add("Ann")
    >>> names.check("Bob")
    >>> names.check("Ann")
    Traceback (most recent call last):
    shortlist.review.errors.BadRequestError: this name was erased; choose another, or wait for the next start.
    """

    def __init__(self) -> None:
        self._key, self._marks = secrets.token_bytes(32), set[bytes]()

    def add(self, name: str) -> None:
        """Let nobody review under this name."""
        self._marks.add(self._mark(name))

    def check(self, name: str) -> None:
        """Refuse a name that was erased, or what stands for one."""
        check_person(name)
        if self._marks and self._mark(name) in self._marks:
            raise BadRequestError(
                Message("this name was erased; choose another, or wait for the next start.")
            )

    def _mark(self, name: str) -> bytes:
        return hashlib.blake2b(name.encode(errors="replace"), key=self._key, digest_size=16).digest()
