"""Who an OpenID provider says somebody is, and invitations by e-mail."""

import sqlalchemy as sa
from alembic import op

revision = "people 0003"
down_revision = "people 0002"


def upgrade() -> None:
    """Make the table, and the column of invitations."""
    op.create_table(
        "identities",
        sa.Column("issuer", sa.String, primary_key=True),
        sa.Column("subject", sa.String, primary_key=True),
        sa.Column("user", sa.Integer, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
    )
    op.add_column("invitations", sa.Column("email", sa.String))
