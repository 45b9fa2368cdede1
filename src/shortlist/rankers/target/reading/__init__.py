"""A finished tree in forms that people read: words, text, SQL and drawings."""

__all__: list[str] = []
