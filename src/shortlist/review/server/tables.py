"""The tables of people: who they are, how they sign in, what opens the server to them. Secrets are kept as hashes."""

from __future__ import annotations

import sqlalchemy as sa

METADATA = sa.MetaData()
USERS = sa.Table(
    "users",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, nullable=False, unique=True),  # as in the log; never given to somebody else
    sa.Column("key", sa.String, nullable=False, unique=True),  # the name, however it is typed
    sa.Column("password", sa.String, nullable=False),
    sa.Column("role", sa.String, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)
INVITATIONS = sa.Table(
    "invitations",
    METADATA,
    sa.Column("digest", sa.String, primary_key=True),
    sa.Column("role", sa.String, nullable=False),
    sa.Column("until", sa.Float, nullable=False),
    sa.Column("email", sa.String),  # whoever signs in elsewhere under it accepts the invitation
)
SESSIONS = sa.Table(
    "sessions",
    METADATA,
    sa.Column("digest", sa.String, primary_key=True),
    sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("until", sa.Float, nullable=False),
)
TOKENS = sa.Table(
    "tokens",
    METADATA,
    sa.Column("digest", sa.String, primary_key=True),
    sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("label", sa.String, nullable=False),
    sa.Column("scope", sa.String, nullable=False),  # a role: a token may do no more, whatever its person may
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("until", sa.Float, nullable=False),
)
#: Who an OpenID provider says somebody is: nobody else ever gets a subject of its issuer.
IDENTITIES = sa.Table(
    "identities",
    METADATA,
    sa.Column("issuer", sa.String, primary_key=True),
    sa.Column("subject", sa.String, primary_key=True),
    sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)
#: How far each webhook was told of each queue.
DELIVERIES = sa.Table(
    "deliveries",
    METADATA,
    sa.Column("target", sa.String, primary_key=True),  # stands for its address
    sa.Column("queue", sa.String, primary_key=True),  # where the chain of its log begins
    sa.Column("seq", sa.BigInteger, nullable=False),
)
