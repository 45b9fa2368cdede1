"""Score spaces: ensembles seen as leaves, over which feedback rankers learn."""
