"""What a score means: the chance that a row is wanted, and how many will be found."""

__all__: list[str] = []
