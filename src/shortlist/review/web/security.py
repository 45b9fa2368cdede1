"""Who may talk to the server, and what a browser may do with its pages."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from itsdangerous import BadSignature, URLSafeTimedSerializer

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "shortlist_session"
SESSION_SECONDS = 30 * 86_400
TOKEN_SECONDS = 900
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
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
    """A browser that has shown a token, or a program that has; and the name its user typed in."""

    id: str
    who: str = ""


class Keys:
    """Tokens and cookies of one server.

    A one-time token in the address becomes a signed cookie; the cookie outlives the server. Programs show the
    access token of the workspace instead, which only its owner can read.

    >>> keys = Keys("secret")
    >>> token = keys.issue()
    >>> session = keys.redeem(token)
    >>> keys.redeem(token) is None, keys.session(keys.cookie(session)) == session
    (True, True)
    """

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._signer = URLSafeTimedSerializer(secret, salt="session")
        self._secret = secret.encode()
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

    def csrf(self, session: Session) -> str:
        """What a form must bring along to show that it comes from one of our pages."""
        return hmac.new(self._secret, f"csrf {session.id}".encode(), hashlib.sha256).hexdigest()

    def is_csrf(self, session: Session, token: str | None) -> bool:
        """Whether a form comes from one of our pages."""
        return hmac.compare_digest(self.csrf(session).encode(), (token or "").encode())

    def is_access_token(self, token: str) -> bool:
        """Whether a program may talk to us."""
        return hmac.compare_digest(self.access_token.encode(), token.encode())


class Guard:
    """Turns away what no page or program of ours sends: other hosts, other origins, huge bodies; adds the headers."""

    def __init__(self, app: App, hosts: frozenset[str]) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope["method"], scope["path"], headers)
        if refusal is not None:
            await _refuse(_with_headers(send), *refusal)
            return
        limited = _Limit(receive, most_bytes(scope["path"]))
        await self._app(scope, limited, _with_headers(send, keep_cache=scope["path"].startswith("/static/")))

    def _refusal(self, method: str, path: str, headers: dict[str, str]) -> tuple[int, str] | None:
        if headers.get("host", "").lower() not in self._hosts:
            return 421, "this server answers to its own address only."
        if method not in SAFE_METHODS:
            origin = headers.get("origin")
            if origin is not None and urlsplit(origin).netloc.lower() not in self._hosts:
                return 403, "this request comes from another site."
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "this request comes from another site."
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > most_bytes(path):
            return 413, f"the request is larger than {most_bytes(path):,} bytes."
        return None


def most_bytes(path: str) -> int:
    """How large a request may be."""
    return MOST_UPLOAD_BYTES if path.endswith(("/rows", "/imports")) else MOST_BYTES


def hosts_of(port: int) -> frozenset[str]:
    """The names under which a browser on this machine knows us."""
    return frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))


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


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = reason.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _digest(token: str) -> str:
    """Tokens are kept as digests, so that looking one up takes the same time whatever was guessed."""
    return hashlib.sha256(token.encode()).hexdigest()
