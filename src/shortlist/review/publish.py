"""Tell the head of a log to the world outside, so that even the owner of the server cannot rewrite the past unseen."""

from __future__ import annotations

import datetime as dt
import logging
import smtplib
import threading
from collections.abc import Callable, Iterable, Iterator
from email.message import EmailMessage

import httpx

from shortlist.exceptions import InvalidInputError
from shortlist.review.desk.queue import Queue
from shortlist.tables.io.paths import named_path

log = logging.getLogger("shortlist.review")
DAY = 86_400.0
#: How long to wait after a target that could not be reached.
AGAIN = 600.0


def line_of(name: str, seq: int, head: str, at: dt.datetime | None = None) -> str:
    """What is told: when, of which queue, up to which event, and the hash that stands for all of them.

    >>> line_of("claims", 12, "ab" * 32, dt.datetime(2026, 1, 31, tzinfo=dt.UTC))[:35]
    '2026-01-31T00:00:00Z claims 12 abab'
    """
    now = (at or dt.datetime.now(dt.UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{now} {name.replace(' ', '_')} {seq} {head}"


def read_heads(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Events and their hashes, of lines that were told; lines may have been quoted or indented since.

    >>> list(read_heads(["> 2026-01-31T00:00:00Z claims 12 abc", ""]))
    [(12, 'abc')]
    """
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        if len(words) < 2 or not words[-2].isdecimal():
            raise InvalidInputError(
                f"line {number} is not the head of a log: {line.strip()[:80]!r}. Give lines as shortlist head prints "
                "them."
            )
        yield int(words[-2]), words[-1]


class PublishError(InvalidInputError):
    """The head of a log could not be told to where it should be."""


def tell(target: str, line: str) -> None:
    """Add the line to a file, send it to a web address, or mail it (``mailto:``) by the mail server of this machine."""
    try:
        if target.startswith("mailto:"):
            _mail(target.removeprefix("mailto:"), line)
        elif target.startswith(("http://", "https://")):
            httpx.post(target, json={"text": line}, timeout=30).raise_for_status()
        else:
            with named_path(target).open("a", encoding="utf-8") as file:
                file.write(line + "\n")
    except (OSError, ValueError, httpx.HTTPError, httpx.InvalidURL) as error:
        raise PublishError(
            f"the head of the log could not be told to {target} ({error}). Mend that, or name another file, URL or "
            "mailto: address."
        ) from error


def _mail(address: str, line: str) -> None:
    if "@" not in address or not address.isprintable() or " " in address:
        raise PublishError("that is no address")
    message = EmailMessage()
    message["Subject"], message["To"], message["From"] = line, address, "shortlist"
    # In one line, so that the letter as it was sent can be given to replay --heads too.
    message.set_content(line, cte="7bit" if line.isascii() else "quoted-printable")
    with smtplib.SMTP("localhost", timeout=30) as server:
        server.send_message(message)


class Publisher:
    """Tells the head of a queue when it starts and once a day; a target that cannot be reached is tried again.

    It never holds up a review: it only reads, in a thread of its own.
    """

    def __init__(self, queue: Queue, target: str, *, tell: Callable[[str, str], None] = tell) -> None:
        self._queue, self._target, self._tell = queue, target, tell
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="review-publisher", daemon=True)

    def start(self) -> Publisher:
        """Begin to tell."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Tell it no more."""
        self._stopped.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        wait = 0.0
        while not self._stopped.wait(wait):
            try:
                self._tell(self._target, line_of(self._queue.name, *self._queue.head()))
                wait = DAY
            except Exception as error:
                log.warning("%s It is tried again.", error)
                wait = AGAIN
