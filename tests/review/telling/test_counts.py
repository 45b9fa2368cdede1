"""What is missed as a function of counts: the same as of the rows in order."""

import numpy as np
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.review import Out, missed, missed_rows


@pytest.mark.parametrize("seed", range(4))
def test_counts_say_what_the_rows_say_in_whatever_order_the_checks_were_wanted(seed):
    rng = np.random.default_rng(seed)
    before = [Out(bool(rng.random() < 0.5), False) for _ in range(30)]
    checks = [Out(bool(rng.random() < 0.2), True) for _ in range(40)]
    wanted, found = (sum(each.wanted for each in part) for part in (checks, before))
    by_rows = missed([500], before + checks)
    by_counts = missed_rows(40, wanted, 500, reviewed=30, found=found)
    assert (by_counts.low, by_counts.high, by_counts.recall) == (by_rows.low, by_rows.high, by_rows.recall)
    assert (by_counts.checks, by_counts.wanted) == (40, wanted)


def test_more_confidence_takes_a_wider_interval():
    usual, surer = missed_rows(100, 2, 5000), missed_rows(100, 2, 5000, confidence=0.99)
    assert surer.low <= usual.low
    assert usual.high < surer.high


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ({"checks": 0}, "less than 1"),
        ({"wanted": 11}, "wanted is 11; use 0 to 10, which is checks"),
        ({"found": 1}, "found is 1; use 0 to 0, which is reviewed"),
        ({"reviewed": 91}, "checks and reviewed together is 101; use 0 to 100, which is rows"),
        ({"confidence": 90}, "between 0 and 1"),
    ],
)
def test_counts_that_cannot_be_are_refused(counts, told):
    with pytest.raises(InvalidInputError, match=told):
        missed_rows(**{"checks": 10, "wanted": 1, "rows": 100} | counts)
