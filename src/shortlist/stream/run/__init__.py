"""A stream worked off window by window: where windows come from, and the files left for people."""

__all__: list[str] = []
