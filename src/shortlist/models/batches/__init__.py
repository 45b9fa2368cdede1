"""Tables larger than memory: rows that come batch by batch, to be learned from or to be scored."""

__all__: list[str] = []
