"""Score spaces whose rows lie on the machines of a cluster."""

__all__: list[str] = []
