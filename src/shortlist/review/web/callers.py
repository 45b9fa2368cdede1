"""How a request finds its queue and its reviewer."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from shortlist.review.desk.queue import Queue
from shortlist.review.errors import ForbiddenError, NoQueueError, NotSignedInError
from shortlist.review.web.security import COOKIE, SAFE_METHODS, Keys, Session

MOST_NAME = 60
#: Shown in the OpenAPI description.
bearer = HTTPBearer(auto_error=False, description="The access token in server.json of the workspace.")


def keys_of(request: Request) -> Keys:
    """The keys of this server."""
    return request.app.state.keys


# What requests depend on is async although it waits for nothing: plain functions would each go through a thread.
async def find_queue(request: Request, name: str) -> Queue:
    """The queue of this name."""
    queues = request.app.state.queues
    if name not in queues:
        raise NoQueueError(f"there is no queue {name!r} here; there are: {', '.join(queues)}.")
    return queues[name]


def session_of(request: Request) -> Session:
    """The session of a browser."""
    session = keys_of(request).session(request.cookies.get(COOKIE))
    if session is None:
        raise NotSignedInError("open the address that `shortlist review` printed, or ask for an invitation.")
    return session


async def page_session(request: Request) -> Session:
    """The browser's session; refuses forms that do not come from our pages."""
    session = session_of(request)
    if request.method not in SAFE_METHODS:
        token = request.headers.get("x-csrf-token") or (await request.form()).get("csrf")
        _check_csrf(request, session, str(token))
    return session


async def program_or_browser(request: Request, _: Annotated[object, Depends(bearer)] = None) -> Session:
    """The caller of the API: a program with the access token, or a page with a session."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        if not keys_of(request).is_access_token(token):
            raise NotSignedInError(
                "the access token is not that of this server; read it again from server.json."
            )
        return Session("program", clean_name(unquote(request.headers.get("x-reviewer", "program"))))
    session = session_of(request)
    if request.method not in SAFE_METHODS:
        _check_csrf(request, session, request.headers.get("x-csrf-token"))
    return session


def _check_csrf(request: Request, session: Session, token: str | None) -> None:
    if not keys_of(request).is_csrf(session, token):
        raise ForbiddenError(
            "this request does not come from one of our pages; reload the page and try again."
        )


def clean_name(name: str) -> str:
    """A name as it is written to the log: printable, without spaces around it."""
    kept = "".join(character for character in name if character.isprintable()).strip()
    return kept[:MOST_NAME] or "somebody"


CurrentQueue = Annotated[Queue, Depends(find_queue)]
Caller = Annotated[Session, Depends(program_or_browser)]
Visitor = Annotated[Session, Depends(page_session)]
