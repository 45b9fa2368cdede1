"""For whoever leads a review: its figures, the drift of its rows, and both as files."""

__all__: list[str] = []
