"""Kernels of TARGET: genomes, row sets, and the fitness of trees."""
