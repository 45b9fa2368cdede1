"""TARGET, the machinery behind ``TargetTree``: bins, row sets, evolution, and trees that can be read."""

__all__: list[str] = []
