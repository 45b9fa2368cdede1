"""HS-Trees: half-space trees, whose cuts halve boxes that were drawn without a look at the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.spaces.boxes import Cuts, Limits, grow_box_forest
from shortlist.feedback.spaces.forest import Floats, Forest


def grow_half_space_trees(
    X: NDArray, categorical: NDArray[np.bool_], limits: Limits, random_state: Any
) -> tuple[Forest, Floats]:
    """Half-space trees, and the value of each leaf.

    At depth d, with r of the ψ sampled rows ::

        value = -log(r / ψ · 2^d)          r = 1/2 where the leaf is empty

    Each tree draws a work range per column, which goes beyond the known values on both sides, and halves it column by
    column, drawn at random, until a box holds at most a tenth of the rows (``size_limit``) or is ``max_depth`` deep.

    What differs from the paper: it ranks by the sum of r · 2^d itself, lowest first. That sum is as large as its
    largest member, so that a change of one weight would move everything; the logarithm, which the released code of AAD
    takes too, makes members equals. Each tree has a sample of its own, where a stream has one window for all; counts
    stay as they are when rows arrive. Categories are cut like numbers, in an order that each tree draws anew; gaps go
    to a side drawn once per node.

    References
    ----------
    S. C. Tan, K. M. Ting and T. F. Liu, "Fast anomaly detection for streaming data", IJCAI 2011.

    Examples
    --------
    >>> X = np.concatenate([np.random.default_rng(0).normal(size=(99, 2)), [[9.0, 9.0]]])
    >>> forest, value = grow_half_space_trees(X, np.zeros(2, dtype=bool), Limits(1, 100, 15, None), 0)
    >>> first = forest.depth[forest.leaf_nodes] == 1  # the half of the work range in which one row is alone
    >>> np.round(value[first], 3).tolist()  # -log(1 / 100 · 2)
    [3.912]
    """
    return grow_box_forest(X, categorical, Cuts(work_ranges, _halves), limits, random_state)


def work_ranges(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Around a point s drawn between the least (0) and the largest (1) value: from and to s ± 2·max(s, 1 - s)."""
    middle = rng.random(shape)
    reach = 2 * np.maximum(middle, 1 - middle)
    return middle - reach, middle + reach


def _halves(rng: np.random.Generator, n: int) -> Floats:
    return np.full(n, 0.5)
