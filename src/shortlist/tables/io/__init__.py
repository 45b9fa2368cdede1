"""Tables in and out: files, databases and data frames."""

__all__: list[str] = []
