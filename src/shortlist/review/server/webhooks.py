"""Webhooks: other systems are told what happens, signed as Standard Webhooks are (standardwebhooks.com).

The log is the outbox: an event is in it before anybody hears of it, and how far a target was told is noted once it has
said so. So each event is told at least once, also after a kill; told again it has the same id.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hashlib
import hmac
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import sqlalchemy as sa

from shortlist.exceptions import InvalidInputError
from shortlist.review.desk.queue import Queue
from shortlist.review.log.database import Database, reading, writing
from shortlist.review.log.events import Erased, Event, Imported, Judged, NameErased, Override, Second, Undo
from shortlist.review.server.tables import DELIVERIES
from shortlist.review.web.bodies import EventOut
from shortlist.review.web.site import is_loopback

log = logging.getLogger("shortlist.review")
SECRET = "SHORTLIST_WEBHOOK_SECRET"
KINDS = (
    Judged.kind, Second.kind, Override.kind, Undo.kind, Imported.kind, Erased.kind, NameErased.kind,
)  # fmt: skip
#: Seconds after a failure until it is tried again; the last holds from then on.
BACKOFF = (5.0, 30.0, 120.0, 600.0, 3600.0)
TIMEOUT = 15.0
#: Events of a queue that are told before the next queue has its turn.
AT_ONCE = 100
#: How often it is looked for what is new.
TELL_SECONDS = 1.0
GONE = 410


@dataclass(frozen=True)
class Webhook:
    """Where events are told, and the key that signs them."""

    url: str
    key: bytes

    @classmethod
    def of(cls, url: str, secret: str | None) -> Webhook:
        """Check an address and a secret such as whsec_…, which only both sides know."""
        if not _is_safe(url):
            raise InvalidInputError(
                f"--webhook {url} must begin with https:// (or lead to this machine): it tells names and verdicts."
            )
        try:
            key = base64.b64decode((secret or "").removeprefix("whsec_"), validate=True)
        except binascii.Error:
            key = b""
        if not 24 <= len(key) <= 64:
            made = f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
            raise InvalidInputError(
                f"a webhook is signed: give both sides a secret of 24 to 64 bytes, for one export {SECRET}={made}"
            )
        return cls(url, key)

    @classmethod
    def of_environment(cls, urls: Iterable[str]) -> list[Webhook]:
        """Webhooks whose secret is in the environment, where no list of processes shows it."""
        return [cls.of(url, os.environ.get(SECRET)) for url in urls]

    @property
    def name(self) -> str:
        """What stands for the address in the database: it may hold a key of its own."""
        return hashlib.sha256(self.url.encode()).hexdigest()

    def headers(self, id: str, at: int, body: bytes) -> dict[str, str]:
        """What shows that a message is ours, and which it is.

        >>> hook = Webhook.of("https://cases.example/in", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        >>> hook.headers("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')["webhook-signature"]
        'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
        """
        signature = hmac.new(self.key, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
        return {
            "content-type": "application/json",
            "webhook-id": id,
            "webhook-timestamp": str(at),
            "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
        }


class Outbox:
    """Tells every webhook of every queue that this server owns, in the order of its log.

    Parameters
    ----------
    database : where it is noted how far each was told, beside the people
    queues : those of the server
    clock : seconds since 1970
    """

    def __init__(
        self,
        database: Database,
        queues: Mapping[str, Queue],
        webhooks: Iterable[Webhook],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database, self._queues, self._clock = database, queues, clock
        self._webhooks, self._http = [*webhooks], httpx.Client(timeout=TIMEOUT, trust_env=False)
        self._failed: dict[str, tuple[int, float]] = {}  # how often in a row, and when it may be tried again
        self._met, self._stopped = False, threading.Event()

    def run(self) -> None:
        """Tell what is new, until it is told to stop; an error of any kind is tried again."""
        while not self._stopped.is_set():
            try:
                self.deliver()
            except Exception as error:
                log.warning("webhooks could not be told (%s: %s)", type(error).__name__, error)
            self._stopped.wait(TELL_SECONDS)
        self._http.close()

    def stop(self) -> None:
        """Tell nothing more; what was not taken is told after the next start."""
        self._stopped.set()

    def deliver(self) -> int:
        """Tell what is to be told now; returns how many messages were taken."""
        taken = sum(self._tell(hook, queue) for hook in self._webhooks for queue in [*self._queues.values()])
        self._met = True
        return taken

    def _tell(self, hook: Webhook, queue: Queue) -> int:
        taken = 0
        if queue.read_only or self._waits(hook):
            return taken
        key = queue.key()
        for event in queue.log(after=self._told(hook, queue, key), kinds=KINDS, limit=AT_ONCE):
            if self._stopped.is_set() or not self._send(hook, queue, event):
                break
            self._note(hook, key, event.seq)
            taken += 1
        return taken

    def _send(self, hook: Webhook, queue: Queue, event: Event) -> bool:
        body = json.dumps(message(queue, event), separators=(",", ":")).encode()
        headers = hook.headers(f"evt_{queue.hash_of(event.seq)}", int(self._clock()), body)
        try:
            status = self._http.post(hook.url, content=body, headers=headers).status_code
            why = f"it answered {status}"
        except httpx.HTTPError as error:
            status, why = 0, type(error).__name__
        if 200 <= status < 300:
            self._failed.pop(hook.name, None)
            return True
        self._fail(hook, status, why)
        return False

    def _fail(self, hook: Webhook, status: int, why: str) -> None:
        times = self._failed.get(hook.name, (0, 0.0))[0] + 1
        wait = float("inf") if status == GONE else BACKOFF[min(times, len(BACKOFF)) - 1]
        self._failed[hook.name] = times, self._clock() + wait
        again = "not before the next start" if status == GONE else f"in {wait:g} s"
        host = urlsplit(hook.url).hostname
        log.warning("the webhook at %s did not take an event (%s); it is tried again %s", host, why, again)

    def _waits(self, hook: Webhook) -> bool:
        return self._failed.get(hook.name, (0, 0.0))[1] > self._clock()

    def _told(self, hook: Webhook, queue: Queue, key: str) -> int:
        """The last event that a target has taken; what came before it was named is not told to it."""
        mine = (DELIVERIES.c.target == hook.name) & (DELIVERIES.c.queue == key)
        with reading(), self._database.engine.connect() as connection:
            found = connection.execute(sa.select(DELIVERIES.c.seq).where(mine)).scalar_one_or_none()
        if found is not None:
            return int(found)
        # A queue that is made while we run is told from its start.
        begin = 0 if self._met else queue.head()[0]
        with writing(), self._database.transaction() as connection:
            connection.execute(sa.insert(DELIVERIES).values(target=hook.name, queue=key, seq=begin))
        return begin

    def _note(self, hook: Webhook, key: str, seq: int) -> None:
        mine = (DELIVERIES.c.target == hook.name) & (DELIVERIES.c.queue == key)
        with writing(), self._database.transaction() as connection:
            connection.execute(sa.update(DELIVERIES).where(mine).values(seq=seq))


def message(queue: Queue, event: Event) -> dict[str, Any]:
    """What is told of an event: who said what of which row, no value of the row.

    Row and person also have numbers, which stay when id and name are erased: the target can erase what it was told.
    """
    told = EventOut.of(event, queue)
    said = {
        name: value
        for name, value in told.payload.items()
        if name in ("verdict", "note", "reason", "answers")
    }
    at = dt.datetime.fromtimestamp(event.at, dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    kind = event.kind.replace(" ", "_")
    data = {"queue": queue.name, "event": event.seq, "row": event.row, "id": told.id, "who": event.who,
            "person": queue.first_event_of(event.who), **said}  # fmt: skip
    if isinstance(event.body, NameErased):
        data["erased_person"] = event.body.person
    return {"type": f"review.{kind}", "timestamp": at, "data": data}


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme == "https":
        return bool(host)
    return parts.scheme == "http" and is_loopback(host)
