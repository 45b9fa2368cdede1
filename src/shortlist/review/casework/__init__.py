"""What a case worker looks up beside a row: notes, a list to search, related rows, near copies."""

__all__: list[str] = []
