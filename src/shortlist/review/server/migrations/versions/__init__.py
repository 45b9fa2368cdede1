"""Changes of the tables of people, one file each."""

__all__: list[str] = []
