"""Figures for the lead: shares with what they are shares of, and none where nobody looked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from shortlist.review.lead.figures import CONFIDENCE, Share, figures
from shortlist.review.log.tally import ALL, Count


@given(st.integers(0, 60).flatmap(lambda whole: st.tuples(st.integers(0, whole), st.just(whole))))
def test_a_share_has_the_exact_interval(counts):
    part, whole = counts
    share = Share.of(part, whole)
    if whole == 0:
        assert share is None
        return
    reference = binomtest(part, whole).proportion_ci(CONFIDENCE, "exact")
    assert (share.low, share.high) == pytest.approx((reference.low, reference.high))
    assert share.low <= share.value <= share.high


@pytest.mark.parametrize("chance", [0.02, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("whole", [1, 7, 40])
def test_the_interval_covers_as_often_as_it_says(chance, whole):
    shares = [Share.of(part, whole) for part in range(whole + 1)]
    covered = sum(binom.pmf(s.part, whole, chance) for s in shares if s.low <= chance <= s.high)
    assert covered >= CONFIDENCE


def test_nothing_is_said_where_nobody_looked():
    nothing = figures({}, lambda rows: None).whole
    assert (nothing.precision, nothing.agreement, nothing.per_hour, nothing.value) == (None, None, None, None)
    alone = figures({ALL: Count(reviewed=3, ranked=3, seconds=60)}, lambda rows: 0.0).whole
    assert alone.agreement is None
    assert (alone.per_hour, alone.value_per_hour) == (pytest.approx(180), 0.0)


def test_lines_stand_in_an_order_people_expect():
    counts = {
        ("week", "2026-W02"): Count(reviewed=1),
        ("week", "2025-W52"): Count(reviewed=9),
        ("reviewer", "bob"): Count(reviewed=2),
        ("reviewer", "ann"): Count(reviewed=2),
        ("reviewer", "eve"): Count(reviewed=5, wanted={4: None}),
        ("reviewer", "gone"): Count(),  # all was taken off again
        ("day", "2026-01-01", "ann"): Count(reviewed=1),
    }
    told = figures(counts, lambda rows: 10.0 * len(rows))
    assert [line.name for line in told.weeks] == ["2025-W52", "2026-W02"]
    assert [line.name for line in told.reviewers] == ["eve", "ann", "bob"]
    assert (told.reviewers[0].found, told.reviewers[0].value) == (1, 10.0)
    assert told.reasons == ()
