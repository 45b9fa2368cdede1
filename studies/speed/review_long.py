"""Twenty thousand verdicts in one server: whether time and memory per verdict stay as they are.

A server as a user starts it, a few reviewers who answer at once. After every thousand verdicts: the time per verdict,
that of the server's processor (on a machine that others use too, the clock tells little) and the memory it holds. Over
the second half of the verdicts a line is drawn through each (Theil and Sen's, which one odd step does not move); what
grows along it by more than 20 % makes the exit code 1.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import psutil
from scipy.stats import theilslopes

from studies.running import study_parser, tell
from studies.speed.review_load import Server, make_rows

REVIEWERS = 4
#: Per cent, over the second half.
MOST_GROWTH = 20


async def give(http: httpx.AsyncClient, path: str, left: list[int]) -> None:
    """Verdicts until none is left to give."""
    turn = (await http.post(f"{path}/turn")).raise_for_status().json()
    while left[0] > 0 and turn["state"] == "row":
        left[0] -= 1
        verdict = "wanted" if float(turn["fields"]["x0"].replace(",", "")) > 2 else "not wanted"
        answer = await http.post(f"{path}/verdicts", json={"shown": turn["shown"], "verdict": verdict})
        turn = answer.raise_for_status().json()


async def give_some(server: Server, n: int) -> None:
    """Some verdicts, by a few reviewers at once."""
    name = Path(server.told["workspace"]).name.removesuffix(".review")
    path, left = f"/api/v1/queues/{name}", [n]
    headers = {"authorization": f"Bearer {server.running['token']}"}
    clients = [
        httpx.AsyncClient(
            base_url=server.running["url"],
            headers={**headers, "x-reviewer": f"r{i}"},
            timeout=600,
            trust_env=False,
        )
        for i in range(REVIEWERS)
    ]
    await asyncio.gather(*(give(client, path, left) for client in clients))
    for client in clients:
        await client.aclose()


def measure(n_verdicts: int, n_rows: int, every: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.parquet"
        make_rows(n_rows, data)
        server = Server(data)
        try:
            asyncio.run(give_some(server, every // 5))  # the first verdicts compile what was not compiled yet
            steps = [_step(server, every) for _ in range(n_verdicts // every)]
        finally:
            server.stop()
    return {"verdicts": n_verdicts, "rows": n_rows, "steps": steps, **_second_half(steps)}


def _step(server: Server, n: int) -> dict[str, float]:
    cpu, began = server.cpu_seconds(), time.perf_counter()
    asyncio.run(give_some(server, n))
    return {
        "cpu_ms": 1000 * (server.cpu_seconds() - cpu) / n,
        "ms": 1000 * (time.perf_counter() - began) / n,
        "rss_mb": psutil.Process(server.process.pid).memory_info().rss / 2**20,
    }


def _second_half(steps: list[dict[str, float]]) -> dict[str, float]:
    half = steps[len(steps) // 2 :]
    return {f"{name} grows by %": round(growth([step[name] for step in half]), 1) for name in half[0]}


def growth(values: Sequence[float]) -> float:
    """By how many per cent the line through values rises from the first to the last of them.

    >>> round(growth([10.0, 10.5, 80.0, 11.5, 12.0]))
    19
    """
    slope, base, *_ = theilslopes(values)
    return float(100 * slope * (len(values) - 1) / base)


def main(arguments: Sequence[str]) -> None:
    """Measure."""
    parser = study_parser(__name__, __doc__, "400 verdicts")
    parser.add_argument("--verdicts", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=30_000)
    options = parser.parse_args(arguments)
    n, every = (400, 100) if options.quick else (options.verdicts, options.verdicts // 20)
    found = measure(n, options.rows if not options.quick else 2000, every)
    tell(found, options.json, show)
    # Of so few verdicts as in the quick form nothing follows.
    grown = [name for name, value in found.items() if name.endswith("grows by %") and value > MOST_GROWTH]
    sys.exit(1 if grown and not options.quick else 0)


def show(result: dict[str, Any]) -> None:
    for number, step in enumerate(result["steps"], 1):
        told = "  ".join(f"{name} {value:8.1f}" for name, value in step.items())
        print(f"{number * result['verdicts'] // len(result['steps']):>7,} verdicts  {told}")
    for name, value in result.items():
        if name != "steps":
            print(f"{name:20} {value}")
