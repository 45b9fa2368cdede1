"""Pages of people: sign in, accept an invitation, one's own account, and for an admin all others."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from starlette.requests import HTTPConnection

from shortlist.languages.words import Message
from shortlist.review.errors import NoQueueError, ReviewError
from shortlist.review.server.accounts import SESSION_SECONDS, Accounts, Person
from shortlist.review.server.keys import TeamKeys
from shortlist.review.server.oidc.sign_on import SignOn
from shortlist.review.web.access import Role
from shortlist.review.web.bodies import NameErasureOut
from shortlist.review.web.callers import Caller, Visitor
from shortlist.review.web.rendering import render
from shortlist.review.web.team import erase_person

router = APIRouter()
api = APIRouter()
Name = Annotated[str, Form(max_length=200)]
Password = Annotated[str, Form(max_length=1000)]
Secret = Annotated[str, Query(max_length=200)]
RoleName = Literal["viewer", "reviewer", "lead", "admin"]


def keys_of(request: HTTPConnection) -> TeamKeys:
    """The keys of this server."""
    return request.app.state.keys


def accounts_of(request: HTTPConnection) -> Accounts:
    """The people of this server."""
    return keys_of(request).accounts


def address_of(request: Request) -> str:
    """Where a request comes from: what a named proxy says, or the other end of the connection."""
    return request.client.host if request.client else ""


@router.get("/login")
async def login_form(request: Request) -> Response:
    """Ask for name and password."""
    return render(request, "login.html", None, message="")


@router.post("/login")
async def login(request: Request, who: Name = "", password: Password = "") -> Response:
    """Open a session; a cookie that the browser had before is not heeded."""
    try:
        secret = await run_in_threadpool(accounts_of(request).sign_in, who, password, address_of(request))
    except ReviewError as error:
        return render(request, "login.html", None, status=error.status, message=error.args[0], name=who)
    return signed_in(request, secret)


@router.post("/logout")
async def logout(request: Request, visitor: Visitor) -> Response:
    """Close this session."""
    person = await keys_of(request).person(request)
    await run_in_threadpool(accounts_of(request).end, person, visitor.id)
    keys_of(request).forget()
    leave = await _sign_out_elsewhere(request, person)
    response = RedirectResponse("/login", 303) if leave is None else _signed_out(request, leave)
    response.delete_cookie(keys_of(request).cookie_name, path=request.app.state.site.cookie_path)
    return response


async def _sign_out_elsewhere(request: Request, person: Person) -> str | None:
    """Where somebody who may have come from the provider signs out there, too."""
    sign_on: SignOn | None = request.app.state.sign_on
    if sign_on is None or not await sign_on.is_known(person):
        return None
    return await sign_on.ask(sign_on.provider.sign_out_url, f"{request.app.state.site.url}/login")


def _signed_out(request: Request, leave: str) -> Response:
    return render(request, "login.html", None, message="", leave=leave)


@router.get("/join")
async def join_form(request: Request, token: Secret = "") -> Response:
    """What an invitation leads to."""
    role = await run_in_threadpool(accounts_of(request).invited_as, token)
    return render(request, "join.html", None, token=token, role=role, message="", name="")


@router.post("/join")
async def join(
    request: Request,
    token: Annotated[str, Form(max_length=200)] = "",
    who: Name = "",
    password: Password = "",
) -> Response:
    """Become a member, and be signed in."""
    accounts = accounts_of(request)
    role = await run_in_threadpool(accounts.invited_as, token)
    try:
        person = await run_in_threadpool(accounts.join, token, who, password)
    except ReviewError as error:
        return render(
            request, "join.html", None, status=error.status, token=token, role=role, name=who, message=error.args[0]
        )  # fmt: skip
    return signed_in(request, await run_in_threadpool(accounts.open_session, person.id))


@router.get("/account")
async def account(request: Request, visitor: Visitor) -> Response:
    """What one has opened, and one's password."""
    return await account_page(request, visitor)


@router.post("/account/password")
async def change_password(
    request: Request, visitor: Visitor, old: Password = "", new: Password = ""
) -> Response:
    """Take another password; every other session is closed."""
    person = await keys_of(request).person(request)
    accounts = accounts_of(request)
    try:
        await run_in_threadpool(accounts.change_password, person, old, new, address_of(request))
    except ReviewError as error:
        return await account_page(request, visitor, message=error.args[0], status=error.status)
    keys_of(request).forget()
    return signed_in(request, await run_in_threadpool(accounts.open_session, person.id), "/account")


@router.post("/account/tokens")
async def make_token(
    request: Request,
    visitor: Visitor,
    label: Annotated[str, Form(max_length=100)] = "",
    scope: Annotated[RoleName, Form()] = "viewer",
) -> Response:
    """A token for a program; it is shown once."""
    person = await keys_of(request).person(request)
    token = await run_in_threadpool(accounts_of(request).make_token, person, label, Role.read(scope))
    return await account_page(request, visitor, token=token)


@router.post("/account/end")
async def end_session(
    request: Request, visitor: Visitor, digest: Annotated[str, Form(max_length=64)]
) -> Response:
    """Close a session or a token."""
    await run_in_threadpool(accounts_of(request).end, await keys_of(request).person(request), digest)
    keys_of(request).forget()
    return RedirectResponse("/account", 303)


@router.get("/people")
async def people(request: Request, visitor: Visitor) -> Response:
    """Everybody, for an admin."""
    return await people_page(request, visitor)


@router.post("/people/invite")
async def invite_person(
    request: Request,
    visitor: Visitor,
    role: Annotated[RoleName, Form()] = "reviewer",
    email: Annotated[str, Form(max_length=300)] = "",
) -> Response:
    """An address that makes somebody a member, once."""
    try:
        token = await run_in_threadpool(accounts_of(request).invite, Role.read(role), email)
    except ReviewError as error:
        return await people_page(request, visitor, message=error.args[0], status=error.status)
    link = f"{request.app.state.site.url}/join?token={token}"
    return await people_page(request, visitor, link=link)


@router.post("/people/{id}")
async def change_person(
    request: Request,
    visitor: Visitor,
    id: int,
    role: Annotated[RoleName, Form()],
    active: Annotated[bool, Form()] = False,
) -> Response:
    """Another role, or shut out."""
    try:
        await run_in_threadpool(accounts_of(request).change, id, role=Role.read(role), active=active)
    except ReviewError as error:
        return await people_page(request, visitor, message=error.args[0], status=error.status)
    keys_of(request).forget()
    return RedirectResponse("/people", 303)


@router.get("/people/{id}/erase")
async def ask_erase_person(request: Request, visitor: Visitor, id: int) -> Response:
    """What erasing somebody means."""
    return render(request, "erase_person.html", visitor, person=await _member(request, id))


@router.post("/people/{id}/erase")
async def forget_person(request: Request, visitor: Visitor, id: int) -> Response:
    """Forget a name, in every queue, and the account."""
    person = await _member(request, id)
    try:
        done = await erase_person(request, visitor.who, person.name)
    except ReviewError as error:
        return await people_page(request, visitor, message=error.args[0], status=error.status)
    return await people_page(request, visitor, erased=done)


async def _member(request: Request, id: int) -> Person:
    found = [each for each in await run_in_threadpool(accounts_of(request).people) if each.id == id]
    if not found:
        raise NoQueueError(Message("there is no such person."))
    return found[0]


@api.get("/me")
async def who_am_i(caller: Caller) -> dict[str, str]:
    """Whose token this is, and what it may do."""
    return {"name": caller.who, "role": caller.role.word}


async def account_page(
    request: Request, visitor: Visitor, *, message: str = "", token: str = "", status: int = 200
) -> Response:
    """One's own account."""
    person = await keys_of(request).person(request)
    sessions, tokens = await run_in_threadpool(accounts_of(request).opened, person)
    sign_on: SignOn | None = request.app.state.sign_on
    is_connected = sign_on is not None and await sign_on.is_known(person)
    return render(
        request, "account.html", visitor, status=status, message=message, token=token, sessions=sessions,
        tokens=tokens, roles=[role for role in Role if role <= person.role], is_connected=is_connected,
    )  # fmt: skip


async def people_page(
    request: Request,
    visitor: Visitor,
    *,
    message: str = "",
    link: str = "",
    erased: NameErasureOut | None = None,
    status: int = 200,
) -> Response:
    """Everybody, and how to invite others."""
    found = await run_in_threadpool(accounts_of(request).people)
    return render(
        request,
        "members.html",
        visitor,
        status=status,
        message=message,
        link=link,
        erased=erased,
        people=found,
        roles=[*Role],
    )


def signed_in(request: Request, secret: str, where: str = "/") -> Response:
    """A new session in its cookie."""
    response, site = RedirectResponse(where, 303), request.app.state.site
    response.set_cookie(
        keys_of(request).cookie_name, secret, max_age=int(SESSION_SECONDS), path=site.cookie_path,
        secure=site.is_secure, httponly=True, samesite="lax",
    )  # fmt: skip
    return response
