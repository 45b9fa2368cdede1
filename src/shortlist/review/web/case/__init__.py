"""One case: the queue as a list, what is looked up beside a row, and rows decided together."""

__all__: list[str] = []
