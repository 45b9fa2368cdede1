"""Pages of a case worker: the queue as a list, search, and what is looked up beside a row."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from importlib.resources import files
from itertools import zip_longest
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shortlist.languages.words import Message
from shortlist.review.casework.copies import near_copies
from shortlist.review.casework.index import index_of
from shortlist.review.casework.related import related
from shortlist.review.casework.search import Asked, Desk, Page, Standing, Test
from shortlist.review.desk.queue import Queue
from shortlist.review.desk.rules.asked import MOST_TOGETHER, with_unkept
from shortlist.review.desk.snapshot import Turn
from shortlist.review.errors import BadRequestError, ReviewError, StoreError
from shortlist.review.log.events import Drawn, Judged
from shortlist.review.web.api import row_of
from shortlist.review.web.beside import (
    beside_row,
    columns_of,
    events_on,
    reasons_on,
    reviewed,
    said_of,
    search,
    verdict_seen,
)
from shortlist.review.web.callers import AskedRows, CurrentQueue, Visitor, Wish, check_own
from shortlist.review.web.rendering import language_of, render
from shortlist.review.web.security import Session
from shortlist.verdicts import Verdict

router = APIRouter()
#: Columns of a table whose formats one form may hold.
MOST_FORMATS = 5000
STANDINGS = {
    Standing.OPEN: Message("not reviewed"),
    Standing.LATER: Message("put off"),
    Standing.WANTED: Message("wanted"),
    Standing.NOT_WANTED: Message("not wanted"),
    Standing.UNSURE: Message("unsure"),
    Standing.MINE: Message("by me, today"),
    Standing.ALL: Message("all rows"),
}
TESTS = {
    Test.IS: Message("is"),
    Test.CONTAINS: Message("contains"),
    Test.FROM: Message("at least"),
    Test.TO: Message("at most"),
    Test.MISSING: Message("is missing"),
}
Lines = Annotated[str, Form(max_length=20_000)]
STYLE = files("shortlist.review.web") / "static" / "review.css"


@router.get("/q/{name}/find")
async def jump(queue: CurrentQueue, visitor: Visitor, text: Wish = "") -> Response:
    """To the row of this name, or to the rows that hold the text."""
    here, text = f"/q/{quote(queue.name)}", text.strip()
    if queue.rows.position(text) is not None:
        return RedirectResponse(f"{here}/row/{quote(text, safe='')}", 303)
    return RedirectResponse(f"{here}/rows?standing=all&text={quote(text)}", 303)


@router.get("/q/{name}/rows")
async def list_rows(request: Request, queue: CurrentQueue, visitor: Visitor, asked: AskedRows) -> Response:
    """The queue as a list: filtered, sorted, a page at a time."""
    return await _list_page(request, queue, visitor, asked)


@router.post("/q/{name}/decide")
async def decide_together(
    request: Request,
    queue: CurrentQueue,
    visitor: Visitor,
    verdict: Annotated[Verdict, Form()],
    id: Annotated[list[str], Form(max_length=MOST_TOGETHER)] = [],  # noqa: B006
    note: Annotated[str, Form(max_length=2000)] = "",
    reason: Annotated[str, Form(max_length=100)] = "",
    back: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """One verdict for the rows that were selected in the list."""
    rows = [row_of(queue, each) for each in id]
    done = partial(queue.decide, visitor.who, rows, verdict, note=note, reason=reason)
    return await _back_to_list(request, queue, visitor, done, back, note)


@router.post("/q/{name}/back")
async def take_back(
    request: Request,
    queue: CurrentQueue,
    visitor: Visitor,
    verdict: Annotated[int, Form()],
    back: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Take a verdict of the list back, with those given together with it; a row that comes back is on the screen."""
    await check_own(queue, visitor, verdict)
    return await _back_to_list(request, queue, visitor, partial(queue.undo, visitor.who, verdict), back)


async def _back_to_list(
    request: Request,
    queue: Queue,
    visitor: Session,
    act: Callable[[], Future[Any]],
    back: str,
    note: str = "",
) -> Response:
    try:
        turn = await asyncio.wrap_future(act())
    except StoreError:
        raise
    except ReviewError as error:
        return await _list_page(request, queue, visitor, Asked(), with_unkept(error.args[0], note))
    here = f"/q/{quote(queue.name)}"
    if isinstance(turn, Turn) and turn.drawn is Drawn.REOPENED:
        return RedirectResponse(here, 303)
    return RedirectResponse(f"{here}/rows{back if back.startswith('?') else ''}", 303)


async def _list_page(
    request: Request, queue: Queue, visitor: Session, asked: Asked, problem: str = ""
) -> Response:
    found, desk = Page((), 0, 1), Desk({}, {})
    try:
        found, desk = await run_in_threadpool(search, queue, asked, visitor.who, language_of(request))
    except BadRequestError as error:
        problem = error.args[0]
    return render(
        request, "rows.html", visitor, queue=queue, seen=queue.snapshot, asked=asked, found=found, desk=desk,
        problem=problem, last=last_of(queue, visitor.who), columns=columns_of(queue),
        all_columns=index_of(queue.rows).columns,
        standings=STANDINGS, tests=TESTS, address=address,
    )  # fmt: skip


@router.get("/q/{name}/related/{id:path}")
async def show_related(request: Request, queue: CurrentQueue, visitor: Visitor, id: str) -> Response:
    """What other rows share with a row."""
    row = row_of(queue, id)
    found = await run_in_threadpool(related, queue.rows, said_of(queue, visitor.who), row)
    return render(request, "related.html", visitor, queue=queue, seen=queue.snapshot, related=found)


@router.get("/q/{name}/copies/{id:path}")
async def show_copies(request: Request, queue: CurrentQueue, visitor: Visitor, id: str) -> Response:
    """Rows without a verdict that are nearly the same."""
    row = row_of(queue, id)
    found = await run_in_threadpool(near_copies, queue.rows, row, reviewed(queue))
    return render(request, "copies.html", visitor, queue=queue, seen=queue.snapshot, copies=found)


@router.get("/q/{name}/sheet/{id:path}")
async def sheet(
    request: Request, queue: CurrentQueue, visitor: Visitor, id: str, download: bool = False
) -> Response:
    """All there is to say about a row on one sheet, to print, or as a file to send."""
    row = row_of(queue, id)
    standing = await asyncio.wrap_future(queue.standing())
    events = await run_in_threadpool(events_on, queue, row, visitor.who)
    page = render(
        request, "sheet.html", visitor, queue=queue, seen=queue.snapshot, id=id, standing=standing,
        fields=queue.rows.usual.fields(queue.rows.fields(row), language_of(request)), events=events,
        verdict=verdict_seen(queue, row, visitor.who), style=STYLE.read_text() if download else "", now=time.time(),
        **await run_in_threadpool(reasons_on, queue, row, events, visitor.who),
        **beside_row(queue, row, visitor.who),
    )  # fmt: skip
    if download:
        page.headers["content-disposition"] = f"attachment; filename*=UTF-8''{quote(id, safe='')}.html"
    return page


@router.post("/q/{name}/team")
async def change_team(
    queue: CurrentQueue,
    visitor: Visitor,
    columns: Lines = "",
    word: Annotated[list[str], Form(max_length=len(Verdict))] = [],  # noqa: B006
    reasons: Annotated[list[str], Form(max_length=len(Verdict))] = [],  # noqa: B006
    reasons_required: Annotated[bool, Form()] = False,
    links: Lines = "",
    criteria: Lines = "",
) -> Response:
    """Change what the team sets for its own work."""
    pairs = (line.partition("=") for line in _lines(links))
    changes = {
        "columns": _lines(columns),
        "words": {
            verdict.value: text.strip() for verdict, text in zip(Verdict, word, strict=False) if text.strip()
        },
        "reasons": {
            verdict.value: _lines(text)
            for verdict, text in zip(Verdict, reasons, strict=False)
            if _lines(text)
        },
        "reasons_required": reasons_required,
        "links": {name.strip(): link.strip() for name, _, link in pairs},
        "criteria": criteria.replace("\r\n", "\n").strip(),
    }
    await asyncio.wrap_future(queue.change(visitor.who, changes))
    return RedirectResponse(f"/q/{quote(queue.name)}", 303)


@router.post("/q/{name}/formats")
async def change_formats(
    queue: CurrentQueue,
    visitor: Visitor,
    column: Annotated[list[str], Form(max_length=MOST_FORMATS)] = [],  # noqa: B006
    format: Annotated[list[str], Form(max_length=MOST_FORMATS)] = [],  # noqa: B006
    currency: Annotated[list[str], Form(max_length=MOST_FORMATS)] = [],  # noqa: B006
) -> Response:
    """Change what columns are, and so how they are written."""
    said = {
        name: f"{kind} {money.strip().upper() if kind == 'money' else ''}".strip()
        for name, kind, money in zip_longest(column, format, currency, fillvalue="")
        if kind
    }
    await asyncio.wrap_future(queue.change(visitor.who, {"formats": said}))
    return RedirectResponse(f"/q/{quote(queue.name)}/settings#formats", 303)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def last_of(queue: Queue, who: str) -> int | None:
    """The newest verdict of a reviewer that is in force."""
    own = (e for e in reversed(queue.snapshot.verdicts) if e.who == who and isinstance(e.body, Judged))
    return next((event.seq for event in own), None)


def address(asked: Asked, changes: Mapping[str, Any]) -> str:
    """The query of a list with something changed; a change but of the page begins at its first page."""
    values = {**vars(asked), **({} if "page" in changes else {"page": 1}), **changes}
    default = vars(Asked())
    kept = {name: value for name, value in values.items() if value != default[name]}
    return "?" + "&".join(f"{name}={quote(str(value))}" for name, value in kept.items())
