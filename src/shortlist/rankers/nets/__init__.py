"""Rankers with a small neural network."""
