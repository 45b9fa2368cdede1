"""The web server of a queue on one machine: it binds to loopback and owns the engine."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from shortlist._version import __version__
from shortlist.exceptions import InvalidInputError, ShortlistError
from shortlist.languages.words import Message, joined
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import BadRequestError, NotSignedInError, StoreError
from shortlist.review.web import api, lead, team
from shortlist.review.web import pages as people
from shortlist.review.web.case import api as case_api
from shortlist.review.web.case import pages as case_pages
from shortlist.review.web.problems import problem_of
from shortlist.review.web.rendering import load_pages
from shortlist.review.web.security import Gate, Guard, Keys
from shortlist.review.web.site import Site

HOST = "127.0.0.1"
PORT = 8765
#: How long a queue may be without an owner.
LOOK_AFTER_SECONDS = 2.0
#: How long a thread may keep others from the interpreter.
SWITCH_SECONDS = 0.0005
log = logging.getLogger("shortlist.review")


def create_app(
    queues: Mapping[str, Queue],
    keys: Gate,
    site: Site,
    *,
    pages: Sequence[APIRouter] = (people.alone,),
    apis: Sequence[APIRouter] = (),
    meanwhile: Sequence[Callable[[], Coroutine[Any, Any, None]]] = (),
    taken_over: Callable[[Queue], None] = lambda queue: None,
    afterwards: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The pages and the REST API of some queues.

    Parameters
    ----------
    pages, apis : how people get in, and what there is beside the queues
    meanwhile : what goes on as long as the server runs
    taken_over : called with a queue whose owner was gone, and that is ours now
    afterwards : called when the queues are closed
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(load_pages)  # which also loads what runs things in threads
        tasks = [
            asyncio.create_task(each)
            for each in (_look_after(queues, taken_over), *(begin() for begin in meanwhile))
        ]
        yield
        for task in tasks:
            task.cancel()
        for queue in queues.values():
            queue.close()
        afterwards()

    app = FastAPI(
        title="Shortlist review",
        version=__version__,
        summary="Review queues: the top row, a verdict, the next row.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # FastAPI's page loads scripts from elsewhere; ours is /api/v1/docs
        redoc_url=None,
        servers=[{"url": site.base}] if site.base else None,
        lifespan=lifespan,
    )
    app.state.queues, app.state.keys, app.state.site = queues, keys, site
    for router in (api.turns, team.api, api.router, case_api.router, lead.api, *apis):
        app.include_router(router, prefix="/api/v1")
    for router in (*pages, people.router, case_pages.router, lead.pages, team.pages):
        app.include_router(router, include_in_schema=False)
    app.mount("/static/charts", StaticFiles(directory=str(files("shortlist.report") / "vendor")))
    app.mount("/static", StaticFiles(directory=str(files("shortlist.review.web") / "static")))
    app.add_exception_handler(ShortlistError, _show_error)
    app.add_exception_handler(RequestValidationError, _show_invalid)
    app.add_exception_handler(HTTPException, _show_unknown)
    app.add_exception_handler(OSError, _show_exhausted)
    app.add_exception_handler(Exception, _show_fault)
    app.add_middleware(Guard, site=site, keys=keys)
    return app


async def _look_after(queues: Mapping[str, Queue], taken_over: Callable[[Queue], None]) -> None:
    """Take over queues whose owner is gone; one that takes its time keeps nobody from the others."""
    watches: dict[Queue, _Watch] = {}
    async with asyncio.TaskGroup() as group:
        while True:
            await asyncio.sleep(LOOK_AFTER_SECONDS)
            # A queue that was opened anew is another one, even if it has the name of before.
            watches = {each: watches.get(each) or _Watch(each, taken_over) for each in [*queues.values()]}
            for watch in watches.values():
                watch.look(group)


class _Watch:
    """Looks after one queue; what fails is said once, and tried again."""

    def __init__(self, queue: Queue, taken_over: Callable[[Queue], None]) -> None:
        self._queue, self._taken_over = queue, taken_over
        self._looking: asyncio.Task[None] | None = None
        self._said = ""

    def look(self, group: asyncio.TaskGroup) -> None:
        """Look soon, unless the last look has not come to its end."""
        if self._looking is None or self._looking.done():
            self._looking = group.create_task(self._look())

    async def _look(self) -> None:
        try:
            if await asyncio.wrap_future(self._queue.look_after()):
                self._tell()
            self._said = ""
        except Exception as error:  # whatever it is: a server that looks no longer would never take over
            if str(error) != self._said:
                log.warning("the queue %s could not be looked after: %s", self._queue.name, error)
            self._said = str(error)

    def _tell(self) -> None:
        is_ours = not self._queue.read_only
        log.info("the queue %s is %s", self._queue.name, "ours now" if is_ours else "only read now")
        if is_ours:
            self._taken_over(self._queue)


def listen(port: int | None) -> socket.socket:
    """A socket on loopback; None: the usual port, or any other that is free."""
    try:
        return bound(HOST, PORT if port is None else port)
    except OSError as error:
        if port is None and error.errno == errno.EADDRINUSE:
            return bound(HOST, 0)
        raise InvalidInputError(
            f"port {port} cannot be used ({os.strerror(error.errno or 0)}). Choose another with --port, or leave "
            "--port out and a free one is found."
        ) from None


def make_server(queue: Queue, sock: socket.socket) -> tuple[uvicorn.Server, Keys, str]:
    """A server of a queue that is ready to run, its keys, and its address, which others are told."""
    port = sock.getsockname()[1]
    keys, url = Keys(queue.workspace.secret()), f"http://{HOST}:{port}"
    facts = {"url": url, "token": keys.access_token, "pid": os.getpid()}
    app = create_app(
        {queue.name: queue}, keys, Site.local(port), taken_over=lambda queue: queue.workspace.announce(facts)
    )
    # The access log would hold the token of the first address.
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, lifespan="on", ws="none",
        timeout_graceful_shutdown=3,
    )  # fmt: skip
    if not queue.read_only:
        queue.workspace.announce(facts)
    return uvicorn.Server(config), keys, url


def settle_in() -> None:
    """Let a process that serves from now on answer evenly: nobody waits for another thread, or for old garbage."""
    # The engine's thread and that of the requests hand the interpreter to each other all the time; one that has just
    # sent or read a few bytes would wait for it for as long as most of a verdict takes.
    sys.setswitchinterval(SWITCH_SECONDS)
    # What is loaded by now stays: to look through all of it again and again would stop everybody for a while.
    gc.collect()
    gc.freeze()


def serve(queue: Queue, sock: socket.socket, *, ready: Callable[[str], None]) -> None:
    """Serve a queue until the process is told to stop; ``ready`` is told the address to open."""
    server, keys, url = make_server(queue, sock)
    settle_in()
    ready(f"{url}/login?token={keys.issue()}")
    server.run(sockets=[sock])


def serve_folder(folder: str, port: int | None = None) -> None:
    """Serve the queue of a workspace to programs, until the process is told to stop."""
    serve(Queue.open(folder), listen(port), ready=lambda url: None)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens; 0: on any port that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once only where the protocol is named. Without its name the body of an answer waits for 40 ms,
    # until the other side has acknowledged the head.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A port that a server of ours has just left may be taken up at once.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        # Two sockets may be bound to one port as long as neither listens; whoever opens the address waits.
        sock.listen(1024)
    except (OSError, OverflowError):
        sock.close()
        raise
    return sock


async def _show_error(request: Request, error: Exception) -> Response:
    if _may_sign_in(request, error):
        return RedirectResponse("/login", 303)
    return await _answer(request, error.args[0], type(error).__name__, getattr(error, "status", 422))


def _may_sign_in(request: Request, error: Exception) -> bool:
    """Whether somebody who is not signed in opens a page: they are asked to, instead of being told."""
    is_page = request.method == "GET" and not request.url.path.startswith("/api/")
    is_asked = is_page and "hx-request" not in request.headers and request.scope["caller"] is None
    at_the_door = request.url.path in request.app.state.keys.strangers
    return (
        isinstance(error, NotSignedInError)
        and request.app.state.site.is_team
        and is_asked
        and not at_the_door
    )


async def _show_unknown(request: Request, error: Exception) -> Response:
    """An address that leads nowhere, or a method it does not take."""
    assert isinstance(error, HTTPException)
    if request.url.path.startswith(("/api/", "/static/")):
        return JSONResponse(
            {"detail": error.detail, "kind": "HTTPException"}, error.status_code, error.headers
        )
    return await _page(request, Message("There is no page at this address."), error.status_code)


async def _show_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = joined([problem_of(each) for each in error.errors()], "; ")
    return await _answer(request, problems, BadRequestError.__name__, BadRequestError.status)


async def _show_exhausted(request: Request, error: Exception) -> Response:
    """No more files, room or memory: what was asked is undone, and may be asked again."""
    assert isinstance(error, OSError)
    reason = Message(
        "the server cannot do this now (%(reason)s); nothing has changed. Try again in a while.",
        reason=error.strerror or str(error),
    )
    return await _answer(request, reason, StoreError.__name__, StoreError.status)


async def _show_fault(request: Request, error: Exception) -> Response:
    reason = Message(
        "a fault in shortlist itself (%(kind)s); please report it. The server has logged where.",
        kind=type(error).__name__,
    )
    return await _answer(request, reason, "Fault", 500)


async def _answer(request: Request, reason: str, kind: str, status: int) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": str(reason), "kind": kind}, status_code=status)
    return await _page(request, reason, status)


async def _page(request: Request, reason: str, status: int) -> Response:
    try:
        return await people.error_page(request, reason, status)
    except OSError:  # numbers and dates of a region are in a file of their own, read for the first who asks
        return PlainTextResponse(str(reason), status_code=status)
