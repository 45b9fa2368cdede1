"""People get a table of their own, and events a chain of hashes.

The chain is laid over the events that are there: it proves what came after, and that nothing has changed since. The
triggers that keep both as they are speak of columns of later steps, so the last of them lays them.
"""

from typing import Any

import sqlalchemy as sa
from alembic import context, op

from shortlist.review.log.chain import link, mark_of, new_salt, sums_of, text_of
from shortlist.review.log.tables import NUMBER

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the new tables, and fill them from the old ones."""
    op.drop_index("events_of_row", "events")
    here = op.get_bind()
    if here.dialect.name == "postgresql":  # no log was kept there when this step was new
        op.drop_table("events")
        op.drop_table("queues")
        _make_tables()
        return
    for name in ("events", "queues"):
        op.rename_table(name, f"{name}_0001")
    _make_tables()
    for queue in here.execute(sa.text("select * from queues_0001 order by id")).mappings().all():
        _chain(here, dict(queue))
    op.drop_table("events_0001")
    op.drop_table("queues_0001")


def _make_tables() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, unique=True),
        sa.Column("salt", sa.String),
        sa.Column("mark", sa.String, nullable=False),
    )
    op.create_table(
        "queues",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False, unique=True),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("fixed", sa.Text, nullable=False),
        sa.Column("files", sa.Text, nullable=False),
        sa.Column("unchained", NUMBER, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("head", sa.String, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("queue", sa.Integer, sa.ForeignKey("queues.id"), primary_key=True),
        sa.Column("seq", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("who", sa.Integer, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("row", NUMBER),
        sa.Column("answers", NUMBER),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("hash", sa.String, nullable=False),
        sa.UniqueConstraint("queue", "answers", name="one_answer_each"),
    )
    op.create_index("events_of_row", "events", ["queue", "row"])


def _chain(here: sa.Connection, queue: dict[str, Any]) -> None:
    """Write a queue and its events, each with its hash."""
    folder = context.config.attributes["folder"]
    files = text_of({} if folder is None else sums_of(folder))
    head, seq, lines = link("", [queue["name"], queue["created"], queue["fixed"], files]), 0, []
    old = sa.text(
        "select seq, at, who, kind, row, answers, payload from events_0001 where queue = :id order by seq"
    )
    for event in here.execute(old, queue).all():
        number, mark = _person(here, event.who)
        seq, at, _, *rest = event
        head = link(head, [seq, at, mark, *rest])
        lines.append({**event._mapping, "queue": queue["id"], "who": number, "hash": head})
    _insert(here, "queues", [{**queue, "files": files, "unchained": seq, "seq": seq, "head": head}])
    _insert(here, "events", lines)


def _person(here: sa.Connection, name: str) -> tuple[int, str]:
    """The number of a person and what stands for them in the chain; a new one where there is none yet."""
    known = here.execute(sa.text("select id, mark from people where name = :name"), {"name": name}).first()
    if known is not None:
        return known.id, known.mark
    salt = new_salt()
    _insert(here, "people", [{"name": name, "salt": salt, "mark": mark_of(salt, name)}])
    return _person(here, name)


def _insert(here: sa.Connection, table: str, lines: list[dict[str, Any]]) -> None:
    if lines:
        names = [*lines[0]]
        values = ", ".join(f":{name}" for name in names)
        here.execute(sa.text(f"insert into {table} ({', '.join(names)}) values ({values})"), lines)
