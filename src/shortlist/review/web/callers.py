"""How a request finds its queue, its reviewer and the rows it asks for."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPBearer

from shortlist.languages.words import Message
from shortlist.review.casework.search import Asked, Standing, Test
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import ForbiddenError, NoQueueError, NotSignedInError
from shortlist.review.web.access import NEEDS, Role, check_role
from shortlist.review.web.security import SAFE_METHODS, Gate, Session, bearer_token

Wish = Annotated[str, Query(max_length=200)]
#: Shown in the OpenAPI description.
bearer = HTTPBearer(auto_error=False, description="The access token in server.json of the workspace.")


def keys_of(request: Request) -> Gate:
    """The keys of this server."""
    return request.app.state.keys


# What requests depend on is async although it waits for nothing: plain functions would each go through a thread.
async def find_queue(request: Request, name: str) -> Queue:
    """The queue of this name."""
    queues = request.app.state.queues
    if name not in queues:
        raise NoQueueError(
            Message(
                "there is no queue '%(name)s' here; there are: %(known)s.", name=name, known=", ".join(queues)
            )
        )
    return queues[name]


def session_of(request: Request) -> Session:
    """The session of a browser."""
    session = request.scope["caller"]
    if session is None or session.is_program:
        raise NotSignedInError(
            Message("sign in first.")
            if request.app.state.site.is_team
            else Message("open the address that `shortlist review` printed, or ask for an invitation.")
        )
    return session


async def page_session(request: Request) -> Session:
    """The browser's session; refuses forms that do not come from our pages, and people whose role is not enough."""
    session = session_of(request)
    if request.method not in SAFE_METHODS:
        token = request.headers.get("x-csrf-token") or (await request.form()).get("csrf")
        _check_csrf(request, session, str(token))
    check_role(session.role, needed_by(request))
    return session


async def program_or_browser(request: Request, _: Annotated[object, Depends(bearer)] = None) -> Session:
    """The caller of the API: a program with an access token, or a page with a session."""
    session: Session | None = request.scope["caller"]
    if session is None and bearer_token(request) is not None:
        raise NotSignedInError(
            Message("the access token is not one of this server, or no longer.")
            if request.app.state.site.is_team
            else Message("the access token is not that of this server; read it again from server.json.")
        )
    if session is None or not session.is_program:
        session = session_of(request)
        if request.method not in SAFE_METHODS:
            _check_csrf(request, session, request.headers.get("x-csrf-token"))
    check_role(session.role, needed_by(request))
    return session


async def check_own(queue: Queue, session: Session, verdict: int | None) -> None:
    """Whoever is no lead takes back their own verdicts only."""
    if verdict is None or session.role >= Role.LEAD:
        return
    event = await run_in_threadpool(queue.event, verdict)
    if event is not None and event.who != session.who:
        check_role(session.role, Role.LEAD)


def needed_by(request: Request) -> Role | None:
    """The role that the address of a request needs; None: nobody has said."""
    return NEEDS.get(request.scope["endpoint"].__name__)


def _check_csrf(request: Request, session: Session, token: str | None) -> None:
    if not keys_of(request).is_csrf(session, token):
        raise ForbiddenError(
            Message("this request does not come from one of our pages; reload the page and try again.")
        )


async def asked_rows(
    text: Wish = "",
    column: Wish = "",
    test: Test = Test.IS,
    value: Wish = "",
    standing: Standing = Standing.OPEN,
    sort: Wish = "",
    down: bool = False,
    page: Annotated[int, Query(ge=1, le=10**9)] = 1,
) -> Asked:
    """Which rows of the queue are to be listed, and how."""
    return Asked(text, column, test, value, standing, sort, down, page)


CurrentQueue = Annotated[Queue, Depends(find_queue)]
Caller = Annotated[Session, Depends(program_or_browser)]
Visitor = Annotated[Session, Depends(page_session)]
AskedRows = Annotated[Asked, Depends(asked_rows)]
