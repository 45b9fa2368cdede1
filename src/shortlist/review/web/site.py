"""Where a server is seen: its address, the hosts it answers to, and the path it lies under behind a proxy."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from shortlist.exceptions import InvalidInputError
from shortlist.review.web.asgi import App, Receive, Scope, Send, refuse

DEFAULT_PORTS = {"http": 80, "https": 443}


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by whichever of its names.

    >>> is_loopback("localhost"), is_loopback("127.0.0.9"), is_loopback("::1"), is_loopback("10.0.0.1")
    (True, True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Site:
    """The address of a server as browsers know it.

    url : without a slash at its end, such as https://host/base
    others : further hosts that mean this server, such as localhost:8765
    is_team : whether people sign in, each as themself
    provider : what pages call the OpenID provider that people may sign in with; empty: there is none

    >>> site = Site.of("https://Reviews.example:443/claims/")
    >>> site.url, site.base, site.hosts, site.is_secure
    ('https://reviews.example/claims', '/claims', frozenset({'reviews.example'}), True)
    """

    url: str
    others: frozenset[str] = frozenset()
    is_team: bool = False
    provider: str = ""

    @classmethod
    def of(cls, url: str, **options: Any) -> Site:
        """The site of an address that somebody typed."""
        parts = urlsplit(url.strip())
        try:
            port, host = parts.port, parts.hostname
        except ValueError:
            host = None
        if parts.scheme not in DEFAULT_PORTS or not host or parts.query or parts.fragment or parts.username:
            raise InvalidInputError(
                f"{url!r} is no address of a server; write https://HOST or https://HOST/PATH, without ? and #."
            )
        name = f"[{host}]" if ":" in host else host
        netloc = name if port in (None, DEFAULT_PORTS[parts.scheme]) else f"{name}:{port}"
        return cls(f"{parts.scheme}://{netloc}{parts.path.rstrip('/')}", **options)

    @classmethod
    def local(cls, port: int) -> Site:
        """The machine itself, for a browser on it."""
        names = ("127.0.0.1", "localhost", "[::1]")
        return cls(f"http://127.0.0.1:{port}", frozenset(f"{name}:{port}" for name in names))

    @property
    def base(self) -> str:
        """The path that all addresses begin with; empty: none."""
        return urlsplit(self.url).path

    @cached_property
    def hosts(self) -> frozenset[str]:
        """What a request may call us."""
        return frozenset({urlsplit(self.url).netloc, *self.others})

    @cached_property
    def origins(self) -> frozenset[str]:
        """What our pages call themselves."""
        scheme = urlsplit(self.url).scheme
        return frozenset(f"{scheme}://{host}" for host in self.hosts)

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach us by TLS, so that cookies may insist on it."""
        return self.url.startswith("https:")

    @property
    def cookie_path(self) -> str:
        """Where browsers send our cookie."""
        return f"{self.base}/"


class UnderBase:
    """Takes the path off that all addresses begin with, and puts it before addresses that answers lead to.

    What lies inside knows nothing of it; pages write ``base`` before their links.
    """

    def __init__(self, app: App, base: str) -> None:
        self._app, self._base = app, base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        if path == self._base:
            path += "/"
        if not path.startswith(f"{self._base}/"):
            await refuse(send, 404, f"this server lies under {self._base}/.")
            return
        inner = {**scope, "path": path.removeprefix(self._base), "raw_path": None}
        await self._app(inner, receive, self._outward(send))

    def _outward(self, send: Send) -> Send:
        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = [
                    (name, self._base.encode() + value if name == b"location" and _is_ours(value) else value)
                    for name, value in message["headers"]
                ]
                message = {**message, "headers": headers}
            await send(message)

        return sending


def _is_ours(location: bytes) -> bool:
    return location.startswith(b"/") and not location.startswith(b"//")
