"""How a browser signs in with the provider: to it, and back; also to accept an invitation, or to connect an account."""

from __future__ import annotations

import hmac
import re
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shortlist.languages.words import Message
from shortlist.review.errors import NotSignedInError, ReviewError
from shortlist.review.server.accounts import Person, checked_name
from shortlist.review.server.oidc.flows import SECONDS, Begun
from shortlist.review.server.oidc.sign_on import CALLBACK, SignOn, sign_on_of
from shortlist.review.server.oidc.tokens import untrusted
from shortlist.review.server.pages import accounts_of, keys_of, signed_in
from shortlist.review.web.callers import Visitor
from shortlist.review.web.rendering import render
from shortlist.review.web.site import Site

router = APIRouter()
Told = Annotated[str, Query(max_length=4096)]


@router.get("/oidc/login")
async def oidc_login(request: Request) -> Response:
    """To the provider, and then back as whoever one is there."""
    return await _begin(request, Begun())


@router.post("/oidc/join")
async def oidc_join(
    request: Request,
    token: Annotated[str, Form(max_length=200)] = "",
    who: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Accept an invitation without a password."""
    sign_on_of(request)
    accounts = accounts_of(request)
    role = await run_in_threadpool(accounts.invited_as, token)
    try:
        name = checked_name(who)
        await run_in_threadpool(accounts.check_free, name)
    except ReviewError as error:
        return render(
            request, "join.html", None, status=error.status, token=token, role=role, name=who, message=error.args[0]
        )  # fmt: skip
    return await _begin(request, Begun(token=token, name=name))


@router.post("/oidc/connect")
async def oidc_connect(request: Request, visitor: Visitor) -> Response:
    """From now on sign in with the provider, to the account one has."""
    return await _begin(request, Begun(session=visitor.id))


@router.get(CALLBACK)
async def oidc_callback(
    request: Request, state: Told = "", code: Told = "", error: Told = "", iss: Told | None = None
) -> Response:
    """Back from the provider."""
    sign_on = sign_on_of(request)
    try:
        begun = sign_on.flows.end(request.cookies.get(_cookie_name(request), ""), state)
        if begun is None:
            raise NotSignedInError(
                Message(
                    "this sign-in was not begun in this browser, took too long or was ended. Begin again."
                )
            )
        _check_answer(sign_on, code, error, iss)
        person = await _person(request, sign_on, begun, code)
    except ReviewError as problem:
        return _forget(request, _refused(request, problem))
    if begun.session:
        return _forget(request, RedirectResponse("/account", 303))
    session = await run_in_threadpool(accounts_of(request).open_session, person.id)
    return _forget(request, signed_in(request, session))


async def _begin(request: Request, begun: Begun) -> Response:
    """Send a browser to the provider.

    Our own policy keeps a form from being redirected to another site: its answer is a page that goes on by itself.
    """
    sign_on = sign_on_of(request)
    try:
        to = await sign_on.ask(sign_on.provider.authorization_url, begun.state, begun.nonce, begun.verifier)
    except ReviewError as problem:
        return _refused(request, problem)
    response: Response = RedirectResponse(to, 303)
    if request.method == "POST":
        response = render(request, "onward.html", None, to=to)
    site: Site = request.app.state.site
    response.set_cookie(
        _cookie_name(request), sign_on.flows.cookie(begun), max_age=SECONDS, path=f"{site.base}{CALLBACK}",
        secure=site.is_secure, httponly=True, samesite="lax",
    )  # fmt: skip
    return response


def _check_answer(sign_on: SignOn, code: str, error: str, iss: str | None) -> None:
    """What came back in the address; ``iss`` keeps answers of two providers apart (RFC 9207)."""
    if iss is not None and not hmac.compare_digest(iss.encode(), sign_on.provider.settings.issuer.encode()):
        raise untrusted("iss")
    if error or not code:
        why = error if re.fullmatch(r"[a-z_]{1,60}", error) else "no code"
        raise NotSignedInError(
            Message("%(name)s has not signed you in (%(reason)s). Begin again.",
                    name=sign_on.provider.settings.title, reason=why)
        )  # fmt: skip


async def _person(request: Request, sign_on: SignOn, begun: Begun, code: str) -> Person:
    identity = await sign_on.ask(sign_on.provider.redeem, code, begun.nonce, begun.verifier)
    identities, new_role = sign_on.identities, sign_on.provider.settings.new_role
    if begun.token:
        return await run_in_threadpool(identities.join, identity, begun.token, begun.name)
    if not begun.session:
        return await run_in_threadpool(identities.sign_in, identity, new_role)
    caller = request.scope["caller"]
    if caller is None or caller.is_program or caller.id != begun.session:
        raise NotSignedInError(
            Message("you have signed out meanwhile, or in as somebody else. Sign in, and connect again.")
        )
    person = await keys_of(request).person(request)
    await run_in_threadpool(identities.connect, identity, person)
    return person


def _refused(request: Request, problem: ReviewError) -> Response:
    """Why it did not work: beside the form to sign in, or to whoever is signed in."""
    template = "login.html" if request.scope["caller"] is None else "error.html"
    return render(request, template, None, status=problem.status, message=problem.args[0])


def _cookie_name(request: Request) -> str:
    return f"{keys_of(request).cookie_name}_oidc"


def _forget(request: Request, response: Response) -> Response:
    response.delete_cookie(_cookie_name(request), path=f"{request.app.state.site.base}{CALLBACK}")
    return response
