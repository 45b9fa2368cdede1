"""Rankers that add up single columns."""

__all__: list[str] = []
