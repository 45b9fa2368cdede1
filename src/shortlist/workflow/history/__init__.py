"""What a history says of rankings: evaluate, backtest, compare, and the pages that tell it."""

__all__: list[str] = []
