"""A queue counts its owners: whoever was one before cannot write any more, even if nobody has told them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Nobody has owned a queue yet."""
    op.add_column("queues", sa.Column("owner", sa.Integer, nullable=False, server_default="0"))
