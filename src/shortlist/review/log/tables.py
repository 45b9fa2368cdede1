"""The tables of the log, and the triggers that let nobody rewrite them."""

from __future__ import annotations

import re

import sqlalchemy as sa

METADATA = sa.MetaData()
#: Of events; whoever asks for one may name a number that is far too large.
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
PEOPLE = sa.Table(
    "people",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, unique=True),  # null: erased,
    sa.Column("salt", sa.String),  # and so is the salt
    sa.Column("mark", sa.String, nullable=False),  # what stands for the person in the chain
)
QUEUES = sa.Table(
    "queues",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, nullable=False, unique=True),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("fixed", sa.Text, nullable=False),  # what never changes: seed, roles, strategy, fingerprint
    sa.Column("files", sa.Text, nullable=False),  # sums of the files that never change
    sa.Column("unchained", NUMBER, nullable=False),  # events that were there before there was a chain
    sa.Column("seq", NUMBER, nullable=False),  # of the last event,
    sa.Column("head", sa.String, nullable=False),  # and its hash
    sa.Column(
        "owner", sa.Integer, nullable=False, server_default="0"
    ),  # how often the queue has changed hands
)
EVENTS = sa.Table(
    "events",
    METADATA,
    sa.Column("queue", sa.Integer, sa.ForeignKey("queues.id"), primary_key=True),
    sa.Column("seq", NUMBER, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("who", sa.Integer, sa.ForeignKey("people.id"), nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("row", NUMBER),
    sa.Column("answers", NUMBER),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("hash", sa.String, nullable=False),
    sa.Column("words", sa.Text),  # what was written or shown of a row, which can be erased,
    sa.Column("salt", sa.String),  # and so is the salt of its seal in the payload
    sa.UniqueConstraint("queue", "answers", name="one_answer_each"),
    sa.Index("events_of_row", "queue", "row"),
    sa.Index(
        "events_of_kind", "queue", "kind", "seq"
    ),  # so that a page with remarks does not read the whole log
)

_FIXED = "id, name, created, fixed, files, unchained"
_CHAINED = 'queue, seq, at, who, kind, "row", answers, payload, hash'
_WORDLESS = "new.words is null and new.salt is null"
_ERASED = "new.name is null and new.salt is null and new.id = old.id and new.mark = old.mark"


def _with_brackets(what: str) -> str:
    """PostgreSQL wants the condition of a trigger in brackets."""
    event, _, condition = what.partition(" when ")
    return f"{event} when ({condition})" if condition else event


#: What no statement may do to the log, by the name of the trigger that forbids it.
_FORBIDDEN = {
    "events_stay": "delete on events for each row",
    "events_stay_as_they_are": f"update of {_CHAINED} on events for each row",
    "words_are_only_erased": f"update of words, salt on events for each row when not ({_WORDLESS})",
    "queues_stay": "delete on queues for each row",
    "queues_stay_as_they_are": f"update of {_FIXED} on queues for each row",
    "the_log_only_grows": "update of seq, head on queues for each row when new.seq <= old.seq",
    "people_stay": "delete on people for each row",
    "people_are_only_erased": f"update on people for each row when not ({_ERASED})",
}
#: The statements that make them, as SQLite keeps them.
TRIGGERS = {
    name: f"CREATE TRIGGER {name} before {what} begin select raise(abort, 'the log is only added to'); end"
    for name, what in _FORBIDDEN.items()
}


#: The same for PostgreSQL, where a table can also be emptied without deleting a line.
_REFUSES = "the_log_is_only_added_to"
POSTGRES_FUNCTION = "begin raise exception 'the log is only added to' using errcode = '23000'; end"
POSTGRES_TRIGGERS = {
    **{
        name: f"create trigger {name} before {_with_brackets(what)} execute function {_REFUSES}()"
        for name, what in _FORBIDDEN.items()
    },
    **{
        f"{table}_are_not_emptied": f"create trigger {table}_are_not_emptied before truncate on {table} "
        f"for each statement execute function {_REFUSES}()"
        for table in ("events", "queues", "people")
    },
}


def table_of(statement: str) -> str:
    """The table that a trigger keeps as it is.

    >>> table_of(TRIGGERS["events_stay"])
    'events'
    """
    return re.findall(r" on (\w+) for each", statement)[0]


def allow(connection: sa.Connection, name: str) -> None:
    """Take a trigger away until ``forbid_changes`` lays it again, in the same transaction."""
    of_table = f" on {table_of(POSTGRES_TRIGGERS[name])}" if connection.dialect.name == "postgresql" else ""
    connection.exec_driver_sql(f"drop trigger {name}{of_table}")


def forbid_changes(connection: sa.Connection) -> None:
    """Lay the triggers; a migration that rebuilds a table lays them again."""
    if connection.dialect.name != "postgresql":
        for name, statement in TRIGGERS.items():
            connection.exec_driver_sql(f"drop trigger if exists {name}")
            connection.exec_driver_sql(statement)
        return
    connection.exec_driver_sql(
        f"create or replace function {_REFUSES}() returns trigger language plpgsql as $${POSTGRES_FUNCTION}$$"
    )
    for name, statement in POSTGRES_TRIGGERS.items():
        connection.exec_driver_sql(f"drop trigger if exists {name} on {table_of(statement)}")
        connection.exec_driver_sql(statement)
