"""Whose account an identity opens: issuer and subject are it, which nobody else ever gets; a name alone is not."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from shortlist.languages.words import Message
from shortlist.review.errors import ForbiddenError, ReviewError
from shortlist.review.log.database import reading, writing
from shortlist.review.server.accounts import Accounts, Person, checked_name, named, person_of
from shortlist.review.server.passwords import no_password
from shortlist.review.server.tables import IDENTITIES, INVITATIONS, USERS
from shortlist.review.web.access import Role


@dataclass(frozen=True)
class Identity:
    """Who a provider says somebody is. ``email`` is empty unless the provider has seen that it is theirs."""

    issuer: str
    subject: str
    name: str = ""
    email: str = ""


class Identities:
    """The identities of the people of a server, beside their accounts."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts, self._database = accounts, accounts.database

    def sign_in(self, identity: Identity, new_role: Role | None) -> Person:
        """Whose identity it is; who is new gets an account if they were invited by e-mail, or anybody may come."""
        with reading(), self._database.engine.connect() as connection:
            known = self._owner(connection, identity)
        if known is not None:
            return _admitted(known)
        kept = no_password()  # takes a while, in which nobody should wait for the database
        with writing(), self._database.transaction() as connection:
            known = self._owner(connection, identity)
            if known is not None:
                return _admitted(known)
            role = self._invited(connection, identity) or new_role
            if role is None:
                raise ForbiddenError(
                    Message("you have no account here yet. Ask an admin of this server for an invitation.")
                )
            _check_told_name(connection, identity)
            person = self._accounts.admit(connection, checked_name(identity.name), role, kept)
            self._note(connection, identity, person)
            return person

    def join(self, identity: Identity, token: str, name: str) -> Person:
        """Accept an invitation under a name of one's own; it cannot be used again."""
        kept = no_password()
        with writing(), self._database.transaction() as connection:
            _check_unknown(self._owner(connection, identity))
            person = self._accounts.admit(
                connection, checked_name(name), self._accounts.accept(connection, token), kept
            )
            self._note(connection, identity, person)
            return person

    def connect(self, identity: Identity, person: Person) -> None:
        """From now on this identity opens an account that is there already."""
        with writing(), self._database.transaction() as connection:
            known = self._owner(connection, identity)
            if known is not None and known.id == person.id:
                return
            _check_unknown(known)
            self._note(connection, identity, person)

    def has(self, person: Person, issuer: str) -> bool:
        """Whether somebody can sign in with this provider."""
        query = sa.select(sa.func.count()).where(
            IDENTITIES.c.user == person.id, IDENTITIES.c.issuer == issuer
        )
        with reading(), self._database.engine.connect() as connection:
            return connection.execute(query).scalar_one() > 0

    def _owner(self, connection: sa.Connection, identity: Identity) -> Person | None:
        query = sa.select(USERS).join(IDENTITIES, IDENTITIES.c.user == USERS.c.id)
        mine = (IDENTITIES.c.issuer == identity.issuer) & (IDENTITIES.c.subject == identity.subject)
        found = connection.execute(query.where(mine)).one_or_none()
        return None if found is None else person_of(found)

    def _invited(self, connection: sa.Connection, identity: Identity) -> Role | None:
        """Use up the invitations of an e-mail address; the highest role counts."""
        if not identity.email:
            return None
        mine = (INVITATIONS.c.email == identity.email) & (INVITATIONS.c.until > self._accounts.clock())
        roles = connection.execute(sa.select(INVITATIONS.c.role).where(mine)).scalars().all()
        connection.execute(sa.delete(INVITATIONS).where(mine))
        return max((Role.read(role) for role in roles), default=None)

    def _note(self, connection: sa.Connection, identity: Identity, person: Person) -> None:
        values = {"issuer": identity.issuer, "subject": identity.subject, "user": person.id,
                  "created": self._accounts.clock()}  # fmt: skip
        connection.execute(sa.insert(IDENTITIES).values(values))


def _admitted(person: Person) -> Person:
    if not person.active:
        raise ForbiddenError(Message("this account may not sign in any more. Ask an admin of this server."))
    return person


def _check_unknown(owner: Person | None) -> None:
    if owner is not None:
        raise ReviewError(
            Message("you have an account here already: %(name)s. Sign in to that one.", name=owner.name)
        )


def _check_told_name(connection: sa.Connection, identity: Identity) -> None:
    """A name is in the log for good, so it must be there and free: nobody gets another's by what a provider tells."""
    if not identity.name:
        raise ForbiddenError(
            Message(
                "the provider does not tell your name. Ask an admin for an invitation, and choose one there."
            )
        )
    if connection.execute(named(identity.name)).one_or_none() is not None:
        raise ReviewError(
            Message(
                "somebody here is called %(name)s already. If that is you, sign in with your password and connect the "
                "account (Account); if not, ask an admin for an invitation, and choose another name there.",
                name=checked_name(identity.name),
            )
        )
