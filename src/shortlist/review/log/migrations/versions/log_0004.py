"""What is written or shown of a row stands beside its event, outside of the chain, so that it can be erased.

Events of before keep their words where they were hashed. Events of a kind are found without reading all others.
"""

import sqlalchemy as sa
from alembic import op

from shortlist.review.log.tables import forbid_changes

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Nothing stands beside the events that are there."""
    op.add_column("events", sa.Column("words", sa.Text))
    op.add_column("events", sa.Column("salt", sa.String))
    op.create_index("events_of_kind", "events", ["queue", "kind", "seq"])
    forbid_changes(op.get_bind())
