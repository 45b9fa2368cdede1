"""The REST API, version 1: all that the page does."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from shortlist.languages.words import Message
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import NoQueueError
from shortlist.review.export import table_bytes
from shortlist.review.lead.sheets import with_data, workbook
from shortlist.review.log.state import verdict_of
from shortlist.review.web.beside import events_on, reasons_on, seen_by, verdict_seen
from shortlist.review.web.bodies import (
    MOST_IMPORTS,
    DecisionIn,
    EraseIn,
    ErasureOut,
    EventOut,
    ImportIn,
    NoteIn,
    ParkIn,
    QueueOut,
    RankedOut,
    RowOut,
    SettingsIn,
    TurnOut,
    UndoIn,
    VerdictIn,
    fields_of,
)
from shortlist.review.web.callers import Caller, CurrentQueue, check_own
from shortlist.tables import read_table
from shortlist.tables.stranger import check_table, named_as, sent_as

Kind = Literal[
    "shown",
    "verdict",
    "undo",
    "park",
    "kept",
    "note",
    "settings",
    "rows appended",
    "imported verdict",
    "override",
    "second opinion",
    "joined",
    "assigned",
    "erased",
    "name erased",
]
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MEDIA = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet", "xlsx": XLSX}
ERRORS: dict[int | str, dict[str, Any]] = {
    401: {"description": "no access token, or not that of this server"},
    403: {"description": "read-only, not from one of our pages, or not for your role"},
    404: {"description": "no such queue, row or shown row"},
    409: {"description": "somebody else has the row, or the verdict was taken back"},
    413: {"description": "the request is too large"},
    503: {"description": "the log could not be written; nothing has changed"},
}
router = APIRouter(responses=ERRORS)
#: What reviewers ask for all day: its addresses are compared first.
turns = APIRouter(responses=ERRORS)


@router.get("/queues")
async def list_queues(request: Request, caller: Caller) -> list[QueueOut]:
    """The queues of this server."""
    return [QueueOut.of(queue.snapshot) for queue in request.app.state.queues.values()]


@router.get("/queues/{name}")
async def show_queue(queue: CurrentQueue, caller: Caller) -> QueueOut:
    """A queue at a glance: counts, what was found, what is still missed."""
    return QueueOut.of(queue.snapshot)


@turns.post("/queues/{name}/turn")
async def take_turn(queue: CurrentQueue, caller: Caller) -> TurnOut:
    """The row on your screen, or the next one; asking again extends its lease."""
    return TurnOut.of(await asyncio.wrap_future(queue.turn(caller.who)), queue)


@turns.post("/queues/{name}/verdicts")
async def record_verdict(queue: CurrentQueue, caller: Caller, body: VerdictIn) -> TurnOut:
    """A verdict on the row you were shown; the answer is your next row. Sent twice it is the same answer."""
    also = [row_of(queue, id) for id in body.also]
    done = queue.record(caller.who, body.shown, body.verdict, note=body.note, reason=body.reason, also=also)
    return TurnOut.of(await asyncio.wrap_future(done), queue)


@router.post("/queues/{name}/undo")
async def undo_verdict(queue: CurrentQueue, caller: Caller, body: UndoIn) -> TurnOut:
    """Take a verdict back; the ranking becomes the one that never saw it, and the row comes back to you."""
    await check_own(queue, caller, body.verdict)
    return TurnOut.of(await asyncio.wrap_future(queue.undo(caller.who, body.verdict)), queue)


@router.post("/queues/{name}/park")
async def park_row(queue: CurrentQueue, caller: Caller, body: ParkIn) -> TurnOut:
    """Put the shown row off; the answer is your next row."""
    done = queue.park(caller.who, body.shown, body.seconds, note=body.note)
    return TurnOut.of(await asyncio.wrap_future(done), queue)


@router.get("/queues/{name}/ranking")
async def show_ranking(queue: CurrentQueue, caller: Caller) -> list[RankedOut]:
    """The best rows that nobody has, and how the last verdict moved them."""
    return [RankedOut(**vars(up)) for up in queue.snapshot.top]


@router.get("/queues/{name}/digest")
async def show_digest(queue: CurrentQueue, caller: Caller) -> dict[str, str | int]:
    """A fingerprint of the whole ranking, equal to that of a replay of the log up to the same event."""
    return vars(await asyncio.wrap_future(queue.standing()))


@router.get("/queues/{name}/rows/{id:path}")
async def show_row(queue: CurrentQueue, caller: Caller, id: str) -> RowOut:
    """A row, why it is where it is, and its history."""
    row = row_of(queue, id)
    events = await run_in_threadpool(events_on, queue, row, caller.who)
    told = await run_in_threadpool(reasons_on, queue, row, events, caller.who)
    said, why, shown = verdict_seen(queue, row, caller.who), told["why"], told["shown"]
    return RowOut(
        row=row,
        id=id,
        fields=fields_of(queue, row),
        verdict=verdict_of(said) if said else None,
        reasons=[str(queue.rows.usual.message(said)) for said in why.said],
        resembles=[queue.rows.id(like.row) for like in why.like],
        reasons_of=shown.seq if shown else None,
        assigned_to=queue.snapshot.assigned.get(row),
        history=[EventOut.of(event, queue) for event in events],
    )


@router.post("/queues/{name}/rows/{id:path}/override")
async def override_verdict(queue: CurrentQueue, caller: Caller, id: str, body: DecisionIn) -> QueueOut:
    """Decide on a row, whatever was said before."""
    await asyncio.wrap_future(queue.override(caller.who, row_of(queue, id), body.verdict, body.note))
    return QueueOut.of(queue.snapshot)


@router.post("/queues/{name}/rows/{id:path}/notes")
async def add_note(queue: CurrentQueue, caller: Caller, id: str, body: NoteIn) -> QueueOut:
    """A remark on a row."""
    await asyncio.wrap_future(queue.note(caller.who, row_of(queue, id), body.note))
    return QueueOut.of(queue.snapshot)


@router.post("/queues/{name}/rows")
async def append_rows(
    request: Request,
    queue: CurrentQueue,
    caller: Caller,
    content: Annotated[bytes, Body(media_type="application/octet-stream")],
    format: Literal["csv", "parquet", "jsonl", "arrow"] = "parquet",
) -> QueueOut:
    """Append the rows of a file; they join the ranking at once."""
    frame = await run_in_threadpool(_read_upload, content, format, request.app.state.site.is_team)
    await asyncio.wrap_future(queue.append(caller.who, frame))
    return QueueOut.of(queue.snapshot)


@router.post("/queues/{name}/imports")
async def import_verdicts(
    queue: CurrentQueue, caller: Caller, body: Annotated[list[ImportIn], Body(max_length=MOST_IMPORTS)]
) -> dict[str, int]:
    """Learn verdicts that were known before; rows that have a verdict keep it."""
    verdicts = [(row_of(queue, each.id), each.verdict, each.note) for each in body]
    return {"imported": await asyncio.wrap_future(queue.import_verdicts(caller.who, verdicts))}


@router.post("/queues/{name}/erasures")
async def erase_rows(queue: CurrentQueue, caller: Caller, body: EraseIn) -> ErasureOut:
    """Forget what is known of rows and what was written of them; what was said of them stays. It cannot be undone."""
    done = queue.erase_rows(caller.who, [row_of(queue, id) for id in body.ids])
    return ErasureOut(**vars(await asyncio.wrap_future(done)))


@router.patch("/queues/{name}/settings")
async def change_settings(queue: CurrentQueue, caller: Caller, body: SettingsIn) -> QueueOut:
    """Change the budget and other settings; ``budget: null`` means no end, ``goal: null`` no goal."""
    changes = body.model_dump(exclude_unset=True)
    kept = {name: value for name, value in changes.items() if value is not None or name in ("budget", "goal")}
    await asyncio.wrap_future(queue.change(caller.who, kept))
    return QueueOut.of(queue.snapshot)


@router.get("/queues/{name}/log")
async def read_log(
    queue: CurrentQueue,
    caller: Caller,
    after: Annotated[int, Query(ge=0, le=2**53 - 1)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    kind: Kind | None = None,
    who: Annotated[str | None, Query(max_length=60)] = None,
) -> list[EventOut]:
    """Events in the order of the log; but for verdicts on which a second opinion is asked for, and of others."""
    events = queue.log(after=after, kinds=[kind] if kind else (), who=who, limit=limit)
    return [EventOut.of(event, queue) for event in seen_by(caller.who, queue, events)]


@router.get("/queues/{name}/verdicts.{format}", responses={200: {"content": {MEDIA["parquet"]: {}}}})
async def export_verdicts(
    queue: CurrentQueue, caller: Caller, format: Literal["csv", "parquet", "xlsx"], data: bool = False
) -> Response:
    """The verdicts in force as a file; with ``data``, beside the columns of their rows."""
    return await verdict_file(queue, format, data=data)


@router.post("/queues/{name}/model")
async def train_from_verdicts(queue: CurrentQueue, caller: Caller) -> dict[str, str]:
    """Train a model from the verdicts; it is written into the workspace."""
    return {"model": str(await run_in_threadpool(queue.train))}


def row_of(queue: Queue, id: str) -> int:
    """The row of this name."""
    row = queue.rows.position(id)
    if row is None:
        raise NoQueueError(Message("there is no row '%(id)s' in this queue.", id=id))
    return row


async def verdict_file(queue: Queue, format: str, *, data: bool = False) -> Response:
    """The verdicts in force, as a file to keep."""
    return as_file("verdicts", format, await run_in_threadpool(_verdicts, queue, format, data))


def as_file(name: str, format: str, content: bytes) -> Response:
    """A file to keep."""
    headers = {"content-disposition": f'attachment; filename="{name}.{format}"'}
    return Response(content, media_type=MEDIA[format], headers=headers)


def _verdicts(queue: Queue, format: str, data: bool) -> bytes:
    frame = with_data(queue.verdicts(), queue.rows) if data else queue.verdicts()
    return workbook({"verdicts": frame}) if format == "xlsx" else table_bytes(frame, format)


def _read_upload(content: bytes, format: str, is_of_others: bool) -> Any:
    """The rows of a file; those of one's own machine are read at once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows.{format}"
        path.write_bytes(content)
        with named_as(path, *sent_as(format)):
            if is_of_others:
                check_table(path)
            return read_table(path)
