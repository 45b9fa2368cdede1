"""Numba kernels, small and pure; each has a plain NumPy twin in the tests that proves it right."""

__all__: list[str] = []
