"""How far each webhook was told of each queue."""

import sqlalchemy as sa
from alembic import op

revision = "people 0002"
down_revision = "people 0001"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "deliveries",
        sa.Column("target", sa.String, primary_key=True),
        sa.Column("queue", sa.String, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
    )
