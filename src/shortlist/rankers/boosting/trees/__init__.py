"""The tree engine: rows in bins, rows drawn, models that grow tree by tree, and sums of models."""

__all__: list[str] = []
