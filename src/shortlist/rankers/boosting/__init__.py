"""Boosted trees: the engine, the losses that look at the top of the list, and ensembles of folds."""

__all__: list[str] = []
