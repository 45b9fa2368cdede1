"""What makes a history too good to be true: columns known only afterwards, names of rows, rows that stand twice."""

__all__: list[str] = []
