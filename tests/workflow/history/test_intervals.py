import numpy as np
import pytest
from scipy.stats import binomtest

from shortlist.workflow.history.intervals import draws, ratio_interval, share_interval


@pytest.mark.parametrize(("part", "whole"), [(0, 7), (3, 10), (10, 10), (120, 4_000)])
def test_the_interval_is_wilsons(part, whole):
    ends = binomtest(part, whole).proportion_ci(0.95, method="wilson")
    assert share_interval(part, whole) == pytest.approx((ends.low, ends.high))
    assert share_interval(0, 0) == (None, None)


@pytest.mark.parametrize("found", [0, 1])
def test_nothing_or_everything_found_is_no_certainty(found):
    parts, wholes = np.full(12, float(found)), np.ones(12)
    low, high = ratio_interval(parts, wholes, draws(12, 0))
    assert (low, high) == pytest.approx(share_interval(parts.sum(), 12.0))
    assert high - low > 0.2
