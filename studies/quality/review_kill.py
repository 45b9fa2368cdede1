"""Kill a review server again and again in the middle of verdicts, and see that nothing acknowledged is lost.

Each round starts the server, lets a few reviewers give verdicts as fast as they can, and kills the process (SIGKILL)
at a random moment. After every restart: each acknowledged verdict is in the log, none is there twice, and the
server's ranking equals a replay of the log in this process.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import httpx

from shortlist.datasets import make_claims
from shortlist.review import Client, Workspace, create
from shortlist.review.errors import ReviewError
from shortlist.review.reading import prove_folder, read_queue
from shortlist.review.web.server import serve_folder
from studies.running import study_parser, tell

REVIEWERS = 3
PORT = None


class Reviewer(threading.Thread):
    """Somebody who answers at once, and remembers which answers were acknowledged."""

    def __init__(self, client: Client, acknowledged: dict[int, str], rng: random.Random) -> None:
        super().__init__()
        self.client, self.acknowledged, self.rng = client, acknowledged, rng
        self.fault: BaseException | None = None

    def run(self) -> None:
        """Give verdicts until the server has gone."""
        try:
            turn = self.client.turn()
            while turn.state == "row":
                verdict = self.rng.choice(["wanted", "not wanted", "unsure"])
                shown = turn.shown
                assert shown is not None, "a row is shown by its number"
                turn = self.client.record(shown, verdict)
                self.acknowledged[shown] = verdict
        except (httpx.HTTPError, json.JSONDecodeError):
            pass  # the server was killed
        except ReviewError as error:
            self.fault = error


FORKS = multiprocessing.get_context("forkserver")


def start(folder: Path) -> BaseProcess:
    process = FORKS.Process(target=serve_folder, args=(str(folder), PORT), daemon=True)
    process.start()
    until = time.monotonic() + 120
    while time.monotonic() < until and process.is_alive():
        running = Workspace(folder).running()
        if running and running["pid"] == process.pid:
            return process
        time.sleep(0.02)
    raise RuntimeError("the server did not start")


def one_kill(folder: Path, acknowledged: dict[int, str], rng: random.Random) -> None:
    process = start(folder)
    try:
        check(folder, acknowledged)
        clients = [client_of(folder, f"r{i}") for i in range(REVIEWERS)]
        crew = [Reviewer(client, acknowledged, random.Random(rng.random())) for client in clients]
        for reviewer in crew:
            reviewer.start()
        time.sleep(rng.uniform(0.05, 0.8))
    finally:
        process.kill()
        process.join()
    for reviewer in crew:
        reviewer.join()
        reviewer.client.close()
        if reviewer.fault:
            raise reviewer.fault


def client_of(folder: Path, who: str = "program") -> Client:
    client = Client.of_workspace(folder, who=who)
    assert client is not None, "the server has gone"
    return client


def check(folder: Path, acknowledged: dict[int, str]) -> None:
    """Every acknowledged verdict is there once; the live ranking is the replayed one."""
    queue = read_queue(folder)
    for shown, verdict in acknowledged.items():
        assert shown in queue.state.answer, f"the verdict on {shown} is lost"
        told = getattr(queue.state.answer[shown].body, "verdict", None)
        assert told == verdict, f"the verdict on {shown} has changed"
    rows = [event.row for event in queue.state.answer.values()]
    assert len(rows) == len(set(rows)), "a row was reviewed twice"
    with client_of(folder) as client:
        live = client.digest()
    proof = prove_folder(folder)
    assert proof.holds, f"shown scores differ at {proof.differing}"
    assert live == {"digest": proof.digest, "version": proof.version}, "the ranking is not that of the replay"


def run(kills: int, n_rows: int, seed: int) -> dict[str, object]:
    rng, began = random.Random(seed), time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        data, folder = Path(place) / "claims.csv", Path(place) / "claims.review"
        make_claims(n_rows, random_state=seed).drop("fraud").write_csv(data)
        create(str(data), Workspace(folder), id="claim_id", settings={"budget": None, "audit": 0.05})
        acknowledged: dict[int, str] = {}
        busy = 0
        for number in range(kills):
            before = len(acknowledged)
            one_kill(folder, acknowledged, rng)
            busy += len(acknowledged) > before
            if sys.stderr.isatty():
                print(f"\r{number + 1} kills, {len(acknowledged)} verdicts", end="", file=sys.stderr)
        final = start(folder)
        try:
            check(folder, acknowledged)
        finally:
            final.kill()
            final.join()
        stored = len(read_queue(folder).state.answer)
    return {
        "kills": kills,
        "kills after new verdicts": busy,
        "acknowledged": len(acknowledged),
        "stored": stored,
        "lost": 0,
        "twice": 0,
        "ranking equals replay": True,
        "seconds": round(time.perf_counter() - began, 1),
    }


def main(arguments: Sequence[str]) -> None:
    """Kill it as often as asked."""
    parser = study_parser(__name__, __doc__, "three kills")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    # A server that is forked from a process with everything imported starts at once.
    FORKS.set_forkserver_preload(["shortlist.review.web.server", "xgboost", "sklearn.linear_model"])
    tell(run(3 if options.quick else options.kills, options.rows, options.seed), options.json, show)


def show(result: dict[str, object]) -> None:
    for name, value in result.items():
        print(f"{name:22} {value}")
