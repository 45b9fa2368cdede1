"""Proxies in front of the server: whose word is taken for where a request comes from, and for who is asking."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from shortlist.review.web.asgi import App, Receive, Scope, Send


class FromProxies:
    """Takes headers of named proxies only: from anybody else the one that names a person is taken off.

    It lies outside of all else, where the other end of the connection is still known.
    """

    def __init__(self, app: App, proxies: Sequence[str], user_header: str | None) -> None:
        self._app: App = ProxyHeadersMiddleware(app, trusted_hosts=[*proxies]) if proxies else app  # type: ignore[arg-type,assignment]
        self._networks = [ipaddress.ip_network(proxy, strict=False) for proxy in proxies]
        self._header = user_header.lower().encode() if user_header else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http" and self._header and not self._is_named(scope.get("client")):
            kept = [(name, value) for name, value in scope["headers"] if name.lower() != self._header]
            scope = {**scope, "headers": kept}
        await self._app(scope, receive, send)

    def _is_named(self, client: tuple[str, int] | None) -> bool:
        try:
            address = ipaddress.ip_address(client[0] if client else "")
        except ValueError:
            return False
        return any(address in network for network in self._networks)
