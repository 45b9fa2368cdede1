"""The pages: thin, server-rendered, and of use without a script."""

from __future__ import annotations

import asyncio
import datetime as dt
from concurrent.futures import Future
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from shortlist.review.desk.people import COUNTED, people
from shortlist.review.desk.queue import Queue
from shortlist.review.desk.snapshot import Turn
from shortlist.review.errors import NotSignedInError, ReviewError, StoreError
from shortlist.review.log.events import BODIES
from shortlist.review.web.api import MEDIA, Kind, row_of, verdict_file
from shortlist.review.web.callers import CurrentQueue, Visitor, clean_name, keys_of
from shortlist.review.web.rendering import render
from shortlist.review.web.security import COOKIE, SESSION_SECONDS, Session
from shortlist.verdicts import Verdict

router = APIRouter()
LOG_LINES = 200


@router.get("/login")
async def login(request: Request, token: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Turn a one-time token into a cookie."""
    session = keys_of(request).redeem(token)
    if session is None:
        raise NotSignedInError(
            "this address was used already or is too old. Ask whoever runs the review for a new one, or start it again."
        )
    return _signed_in(request, session, "/name")


@router.get("/name")
async def ask_name(request: Request, visitor: Visitor) -> Response:
    """Ask under which name verdicts are logged."""
    return render(request, "name.html", visitor, queues=request.app.state.queues)


@router.post("/name")
async def set_name(
    request: Request, visitor: Visitor, who: Annotated[str, Form(max_length=200)] = ""
) -> Response:
    """Remember the name."""
    return _signed_in(request, Session(visitor.id, clean_name(who)), "/")


@router.get("/")
async def queues(request: Request, visitor: Visitor) -> Response:
    """The queues; where there is one, that one."""
    names = [*request.app.state.queues]
    if not visitor.who:
        return RedirectResponse("/name", 303)
    if len(names) == 1:
        return RedirectResponse(f"/q/{quote(names[0])}", 303)
    return render(request, "queues.html", visitor, queues=request.app.state.queues)


@router.get("/q/{name}")
async def review(request: Request, queue: CurrentQueue, visitor: Visitor) -> Response:
    """The row to judge."""
    if not visitor.who:
        return RedirectResponse("/name", 303)
    return await _turn_page(request, queue, visitor, queue.turn(visitor.who))


@router.post("/q/{name}/verdict")
async def record(
    request: Request,
    queue: CurrentQueue,
    visitor: Visitor,
    shown: Annotated[int, Form()],
    verdict: Annotated[str, Form()],
    note: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """A verdict, or "later"; the answer holds the next row."""
    if verdict == "later":
        return await _act(request, queue, visitor, lambda: queue.park(visitor.who, shown))
    said = Verdict(verdict) if verdict in [*Verdict] else Verdict.UNSURE
    return await _act(request, queue, visitor, lambda: queue.record(visitor.who, shown, said, note=note))


@router.post("/q/{name}/undo")
async def undo(
    request: Request, queue: CurrentQueue, visitor: Visitor, verdict: Annotated[int, Form()]
) -> Response:
    """Take a verdict back."""
    return await _act(request, queue, visitor, lambda: queue.undo(visitor.who, verdict))


@router.post("/q/{name}/more")
async def more(
    request: Request,
    queue: CurrentQueue,
    visitor: Visitor,
    rows: Annotated[int, Form(ge=1, le=1_000_000)],
) -> Response:
    """Go on beyond the budget."""
    budget = (queue.snapshot.settings.budget or 0) + rows
    await asyncio.wrap_future(queue.change(visitor.who, {"budget": budget}))
    return await _act(request, queue, visitor, lambda: queue.turn(visitor.who))


@router.post("/q/{name}/alive")
async def alive(queue: CurrentQueue, visitor: Visitor) -> Response:
    """The page is open: its row stays its reviewer's."""
    await asyncio.wrap_future(queue.turn(visitor.who))
    return Response(status_code=204)


@router.get("/q/{name}/row/{id:path}")
async def row(request: Request, queue: CurrentQueue, visitor: Visitor, id: str) -> Response:
    """A row's history, and a lead's decision."""
    number = row_of(queue, id)
    why = await asyncio.wrap_future(queue.why(number))
    return render(
        request, "row.html", visitor, queue=queue, seen=queue.snapshot, row=number, id=id, why=why,
        fields=queue.rows.usual.fields(queue.rows.fields(number)), events=list(queue.log(row=number)),
        verdict=queue.verdict_on(number),
    )  # fmt: skip


@router.post("/q/{name}/row/{id:path}")
async def decide(
    queue: CurrentQueue,
    visitor: Visitor,
    id: str,
    verdict: Annotated[str, Form()] = "",
    note: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """A lead's decision, or a remark."""
    number = row_of(queue, id)
    if verdict in [*Verdict]:
        await asyncio.wrap_future(queue.override(visitor.who, number, Verdict(verdict), note))
    elif note.strip():
        await asyncio.wrap_future(queue.note(visitor.who, number, note))
    return RedirectResponse(f"/q/{quote(queue.name)}/row/{quote(id, safe='')}", 303)


@router.get("/q/{name}/log")
async def log(
    request: Request,
    queue: CurrentQueue,
    visitor: Visitor,
    kind: Kind | None = None,
    who: Annotated[str | None, Query(max_length=60)] = None,
) -> Response:
    """The newest lines of the log."""
    events = queue.log(kinds=[kind] if kind else (), who=who or None, limit=LOG_LINES, newest_first=True)
    return render(
        request, "log.html", visitor, queue=queue, seen=queue.snapshot, events=list(events), kinds=[*BODIES],
        kind=kind, who=who, in_force={event.seq for event in await run_in_threadpool(queue.in_force)},
    )  # fmt: skip


@router.get("/q/{name}/people")
async def team(request: Request, queue: CurrentQueue, visitor: Visitor) -> Response:
    """Who has done what, and the rows that wait for a lead."""
    found = await run_in_threadpool(
        lambda: people(queue.log(kinds=["verdict", "override", "undo", "imported verdict"]))
    )
    return render(
        request,
        "people.html",
        visitor,
        queue=queue,
        seen=queue.snapshot,
        people=found,
        counted=COUNTED,
        link=None,
    )


@router.post("/q/{name}/invite")
async def invite(request: Request, queue: CurrentQueue, visitor: Visitor) -> Response:
    """A one-time address for another reviewer on this machine."""
    link = f"{request.url.scheme}://{request.headers['host']}/login?token={keys_of(request).issue()}"
    return render(request, "people.html", visitor, queue=queue, seen=queue.snapshot, people=None, link=link)


@router.get("/q/{name}/settings")
async def settings(request: Request, queue: CurrentQueue, visitor: Visitor) -> Response:
    """What may be changed."""
    return render(request, "settings.html", visitor, queue=queue, seen=queue.snapshot)


@router.post("/q/{name}/settings")
async def change_settings(
    queue: CurrentQueue,
    visitor: Visitor,
    budget: Annotated[int, Form(ge=1, le=10_000_000)],
    audit: Annotated[float, Form(ge=0, le=50)],
    lease_minutes: Annotated[float, Form(ge=1, le=1440)],
    park_minutes: Annotated[float, Form(ge=1, le=100_000)],
    learn_from_audit: Annotated[bool, Form()] = False,
    unit: Annotated[str, Form(max_length=10)] = "",
    link_hosts: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Change settings."""
    changes = {
        "budget": budget,
        "audit": audit / 100,
        "lease_seconds": lease_minutes * 60,
        "park_seconds": park_minutes * 60,
        "learn_from_audit": learn_from_audit,
        "unit": unit.strip(),
        "link_hosts": link_hosts.split(),
    }
    await asyncio.wrap_future(queue.change(visitor.who, changes))
    return RedirectResponse(f"/q/{quote(queue.name)}", 303)


@router.get("/q/{name}/verdicts.{format}")
async def export(queue: CurrentQueue, visitor: Visitor, format: str) -> Response:
    """The verdicts as a file."""
    return await verdict_file(queue, format if format in MEDIA else "csv")


@router.post("/q/{name}/train")
async def train(request: Request, queue: CurrentQueue, visitor: Visitor) -> Response:
    """Train a model from these verdicts."""
    path = await run_in_threadpool(queue.train)
    return render(request, "trained.html", visitor, queue=queue, seen=queue.snapshot, path=path)


@router.get("/api/v1/docs")
async def docs(request: Request) -> Response:
    """The REST API for people, without anything loaded from elsewhere."""
    return render(request, "docs.html", None, description=request.app.openapi())


async def error_page(request: Request, message: str, status: int) -> Response:
    """A sentence that says what to do."""
    return render(request, "error.html", None, status=status, message=message)


async def _act(request: Request, queue: Queue, visitor: Session, act: Any) -> Response:
    """Do what a reviewer asked; where it cannot be done, say why and give them a row all the same."""
    message, turn = "", None
    try:
        turn = act()
        await asyncio.wrap_future(turn)
    except StoreError:
        raise  # the page keeps the verdict and sends it again
    except ReviewError as error:
        message, turn = str(error), queue.turn(visitor.who)
    if "hx-request" not in request.headers and not message:
        return RedirectResponse(f"/q/{quote(queue.name)}", 303)
    return await _turn_page(request, queue, visitor, turn, message)


async def _turn_page(
    request: Request, queue: Queue, visitor: Session, future: Future[Turn], message: str = ""
) -> HTMLResponse:
    turn = await asyncio.wrap_future(future)
    fields, why = [], None
    if turn.row is not None:
        why = await asyncio.wrap_future(queue.why(turn.row))
        fields = queue.rows.usual.fields(queue.rows.fields(turn.row))
    template = "turn.html" if "hx-request" in request.headers else "review.html"
    return render(
        request, template, visitor, queue=queue, seen=queue.snapshot, turn=turn, fields=fields, why=why,
        message=message, now=dt.datetime.now(),
    )  # fmt: skip


def _signed_in(request: Request, session: Session, where: str) -> Response:
    response = RedirectResponse(where, 303)
    response.set_cookie(
        COOKIE, keys_of(request).cookie(session), max_age=SESSION_SECONDS, httponly=True, samesite="strict"
    )
    return response
