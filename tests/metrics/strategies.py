"""Small labelled rankings with many ties."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


@st.composite
def labelled(draw: st.DrawFn, *, both: bool = False, max_rows: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Labels with a wanted row (``both``: and an unwanted one), and scores of few values."""
    n = draw(st.integers(2, max_rows))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    y[0] = 1
    if both:
        y[-1] = 0
    score = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    shuffle = np.array(draw(st.permutations(range(n))))
    return y[shuffle], score[shuffle]


@st.composite
def impacts(draw: st.DrawFn, max_rows: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Impacts, not all 0, and scores of few values."""
    n = draw(st.integers(1, max_rows))
    y = np.array(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), dtype=float)
    y[draw(st.integers(0, n - 1))] = 3.0
    return y, np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
