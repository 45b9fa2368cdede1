"""Training on several machines: what each of them does, and who starts them."""

__all__: list[str] = []
