"""Score spaces: ensembles seen as leaves, over which feedback rankers learn."""

__all__: list[str] = []
