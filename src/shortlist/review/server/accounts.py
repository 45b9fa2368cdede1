"""The people of a server: they are invited, sign in, show tokens, change roles, and leave."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from shortlist.languages.words import Message
from shortlist.review.errors import BadRequestError, NoQueueError, NotSignedInError
from shortlist.review.log.database import Chain, Database, reading, writing
from shortlist.review.server.passwords import Throttle, hash_password, is_password, no_password
from shortlist.review.server.tables import IDENTITIES, INVITATIONS, SESSIONS, TOKENS, USERS
from shortlist.review.web.access import Role
from shortlist.review.web.security import MOST_NAME, clean_name

#: How long things open the server, in seconds.
SESSION_SECONDS = 12 * 3600.0
INVITATION_SECONDS = 7 * 86_400.0
TOKEN_SECONDS = 365 * 86_400.0
CHAIN = Chain("shortlist.review.server", "shortlist_people")


@dataclass(frozen=True)
class Person:
    """Somebody who may sign in. ``name`` is what the log says, and nobody else ever gets it."""

    id: int
    name: str
    role: Role
    active: bool


@dataclass(frozen=True)
class Opened:
    """A session or a token that is in force, without its secret."""

    digest: str
    label: str
    role: Role
    created: float
    until: float


class Accounts:
    """All that is kept of people, beside the logs.

    Parameters
    ----------
    database : a file of the folder, or the database that also keeps the logs
    clock : seconds since 1970
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self.database, self._engine, self.clock = database, database.engine, clock
        self._throttle = Throttle()
        with writing():
            database.upgrade(CHAIN)

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()

    # -- coming and going

    def invite(self, role: Role, email: str = "", seconds: float = INVITATION_SECONDS) -> str:
        """A secret that makes its bearer a member, once; so does signing in elsewhere under the e-mail address."""
        token = secrets.token_urlsafe(24)
        values = {"digest": _digest(token), "role": role.word, "until": self.clock() + seconds,
                  "email": checked_email(email) if email.strip() else None}  # fmt: skip
        with writing(), self.database.transaction() as connection:
            connection.execute(sa.delete(INVITATIONS).where(INVITATIONS.c.until < self.clock()))
            connection.execute(sa.insert(INVITATIONS).values(values))
        return token

    def invited_as(self, token: str) -> Role:
        """What an invitation makes of whoever has it."""
        with reading(), self._engine.connect() as connection:
            return self._invitation(connection, token)

    def join(self, token: str, name: str, password: str) -> Person:
        """Accept an invitation; it cannot be used again."""
        name = checked_name(name)
        kept = hash_password(name, password)
        with writing(), self.database.transaction() as connection:
            return self.admit(connection, name, self.accept(connection, token), kept)

    def check_free(self, name: str) -> None:
        """Refuse a name that somebody has or had."""
        with reading(), self._engine.connect() as connection:
            _check_free(connection, name)

    def accept(self, connection: sa.Connection, token: str) -> Role:
        """Use an invitation up; the transaction of ``connection`` makes the account, or leaves the invitation."""
        role = self._invitation(connection, token)
        connection.execute(sa.delete(INVITATIONS).where(INVITATIONS.c.digest == _digest(token)))
        return role

    def admit(self, connection: sa.Connection, name: str, role: Role, kept: str) -> Person:
        """A new account with a name that nobody has or had; ``kept`` is what is kept of its password."""
        _check_free(connection, name)
        values = {"name": name, "key": _key(name), "password": kept, "role": role.word, "active": True,
                  "created": self.clock()}  # fmt: skip
        connection.execute(sa.insert(USERS).values(values))
        return person_of(connection.execute(named(name)).one())

    def has_admin(self) -> bool:
        """Whether somebody can invite others."""
        return any(person.active and person.role is Role.ADMIN for person in self.people())

    def people(self) -> list[Person]:
        """Everybody, also those who have left."""
        with reading(), self._engine.connect() as connection:
            return [person_of(each) for each in connection.execute(sa.select(USERS).order_by(USERS.c.name))]

    def change(self, id: int, *, role: Role, active: bool) -> None:
        """Give somebody another role, or shut them out: what they have opened is closed at once."""
        with writing(), self.database.transaction() as connection:
            values = {"role": role.word, "active": active}
            done = connection.execute(sa.update(USERS).where(USERS.c.id == id).values(values))
            if done.rowcount == 0:
                raise NoQueueError(Message("there is no such person."))
            admins = sa.select(sa.func.count()).where(USERS.c.role == Role.ADMIN.word, USERS.c.active)
            if connection.execute(admins).scalar_one() == 0:
                raise BadRequestError(Message("somebody has to be the admin; make another one first."))
            if not active:
                for table in (SESSIONS, TOKENS):
                    connection.execute(sa.delete(table).where(table.c.user == id))

    def called(self, name: str) -> Person | None:
        """The person of this name, however it is typed."""
        with reading(), self._engine.connect() as connection:
            found = connection.execute(named(name)).one_or_none()
        return None if found is None else person_of(found)

    def erase(self, id: int) -> None:
        """Forget an account that was shut out: its name, its password, and who a provider says it is."""
        with writing(), self.database.transaction() as connection:
            for table in (SESSIONS, TOKENS, IDENTITIES):
                connection.execute(sa.delete(table).where(table.c.user == id))
            connection.execute(sa.delete(USERS).where(USERS.c.id == id, USERS.c.active.is_(False)))
        with writing():
            self.database.forget_the_past(("users", "tokens", "identities"))

    # -- signing in

    def sign_in(self, name: str, password: str, address: str) -> str:
        """The secret of a new session; wrong passwords are counted by name and by address."""
        key = _key(name)
        self._throttle.check(key, address)
        with reading(), self._engine.connect() as connection:
            found = connection.execute(named(name)).one_or_none()
        if not is_password(found.password if found is not None and found.active else None, password):
            self._throttle.wrong(key, address)
            raise NotSignedInError(Message("name and password do not belong together."))
        assert found is not None
        self._throttle.right(key, address)
        return self.open_session(found.id)

    def open_session(self, user: int) -> str:
        """The secret of a new session: one that a browser had before is never taken up."""
        token, now = secrets.token_urlsafe(32), self.clock()
        values = {"digest": _digest(token), "user": user, "created": now, "until": now + SESSION_SECONDS}
        with writing(), self.database.transaction() as connection:
            connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.until < now))
            connection.execute(sa.insert(SESSIONS).values(values))
        return token

    def change_password(self, person: Person, old: str, new: str, address: str) -> None:
        """Take another password; whoever is signed in as this person is signed out."""
        self._throttle.check(person.name, address)
        with reading(), self._engine.connect() as connection:
            found = connection.execute(named(person.name)).one()
        if not is_password(found.password, old):
            self._throttle.wrong(person.name, address)
            raise BadRequestError(Message("that is not the password you have now."))
        kept = hash_password(person.name, new)
        with writing(), self.database.transaction() as connection:
            connection.execute(sa.update(USERS).where(USERS.c.id == person.id).values(password=kept))
            connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.user == person.id))

    def make_token(self, person: Person, label: str, scope: Role, seconds: float = TOKEN_SECONDS) -> str:
        """A secret for a program of this person, which may do no more than its scope."""
        token, now = f"shortlist_{secrets.token_urlsafe(32)}", self.clock()
        values = {"digest": _digest(token), "user": person.id, "label": label.strip()[:100] or "–", "scope": scope.word,
                  "created": now, "until": now + seconds}  # fmt: skip
        with writing(), self.database.transaction() as connection:
            connection.execute(sa.insert(TOKENS).values(values))
        return token

    def end(self, person: Person, digest: str) -> None:
        """Close a session or a token of this person; of nobody else."""
        with writing(), self.database.transaction() as connection:
            for table in (SESSIONS, TOKENS):
                mine = (table.c.user == person.id) & (table.c.digest == digest)
                connection.execute(sa.delete(table).where(mine))

    def opened(self, person: Person) -> tuple[list[Opened], list[Opened]]:
        """The sessions and the tokens of somebody, newest first."""
        with reading(), self._engine.connect() as connection:
            found = [
                connection.execute(
                    sa.select(table)
                    .where(table.c.user == person.id, table.c.until > self.clock())
                    .order_by(table.c.created.desc())
                ).all()
                for table in (SESSIONS, TOKENS)
            ]
        return [_opened(each, person) for each in found[0]], [_opened(each, person) for each in found[1]]

    def of_session(self, secret: str) -> tuple[Person, Role] | None:
        """Whose session it is."""
        return self._whose(SESSIONS, secret)

    def of_name(self, name: str) -> tuple[Person, Role] | None:
        """Somebody whom an authenticating proxy has let in; who is new may look, until an admin gives them a role."""
        with reading(), self._engine.connect() as connection:
            found = connection.execute(named(name)).one_or_none()
        person = person_of(found) if found is not None else self._welcome(checked_name(name))
        return (person, person.role) if person.active else None

    def _welcome(self, name: str) -> Person:
        values = {"name": name, "key": _key(name), "password": no_password(),
                  "role": Role.VIEWER.word, "active": True, "created": self.clock()}  # fmt: skip
        with writing(), self.database.transaction() as connection:
            self.database.insert_new(connection, USERS, [values])
            return person_of(connection.execute(named(name)).one())

    def of_token(self, secret: str) -> tuple[Person, Role] | None:
        """Whose token it is, and what it may do."""
        return self._whose(TOKENS, secret)

    def _whose(self, table: sa.Table, secret: str) -> tuple[Person, Role] | None:
        query = sa.select(USERS, table).join(table, table.c.user == USERS.c.id)
        query = query.where(table.c.digest == _digest(secret), table.c.until > self.clock(), USERS.c.active)
        with reading(), self._engine.connect() as connection:
            found = connection.execute(query).one_or_none()
        if found is None:
            return None
        person = person_of(found)
        return person, min(person.role, Role.read(getattr(found, "scope", person.role.word)))

    def _invitation(self, connection: sa.Connection, token: str) -> Role:
        query = sa.select(INVITATIONS).where(INVITATIONS.c.digest == _digest(token))
        found = connection.execute(query.where(INVITATIONS.c.until > self.clock())).one_or_none()
        if found is None:
            raise NotSignedInError(
                Message("this invitation was used already or is too old. Ask for a new one.")
            )
        return Role.read(found.role)


def checked_name(name: str) -> str:
    """A name as the log keeps it."""
    if not name.strip() or len(name.strip()) > MOST_NAME:
        raise BadRequestError(Message("a name has 1 to %(most)s characters.", most=MOST_NAME))
    return clean_name(name)


def checked_email(email: str) -> str:
    """An e-mail address as it is compared.

    >>> checked_email(" Ann@Example.org ")
    'ann@example.org'
    """
    if not (email.isprintable() and re.fullmatch(r"[^\s@]{1,64}@[^\s@]{1,189}", email.strip())):
        raise BadRequestError(Message("this is no e-mail address; write one like ann@example.org."))
    return email.strip().casefold()


def _check_free(connection: sa.Connection, name: str) -> None:
    if connection.execute(named(name)).one_or_none() is not None:
        raise BadRequestError(Message("somebody else has this name, or had it; choose another."))


def named(name: str) -> sa.Select:
    """The account of a name, however it is typed."""
    return sa.select(USERS).where(USERS.c.key == _key(name))


def _key(name: str) -> str:
    """A name however it is typed.

    >>> _key(" Ann  Smith") == _key("ann smith")
    True
    """
    return " ".join(clean_name(name).casefold().split())


def person_of(found: Any) -> Person:
    """The person of a line of users."""
    return Person(found.id, found.name, Role.read(found.role), bool(found.active))


def _opened(found: Any, person: Person) -> Opened:
    scope = getattr(found, "scope", person.role.word)
    return Opened(found.digest, getattr(found, "label", ""), Role.read(scope), found.created, found.until)


def _digest(secret: str) -> str:
    """What is kept of a secret: long ones need no salt, and looking one up takes the same time whatever was guessed."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
