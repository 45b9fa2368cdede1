"""Kernels of the stream: columns made comparable, Fourier features, and logistic regression."""

__all__: list[str] = []
