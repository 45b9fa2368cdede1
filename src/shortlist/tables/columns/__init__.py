"""What the columns of a table are: learned once, then encoded and put into words."""

__all__: list[str] = []
