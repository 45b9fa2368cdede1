"""Working together: rows that are handed over, those on which two people differ, and who leaves without a name."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Form, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shortlist.languages.words import Message
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import BadRequestError, NoQueueError, ReadOnlyError
from shortlist.review.web.access import Role
from shortlist.review.web.api import ERRORS, row_of
from shortlist.review.web.bodies import AssignIn, NameErasureOut, NameIn, QueueOut
from shortlist.review.web.callers import Caller, CurrentQueue, Visitor, keys_of
from shortlist.review.web.case.bodies import DisputeOut
from shortlist.review.web.rendering import render
from shortlist.review.web.security import Session, clean_name

api = APIRouter(responses=ERRORS)
pages = APIRouter()


@api.post("/queues/{name}/rows/{id:path}/assign")
async def assign_row(
    request: Request, queue: CurrentQueue, caller: Caller, id: str, body: AssignIn
) -> QueueOut:
    """Give an open row to somebody, who gets it first; who does not lead hands over only what is theirs."""
    await _assign(request, queue, caller, row_of(queue, id), body.to)
    return QueueOut.of(queue.snapshot)


@api.get("/queues/{name}/disputes")
async def list_disputes(queue: CurrentQueue, caller: Caller) -> list[DisputeOut]:
    """Rows on which two people differ; a decision of a lead (``override``) settles one."""
    return [DisputeOut.of(row, given, queue) for row, given in queue.snapshot.disputed.items()]


@api.post("/people/erasures")
async def erase_name(request: Request, caller: Caller, body: NameIn) -> NameErasureOut:
    """Forget what a person is called, in every queue of this server, and their account. It cannot be undone."""
    return await erase_person(request, caller.who, body.name)


async def erase_person(request: Request, who: str, name: str) -> NameErasureOut:
    """Let somebody in no more, forget the name in every queue, and then the account.

    In this order: what is cut short can be asked for again. Nothing has happened where a queue cannot be written.
    """
    keys, queues = keys_of(request), request.app.state.queues
    name = await run_in_threadpool(keys.called, name)
    known = [queue for queue in queues.values() if await asyncio.wrap_future(queue.knows(name))]
    _check_owned(known)
    await run_in_threadpool(keys.shut_out, name)
    for queue in known:
        await asyncio.wrap_future(queue.erase_name(who, name))
    had_account = await run_in_threadpool(keys.erase, name)
    if not known and not had_account:
        raise NoQueueError(Message("there is nobody called '%(name)s' here.", name=name))
    unread = sorted(getattr(queues, "problems", ()))
    return NameErasureOut(queues=[queue.name for queue in known], account=had_account, unread=unread)


@pages.get("/q/{name}/handover/{id:path}")
async def ask_hand_over(request: Request, queue: CurrentQueue, visitor: Visitor, id: str) -> Response:
    """To whom a row could go."""
    names = await run_in_threadpool(keys_of(request).colleagues)
    known = names if names is not None else sorted(queue.snapshot.reviewers)
    row = row_of(queue, id)
    return render(
        request, "handover.html", visitor, queue=queue, seen=queue.snapshot, id=id, row=row,
        colleagues=[name for name in known if name != queue.snapshot.assigned.get(row)], is_closed=names is not None,
    )  # fmt: skip


@pages.post("/q/{name}/assign")
async def hand_over(
    request: Request,
    queue: CurrentQueue,
    visitor: Visitor,
    id: Annotated[str, Form(max_length=2000)],
    to: Annotated[str, Form(max_length=60)] = "",
    back: Annotated[Literal["", "row"], Form()] = "",
) -> Response:
    """Give a row to somebody, or to nobody."""
    await _assign(request, queue, visitor, row_of(queue, id), to.strip() or None)
    here = f"/q/{quote(queue.name)}"
    return RedirectResponse(f"{here}/row/{quote(id, safe='')}" if back else here, 303)


async def _assign(request: Request, queue: Queue, session: Session, row: int, to: str | None) -> None:
    names = await run_in_threadpool(keys_of(request).colleagues) if to else None
    if to is not None and names is not None and to not in names:
        raise BadRequestError(
            Message(
                "nobody who may review here is called %(name)s; there are: %(known)s.",
                name=to,
                known=", ".join(names),
            )
        )
    leads = session.role >= Role.LEAD
    await asyncio.wrap_future(queue.assign(session.who, row, clean_name(to) if to else None, leads=leads))


def _check_owned(queues: list[Queue]) -> None:
    for queue in queues:
        if queue.read_only:
            raise ReadOnlyError(
                Message(
                    "another server owns the queue %(name)s, or its folder cannot be written: nothing was erased. Ask "
                    "that server.",
                    name=queue.name,
                )
            )
