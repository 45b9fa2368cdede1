"""Twenty reviewers at one queue: how long from a verdict to the next row, and how many verdicts per second.

The server runs in a process of its own; the reviewers are coroutines in this one, each with a connection of its own,
who answer a fifth of a second after they see a row: up to 100 verdicts per second in all, faster than people read.
--think 0.1 offers up to 200 per second and shows what happens when more is asked than two cores can do.
The time is measured at the reviewer: request sent to next row read. Sizes: 1,000,000 rows and 10,000
rows, 100 trees each.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import psutil

from shortlist.review import Workspace
from studies.running import study_parser, tell

REVIEWERS = 20
THINK = 0.2
BARS = {1_000_000: {"p99_ms": 250, "per_second": 50, "start_s": 30}, 10_000: {"p99_ms": 60}}


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
            "1000000",
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


async def reviewer(
    url: str, token: str, name: str, who: str, until: float, think: float, times: list[float], rows: list[int]
) -> None:
    headers = {"authorization": f"Bearer {token}", "x-reviewer": who}
    path = f"/api/v1/queues/{name}"
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as http:
        turn = (await http.post(f"{path}/turn")).raise_for_status().json()
        while time.perf_counter() < until and turn["state"] == "row":
            rows.append(turn["row"])
            verdict = "wanted" if float(turn["fields"]["x0"].replace(",", "")) > 2 else "not wanted"
            await asyncio.sleep(think)
            began = time.perf_counter()
            answer = await http.post(f"{path}/verdicts", json={"shown": turn["shown"], "verdict": verdict})
            turn = answer.raise_for_status().json()
            times.append(time.perf_counter() - began)


async def load(server: Server, seconds: float, think: float) -> tuple[list[float], list[int]]:
    times: list[float] = []
    rows: list[int] = []
    until = time.perf_counter() + seconds
    name = Path(server.told["workspace"]).name.removesuffix(".review")
    crew = (
        reviewer(server.running["url"], server.running["token"], name, f"r{i}", until, think, times, rows)
        for i in range(REVIEWERS)
    )
    await asyncio.gather(*crew)
    return times, rows


def measure(n_rows: int, seconds: float, think: float) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.parquet"
        make_rows(n_rows, data)
        began = time.perf_counter()
        server = Server(data)
        try:
            first = httpx.get(server.told["url"], follow_redirects=True, timeout=60, trust_env=False)
            first.raise_for_status()
            start = time.perf_counter() - began
            asyncio.run(load(server, 2.0, think))  # the first verdicts compile what was not compiled yet
            cpu = server.cpu_seconds()
            times, rows = asyncio.run(load(server, seconds, think))
            cpu = server.cpu_seconds() - cpu
        finally:
            server.stop()
    ms = 1000 * np.array(times)
    return {
        "rows": n_rows,
        "reviewers": REVIEWERS,
        "seconds": seconds,
        "think_s": think,
        "start_s": round(start, 1),
        "verdicts": len(times),
        "per_second": round(len(times) / seconds, 1),
        "p50_ms": round(float(np.quantile(ms, 0.5)), 1),
        "p99_ms": round(float(np.quantile(ms, 0.99)), 1),
        # On a machine that others use too, this tells more than the clock does.
        "cpu_ms_per_verdict": round(1000 * cpu / len(times), 2),
        "load_average": round(os.getloadavg()[0], 1),
        "rows given twice": len(rows) - len(set(rows)),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure each size."""
    parser = study_parser(__name__, __doc__, "10,000 rows for five seconds")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--think", type=float, default=THINK)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 1_000_000])
    options = parser.parse_args(arguments)
    sizes, seconds = ([10_000], 5.0) if options.quick else (options.rows, options.seconds)
    results = [{**measure(n, seconds, options.think), "bars": BARS.get(n, {})} for n in sizes]
    tell(results, options.json, show)


def show(results: list[dict[str, object]]) -> None:
    for result in results:
        print("  ".join(f"{name} {value}" for name, value in result.items()))
