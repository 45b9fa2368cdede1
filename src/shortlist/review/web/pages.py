"""The pages: thin, server-rendered, and of use without a script."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from dataclasses import replace
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from shortlist.languages.words import Message
from shortlist.review.casework.notes import Notes, notes_on
from shortlist.review.desk.queue import Queue
from shortlist.review.desk.rules.asked import MOST_TOGETHER, with_unkept
from shortlist.review.desk.snapshot import Turn
from shortlist.review.errors import AnsweredError, LeaseLostError, NotSignedInError, ReviewError, StoreError
from shortlist.review.log.events import BODIES
from shortlist.review.web.access import Role, check_role
from shortlist.review.web.api import MEDIA, Kind, row_of, verdict_file
from shortlist.review.web.beside import beside_row, columns_of, events_on, reasons_on, seen_by, verdict_seen
from shortlist.review.web.callers import CurrentQueue, Visitor, check_own, keys_of
from shortlist.review.web.rendering import language_of, render
from shortlist.review.web.security import SESSION_SECONDS, Keys, Session, clean_name
from shortlist.verdicts import Verdict

router = APIRouter()
#: Where nobody has an account: a one-time address opens the page, and everybody types a name.
alone = APIRouter()
LOG_LINES, REMARKS = 200, 20


@alone.get("/login")
async def login(request: Request, token: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Turn a one-time token into a cookie."""
    session = own_keys(request).redeem(token)
    if session is None:
        raise NotSignedInError(
            Message(
                "this address was used already or is too old. Ask whoever runs the review for a new one, or start it "
                "again."
            )
        )
    return _signed_in(request, session, "/name")


@alone.get("/name")
async def ask_name(request: Request, visitor: Visitor) -> Response:
    """Ask under which name verdicts are logged."""
    return render(request, "name.html", visitor, queues=request.app.state.queues)


@alone.post("/name")
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
    if len(names) == 1 and not request.app.state.site.is_team:
        return RedirectResponse(f"/q/{quote(names[0])}", 303)
    problems = getattr(request.app.state.queues, "problems", {})
    return render(request, "queues.html", visitor, queues=request.app.state.queues, problems=problems)


@router.get("/q/{name}")
async def review(request: Request, queue: CurrentQueue, visitor: Visitor) -> Response:
    """The row to judge."""
    if not visitor.who:
        return RedirectResponse("/name", 303)
    if visitor.role < Role.REVIEWER:
        return RedirectResponse(f"/q/{quote(queue.name)}/rows?standing=all", 303)
    return await _turn_page(request, queue, visitor, queue.turn(visitor.who))


@router.post("/q/{name}/verdict")
async def record(
    request: Request,
    queue: CurrentQueue,
    visitor: Visitor,
    shown: Annotated[int, Form()],
    verdict: Annotated[Verdict | Literal["later"], Form()],
    note: Annotated[str, Form(max_length=2000)] = "",
    reason: Annotated[str, Form(max_length=100)] = "",
    also: Annotated[list[str], Form(max_length=MOST_TOGETHER)] = [],  # noqa: B006
) -> Response:
    """A verdict, or "later"; the answer holds the next row. It may be given for other rows too."""
    typed = Typed(shown, note)
    if verdict == "later":
        return await _act(request, queue, visitor, lambda: queue.park(visitor.who, shown, note=note), typed)
    others = [row_of(queue, id) for id in also]
    return await _act(
        request,
        queue,
        visitor,
        lambda: queue.record(visitor.who, shown, verdict, note=note, reason=reason, also=others),
        typed,
    )


@router.post("/q/{name}/take")
async def take(
    request: Request, queue: CurrentQueue, visitor: Visitor, id: Annotated[str, Form(max_length=2000)]
) -> Response:
    """Put a row chosen from a list on the screen."""
    row = row_of(queue, id)
    return await _act(request, queue, visitor, lambda: queue.take(visitor.who, row))


@router.post("/q/{name}/undo")
async def undo(
    request: Request, queue: CurrentQueue, visitor: Visitor, verdict: Annotated[int, Form()]
) -> Response:
    """Take a verdict back."""
    await check_own(queue, visitor, verdict)
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
    events = await run_in_threadpool(events_on, queue, number, visitor.who)
    return render(
        request, "row.html", visitor, queue=queue, seen=queue.snapshot, row=number, id=id,
        fields=queue.rows.usual.fields(queue.rows.fields(number), language_of(request)),
        events=events, verdict=verdict_seen(queue, number, visitor.who), opinion=queue.opinion_on(number),
        **await run_in_threadpool(reasons_on, queue, number, events, visitor.who),
        **await run_in_threadpool(beside_row, queue, number, visitor.who),
    )  # fmt: skip


@router.post("/q/{name}/row/{id:path}")
async def decide(
    queue: CurrentQueue,
    visitor: Visitor,
    id: str,
    verdict: Annotated[Verdict | Literal[""], Form()] = "",
    note: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """A lead's decision, or a remark."""
    number = row_of(queue, id)
    if verdict:
        check_role(visitor.role, Role.LEAD)
        await asyncio.wrap_future(queue.override(visitor.who, number, verdict, note))
    elif note.strip():
        await asyncio.wrap_future(queue.note(visitor.who, number, note))
    return RedirectResponse(f"/q/{quote(queue.name)}/row/{quote(id, safe='')}", 303)


@router.get("/q/{name}/log")
async def log(
    request: Request,
    queue: CurrentQueue,
    visitor: Visitor,
    kind: Kind | Literal[""] = "",
    who: Annotated[str | None, Query(max_length=60)] = None,
) -> Response:
    """The newest lines of the log."""
    events = queue.log(kinds=[kind] if kind else (), who=who or None, limit=LOG_LINES, newest_first=True)
    return render(
        request, "log.html", visitor, queue=queue, seen=queue.snapshot, kinds=[*BODIES], kind=kind, who=who,
        events=seen_by(visitor.who, queue, events),
        in_force={event.seq for event in await run_in_threadpool(queue.in_force)},
    )  # fmt: skip


@router.get("/q/{name}/people")
async def team(request: Request, queue: CurrentQueue, visitor: Visitor) -> Response:
    """The rows that wait for a lead, and invitations."""
    return _people(request, queue, visitor)


@alone.post("/q/{name}/invite")
async def invite(request: Request, queue: CurrentQueue, visitor: Visitor) -> Response:
    """A one-time address for another reviewer on this machine."""
    link = f"{request.url.scheme}://{request.headers['host']}/login?token={own_keys(request).issue()}"
    return _people(request, queue, visitor, link)


def _people(request: Request, queue: Queue, visitor: Session, link: str | None = None) -> Response:
    return render(
        request,
        "people.html",
        visitor,
        queue=queue,
        seen=queue.snapshot,
        columns=columns_of(queue),
        remarks=seen_by(visitor.who, queue, queue.log(kinds=["note"], newest_first=True, limit=REMARKS)),
        link=link,
    )


@router.get("/q/{name}/settings")
async def settings(request: Request, queue: CurrentQueue, visitor: Visitor) -> Response:
    """What may be changed."""
    return render(
        request, "settings.html", visitor, queue=queue, seen=queue.snapshot, first=queue.rows.fields(0)
    )


@router.post("/q/{name}/settings")
async def change_settings(
    queue: CurrentQueue,
    visitor: Visitor,
    budget: Annotated[int, Form(ge=1, le=10_000_000)],
    audit: Annotated[float, Form(ge=0, le=50)],
    lease_minutes: Annotated[float, Form(ge=1, le=1440)],
    park_minutes: Annotated[float, Form(ge=1, le=100_000)],
    learn_from_audit: Annotated[bool, Form()] = False,
    second_opinions: Annotated[float, Form(ge=0, le=100)] = 0.0,
    unit: Annotated[str, Form(max_length=10)] = "",
    link_hosts: Annotated[str, Form(max_length=2000)] = "",
    language: Annotated[str, Form(max_length=20)] = "",
    goal: Annotated[str, Form(max_length=8, pattern=r"^\d*$")] = "",
) -> Response:
    """Change settings."""
    changes = {
        "budget": budget,
        "audit": audit / 100,
        "lease_seconds": lease_minutes * 60,
        "park_seconds": park_minutes * 60,
        "learn_from_audit": learn_from_audit,
        "second_opinions": second_opinions / 100,
        "unit": unit.strip(),
        "link_hosts": link_hosts.split(),
        "language": language,
        "goal": int(goal) if goal else None,
    }
    await asyncio.wrap_future(queue.change(visitor.who, changes))
    return RedirectResponse(f"/q/{quote(queue.name)}", 303)


@router.get("/q/{name}/verdicts.{format}")
async def export(queue: CurrentQueue, visitor: Visitor, format: str, data: bool = False) -> Response:
    """The verdicts as a file; with ``data``, beside the columns of their rows."""
    return await verdict_file(queue, format if format in MEDIA else "csv", data=data)


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


class Typed(NamedTuple):
    """A note as it was sent, and under which number its row was shown."""

    shown: int | None = None
    note: str = ""

    def after(self, error: ReviewError, turn: Turn) -> tuple[str, str]:
        """What a refusal says, and what the note field of the row on the screen begins with."""
        if self.shown == turn.shown:
            return error.args[0], self.note
        # These say themselves what has become of a note.
        is_told = isinstance(error, LeaseLostError | AnsweredError)
        return error.args[0] if is_told else with_unkept(error.args[0], self.note), ""


NOTHING = Typed()


async def _act(
    request: Request, queue: Queue, visitor: Session, act: Any, typed: Typed = NOTHING
) -> Response:
    """Do what a reviewer asked; where it cannot be done, say why and give them a row all the same."""
    message, draft, turn = "", "", None
    try:
        turn = act()
        await asyncio.wrap_future(turn)
    except StoreError:
        raise  # the page keeps the verdict and sends it again
    except ReviewError as error:
        turn = queue.turn(visitor.who)
        message, draft = typed.after(error, await asyncio.wrap_future(turn))
    if "hx-request" not in request.headers and not message:
        return RedirectResponse(f"/q/{quote(queue.name)}", 303)
    return await _turn_page(request, queue, visitor, turn, message, draft)


async def _turn_page(
    request: Request,
    queue: Queue,
    visitor: Session,
    future: Future[Turn],
    message: str = "",
    draft: str = "",
) -> HTMLResponse:
    turn = await asyncio.wrap_future(future)
    fields, notes, beside = [], Notes(), {}
    if turn.row is not None:
        events = await run_in_threadpool(
            events_on, queue, turn.row, visitor.who, kinds=["verdict", "note", "override", "second opinion"]
        )
        notes = notes_on(events, visitor.who)
        notes = replace(notes, draft=draft or notes.draft)
        fields = queue.rows.usual.fields(queue.rows.fields(turn.row), language_of(request))
        beside = await run_in_threadpool(beside_row, queue, turn.row, visitor.who)
    template = "turn.html" if "hx-request" in request.headers else "review.html"
    return render(
        request, template, visitor, queue=queue, seen=queue.snapshot, turn=turn, fields=fields,
        message=message, notes=notes, **beside,
    )  # fmt: skip


def _signed_in(request: Request, session: Session, where: str) -> Response:
    response, keys = RedirectResponse(where, 303), own_keys(request)
    response.set_cookie(
        keys.cookie_name, keys.cookie(session), max_age=SESSION_SECONDS, httponly=True, samesite="strict"
    )
    return response


def own_keys(request: Request) -> Keys:
    """The keys of a server without accounts."""
    keys = keys_of(request)
    assert isinstance(keys, Keys)
    return keys
