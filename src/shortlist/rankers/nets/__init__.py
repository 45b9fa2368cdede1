"""Rankers with a small neural network."""

__all__: list[str] = []
