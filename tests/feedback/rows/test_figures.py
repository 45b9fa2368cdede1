"""Mean and median over parts are numpy's of all rows together, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.feedback.rows.figures import mean_of, median_of
from shortlist.feedback.rows.part import RowPart
from shortlist.feedback.rows.parts import Parts


class Pieces(Parts):
    """Parts of one array of figures, cut at some rows."""

    def __init__(self, figures, cuts):
        self.starts = np.array([0, *cuts])
        self._parts = []
        for start, own in zip(self.starts, np.split(figures, cuts), strict=True):
            part = RowPart.__new__(RowPart)
            part.first, part._figures = int(start), own
            self._parts.append(part)

    def ask(self, name, given):
        return [getattr(self._parts[number], name)(*each) for number, each in given.items()]

    tell = ask


@pytest.mark.bits
@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3000), st.integers(0, 4), st.booleans())
def test_of_parts_as_of_all_rows(seed, n_rows, n_cuts, few_values):
    rng = np.random.default_rng(seed)
    figures = rng.normal(size=n_rows) * 10.0 ** rng.integers(-9, 9, n_rows)
    if few_values:
        figures = rng.integers(-2, 3, n_rows).astype(float)
    parts = Pieces(figures, np.sort(rng.integers(0, n_rows + 1, n_cuts)))
    assert mean_of(parts, n_rows) == np.mean(figures)
    assert median_of(parts, n_rows) == np.median(figures)


@pytest.mark.bits
@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0",
    reason="older releases of NumPy may add up long arrays otherwise",
)
def test_many_rows():
    figures = np.random.default_rng(0).random(1_000_003)
    parts = Pieces(figures, np.array([17, 333_333, 333_333, 900_001]))
    assert mean_of(parts, figures.size) == np.mean(figures)
    assert median_of(parts, figures.size) == np.median(figures)
