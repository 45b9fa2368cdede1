"""The server of a team: its app put together, the socket it listens on, and how it is run."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import re
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from shortlist.exceptions import InvalidInputError, ShortlistError
from shortlist.review.log.database import Database, Remote
from shortlist.review.log.postgres import Postgres
from shortlist.review.log.sqlite import Sqlite
from shortlist.review.server import making, operations, pages
from shortlist.review.server.accounts import Accounts
from shortlist.review.server.folder import QueueFolder
from shortlist.review.server.keys import TeamKeys
from shortlist.review.server.oidc import pages as oidc_pages
from shortlist.review.server.oidc.settings import OidcSettings
from shortlist.review.server.oidc.sign_on import SignOn
from shortlist.review.server.operations import QueueFigures, Watched
from shortlist.review.server.proxy import FromProxies
from shortlist.review.server.webhooks import Outbox, Webhook
from shortlist.review.web.access import Role
from shortlist.review.web.asgi import App
from shortlist.review.web.server import bound, create_app, settle_in
from shortlist.review.web.site import Site, UnderBase, is_loopback
from shortlist.review.workspace import Workspace

log = logging.getLogger("shortlist.review")
PORT = 8765
#: How often queues that were made by others are looked for, in seconds.
REFRESH_SECONDS = 10.0


@dataclass
class TeamServer:
    """All that one process serves."""

    queues: QueueFolder
    accounts: Accounts
    site: Site
    app: FastAPI
    asgi: App
    user_header: str | None = None

    @classmethod
    def open(
        cls,
        folder: Path,
        site: Site,
        database: str | None = None,
        webhooks: Sequence[Webhook] = (),
        user_header: str | None = None,
        oidc: OidcSettings | None = None,
        sources: Sequence[Path] = (),
    ) -> TeamServer:
        """Open every queue below a folder, and the accounts of its people."""
        queues = QueueFolder(folder, database, sources)
        with contextlib.ExitStack() as unless_opened:
            unless_opened.callback(queues.close)
            people = people_of(folder, database)
            accounts = Accounts(people)
            unless_opened.callback(accounts.close)
            outbox = Outbox(people, queues, webhooks) if webhooks else None
            secret = Workspace(folder).secret()
            sign_on = SignOn.of(oidc, site, accounts, secret) if oidc else None
            site = replace(site, provider=oidc.title if oidc else "")
            app = _app(queues, TeamKeys(secret, accounts, user_header), site, outbox, sign_on)
            unless_opened.pop_all()
        return cls(queues, accounts, site, app, UnderBase(app, site.base) if site.base else app, user_header)

    def first_address(self) -> str | None:
        """Where the first admin makes their account; None: there is one."""
        if self.accounts.has_admin():
            return None
        return f"{self.site.url}/join?token={self.accounts.invite(Role.ADMIN)}"

    def run(self, sock: socket.socket, *, proxies: Sequence[str] = ()) -> None:
        """Serve until the process is told to stop."""
        settle_in()
        self.uvicorn(proxies).run(sockets=[sock])

    def uvicorn(self, proxies: Sequence[str] = ()) -> uvicorn.Server:
        """A server that is ready to run; what it hears of other addresses it believes from these proxies only."""
        asgi = FromProxies(self.asgi, proxies, self.user_header)
        config = uvicorn.Config(
            asgi, log_level="warning", access_log=False, server_header=False, lifespan="on", ws="none",
            timeout_graceful_shutdown=3, proxy_headers=False,
        )  # fmt: skip
        return uvicorn.Server(config)

    def close(self) -> None:
        """Give back what was opened; a server that has run has done so."""
        self.queues.close()
        self.accounts.close()


def _app(
    queues: QueueFolder, keys: TeamKeys, site: Site, outbox: Outbox | None, sign_on: SignOn | None
) -> FastAPI:
    async def refreshing() -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            with contextlib.suppress(ShortlistError, OSError):
                await asyncio.to_thread(queues.refresh)

    async def telling() -> None:
        if outbox is None:
            return
        # Nobody waits for its end: a target that does not answer must not keep the server from stopping.
        threading.Thread(target=outbox.run, name="webhooks", daemon=True).start()
        try:
            await asyncio.Event().wait()
        finally:
            outbox.stop()

    def closing() -> None:
        keys.accounts.close()
        if sign_on is not None:
            sign_on.provider.close()

    app = create_app(
        queues,
        keys,
        site,
        pages=(pages.router, oidc_pages.router, making.pages, operations.router),
        apis=(pages.api, making.api),
        meanwhile=(refreshing, telling),
        afterwards=closing,
    )
    app.state.sign_on = sign_on
    app.state.registry = CollectorRegistry()
    app.state.registry.register(QueueFigures(queues))
    app.add_middleware(Watched, registry=app.state.registry)
    return app


def people_of(folder: Path, database: str | None) -> Database:
    """Where a server keeps its people: in the database that also keeps the logs, or in a file of its folder."""
    if database is None:
        return Sqlite(folder / "people.sqlite", folder)
    return Postgres(Remote(database, "", folder))


def check_exposure(
    host: str, public_url: str | None, proxies: Sequence[str], user_header: str | None = None
) -> None:
    """Refuse to be reached from elsewhere by an address that nobody has named."""
    problems = []
    if not is_loopback(host) and public_url is None:
        problems.append(
            f"--host {host} can be reached from other machines: say under which address, with --public-url."
        )
    for proxy in proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError:
            problems.append(f"--proxy {proxy} is no IP address or network such as 10.0.0.0/8.")
    if user_header is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,60}", user_header):
        problems.append(f"--user-header {user_header} is no name of a header such as X-Forwarded-User.")
    if user_header is not None and not proxies:
        problems.append("--user-header is taken from proxies that are named only: say which, with --proxy.")
    if problems:
        raise InvalidInputError(" ".join(problems))


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens; None: the usual port."""
    port = PORT if port is None else port
    try:
        return bound(host, port)
    except OSError as error:
        why = error.strerror or str(error)
        raise InvalidInputError(
            f"{host}:{port} cannot be used ({why}). Choose others with --host and --port."
        ) from None


def serve_team(
    folder: Path,
    *,
    database: str | None = None,
    public_url: str | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    proxies: Sequence[str] = (),
    webhooks: Sequence[str] = (),
    user_header: str | None = None,
    oidc: OidcSettings | None = None,
    sources: Sequence[Path] = (),
    ready: Callable[[TeamServer], None] = lambda server: None,
) -> None:
    """Serve every queue below a folder until the process is told to stop; ``ready`` is told once it listens."""
    check_exposure(host, public_url, proxies, user_header)
    if oidc is not None and user_header is not None:
        raise InvalidInputError("--user-header and --oidc-issuer both say who is asking; use one of them.")
    site = None if public_url is None else Site.of(public_url, is_team=True)
    with listen(host, port) as sock:
        here = Site.local(sock.getsockname()[1])
        told = Webhook.of_environment(webhooks)
        site = site or Site(here.url, here.hosts, is_team=True)
        server = TeamServer.open(folder, site, database, told, user_header, oidc, sources)
        ready(server)
        server.run(sock, proxies=proxies)
