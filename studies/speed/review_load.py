"""Twenty reviewers at one queue: how long from a verdict to the next row, and how many verdicts per second.

The server runs in a process of its own; the reviewers are coroutines in this one, each with a connection of its own,
who answer a fifth of a second after they see a row: up to 100 verdicts per second in all, faster than people read.
--think 0.1 offers up to 200 per second and shows what happens when more is asked than two cores can do.
--reviewers 50 --postgres keeps the log in a PostgreSQL server that is started for it, and lets more people work.
The time is measured at the reviewer: request sent to next row read. Sizes: 1,000,000 rows and 10,000
rows, 100 trees each.

Times on a machine that others use say little. So the same reviewers then work at a bare server, FastAPI that appends
each verdict to a SQLite file and commits, and the ratio to it is told.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import polars as pl
import psutil
import uvicorn
from fastapi import FastAPI, Request
from numpy.typing import NDArray

from shortlist.review import Workspace, create
from studies.postgres import add_database, database_of
from studies.running import study_parser, tell

Floats = NDArray[np.float64]
REVIEWERS = 20
THINK = 0.2
SEARCHES = 100
BUDGET = 1_000_000
#: What is aimed at, by rows and reviewers.
BARS = {
    (1_000_000, 20): {"p99_ms": 250, "per_second": 50, "start_s": 30, "search_p95_ms": 500},
    (10_000, 20): {"p99_ms": 60},
    (1_000_000, 50): {"p99_ms": 300, "per_second": 50},
}


def make_rows(n_rows: int, path: Path) -> None:
    rng = np.random.default_rng(0)
    numbers = {f"x{i}": rng.normal(size=n_rows).round(4) for i in range(8)}
    kind = rng.choice(["a", "b", "c", "d"], n_rows)
    pl.DataFrame({"id": np.arange(n_rows), **numbers, "kind": kind}).write_parquet(path)


class Server:
    """``shortlist review`` as a user starts it."""

    def __init__(self, data: Path) -> None:
        command = [
            sys.executable,
            "-m",
            "shortlist",
            "review",
            str(data),
            "--id",
            "id",
            "--budget",
            str(BUDGET),
        ]
        self.process = subprocess.Popen(
            [*command, "--no-browser", "--json"], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self.process.stdout is not None
        self.told = json.loads("".join(self.process.stdout.readline() for _ in range(4)))
        running = Workspace(self.told["workspace"]).running()
        assert running is not None, "the server has gone"
        self.running = running

    def cpu_seconds(self) -> float:
        """Processor time the server has used so far."""
        used = psutil.Process(self.process.pid).cpu_times()
        return used.user + used.system

    def stop(self) -> None:
        """Stop it as a user does."""
        os.kill(self.process.pid, signal.SIGINT)
        self.process.wait()


class BareServer:
    """FastAPI that appends each verdict to a SQLite file and commits, and nothing else."""

    def __init__(self, folder: Path) -> None:
        start = (
            f"from studies.speed.review_load import serve_bare; serve_bare({str(folder / 'bare.sqlite')!r})"
        )
        self.process = subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.told = {"workspace": "bare.review"}
        self.running = {"url": self.process.stdout.readline().strip(), "token": "none"}

    def cpu_seconds(self) -> float:
        """Processor time the server has used so far."""
        used = psutil.Process(self.process.pid).cpu_times()
        return used.user + used.system

    def stop(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait()


def serve_bare(path: str) -> None:
    """Serve what ``reviewer`` asks for, and print the address."""
    app, numbers = FastAPI(), count(1)
    log = sqlite3.connect(path, check_same_thread=False)
    log.executescript(
        "pragma journal_mode = wal; pragma synchronous = full; create table events (payload text)"
    )

    @app.post("/api/v1/queues/bare/turn")
    @app.post("/api/v1/queues/bare/verdicts")
    async def record(request: Request) -> dict[str, object]:
        log.execute("insert into events values (?)", [(await request.body()).decode()])
        log.commit()
        number = next(numbers)
        return {"state": "row", "shown": number, "row": number, "fields": {"x0": "0.5"}}

    sock = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{sock.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run([sock])


class Line:
    """A reviewer's connection, kept open. A client of a library would take longer for a request than the server."""

    def __init__(self, server: Server | BareServer, who: str) -> None:
        self._place = urlsplit(server.running["url"])
        self._head = (
            f"host: {self._place.netloc}\r\nauthorization: Bearer {server.running['token']}\r\nx-reviewer: {who}\r\n"
            "content-type: application/json\r\n"
        )

    async def __aenter__(self) -> Line:
        self._reader, self._writer = await asyncio.open_connection(self._place.hostname, self._place.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def post(self, path: str, body: dict[str, object] | None = None) -> dict[str, Any]:
        """What the server answers."""
        text = b"" if body is None else json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\n{self._head}content-length: {len(text)}\r\n\r\n"
        self._writer.write(head.encode() + text)
        told = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        content = await self._reader.readexactly(int(told.partition(b"content-length:")[2].split()[0]))
        assert told.split()[1] == b"200", content
        return json.loads(content)


async def reviewer(line: Line, name: str, until: float, think: float) -> list[tuple[float, int]]:
    """Seconds from each verdict to the next row, and the row it was on."""
    done, path = [], f"/api/v1/queues/{name}"
    async with line:
        turn = await line.post(f"{path}/turn")
        while time.perf_counter() < until and turn["state"] == "row":
            row, x0 = turn["row"], float(turn["fields"]["x0"].replace(",", ""))
            await asyncio.sleep(think)
            began = time.perf_counter()
            said = {"shown": turn["shown"], "verdict": "wanted" if x0 > 2 else "not wanted"}
            turn = await line.post(f"{path}/verdicts", said)
            done.append((time.perf_counter() - began, row))
    return done


@dataclass
class Load:
    """What some reviewers saw in some seconds."""

    ms: Floats
    rows: list[int]
    server_cpu: float
    client_cpu: float

    @classmethod
    def put_on(
        cls, server: Server | BareServer, seconds: float, think: float, n_reviewers: int = REVIEWERS
    ) -> Load:
        """Let reviewers work for a while."""
        cpu, own = server.cpu_seconds(), time.process_time()
        done = asyncio.run(_work(server, seconds, think, n_reviewers))
        cpu, own = server.cpu_seconds() - cpu, time.process_time() - own
        return cls(1000 * np.array([took for took, _ in done]), [row for _, row in done], cpu, own)

    def figures(self) -> dict[str, float]:
        """Quantiles, and processor time per verdict; on a machine that others use too it tells more than the clock."""
        p50, p99 = (float(np.quantile(self.ms, share)) for share in (0.5, 0.99))
        return {
            "p50_ms": round(p50, 1),
            "p99_ms": round(p99, 1),
            "cpu_ms_per_verdict": round(1000 * self.server_cpu / self.ms.size, 2),
            "client_cpu_ms_per_verdict": round(1000 * self.client_cpu / self.ms.size, 2),
        }


async def _work(
    server: Server | BareServer, seconds: float, think: float, n_reviewers: int
) -> list[tuple[float, int]]:
    until = time.perf_counter() + seconds
    name = Path(server.told["workspace"]).name.removesuffix(".review")
    crew = (reviewer(Line(server, f"r{i}"), name, until, think) for i in range(n_reviewers))
    return [each for done in await asyncio.gather(*crew) for each in done]


def search(browser: httpx.Client, server: Server, n_rows: int) -> list[float]:
    """Milliseconds of pages of the list: rows by a value anywhere, by a condition on a column, and in another order."""
    rng = np.random.default_rng(1)
    page = f"{server.running['url']}/q/{Path(server.told['workspace']).name.removesuffix('.review')}/rows"
    times = []
    for number in rng.integers(0, n_rows, SEARCHES // 4).tolist():
        value = f"{rng.normal():.4f}"
        for asked in (
            {"standing": "all", "text": str(number)},
            {"text": "A", "sort": f"x{number % 8}", "down": "true"},
            {"column": f"x{number % 8}", "test": "from", "value": value},
            {"column": "kind", "value": "c", "page": str(number % 50 + 1)},
        ):
            began = time.perf_counter()
            browser.get(page, params=asked).raise_for_status()
            times.append(1000 * (time.perf_counter() - began))
    return times


def measure(
    n_rows: int, seconds: float, think: float, n_reviewers: int, database: str | None
) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.parquet"
        make_rows(n_rows, data)
        began = time.perf_counter()
        if database is not None:
            create(
                str(data),
                Workspace.beside(str(data)),
                id="id",
                settings={"budget": BUDGET},
                database=database,
            )
        server = Server(data)
        try:
            browser = httpx.Client(follow_redirects=True, timeout=60, trust_env=False)
            browser.get(server.told["url"]).raise_for_status()
            start = time.perf_counter() - began
            # The first verdicts compile what was not compiled yet.
            Load.put_on(server, 2.0, think, n_reviewers)
            load = Load.put_on(server, seconds, think, n_reviewers)
            found = search(browser, server, n_rows)
        finally:
            server.stop()
        bare = measure_bare(Path(folder), seconds / 4, think, n_reviewers)
    figures = load.figures()
    return {
        "rows": n_rows,
        "reviewers": n_reviewers,
        "log in": "a file" if database is None else "PostgreSQL",
        "seconds": seconds,
        "think_s": think,
        "start_s": round(start, 1),
        "verdicts": load.ms.size,
        "per_second": round(load.ms.size / seconds, 1),
        **figures,
        "bare": bare,
        "p50_ratio": round(figures["p50_ms"] / bare["p50_ms"], 1),
        "p99_ratio": round(figures["p99_ms"] / bare["p99_ms"], 1),
        "load_average": round(os.getloadavg()[0], 1),
        "rows given twice": len(load.rows) - len(set(load.rows)),
        "search_p50_ms": round(float(np.quantile(found, 0.5)), 1),
        "search_p95_ms": round(float(np.quantile(found, 0.95)), 1),
        "bars": BARS.get((n_rows, n_reviewers), {}),
    }


def measure_bare(folder: Path, seconds: float, think: float, n_reviewers: int) -> dict[str, float]:
    """The same reviewers at a server that only keeps what they say."""
    server = BareServer(folder)
    try:
        return Load.put_on(server, seconds, think, n_reviewers).figures()
    finally:
        server.stop()


def main(arguments: Sequence[str]) -> None:
    """Measure each size."""
    parser = study_parser(__name__, __doc__, "10,000 rows for five seconds")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--think", type=float, default=THINK)
    parser.add_argument("--reviewers", type=int, default=REVIEWERS)
    add_database(parser)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 1_000_000])
    options = parser.parse_args(arguments)
    sizes, seconds = ([10_000], 5.0) if options.quick else (options.rows, options.seconds)
    with database_of(options) as (url, _):
        results = [measure(n, seconds, options.think, options.reviewers, url) for n in sizes]
    tell(results, options.json, show)


def show(results: list[dict[str, object]]) -> None:
    for result in results:
        print("  ".join(f"{name} {value}" for name, value in result.items()))
