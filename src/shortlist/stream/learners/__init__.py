"""What the ranker of a stream learns with, from a few labels a window."""

__all__: list[str] = []
