"""Measures of a review: what the reviewer found, and how much the rows jumped about."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse

from shortlist.exceptions import InvalidInputError
from shortlist.metrics.ties import Floats
from shortlist.validation import check_budget, check_wanted


def precision_at_budget(verdicts: ArrayLike, budget: int | None = None) -> float:
    """Share of the first ``budget`` reviewed rows that were wanted; verdicts in the order they were given.

    Unlike ``precision_at_k`` it judges a review, in which the ranking changed after each verdict.

    >>> precision_at_budget([1, 0, 1, 1], budget=3)
    0.6666...
    """
    wanted = check_wanted(verdicts)
    n = check_budget(wanted.size if budget is None else budget, wanted.size)
    return float(wanted[:n].mean())


def expert_effort(reviewed: Any, *, normalize: Literal["mean"] | None = None) -> float:
    """How unlike each other consecutively reviewed rows are: Σ over r of 1 - cosine(row r, row r + 1).

    ``reviewed`` holds one row per review, in order, in score space (the paper's choice; may be sparse) or in
    feature space. A row of zeros is like no other. ``normalize="mean"`` gives the figures of the paper's
    Tables 5 and 6, which differ from its formula: the first row counts 1, for there is nothing before it, and
    the sum is divided by b - 1, so the maximum is b/(b - 1).

    References
    ----------
    OJRank, Eq. 3.3.

    Examples
    --------
    >>> expert_effort([[1, 0], [1, 0], [0, 1]])
    1.0
    >>> expert_effort([[1, 0], [1, 0], [0, 1]], normalize="mean")
    1.0
    """
    if normalize not in (None, "mean"):
        raise InvalidInputError(f"normalize must be None or 'mean'; got {normalize!r}.")
    rows = _unit_rows(reviewed)
    n_reviews = rows.shape[0]
    if normalize == "mean" and n_reviews < 2:
        raise InvalidInputError(f"the mean effort needs two or more reviewed rows; there are {n_reviews}.")
    cosines = np.asarray(rows[:-1].multiply(rows[1:]).sum(axis=1)).ravel()
    effort = float(np.sum(1 - np.clip(cosines, -1, 1)))
    return effort if normalize is None else (effort + 1) / (n_reviews - 1)


def _unit_rows(reviewed: Any) -> csr_array:
    """Rows of length 1, or of zeros."""
    if not issparse(reviewed):
        reviewed = np.asarray(reviewed, dtype=np.float64)
        if reviewed.ndim != 2:
            raise InvalidInputError(f"reviewed must have one row per review; its shape is {reviewed.shape}.")
    rows = csr_array(reviewed, dtype=np.float64)
    if not np.isfinite(rows.data).all():
        raise InvalidInputError("reviewed has values that are NaN or infinite; replace them first.")
    # Powers of two change no digit, and keep squares from overflowing.
    _, exponents = np.frexp(np.abs(rows).max(axis=1).toarray().ravel())
    scaled = np.ldexp(rows.data, -np.repeat(exponents, np.diff(rows.indptr)))
    rows = csr_array((scaled, rows.indices, rows.indptr), shape=rows.shape)
    lengths: Floats = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return csr_array(rows.multiply(inverse[:, None]))
