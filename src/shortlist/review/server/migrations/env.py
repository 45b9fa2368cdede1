"""Runs migrations on the connection that the accounts hand over."""

from alembic import context

from shortlist.review.server.tables import METADATA

# Outside of a migration (a tool that imports every module) there is no configuration.
config = getattr(context, "config", None)
if config is not None:
    context.configure(
        connection=config.attributes["connection"],
        target_metadata=METADATA,
        version_table=config.attributes["version_table"],
    )
    with context.begin_transaction():
        context.run_migrations()
