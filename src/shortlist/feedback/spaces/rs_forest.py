"""RS-Forest: random space trees, whose boxes of random size say how dense rows lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.spaces.boxes import Cuts, Limits, grow_box_forest
from shortlist.feedback.spaces.forest import Floats, Forest

#: No box is cut closer to its edge than this share, so that all volumes have a logarithm.
EDGE = 1e-9


def grow_rs_forest(
    X: NDArray, categorical: NDArray[np.bool_], limits: Limits, random_state: Any
) -> tuple[Forest, Floats]:
    """Random space trees, and the value of each leaf.

    With a share v of the volume, and r of the ψ sampled rows ::

        value = -log(r / (ψ · v))          r = 1/2 where the leaf is empty

    Each node cuts a column drawn at random anywhere within its box, without a look at the rows, so that v is the
    product of the shares that the cuts on the way left; a box with at most a tenth of the rows (``size_limit``), or
    ``max_depth`` deep, is not cut.

    What differs from the paper: it averages the densities r / (ψ · v) over trees; the logarithm makes members equals,
    as in LODA and in our half-space trees. The box of all trees reaches from the least to the largest known value, and
    rows beyond it belong to the outermost leaves. Each tree has a sample of its own and keeps its counts when rows
    arrive, where the paper's renews them window by window. Categories and gaps are as in half-space trees.

    References
    ----------
    K. Wu, K. Zhang, W. Fan, A. Edwards and P. S. Yu, "RS-Forest: a rapid density estimator for streaming anomaly
    detection", ICDM 2014.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> forest, value = grow_rs_forest(X, np.zeros(2, dtype=bool), Limits(1, 200, 4, None), 0)
    >>> forest.n_leaves, round(float(value.min()), 3)
    (8, -0.995)
    """
    return grow_box_forest(X, categorical, Cuts(_known_ranges, _anywhere), limits, random_state)


def _known_ranges(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    return np.zeros(shape), np.ones(shape)


def _anywhere(rng: np.random.Generator, n: int) -> Floats:
    return np.clip(rng.random(n), EDGE, 1 - EDGE)
