"""The log of a review: its events, the state they add up to, and where they are stored."""

__all__: list[str] = []
