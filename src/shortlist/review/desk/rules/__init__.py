"""What may be written to the log, and how it is asked for."""

__all__: list[str] = []
