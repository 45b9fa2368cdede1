"""Rank the few rows that matter first, within the number of rows you can afford to look at."""
