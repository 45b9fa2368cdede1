"""Changes of the database, one file each."""

__all__: list[str] = []
