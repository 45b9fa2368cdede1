"""Kernels of TARGET: genomes, row sets, and the fitness of trees."""

__all__: list[str] = []
