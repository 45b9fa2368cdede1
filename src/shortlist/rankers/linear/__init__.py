"""Rankers that add up single columns."""
