"""Where a review is worked on: which row is next, what a verdict changes, and what is shown of it."""

__all__: list[str] = []
