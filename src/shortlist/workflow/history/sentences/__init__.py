"""What studies say: counts and amounts, in the words of their reader, and the conclusion."""

__all__: list[str] = []
