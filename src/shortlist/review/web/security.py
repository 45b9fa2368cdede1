"""Who may talk to the server, and what a browser may do with its pages."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import HTTPConnection

from shortlist.exceptions import ShortlistError
from shortlist.review.web.access import Role
from shortlist.review.web.asgi import App, Receive, Scope, Send, refuse
from shortlist.review.web.site import Site

MOST_NAME = 60

SESSION_SECONDS = 30 * 86_400
TOKEN_SECONDS = 900
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
#: Asked by programs that know the machine and not the address: they learn whether the server works, and nothing else.
PROBES = frozenset({"/healthz", "/readyz"})
#: Bodies are forms and small JSON; only appended rows are larger.
MOST_BYTES = 64 * 1024
MOST_UPLOAD_BYTES = 256 * 1024 * 1024
#: No inline script, nothing from elsewhere: the page works offline and a value of a table cannot run.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # "no-referrer" would make browsers send the forms of our own pages with "Origin: null".
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Session:
    """Who is asking, and what they may do. Without accounts: whoever has shown a token, under the name they typed."""

    id: str
    who: str = ""
    role: Role = Role.ADMIN
    is_program: bool = False


class Gate(ABC):
    """Tells who is asking, and whether a form comes from one of our pages.

    ``strangers`` are the paths at which somebody unknown may send a form: to become known.
    """

    strangers: frozenset[str] = frozenset()

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        # Browsers send a cookie to every port of a host: under one name two reviews would sign each other out.
        self.cookie_name = f"shortlist_{_digest(f'name {secret}')[:16]}"

    @abstractmethod
    async def caller(self, connection: HTTPConnection) -> Session | None:
        """Who sends a request; None: a stranger."""

    def colleagues(self) -> list[str] | None:
        """Who may review here; None: whoever gives a name."""
        return None

    def called(self, name: str) -> str:
        """Somebody's name as the log has it."""
        return name

    def shut_out(self, name: str) -> None:  # noqa: B027 (nothing to do where there are no accounts)
        """Let nobody in under a name any more; where names are only typed in, the queue refuses it."""

    def erase(self, name: str) -> bool:
        """Forget the account of a name; tells whether there was one."""
        return False

    def csrf(self, session: Session) -> str:
        """What a form must bring along to show that it comes from one of our pages."""
        return hmac.new(self._secret, f"csrf {session.id}".encode(), hashlib.sha256).hexdigest()

    def is_csrf(self, session: Session, token: str | None) -> bool:
        """Whether a form comes from one of our pages."""
        return hmac.compare_digest(self.csrf(session).encode(), (token or "").encode())

    @staticmethod
    def name_of(secret: str) -> str:
        """What stands for a secret where it must not be told."""
        return _digest(secret)


class Keys(Gate):
    """Tokens and cookies of a server for one person, or for a few who trust each other.

    A one-time token in the address becomes a signed cookie; the cookie outlives the server. Programs show the
    access token of the workspace instead, which only its owner can read.

    >>> keys = Keys("secret")
    >>> token = keys.issue()
    >>> session = keys.redeem(token)
    >>> keys.redeem(token) is None, keys.session(keys.cookie(session)) == session
    (True, True)
    """

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        super().__init__(secret)
        self._signer = URLSafeTimedSerializer(secret, salt="session")
        self._tokens: dict[str, float] = {}
        self._clock = clock
        self.access_token = secrets.token_urlsafe(32)

    def issue(self) -> str:
        """A token that opens one session, once, soon."""
        now = self._clock()
        self._tokens = {token: until for token, until in self._tokens.items() if until > now}
        token = secrets.token_urlsafe(24)
        self._tokens[_digest(token)] = now + TOKEN_SECONDS
        return token

    def redeem(self, token: str) -> Session | None:
        """The session a token opens; None if it is unknown, used or too old."""
        until = self._tokens.pop(_digest(token), 0.0)
        return Session(secrets.token_urlsafe(12)) if until > self._clock() else None

    def cookie(self, session: Session) -> str:
        """The cookie of a session."""
        return str(self._signer.dumps([session.id, session.who]))

    def session(self, cookie: str | None) -> Session | None:
        """The session of a cookie; None if it is forged or too old."""
        try:
            id, who = self._signer.loads(cookie or "", max_age=SESSION_SECONDS)
        except (BadSignature, ValueError, TypeError):
            return None
        return Session(str(id), str(who))

    def is_access_token(self, token: str) -> bool:
        """Whether a program may talk to us."""
        return hmac.compare_digest(self.access_token.encode(), token.encode())

    async def caller(self, connection: HTTPConnection) -> Session | None:
        """The session of a cookie; a program that shows the access token says whose verdicts it brings."""
        token = bearer_token(connection)
        if token is None:
            return self.session(connection.cookies.get(self.cookie_name))
        if not self.is_access_token(token):
            return None
        who = clean_name(unquote(connection.headers.get("x-reviewer", "program")))
        return Session("program", who, is_program=True)


def clean_name(name: str) -> str:
    """A name as it is written to the log: printable, without spaces around it."""
    kept = "".join(character for character in name if character.isprintable()).strip()
    return kept[:MOST_NAME] or "somebody"


def bearer_token(caller: HTTPConnection) -> str | None:
    """The token that a program shows; None where a browser asks."""
    scheme, _, token = caller.headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else None


class Guard:
    """Turns away what no page or program of ours sends: other hosts, other origins, huge bodies; adds the headers.

    The body of a stranger is not read at all: what they get is "sign in", whatever they send.
    """

    def __init__(self, app: App, site: Site, keys: Gate) -> None:
        self._app, self._site, self._keys = app, site, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = HTTPConnection(scope)
        refusal = self._refusal(scope["method"], scope["path"], caller.headers)
        if refusal is not None:
            await refuse(_with_headers(send), *refusal)
            return
        answer = _with_headers(send, keep_cache=scope["path"].startswith("/static/"))
        try:
            scope["caller"] = await self._keys.caller(caller)
        except ShortlistError as error:  # the database of people is away
            await refuse(answer, 503, str(error))
            return
        is_heard = scope["caller"] is not None or scope["path"] in self._keys.strangers
        body = _Limit(receive, most_bytes(scope["path"])) if is_heard else _NoBody(receive)
        try:
            await self._app(scope, body, answer)
        except asyncio.CancelledError:  # the server was told to stop, and has waited long enough
            await refuse(answer, 503, "the review is stopping. Send this again once it runs: it counts once.")

    def _refusal(self, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        if headers.get("host", "").lower() not in self._site.hosts and path not in PROBES:
            return 421, "this server answers to its own address only."
        if method not in SAFE_METHODS:
            origin = headers.get("origin")
            if origin is not None and origin.lower() not in self._site.origins:
                return 403, "this request comes from another site."
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "this request comes from another site."
        length = headers.get("content-length", "0")
        if not re.fullmatch(r"[0-9]{1,18}", length) or int(length) > most_bytes(path):
            return 413, f"the request is larger than {most_bytes(path):,} bytes."
        return None


def most_bytes(path: str) -> int:
    """How large a request may be."""
    return (
        MOST_UPLOAD_BYTES if path == "/new" or path.endswith(("/rows", "/imports", "/queues")) else MOST_BYTES
    )


class _NoBody:
    """Tells the app that there is no body, and then waits for the end of the connection."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._told = receive, False

    async def __call__(self) -> MutableMapping[str, Any]:
        if not self._told:
            self._told = True
            return {"type": "http.request", "body": b"", "more_body": False}
        while (message := await self._receive())["type"] != "http.disconnect":
            pass  # what is sent all the same is dropped as it comes
        return message


class _Limit:
    """Stops a body that is larger than it says, or does not say."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._left = receive, most

    async def __call__(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            return {"type": "http.disconnect"}
        return message


def _with_headers(send: Send, *, keep_cache: bool = False) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = {name: v for name, v in HEADERS.items() if not (keep_cache and name == "cache-control")}
            taken = {name.lower() for name, _ in message["headers"]}
            extra = [(k.encode(), v.encode()) for k, v in own.items() if k.encode() not in taken]
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return sending


def _digest(token: str) -> str:
    """Tokens are kept as digests, so that looking one up takes the same time whatever was guessed."""
    return hashlib.sha256(token.encode()).hexdigest()
