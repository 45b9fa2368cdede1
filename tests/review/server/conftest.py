"""A server of a team in a thread, and browsers without a screen that call it by its public name."""

import re
import threading
import time
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from shortlist.review.create import create
from shortlist.review.server.app import TeamServer, listen
from shortlist.review.web.access import Role
from shortlist.review.web.site import Site
from shortlist.review.workspace import Workspace
from tests.review.conftest import make_rows

PASSWORD = "correct horse battery"
ORIGIN = "http://reviews.example"


class Team:
    """A server and browsers in which its people are signed in; without a public address it has that of its port."""

    def __init__(
        self,
        folder,
        url=f"{ORIGIN}/base",
        database=None,
        proxies=(),
        webhooks=(),
        user_header=None,
        oidc=None,
        sources=(),
    ):
        self._sock = listen("127.0.0.1", 0)
        self.port = self._sock.getsockname()[1]
        url = url or f"http://127.0.0.1:{self.port}"
        site = Site.of(url, is_team=True)
        self.server = TeamServer.open(folder, site, database, webhooks, user_header, oidc, sources)
        self.url, self._proxies, self._clients = url, proxies, ExitStack()

    @contextmanager
    def running(self, heard_at=None):
        """``heard_at``: another socket than its own, such as that of a test."""
        if heard_at is not None:
            self._sock.close()
            self._sock, self.port = heard_at, heard_at.getsockname()[1]
        with self._sock as sock, self._clients:
            server = self.server.uvicorn(self._proxies)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
            thread.start()
            while not server.started:
                time.sleep(0.01)
            try:
                yield self
            finally:
                self._clients.close()
                server.should_exit = True
                thread.join()

    def browser(self, **headers):
        """A browser that knows nobody yet."""
        host = urlsplit(self.url).netloc
        headers = {"host": host, "origin": self.url.removesuffix("/base"), "accept-language": "en", **headers}
        options = {"trust_env": False, "timeout": 60, "follow_redirects": True}
        return self._clients.enter_context(
            httpx.Client(base_url=f"http://127.0.0.1:{self.port}", headers=headers, **options)
        )

    def join(self, name, role):
        """Somebody accepts an invitation."""
        http = self.browser()
        token = self.server.accounts.invite(role)
        answer = http.post("/base/join", data={"token": token, "who": name, "password": PASSWORD})
        assert answer.status_code == 200, answer.text
        http.headers["x-csrf-token"] = csrf_of(answer.text)
        return http

    def program(self, name, scope):
        """A program with a token of somebody."""
        person = next(each for each in self.server.accounts.people() if each.name == name)
        token = self.server.accounts.make_token(person, "test", scope)
        return self.browser(authorization=f"Bearer {token}")


def csrf_of(page):
    return re.search(r'"X-CSRF-Token":"([0-9a-f]+)"', page)[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two queues, one of them further down."""
    place = tmp_path_factory.mktemp("reviews")
    (place / "north").mkdir()
    for data in (place / "claims.csv", place / "north" / "invoices.csv"):
        make_rows(60, 6).drop("truth").write_csv(data)
        create(str(data), Workspace.beside(str(data)), id="claim", settings={"budget": 40})
    return place


@pytest.fixture(scope="module")
def team(folder):
    with Team(folder).running() as team:
        team.people = {role: team.join(role.word, role) for role in Role}
        yield team


@pytest.fixture(scope="module")
def openid():
    from tests.review.server.openid import OpenIdProvider

    with OpenIdProvider().running() as provider:
        yield provider


@pytest.fixture
def provider(openid):
    """An OpenID provider that tells the truth until a test says otherwise."""
    openid.reset()
    return openid


@pytest.fixture
def open_team(provider, tmp_path):
    """A server that is registered with the provider."""
    with ExitStack() as opened:
        yield lambda **options: opened.enter_context(registered(tmp_path, provider.url, **options))


def registered(folder, issuer, new_role=None, secret=None, **options):
    """A server of a team that people can sign in to with a provider."""
    from shortlist.review.server.oidc.settings import OidcSettings
    from tests.review.server.openid import CLIENT, SECRET

    oidc = OidcSettings(issuer, CLIENT, SECRET if secret is None else secret, "Example <b>", new_role)
    return Team(folder, oidc=oidc, **options).running()
