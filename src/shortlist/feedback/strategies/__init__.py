"""Strategies: how one verdict changes the ranking."""

__all__: list[str] = []
