"""Two servers of a team at one queue: again and again its owner is killed under traffic, and the other takes over.

With ``--db`` or ``--postgres`` people and logs are in PostgreSQL, and every fourth owner is not killed but stands still
(SIGSTOP) while its connections are cut, and goes on when the other server owns the queue. It is counted how often the
other acknowledged verdicts, and what was acknowledged by either and is lost, which numbers are missing, what is there
twice, and where the ranking of the new owner is not that of a replay; anything but 0, or an owner that nobody took over
from, makes the exit code 1.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import httpx

from shortlist.datasets import make_claims
from shortlist.review import Client, Workspace, create
from shortlist.review.errors import ReadOnlyError, ReviewError
from shortlist.review.reading import prove_folder
from shortlist.review.server.accounts import Accounts
from shortlist.review.server.app import people_of, serve_team
from shortlist.review.web.access import Role
from shortlist.review.web.bodies import TurnOut
from studies.postgres import add_database, database_of
from studies.quality import review_kill
from studies.quality.review_counts import Held, count_folder
from studies.quality.review_servers import Part, Patient
from studies.running import study_parser, tell

#: What keepalives do to a machine that does not answer: its lock, and whatever it was in the middle of, are gone.
CUT = (
    "select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction' "
    "or pid in (select pid from pg_locks where locktype = 'advisory' and granted)"
)
#: Owners that are killed for each that is cut off.
KILLS_PER_CUT = 3
#: Seconds until a server that stands by owns the queue: it looks every two, and opens the log anew. What the owner was
#: in the middle of may keep it from that for half a minute.
PATIENCE = 120.0
#: Seconds that people wait for an answer before they ask the other server.
ANSWER_SECONDS = 20.0


def serve(folder: str, database: str | None, told: Any) -> None:
    """A server of the team on any free port, whose address is told."""
    serve_team(Path(folder), database=database, port=0, ready=lambda server: told.put(server.site.url))


class Pair:
    """The folder of a queue with two servers, and tokens of its people."""

    def __init__(self, queue: Path, database: str | None) -> None:
        self.queue, self.database = queue, database
        self.tokens = _tokens(queue.parent, database)
        self.processes: dict[str, BaseProcess] = {}
        try:
            for _ in range(2):
                self.add()
        except BaseException:
            self.close()  # or the first would go on without the second
            raise

    def add(self) -> None:
        """One more server, which has opened the queue when this returns."""
        told = review_kill.FORKS.SimpleQueue()
        where = (str(self.queue.parent), self.database, told)
        process = review_kill.FORKS.Process(target=serve, args=where, daemon=True)
        process.start()
        until = time.monotonic() + PATIENCE
        while told.empty():
            if not process.is_alive() or time.monotonic() > until:
                process.kill()
                raise RuntimeError("a server does not start")
            time.sleep(0.02)
        self.processes[told.get()] = process

    def owner(self) -> str:
        """The address of the server that writes; waits until one does, and the others say that they only read.

        One that was cut off does not know of it until it looks.
        """
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            reads = {url: self.only_reads(url) for url in [*self.processes]}
            owners = [url for url, only_reads in reads.items() if only_reads is False]
            if len(owners) == 1 and None not in reads.values():
                return owners[0]
            time.sleep(0.05)
        raise RuntimeError("no server owns the queue, or more than one says so")

    def only_reads(self, url: str) -> bool | None:
        """What a server says of itself; None where it says nothing."""
        try:
            with self.client(url, timeout=2.0) as client:
                return client.queue().read_only
        except (httpx.HTTPError, ReviewError):
            return None

    def client(self, url: str, who: str = "r0", timeout: float = ANSWER_SECONDS) -> Client:
        """Somebody at one of the servers."""
        http = httpx.Client(base_url=url, timeout=timeout, trust_env=False)
        return Client(url, self.tokens[who], self.queue.name.removesuffix(".review"), http=http)

    def end(self, url: str) -> None:
        """Kill a server."""
        process = self.processes.pop(url)
        process.kill()
        process.join(PATIENCE)

    def close(self) -> None:
        """Kill both."""
        for url in [*self.processes]:
            self.end(url)


def _tokens(folder: Path, database: str | None) -> dict[str, str]:
    """Reviewers with an account, and what their programs show."""
    with closing(Accounts(people_of(folder, database))) as accounts:
        names = [f"r{number}" for number in range(review_kill.REVIEWERS)]
        joined = [
            accounts.join(accounts.invite(Role.REVIEWER), name, secrets.token_urlsafe(16)) for name in names
        ]
        return {person.name: accounts.make_token(person, "study", Role.REVIEWER) for person in joined}


class Either:
    """A client that asks the other server where one is gone or only reads; counts what each acknowledged."""

    def __init__(self, pair: Pair, who: str, acknowledged_by: Counter[str]) -> None:
        self._pair, self._who, self._by = pair, who, acknowledged_by
        self._clients: dict[str, Client] = {}
        self._at = 0

    def turn(self) -> TurnOut:
        """The row on the screen."""
        return self._ask(lambda client: client.turn())[1]

    def record(self, shown: int, verdict: str) -> TurnOut:
        """A verdict."""
        url, turn = self._ask(lambda client: client.record(shown, verdict))
        self._by[url] += 1
        return turn

    def _ask(self, ask: Callable[[Client], TurnOut]) -> tuple[str, TurnOut]:
        urls = [*self._pair.processes]
        url = urls[self._at % len(urls)]
        try:
            client = self._clients.setdefault(url, self._pair.client(url, self._who))
            turn = ask(client)
            if turn.state == "read-only":
                raise ReadOnlyError("the other server owns the queue.")
        except (ReviewError, httpx.HTTPError):
            self._at += 1
            raise
        return url, turn

    def close(self) -> None:
        """Give the connections back."""
        for client in self._clients.values():
            client.close()


def changed_owners(
    queue: Path, most: int, rng: random.Random, database: str | None = None, until: float = float("inf")
) -> Part:
    """Take the queue from its owner in the middle of verdicts; each time until the other has acknowledged some."""
    acknowledged, found = dict[int, str](), list[Held]()
    tried = {"owners killed": 0, "owners cut off": 0, "taken over": 0}
    pair = Pair(queue, database)
    try:
        while len(found) < most and time.monotonic() < until:
            kills = KILLS_PER_CUT * (tried["owners cut off"] + 1)
            is_cut = database is not None and tried["owners killed"] >= kills
            tried["taken over"] += _one_change(pair, acknowledged, rng, cut_off if is_cut else kill)
            tried["owners cut off" if is_cut else "owners killed"] += 1
            if not _is_all_taken_over(tried):
                break  # none of the next would tell more
            found.append(_compare(pair))
            while len(pair.processes) < 2:
                pair.add()
    finally:
        pair.close()
    return tried, review_kill.worst([*found, Held()]) + count_folder(queue, acknowledged)


def _is_all_taken_over(tried: dict[str, int]) -> bool:
    """Whether another server went on each time."""
    return tried["taken over"] == tried["owners killed"] + tried["owners cut off"]


def _one_change(
    pair: Pair, acknowledged: dict[int, str], rng: random.Random, take: Callable[[Pair, str], None]
) -> bool:
    """Whether the other server acknowledged verdicts after the queue was taken from its owner."""
    by = Counter[str]()
    owner = pair.owner()
    (other,) = {*pair.processes} - {owner}
    crew = [Patient(Either(pair, who, by), acknowledged, 2 * PATIENCE) for who in pair.tokens]
    for each in crew:
        each.start()
    try:
        _wait(lambda: by[owner] > 0)
        time.sleep(rng.uniform(0.0, 0.5))
        take(pair, owner)
        _wait(lambda: by[other] > 0)
    finally:
        _send_home(crew, in_vain=by[other] == 0)
    return by[other] > 0


def _send_home(crew: Sequence[Patient], *, in_vain: bool) -> None:
    """Let people finish what they are at; where nobody answers, do not let them try any longer."""
    for each in crew:
        each.going_home.set()
        if in_vain:
            each.patience = 0.0
    for each in crew:
        each.join()
        if each.fault and not in_vain:
            raise each.fault


def kill(pair: Pair, owner: str) -> None:
    """The process is gone, and its lock with it."""
    pair.end(owner)


def cut_off(pair: Pair, owner: str) -> None:
    """The process stands still and loses its connections; when it goes on, another server owns the queue."""
    import psycopg  # noqa: PLC0415

    process = pair.processes[owner]
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)
    try:
        with psycopg.connect(str(pair.database), autocommit=True) as connection:
            connection.execute(CUT)
        _wait(lambda: any(pair.only_reads(url) is False for url in pair.processes if url != owner))
    finally:
        os.kill(process.pid, signal.SIGCONT)


def _compare(pair: Pair) -> Held:
    """Whether the ranking of the owner is that of a replay, now that nobody reviews."""
    with pair.client(pair.owner()) as client:
        live = client.digest()
    proof = prove_folder(pair.queue)
    return Held(unequal=int((live["digest"], live["version"]) != (proof.digest, proof.version)))


def _wait(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < until:
        time.sleep(0.02)


def run(
    take_overs: int, n_rows: int, seed: int, database: str | None = None, seconds: float = float("inf")
) -> dict[str, Any]:
    """So many take-overs, or as many as the time allows."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        data, queue = Path(place) / "claims.csv", Path(place) / "claims.review"
        make_claims(n_rows, random_state=seed).drop("fraud").write_csv(data)
        settings = {"budget": None, "audit": 0.05, "second_opinions": 0.2}
        create(str(data), Workspace(queue), id="claim_id", settings=settings, database=database)
        tried, found = changed_owners(queue, take_overs, random.Random(seed), database, began + seconds)
    well = found.is_well and _is_all_taken_over(tried)
    return {**tried, **found.told(), "well": well, "seconds": round(time.monotonic() - began, 1)}


def main(arguments: Sequence[str]) -> None:
    """Change owners as often as asked."""
    parser = study_parser(__name__, __doc__, "two take-overs")
    parser.add_argument("--take-overs", type=int, default=40)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    review_kill.add_runs(parser)
    add_database(parser)
    options = parser.parse_args(arguments)
    review_kill.FORKS.set_forkserver_preload(review_kill.PRELOAD)
    with database_of(options) as (database, _):
        times = 2 if options.quick else options.take_overs
        runs = [run(times, options.rows, options.seed, database, 60 * options.minutes)] if times else []
    found = review_kill.added([*runs, *review_kill.earlier(options)])
    tell(found, options.json, review_kill.show)
    if not found["well"]:
        sys.exit(1)
