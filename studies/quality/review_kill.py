"""Kill a review server again and again in the middle of verdicts, and see that nothing acknowledged is lost.

Each round starts the server, lets a few reviewers give verdicts as fast as they can, and kills the process (SIGKILL)
at a random moment. After every restart it is counted which acknowledged verdicts are not in the log, which are there
twice, and whether the server's ranking is that of a replay of the log in this process.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import fields
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import httpx

from shortlist.datasets import make_claims
from shortlist.review import Client, Workspace, create
from shortlist.review.errors import ReviewError, StoreError
from shortlist.review.reading import prove_folder, read_queue
from shortlist.review.web.server import serve_folder
from studies.kept import figures_of
from studies.postgres import add_database, database_of
from studies.quality.review_counts import Held, count_folder
from studies.running import study_parser, tell

REVIEWERS = 3
#: Seconds that a server may take to stop.
PATIENCE = 30.0
#: Any free port. The usual one would be taken by somebody else's server as soon as ours is killed, and reviewers who
#: still talk to it would be strangers there.
PORT = 0


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
PRELOAD = ["shortlist.review.server.app", "xgboost", "sklearn.linear_model"]


def start(folder: Path) -> BaseProcess:
    process = FORKS.Process(target=serve_folder, args=(str(folder), PORT), daemon=True)
    process.start()
    wait_for(folder, process)
    return process


def wait_for(folder: Path, process: BaseProcess) -> None:
    """Wait until a server owns the queue."""
    until = time.monotonic() + 120
    while time.monotonic() < until and process.is_alive():
        running = Workspace(folder).running()
        if running and running["pid"] == process.pid:
            return
        time.sleep(0.02)
    raise RuntimeError("the server does not own its queue")


def one_round(
    folder: Path, acknowledged: dict[int, str], rng: random.Random, *, end: signal.Signals = signal.SIGKILL
) -> Held:
    """Start the server, see what it holds, let people review, and end it in the middle of that."""
    process = start(folder)
    try:
        found = check(folder, acknowledged)
        clients = [client_of(folder, f"r{i}") for i in range(REVIEWERS)]
        crew = [Reviewer(client, acknowledged, random.Random(rng.random())) for client in clients]
        for reviewer in crew:
            reviewer.start()
        # Mostly in the middle of verdicts, however slow the machine is; sometimes before the first.
        until, before = time.monotonic() + PATIENCE * (rng.random() < 0.8), len(acknowledged)
        while len(acknowledged) == before and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.5))
        process.terminate() if end is signal.SIGTERM else process.kill()
        process.join(PATIENCE)
    finally:
        process.kill()
        process.join()
    for reviewer in crew:
        reviewer.join()
        reviewer.client.close()
        if reviewer.fault and not isinstance(reviewer.fault, StoreError):
            raise reviewer.fault
    return found


def worst(found: Sequence[Held]) -> Held:
    """Of counts of one log that grows: a verdict that is lost stays lost, and is one."""
    return Held(*(max(getattr(each, field.name) for each in found) for field in fields(Held)))


def client_of(folder: Path, who: str = "program") -> Client:
    client = Client.of_workspace(folder, who=who)
    assert client is not None, "the server has gone"
    return client


def check(folder: Path, acknowledged: dict[int, str]) -> Held:
    """What a server that has just started holds: its log, and a ranking that must be the one of a replay."""
    with client_of(folder) as client:
        live = client.digest()
    proof = prove_folder(folder)
    other = (live["digest"], live["version"]) != (proof.digest, proof.version)
    answers = read_queue(folder).state.answer.values()
    rows = [event.row for event in answers if event.kind == "verdict"]
    found = Held(doubles=len(rows) - len({*rows}), unequal=int(other))
    return count_folder(folder, acknowledged, proof) + found


def run(
    kills: int, n_rows: int, seed: int, database: str | None = None, seconds: float = float("inf")
) -> dict[str, Any]:
    """Kill so often, or as often as the time allows."""
    rng, began = random.Random(seed), time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        data, folder = Path(place) / "claims.csv", Path(place) / "claims.review"
        make_claims(n_rows, random_state=seed).drop("fraud").write_csv(data)
        settings = {"budget": None, "audit": 0.05}
        create(str(data), Workspace(folder), id="claim_id", settings=settings, database=database)
        acknowledged: dict[int, str] = {}
        busy, found = 0, list[Held]()
        while len(found) < kills and time.perf_counter() - began < seconds:
            before = len(acknowledged)
            found.append(one_round(folder, acknowledged, rng))
            busy += len(acknowledged) > before
            if sys.stderr.isatty():
                print(f"\r{len(found)} kills, {len(acknowledged)} verdicts", end="", file=sys.stderr)
        done = len(found)
        final = start(folder)
        try:
            found.append(check(folder, acknowledged))
        finally:
            final.kill()
            final.join()
        stored = len(read_queue(folder).state.answer)
    return {
        "kills": done,
        "kills after new verdicts": busy,
        "stored": stored,
        **worst(found).told(),
        "seconds": round(time.perf_counter() - began, 1),
    }


def added(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Runs with a queue of their own each, counted together."""
    total = {name: sum(run[name] for run in runs) for name in runs[0] if name not in ("runs", "well")}
    total["seconds"] = round(total["seconds"], 1)
    return {
        "runs": sum(run.get("runs", 1) for run in runs),
        **total,
        "well": all(run["well"] for run in runs),
    }


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Options of a study whose runs can be cut short, and counted together."""
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="stop after so many, report what is done"
    )
    parser.add_argument(
        "--add", type=Path, action="append", default=[], metavar="FILE",
        help="figures of an earlier run (--json), to be counted with these; 0 of what is asked for adds files up",
    )  # fmt: skip


def earlier(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The runs that are to be counted with this one."""
    return [figures_of(json.loads(path.read_text(encoding="utf-8"))) for path in options.add]


def main(arguments: Sequence[str]) -> None:
    """Kill it as often as asked."""
    parser = study_parser(__name__, __doc__, "three kills")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    add_runs(parser)
    add_database(parser)
    options = parser.parse_args(arguments)
    # A server that is forked from a process with everything imported starts at once.
    FORKS.set_forkserver_preload(PRELOAD)
    with database_of(options) as (database, _):
        kills, seconds = 3 if options.quick else options.kills, 60 * options.minutes
        runs = [run(kills, options.rows, options.seed, database, seconds)] if kills else []
    found = added([*runs, *earlier(options)])
    tell(found, options.json, show)
    if not found["well"]:
        sys.exit(1)


def show(result: dict[str, Any]) -> None:
    for name, value in result.items():
        print(f"{name:22} {value}")
