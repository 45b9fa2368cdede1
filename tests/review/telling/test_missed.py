"""What is still missed: against brute force, and against known truth however often people look."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from shortlist.review.telling.missed import PRIOR_CHECKS, Out, Stake, missed
from studies.quality.missed import CASES, Case, _stopped, simulate


def brute_force(rows, out, confidence=0.9):
    """Every K that the bets do not rule out, by the formula, one K at a time; all rows that left are decided."""
    found = sum(each.wanted for each in out)
    possible = []
    for k in range(found, rows - (len(out) - found) + 1):
        won, bets, checks, wanted, before = 0.0, np.zeros(len(PRIOR_CHECKS)), 0, 0, 0
        for seen, each in enumerate(out):
            if each.is_check:
                p, q = (k - before) / (rows - seen), (0.5 + wanted) / (np.array(PRIOR_CHECKS) + checks)
                bets += np.log(q if each.wanted else 1 - q)
                won -= np.log(p if each.wanted else 1 - p)
                checks, wanted = checks + 1, wanted + each.wanted
            before += each.wanted
        if won + logsumexp(bets) - np.log(bets.size) <= -np.log(1 - confidence):
            possible.append(k - found)
    return possible


@pytest.mark.parametrize("seed", range(12))
def test_the_interval_is_every_number_that_the_bets_do_not_rule_out(seed):
    rng = np.random.default_rng(seed)
    rows, wanted = int(rng.integers(20, 200)), rng.uniform(0, 0.5)
    out = [
        Out(bool(rng.random() < wanted), bool(rng.random() < 0.5))
        for _ in range(int(rng.integers(2, rows // 2)))
    ]
    out.append(Out(False, True))
    seen, possible = missed([rows], out), brute_force(rows, out)
    assert (seen.low, seen.high) == (possible[0], possible[-1])


@pytest.mark.parametrize("seed", range(6))
def test_over_two_batches_it_is_every_sum_that_the_bets_do_not_rule_out(seed):
    rng = np.random.default_rng(seed)
    rows, shares = (int(rng.integers(8, 40)), int(rng.integers(8, 40))), rng.uniform(0, 0.5, 2)
    out = [Out(False, True, 0)]
    for _ in range(int(rng.integers(5, 12))):
        batch = int(rng.integers(2))
        if sum(each.batch == batch for each in out) < rows[batch] - 2:
            out.append(Out(bool(rng.random() < shares[batch]), bool(rng.random() < 0.7), batch))
    sums = [*possible_sums(rows, out)]
    seen = missed(rows, out)
    # K may lie between whole numbers where the batches are weighed together: the interval is that much wider at most.
    assert seen.low <= min(sums) <= seen.low + 1
    assert seen.high - 1 <= max(sums) <= seen.high


def possible_sums(rows, out, confidence=0.9):
    """Wanted rows still unseen, by the formula, one pair of K at a time; all rows that left are decided."""
    bets, checks, wanted, told = np.zeros(len(PRIOR_CHECKS)), 0, 0, []
    found, seen = [0, 0], [0, 0]
    for each in out:
        if each.is_check:
            q = (0.5 + wanted) / (np.array(PRIOR_CHECKS) + checks)
            bets += np.log(q if each.wanted else 1 - q)
            checks, wanted = checks + 1, wanted + each.wanted
            told.append((each, found[each.batch], rows[each.batch] - seen[each.batch]))
        found[each.batch] += each.wanted
        seen[each.batch] += 1
    most = [found[i] + rows[i] - seen[i] for i in range(2)]
    for k in product(range(found[0], most[0] + 1), range(found[1], most[1] + 1)):
        p = np.array([(k[each.batch] - before) / pool for each, before, pool in told])
        won = -np.log(np.where([each.wanted for each, _, _ in told], p, 1 - p)).sum()
        if won + logsumexp(bets) - np.log(bets.size) <= -np.log(1 - confidence):
            yield sum(k) - sum(found)


def test_nothing_is_said_without_a_check_and_all_is_known_when_all_is_seen():
    assert missed([50], [Out(True, False)] * 3) is None
    assert missed([50], [Out(None, True)]) is None
    seen = missed([20], [Out(i < 3, i % 2 == 0) for i in range(20)])
    assert (seen.low, seen.high, seen.recall) == (0, 0, (1.0, 1.0))


def test_rows_without_a_decision_may_all_be_wanted():
    checks = [Out(False, True)] * 30
    decided, open_ = (
        missed([100], [Out(False, False)] * 10 + checks),
        missed([100], [Out(None, False)] * 10 + checks),
    )
    assert open_.high >= decided.high + 10


def test_one_batch_in_two_parts_is_told_less_of_and_never_wrongly():
    out = [Out(i % 10 == 0, True) for i in range(60)]
    halves = [Out(each.wanted, True, i % 2) for i, each in enumerate(out)]
    whole, parts = missed([1000], out), missed([500, 500], halves)
    assert parts.low <= whole.low
    assert whole.high <= parts.high


def test_more_checks_are_promised_what_they_bring():
    seen = missed([5000], [Out(False, True)] * 100)
    checks, _, high = seen.narrower
    later = missed([5000], [Out(False, True)] * (100 + checks))
    assert later.high == pytest.approx(high, rel=0.2)
    assert later.high <= seen.high / 2


def test_five_checks_tell_little_and_say_so():
    seen = missed([5000], [Out(True, True)] + [Out(False, True)] * 4)
    assert seen.low <= 130 <= seen.high  # where "about 978" was said before
    assert seen.recall[0] < 0.01


def wrong_reviews(case, reviews, looks):
    return sum(simulate(case, 10_000 + seed, looks).wrong for seed in range(reviews))


@pytest.mark.parametrize("case", [case for case in CASES if case.checks < 100], ids=lambda case: case.name)
def test_the_truth_is_inside_at_all_looks_of_nine_reviews_in_ten(case):
    assert wrong_reviews(case, 20, looks=4) <= 5  # what chance does to 20 reviews of which 2 are wrong


@pytest.mark.parametrize("case", [case for case in CASES if any(case.unsure)], ids=lambda case: case.name)
def test_it_holds_where_people_are_unsure_of_wanted_rows_more_often_than_of_others(case):
    assert wrong_reviews(case, 8, looks=4) <= 2


def test_checks_that_nobody_decides_are_not_left_out():
    # Nothing but checks, so that no rows of the ranking that are undecided as well make the interval wide. With
    # undecided checks left out, 8 of these 12 reviews were wrong.
    case = next(case for case in CASES if case.name == "unsure of wanted rows")
    assert wrong_reviews(replace(case, ranked=0, checks=400), 12, looks=4) <= 3


@pytest.mark.parametrize(
    ("wanted", "stopped"),
    [
        ([], (59, 1.0)),  # a check comes after every five rows of the ranking: 50 of these, nine between
        ([3, 40], (101, 1 / 3)),  # 41 rows, a check, and the same again
        ([3, 40, 80, 120, 160, 200], None),
    ],
)
def test_the_rule_of_thumb_stops_after_fifty_ranked_rows_that_are_not_wanted(wanted, stopped):
    case = Case("", 300, 3, 1.0, 40, 5)
    truth = np.zeros(300, dtype=bool)
    truth[[*wanted, 299]] = True
    out = [(row, row % 6 == 5) for row in range(240)]
    found = _stopped(case, truth, out, np.zeros_like(truth))
    assert (found and (found.rows, found.missed)) == (stopped and pytest.approx(stopped))


def test_an_interval_made_for_one_look_fails_the_same_test():
    case = next(case for case in CASES if case.name == "many wanted, strong ranking")
    assert sum(simulate(case, 10_000 + seed, 4).old_wrong for seed in range(20)) > 5


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_truth_is_inside_at_all_looks_of_every_kind_of_review(case):
    assert wrong_reviews(case, 40, looks=10) <= 8


def completions(out):
    """Whatever the undecided rows may be, in every combination."""
    open_ = [at for at, each in enumerate(out) if each.wanted is None]
    for answers in product([False, True], repeat=len(open_)):
        truth = [bool(each.wanted) for each in out]
        for at, answer in zip(open_, answers, strict=True):
            truth[at] = answer
        yield truth


def what_was_won(n_rows, out, truth, total, last):
    """By both halves of the stake, if ``total`` rows are wanted and these are the answers; None if it cannot be."""
    stakes, won = (Stake(), Stake()), [1.0, 1.0]
    for at, each in enumerate(out[: last + 1]):
        p = (total - sum(truth[:at])) / (n_rows - at)
        if not 0 <= p <= 1 or p == (not truth[at]):
            return None
        if not each.is_check:
            continue
        won = [
            before * (stake.q / p if truth[at] else (1 - stake.q) / (1 - p))
            for before, stake in zip(won, stakes, strict=True)
        ]
        if each.wanted is None:
            stakes[1].learn(True)
        else:
            for stake in stakes:
                stake.settle(each.wanted)
    return sum(won) / 2


@given(
    n_rows=st.integers(7, 12),
    out=st.lists(
        st.builds(Out, st.sampled_from([True, False, False, None, None]), st.booleans()),
        min_size=2,
        max_size=7,
    ),
)
def test_no_number_is_ruled_out_that_undecided_rows_leave_possible(n_rows, out):
    shown = missed([n_rows], out, confidence=0.5)
    decided = [at for at, each in enumerate(out) if each.is_check and each.wanted is not None]
    if not decided:
        assert shown is None
        return
    found = sum(bool(each.wanted) for each in out)
    possible = {
        total - found
        for truth in completions(out)
        for total in range(sum(truth), sum(truth) + n_rows - len(out) + 1)
        if (won := what_was_won(n_rows, out, truth, total, decided[-1])) is not None and won < 2 - 1e-9
    }
    assert all(shown.low <= left <= shown.high for left in possible)
