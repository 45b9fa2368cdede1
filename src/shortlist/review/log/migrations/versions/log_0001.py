"""The log and what is fixed of a queue."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "queues",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False, unique=True),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("fixed", sa.JSON, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("queue", sa.Integer, sa.ForeignKey("queues.id"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("who", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("row", sa.Integer),
        sa.Column("answers", sa.Integer),
        sa.Column("payload", sa.JSON, nullable=False),
        sa.UniqueConstraint("queue", "answers", name="one_answer_each"),
    )
    op.create_index("events_of_row", "events", ["queue", "row"])
