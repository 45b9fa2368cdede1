"""The web server of a queue on one machine: it binds to loopback and owns the engine."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles

from shortlist._version import __version__
from shortlist.exceptions import InvalidInputError, ShortlistError
from shortlist.review.desk.queue import Queue
from shortlist.review.web import api, pages
from shortlist.review.web.security import Guard, Keys, hosts_of

HOST = "127.0.0.1"
PORT = 8765
log = logging.getLogger("shortlist.review")


def create_app(queues: dict[str, Queue], keys: Keys, hosts: frozenset[str]) -> FastAPI:
    """The pages and the REST API of some queues."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        for queue in queues.values():
            queue.close()

    app = FastAPI(
        title="Shortlist review",
        version=__version__,
        summary="Review queues: the top row, a verdict, the next row.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # FastAPI's page loads scripts from elsewhere; ours is /api/v1/docs
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.queues, app.state.keys = queues, keys
    app.include_router(api.router, prefix="/api/v1")
    app.include_router(pages.router, include_in_schema=False)
    app.mount("/static/charts", StaticFiles(directory=str(files("shortlist.report") / "vendor")))
    app.mount("/static", StaticFiles(directory=str(files("shortlist.review.web") / "static")))
    app.add_exception_handler(ShortlistError, _show_error)
    app.add_exception_handler(RequestValidationError, _show_invalid)
    app.add_middleware(Guard, hosts=hosts)
    return app


def listen(port: int | None) -> socket.socket:
    """A socket on loopback; None: the usual port, or any other that is free."""
    try:
        return _bound(PORT if port is None else port)
    except OSError as error:
        if port is None and error.errno == errno.EADDRINUSE:
            return _bound(0)
        raise InvalidInputError(
            f"port {port} cannot be used ({os.strerror(error.errno or 0)}). Choose another with --port, or leave "
            "--port out and a free one is found."
        ) from None


def make_server(queue: Queue, sock: socket.socket) -> tuple[uvicorn.Server, Keys, str]:
    """A server of a queue that is ready to run, its keys, and its address."""
    port = sock.getsockname()[1]
    keys = Keys(queue.workspace.secret())
    app = create_app({queue.name: queue}, keys, hosts_of(port))
    # The access log would hold the token of the first address.
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, lifespan="on", ws="none",
        timeout_graceful_shutdown=3,
    )  # fmt: skip
    return uvicorn.Server(config), keys, f"http://{HOST}:{port}"


def serve(queue: Queue, sock: socket.socket, *, ready: Callable[[str], None]) -> None:
    """Serve a queue until the process is told to stop; ``ready`` is told the address to open."""
    server, keys, url = make_server(queue, sock)
    if not queue.read_only:
        queue.workspace.announce({"url": url, "token": keys.access_token, "pid": os.getpid()})
    sock.listen()  # whoever opens the address at once waits for the first answer
    ready(f"{url}/login?token={keys.issue()}")
    server.run(sockets=[sock])


def serve_folder(folder: str, port: int | None = None) -> None:
    """Serve the queue of a workspace to programs, until the process is told to stop."""
    serve(Queue.open(folder), listen(port), ready=lambda url: None)


def _bound(port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # A port that a server of ours has just left may be taken up at once.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((HOST, port))
    except (OSError, OverflowError):
        sock.close()
        raise
    return sock


async def _show_error(request: Request, error: Exception) -> Response:
    status = getattr(error, "status", 422)
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": str(error), "kind": type(error).__name__}, status_code=status)
    return await pages.error_page(request, str(error), status)


async def _show_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = [f"{'.'.join(str(part) for part in e['loc'][1:])}: {e['msg']}" for e in error.errors()]
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": "; ".join(problems), "kind": "BadRequestError"}, status_code=422)
    return await pages.error_page(request, "; ".join(problems), 422)
