"""Real servers under traffic: killed, told to stop, and with a database that goes away under them."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

import httpx

from shortlist.review import Workspace
from shortlist.review.errors import LeaseLostError, ReviewError
from shortlist.review.web.bodies import TurnOut
from studies.postgres import PostgresServer
from studies.quality import review_kill
from studies.quality.review_counts import Held, count_folder

#: What a part tried, by name, and what it found.
Part = tuple[dict[str, int], Held]


def ended_servers(folder: Path, until: float, rng: random.Random, least: int = 1) -> Part:
    """Kill and terminate a server in the middle of verdicts, while readers take their time."""
    acknowledged, tried, found = dict[int, str](), {"kills": 0, "terms": 0}, list[Held]()
    while time.monotonic() < until or min(tried.values()) < least:
        how = "kills" if tried["kills"] <= tried["terms"] else "terms"
        readers = [threading.Thread(target=_read, args=(folder,)) for _ in range(4)]
        for each in readers:
            each.start()
        end = signal.SIGKILL if how == "kills" else signal.SIGTERM
        found.append(review_kill.one_round(folder, acknowledged, rng, end=end))
        for each in readers:
            each.join()
        tried[how] += 1
    return tried, review_kill.worst([*found, count_folder(folder, acknowledged)])


def _read(folder: Path) -> None:
    """Once there is a server, ask for the log and for everybody's figures until it has gone."""
    until = time.monotonic() + review_kill.PATIENCE
    while Workspace(folder).running() is None and time.monotonic() < until:
        time.sleep(0.05)
    try:
        with review_kill.client_of(folder, "reader") as client:
            while client.log(limit=1000):
                client.queue()
    except (httpx.HTTPError, ValueError, AssertionError, ReviewError):
        pass  # it has gone, or another one is at its place


class Asked(Protocol):
    """What somebody who reviews needs of a client."""

    def turn(self) -> TurnOut:
        """The row on the screen."""

    def record(self, shown: int, verdict: str) -> TurnOut:
        """A verdict; the next row."""

    def close(self) -> None:
        """Give connections back."""


class Patient(threading.Thread):
    """Somebody whose page sends the same verdict again until it is acknowledged."""

    def __init__(
        self, client: Asked, acknowledged: dict[int, str], patience: float = review_kill.PATIENCE
    ) -> None:
        super().__init__()
        self.client, self.acknowledged, self.patience = client, acknowledged, patience
        self.going_home = threading.Event()
        self.fault: Exception | None = None

    def run(self) -> None:
        """Give verdicts until it is time to go home, or there are no more rows."""
        try:
            turn = self._again(self.client.turn)
            while turn.state != "finished" and not self.going_home.is_set():
                turn = self._again(partial(self._judge, turn))
        except Exception as error:
            self.fault = error
        finally:
            self.client.close()

    def _judge(self, turn: TurnOut) -> TurnOut:
        if turn.shown is None:  # the queue is between two owners
            return self.client.turn()
        # Decided by the row, so that what is sent again is the same.
        verdict = ("wanted", "not wanted", "unsure")[turn.shown % 3]
        try:
            after = self.client.record(turn.shown, verdict)
        except LeaseLostError:  # it took so long that somebody else has the row
            return self.client.turn()
        self.acknowledged[turn.shown] = verdict
        return after

    def _again(self, ask: Callable[[], TurnOut]) -> TurnOut:
        began = time.monotonic()
        while True:
            try:
                return ask()
            except (ReviewError, httpx.HTTPError):
                if time.monotonic() > began + self.patience:
                    raise
                time.sleep(0.1)


def stopped_database(folder: Path, server: PostgresServer, until: float, rng: random.Random) -> Part:
    """Stop the database at once in the middle of verdicts, and start it again; the review goes on by itself."""
    acknowledged, tried = dict[int, str](), {"database stops": 0, "stops after new verdicts": 0}
    process = review_kill.start(folder)
    try:
        clients = [review_kill.client_of(folder, f"r{i}") for i in range(review_kill.REVIEWERS)]
        crew = [Patient(client, acknowledged) for client in clients]
        for each in crew:
            each.start()
        while tried["database stops"] == 0 or time.monotonic() < until:
            before = len(acknowledged)
            _wait_for_more(acknowledged, before)
            time.sleep(rng.uniform(0.0, 0.5))
            server.stop()
            time.sleep(rng.uniform(0.0, 3.0))  # also for longer than it takes to see that the lock is gone
            server.start()
            tried["database stops"] += 1
            tried["stops after new verdicts"] += len(acknowledged) > before
        _wait_for_more(acknowledged, len(acknowledged))
        for each in crew:
            each.going_home.set()
        for each in crew:
            each.join()
            if each.fault:
                raise each.fault
        review_kill.wait_for(folder, process)  # to have its lock again
        return tried, review_kill.check(folder, acknowledged)
    finally:
        process.kill()
        process.join()


def _wait_for_more(acknowledged: dict[int, str], before: int) -> None:
    until = time.monotonic() + review_kill.PATIENCE
    while len(acknowledged) == before and time.monotonic() < until:
        time.sleep(0.01)
