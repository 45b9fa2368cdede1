"""Strategies: how one verdict changes the ranking."""
