"""Sums that do not depend on the order of rows, and rows drawn by hash."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.whole_sums import FINE_STEPS, STEPS, add_powers, add_whole, spread, whole


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.floats(0.01, 100))
def test_sums_do_not_depend_on_the_order(seed, scale):
    rng = np.random.default_rng(seed)
    values = (scale * rng.normal(size=2_000)).astype(np.float32)
    mixed = rng.permutation(values)
    assert add_powers(values) == add_powers(mixed)
    assert spread(values) == spread(mixed)
    assert add_whole(values, STEPS) == add_whole(mixed, STEPS)
    assert whole(values, STEPS).sum() == whole(mixed, STEPS).sum()


def test_sums_are_near_those_of_floats():
    values = np.random.default_rng(0).normal(size=5_000).astype(np.float32)
    total, square = add_powers(values)
    assert total == pytest.approx(values.astype(float).sum(), abs=0.5)
    assert square == pytest.approx((values.astype(float) ** 2).sum(), rel=1e-4)
    assert add_whole(values, FINE_STEPS) / FINE_STEPS == pytest.approx(values.astype(float).sum(), abs=1e-6)
