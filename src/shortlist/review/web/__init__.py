"""The server of a review: its API, its pages, and who may use them."""

__all__: list[str] = []
