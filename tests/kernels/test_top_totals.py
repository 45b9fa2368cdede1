import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.top_totals import top_totals
from shortlist.lists import Lists
from shortlist.metrics.totals import discounts_in_lists, list_totals


@st.composite
def scored_lists(draw):
    n = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    levels = draw(st.integers(1, 6))  # few levels: ties everywhere
    groups = rng.integers(0, draw(st.integers(1, 4)), n)
    return rng.integers(0, levels, n).astype(float), rng.gamma(0.5, 10, n), groups


@settings(max_examples=150)
@given(scored_lists(), st.integers(1, 12))
def test_equals_a_full_sort_with_averaged_ties(rows, k):
    score, gain, groups = rows
    lists = Lists.from_groups(groups)

    def discounts(n):
        return np.maximum(1 - np.arange(n) / k, 0)

    expected = list_totals(gain, score, lists, discounts_in_lists(discounts, lists))
    np.testing.assert_allclose(top_totals(score, gain, lists.order, lists.starts, discounts(k)), expected)


def test_all_rows_tied_share_the_mean_discount():
    totals = top_totals(
        np.zeros(4), np.array([8.0, 0, 0, 0]), np.arange(4), np.array([0, 4]), np.array([1.0, 0.5])
    )
    assert totals == pytest.approx([8 * 1.5 / 4])
