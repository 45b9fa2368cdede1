"""What a lead sees: the page of figures, the same for programs, and as files."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from shortlist.review.desk.queue import Queue
from shortlist.review.export import table_bytes
from shortlist.review.lead.agreement import agreement
from shortlist.review.lead.drift import drift
from shortlist.review.lead.figures import figures_of
from shortlist.review.lead.sheets import figures_table, with_data, workbook
from shortlist.review.web.api import ERRORS, XLSX, as_file
from shortlist.review.web.callers import Caller, CurrentQueue, Visitor
from shortlist.review.web.case.bodies import FiguresOut
from shortlist.review.web.rendering import render

api = APIRouter(responses=ERRORS)
pages = APIRouter()


@api.get("/queues/{name}/figures")
async def show_figures(queue: CurrentQueue, caller: Caller) -> FiguresOut:
    """Precision, agreement, throughput and value by week, reviewer and reason code; what is missed; drift."""
    return await run_in_threadpool(FiguresOut.of, queue)


@api.get("/queues/{name}/figures.{format}", responses={200: {"content": {XLSX: {}}}})
async def export_figures(queue: CurrentQueue, caller: Caller, format: Literal["csv", "xlsx"]) -> Response:
    """The figures as a table; the workbook also holds all verdicts beside the columns of their rows."""
    return await figures_file(queue, format)


@pages.get("/q/{name}/figures")
async def show_page(request: Request, queue: CurrentQueue, visitor: Visitor) -> Response:
    """What the review amounts to, for whoever leads it."""
    told = await run_in_threadpool(figures_of, queue)
    drifted = await run_in_threadpool(drift, queue.rows, queue.schema, queue.fixed.first_rows)
    opinions = await run_in_threadpool(lambda: agreement(queue.opinions()))
    return render(
        request, "figures.html", visitor, queue=queue, seen=queue.snapshot, figures=told, drift=drifted,
        opinions=opinions,
    )  # fmt: skip


@pages.get("/q/{name}/figures.{format}")
async def take_away(queue: CurrentQueue, visitor: Visitor, format: str) -> Response:
    """The figures as a file."""
    return await figures_file(queue, format if format == "xlsx" else "csv")


async def figures_file(queue: Queue, format: str) -> Response:
    """The figures, as a file to keep."""
    return as_file("figures", format, await run_in_threadpool(_figures, queue, format))


def _figures(queue: Queue, format: str) -> bytes:
    table = figures_table(figures_of(queue))
    if format == "csv":
        return table_bytes(table, format)
    return workbook({"figures": table, "verdicts": with_data(queue.verdicts(), queue.rows)})
