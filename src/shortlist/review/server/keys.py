"""What opens the server of a team: the cookie of a session, the token of a program, or the word of a proxy."""

from __future__ import annotations

import time

from fastapi.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from shortlist.review.server.accounts import Accounts, Person
from shortlist.review.web.access import Role
from shortlist.review.web.security import MOST_NAME, Gate, Session, bearer_token

#: A session is looked up so often, in seconds: when another process closes it, it is open no longer than that.
REMEMBER = 2.0
MOST_REMEMBERED = 10_000
MOST_SECRET = 200


class TeamKeys(Gate):
    """Who is asking, by what the people's tables say."""

    strangers = frozenset({"/login", "/join", "/oidc/join"})

    def __init__(self, secret: str, accounts: Accounts, user_header: str | None = None) -> None:
        super().__init__(secret)
        self.accounts, self._user_header = accounts, user_header
        self._known: dict[tuple[str, str], tuple[float, tuple[Person, Role] | None]] = {}

    async def caller(self, connection: HTTPConnection) -> Session | None:
        """The person whose session or token a request shows, or whom the proxy names."""
        kind, secret = self._shown(connection)
        found = await self._find(kind, secret)
        if found is None:
            return None
        person, role = found
        return Session(self.name_of(secret), person.name, role, is_program=kind == "token")

    async def person(self, connection: HTTPConnection) -> Person:
        """The person themself; only after ``caller`` has found one."""
        found = await self._find(*self._shown(connection))
        assert found is not None
        return found[0]

    def _shown(self, connection: HTTPConnection) -> tuple[str, str]:
        """What a request shows. The header of a proxy is there only if a proxy that was named has sent it."""
        token = bearer_token(connection)
        if token is not None:
            return "token", token
        named = connection.headers.getlist(self._user_header) if self._user_header else []
        if named:
            return "name", named[0].strip() if len(named) == 1 else ""
        return "session", connection.cookies.get(self.cookie_name, "")

    def colleagues(self) -> list[str]:
        """Everybody who may sign in and review."""
        people = self.accounts.people()
        return [each.name for each in people if each.active and each.role >= Role.REVIEWER]

    def called(self, name: str) -> str:
        """The name of the account, however it is typed."""
        person = self.accounts.called(name)
        return person.name if person else super().called(name)

    def shut_out(self, name: str) -> None:
        """Close what somebody has opened, and let them in no more."""
        person = self.accounts.called(name)
        if person is not None:
            self.accounts.change(person.id, role=person.role, active=False)
            self.forget()

    def erase(self, name: str) -> bool:
        """Forget an account."""
        person = self.accounts.called(name)
        if person is None:
            return False
        self.accounts.erase(person.id)
        self.forget()
        return True

    def forget(self) -> None:
        """Look everybody up anew: somebody has changed or left."""
        self._known.clear()

    async def _find(self, kind: str, secret: str) -> tuple[Person, Role] | None:
        if not secret or len(secret) > (MOST_NAME if kind == "name" else MOST_SECRET):
            return None
        at, found = self._known.get((kind, self.name_of(secret)), (float("-inf"), None))
        if time.monotonic() - at > REMEMBER:
            ways = {
                "token": self.accounts.of_token,
                "name": self.accounts.of_name,
                "session": self.accounts.of_session,
            }
            found = await run_in_threadpool(ways[kind], secret)
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            if found is not None:  # what strangers try is not remembered
                self._known[kind, self.name_of(secret)] = time.monotonic(), found
        return found
