"""Kernels of learning on the job: leaves of trees, scores of rows, and pairs of verdicts."""

__all__: list[str] = []
