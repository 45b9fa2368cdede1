"""Runs migrations on the connection that the store hands over."""

from alembic import context

from shortlist.review.log.tables import METADATA

# Outside of a migration (a tool that imports every module) there is no configuration.
config = getattr(context, "config", None)
if config is not None:
    context.configure(connection=config.attributes["connection"], target_metadata=METADATA)
    with context.begin_transaction():
        context.run_migrations()
