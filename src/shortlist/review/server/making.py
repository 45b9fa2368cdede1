"""How a lead makes a queue: from a file that is sent, on a page or by a program."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Body, File, Form, Query, Request, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shortlist.exceptions import ShortlistError
from shortlist.languages.words import Message
from shortlist.review.errors import BadRequestError
from shortlist.review.server.folder import FORMATS, Made, QueueFolder
from shortlist.review.web.api import ERRORS
from shortlist.review.web.bodies import MadeOut, QueueOut
from shortlist.review.web.callers import Caller, Visitor
from shortlist.review.web.rendering import render
from shortlist.tables.stranger import sent_as

pages = APIRouter()
api = APIRouter(responses=ERRORS)
Column = Annotated[str | None, Query(max_length=200)]
MOST_OF_A_NAME = 100
Text = Annotated[str, Form(max_length=200)]


@api.post("/queues")
async def create_queue(
    request: Request,
    caller: Caller,
    name: Annotated[str, Query(max_length=60)],
    content: Annotated[bytes, Body(media_type="application/octet-stream")] = b"",
    path: Annotated[str, Query(max_length=1000)] = "",
    format: Literal["csv", "parquet", "jsonl"] = "parquet",
    id: Column = None,
    label: Column = None,
    value: Column = None,
    budget: Annotated[int, Query(ge=1, le=10_000_000)] = 100,
    audit: Annotated[float, Query(ge=0, le=0.5)] = 0.0,
) -> MadeOut:
    """Make a queue from the rows of a file: the body, or one of the server (``path``), where whoever runs it allows."""
    settings = {"budget": budget, "audit": audit}
    options = {"id": id, "label": label, "value": value, "settings": settings}
    made = await _make(request, name, content, format, sent_as(format), path, options)
    return MadeOut(**vars(QueueOut.of(made.queue.snapshot)), notes=[*map(str, made.notes)])


@pages.get("/new")
async def new_queue(request: Request, visitor: Visitor) -> Response:
    """What a new queue is made from."""
    return _form(request, visitor)


@pages.post("/new")
async def make_queue(
    request: Request,
    visitor: Visitor,
    name: Text,
    rows: Annotated[UploadFile | None, File()] = None,
    path: Annotated[str, Form(max_length=1000)] = "",
    id: Text = "",
    value: Text = "",
    budget: Annotated[int, Form(ge=1, le=10_000_000)] = 100,
    audit: Annotated[float, Form(ge=0, le=50)] = 0.0,
) -> Response:
    """Make a queue, and go to it, past what is to know of it; where that cannot be done the form says why."""
    file = _file_name((rows.filename if rows else "") or "")
    format = file.rpartition(".")[2].lower()
    settings = {"budget": budget, "audit": audit / 100}
    options: dict[str, Any] = {"id": id.strip() or None, "value": value.strip() or None, "settings": settings}
    content = await rows.read() if rows else b""
    try:
        made = await _make(request, name.strip(), content, format, (file, ""), path.strip(), options)
    except ShortlistError as error:
        return _form(request, visitor, error.args[0], 422, name=name, id=id, value=value, path=path)
    if made.notes:
        return render(request, "made.html", visitor, name=name.strip(), notes=made.notes)
    return RedirectResponse(f"/q/{quote(name.strip())}", 303)


async def _make(
    request: Request,
    name: str,
    content: bytes,
    format: str,
    called: tuple[str, str],
    path: str,
    options: dict[str, Any],
) -> Made:
    """From a file that was sent, or from one of the server: one of them must be told."""
    folder = _folder(request)
    if bool(content) == bool(path):
        raise BadRequestError(
            Message("send a file with rows, or name one of the server.")
            if folder.sources
            else Message("send a file with rows; none came, or an empty one.")
        )
    if path:
        return await run_in_threadpool(folder.make_from, name, path, **options)
    return await run_in_threadpool(folder.make, name, content, format, called, **options)


def _file_name(sent: str) -> str:
    r"""The name of a file that a browser sends, as it is told again: without folders, and not without end.

    >>> _file_name("C:\\exports\\claims.csv"), len(_file_name("a" * 5000 + ".csv"))
    ('claims.csv', 100)
    """
    name = sent.replace("\\", "/").rpartition("/")[2]
    return "".join(letter for letter in name if letter.isprintable())[-MOST_OF_A_NAME:]


def _form(request: Request, visitor: Visitor, message: str = "", status: int = 200, **typed: str) -> Response:
    return render(
        request, "new.html", visitor, status=status, message=message, typed=typed,
        accept=",".join(f".{each}" for each in FORMATS), files=_folder(request).files(),
        has_sources=bool(_folder(request).sources),
    )  # fmt: skip


def _folder(request: Request) -> QueueFolder:
    return request.app.state.queues
