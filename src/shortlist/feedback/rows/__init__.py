"""Rows as a ranker sees them: their keys, in parts that are here or on the machines of a cluster."""

__all__: list[str] = []
