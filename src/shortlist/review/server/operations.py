"""For whoever runs the server: is it alive, is it of use, what does it do; no person and no value is told."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from shortlist.exceptions import ShortlistError
from shortlist.review.server.folder import QueueFolder
from shortlist.review.web.asgi import App, Receive, Scope, Send
from shortlist.review.web.callers import Caller

router = APIRouter()
log = logging.getLogger("shortlist.requests")


class QueueFigures(Collector):
    """What the queues are at, whenever somebody asks."""

    def __init__(self, queues: QueueFolder) -> None:
        self._queues = queues

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """One gauge per figure, one line per queue."""
        figures = {
            "rows": lambda seen: seen.n_rows,
            "reviewed": lambda seen: seen.reviewed,
            "wanted": lambda seen: seen.found,
            "waiting_for_lead": lambda seen: len(seen.unsure),
            "owned": lambda seen: int(not seen.read_only),
            "events": lambda seen: seen.seq,
        }
        for name, read in figures.items():
            gauge = GaugeMetricFamily(f"shortlist_queue_{name}", f"of a queue: {name}", labels=["queue"])
            for queue in self._queues.values():
                gauge.add_metric([queue.name], read(queue.snapshot))
            yield gauge
        broken = GaugeMetricFamily("shortlist_queues_not_opened", "queues that cannot be opened")
        broken.add_metric([], len(self._queues.problems))
        yield broken


class Watched:
    """Counts requests and tells each as a line of JSON: its route, never its address, which may hold a row's name."""

    def __init__(self, app: App, registry: CollectorRegistry) -> None:
        self._app = app
        labels = ["method", "route", "status"]
        self._count = Counter("shortlist_requests", "requests that were answered", labels, registry=registry)
        self._time = Histogram(
            "shortlist_request_seconds", "how long answers took", ["route"], registry=registry
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, told = time.perf_counter(), {"status": 500}

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                told["status"] = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            self._tell(scope, told["status"], time.perf_counter() - began)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "–")
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "PATCH") else "other"
        self._count.labels(method, route, status).inc()
        self._time.labels(route).observe(seconds)
        log.info(
            "%s",
            json.dumps({"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}),
        )


@router.get("/healthz")
async def healthz() -> Response:
    """Whether the process answers."""
    return PlainTextResponse("ok")


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    """Whether it is of use: people can be looked up, and the log of every queue can be read."""
    problems = await run_in_threadpool(_problems, request.app)
    return JSONResponse({"ready": not problems, "problems": problems}, 503 if problems else 200)


@router.get("/metrics")
async def metrics(request: Request, caller: Caller) -> Response:
    """Figures for Prometheus."""
    text = await run_in_threadpool(generate_latest, request.app.state.registry)
    return Response(text, media_type=CONTENT_TYPE_LATEST)


def _problems(app: Any) -> list[str]:
    """How many of what do not work; which, and why, is in the log of the server."""
    queues: QueueFolder = app.state.queues
    found = [f"{len(queues.problems)} queues cannot be opened"] if queues.problems else []
    try:
        app.state.keys.accounts.people()
    except ShortlistError:
        found.append("the accounts cannot be read")
    away = 0
    for queue in queues.values():
        try:
            queue.head()
        except ShortlistError:
            away += 1
    return [*found, f"{away} logs cannot be read"] if away else found
