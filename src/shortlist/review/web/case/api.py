"""The REST API of a case worker: the queue as a list, what is looked up beside a row, and rows decided together."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool

from shortlist.review.casework.copies import near_copies
from shortlist.review.casework.related import related
from shortlist.review.web.api import ERRORS, row_of
from shortlist.review.web.beside import reviewed, said_of, search
from shortlist.review.web.bodies import QueueOut, TurnOut
from shortlist.review.web.callers import AskedRows, Caller, CurrentQueue
from shortlist.review.web.case.bodies import CopyOut, ListOut, RelatedOut, TakeIn, TogetherIn

router = APIRouter(responses=ERRORS)


@router.get("/queues/{name}/rows")
async def list_rows(queue: CurrentQueue, caller: Caller, asked: AskedRows) -> ListOut:
    """The queue as a list, 50 rows a page: by standing (those put off, your own of today, …), text or a column's value.

    Open rows come in the order of the ranking, decided ones newest first, unless ``sort`` names a column.
    """
    found, desk = await run_in_threadpool(search, queue, asked, caller.who)
    return await run_in_threadpool(ListOut.of, found, desk, queue)


@router.post("/queues/{name}/decisions")
async def decide_together(queue: CurrentQueue, caller: Caller, body: TogetherIn) -> QueueOut:
    """One verdict for several open rows: all are recorded or none, and undo takes them back together."""
    rows = [row_of(queue, id) for id in body.ids]
    done = queue.decide(caller.who, rows, body.verdict, note=body.note, reason=body.reason)
    await asyncio.wrap_future(done)
    return QueueOut.of(queue.snapshot)


@router.post("/queues/{name}/take")
async def take_row(queue: CurrentQueue, caller: Caller, body: TakeIn) -> TurnOut:
    """Put a row that you chose on your screen."""
    return TurnOut.of(await asyncio.wrap_future(queue.take(caller.who, row_of(queue, body.id))), queue)


@router.get("/queues/{name}/related/{id:path}")
async def show_related(queue: CurrentQueue, caller: Caller, id: str) -> list[RelatedOut]:
    """What other rows share with a row, column by column, rarest first."""
    found = await run_in_threadpool(related, queue.rows, said_of(queue, caller.who), row_of(queue, id))
    return [RelatedOut.of(each, queue) for each in found]


@router.get("/queues/{name}/copies/{id:path}")
async def show_copies(queue: CurrentQueue, caller: Caller, id: str) -> list[CopyOut]:
    """Rows without a verdict that are nearly the same; a verdict may be given for them too (``also``)."""
    found = await run_in_threadpool(near_copies, queue.rows, row_of(queue, id), reviewed(queue))
    return [CopyOut.of(copy, queue) for copy in found]
