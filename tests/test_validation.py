"""What is let in, and what is turned away with which advice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from shortlist import validation as check
from shortlist.exceptions import InvalidInputError, NoUnwantedRowsError, NoWantedRowsError, ShortlistError


def test_vectors():
    assert check.check_vector([[1], [2]], "y").tolist() == [1, 2]
    with pytest.raises(InvalidInputError, match=r"y must have one value per row; its shape is \(1, 2\)"):
        check.check_vector([[1, 2]], "y")
    with pytest.raises(InvalidInputError, match="y has 2 values for 3 rows"):
        check.check_vector([1, 2], "y", 3)


def test_finite_numbers():
    array = check.check_finite([1, 2], "score")
    assert array.dtype == np.float64
    kept = np.array([1.0, 2.0])
    assert check.check_finite(kept, "score") is kept
    with pytest.raises(
        InvalidInputError, match="score has 2 values that are NaN or infinite, the first in row 1"
    ):
        check.check_score([0, np.nan, -np.inf])
    with pytest.raises(InvalidInputError, match="score must be numbers"):
        check.check_score(["high", "low"])
    with pytest.raises(InvalidInputError, match="score must be numbers"):
        check.check_score(np.array([1, {}], dtype=object))


def test_wanted():
    assert check.check_wanted([True, False]).tolist() == [True, False]
    assert check.check_wanted([1.0, 0.0]).tolist() == [True, False]
    with pytest.raises(InvalidInputError, match=r"found 2\. For amounts"):
        check.check_wanted([0, 2])
    with pytest.raises(InvalidInputError, match="NaN"):
        check.check_wanted([0, np.nan])


def test_two_classes():
    assert check.check_two_classes([-1, 1, -1]).tolist() == [False, True, False]
    assert check.check_two_classes([1, 2]).tolist() == [False, True]
    with pytest.raises(InvalidInputError, match="y has 3 values"):
        check.check_two_classes([0, 1, 2])
    with pytest.raises(NoWantedRowsError, match="Label one"):
        check.check_two_classes([0, 0])
    with pytest.raises(NoUnwantedRowsError, match="dismissed"):
        check.check_two_classes([1, 1])
    with pytest.raises(NoWantedRowsError):
        check.check_two_classes([])


def test_impact():
    assert check.check_impact([0, 2]).tolist() == [0, 2]
    assert check.check_impact([]).size == 0
    with pytest.raises(InvalidInputError, match=r"impact must not be negative; row 1 .* has -2"):
        check.check_impact([0, -2])
    with pytest.raises(InvalidInputError, match="cost must not be negative"):
        check.check_impact([-2], name="cost")


@pytest.mark.parametrize(
    "groups",
    [
        [1, None],
        [1.0, np.nan],
        ["a", None],
        ["a", float("nan")],
        np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"),
    ],
    ids=["int and None", "float", "text and None", "text and NaN", "date"],
)
def test_groups_with_gaps(groups):
    groups = groups if isinstance(groups, np.ndarray) else np.array(groups, dtype=object)
    with pytest.raises(InvalidInputError, match="groups is missing for 1 row, the first is row 1"):
        check.check_groups(groups, 2)


@pytest.mark.parametrize("groups", [[2, 1], ["b", "a"], np.array(["b", "a"], dtype=object), [True, False]])
def test_groups(groups):
    assert len(check.check_groups(groups, 2)) == 2
    assert len(check.check_groups(None, 2)) == 1
    with pytest.raises(InvalidInputError, match="groups has 2 values for 3 rows"):
        check.check_groups(groups, 3)


def test_groups_of_mixed_kinds():
    lists = check.check_groups(np.array(["b", 3, "b"], dtype=object), 3)
    assert lists.of_row.tolist() == [0, 1, 0]


def test_sample_weight():
    assert check.check_sample_weight(None, 2) is None
    assert check.check_sample_weight(2, 3).tolist() == [2, 2, 2]
    assert check.check_sample_weight([0, 1], 2).tolist() == [0, 1]
    assert check.check_sample_weight([1e-300, 1], 2).tolist() == [1e-300, 1]
    for beyond_sums in (2e30, 1e-300):
        with pytest.raises(InvalidInputError, match="overflow or vanish"):
            check.check_sample_weight([0, beyond_sums], 2)
    with pytest.raises(InvalidInputError, match="smallest is -1"):
        check.check_sample_weight([-1, 1], 2)
    with pytest.raises(InvalidInputError, match="zero for every row"):
        check.check_sample_weight([0, 0], 2)


@pytest.mark.parametrize("budget", [0, -1, 1.5, True, "3", None])
def test_budgets_that_are_no_number_of_rows(budget):
    with pytest.raises(InvalidInputError, match="whole number of at least 1"):
        check.check_budget(budget)


def test_budget():
    assert check.check_budget(np.int32(3), 3) == 3
    with pytest.raises(InvalidInputError, match="k is 4 but there are only 3 rows; use 3 or less"):
        check.check_budget(4, 3, name="k")
    assert issubclass(InvalidInputError, ValueError)
    assert issubclass(InvalidInputError, ShortlistError)


def test_text_for_labels_gets_advice():
    with pytest.raises(
        InvalidInputError, match=r"y must be numbers; found 'fraud'. Mark wanted rows by 1: y == 'ok', if"
    ):
        check.check_two_classes(["ok", "fraud"])
    with pytest.raises(
        InvalidInputError, match=r"found 'N'\. Mark wanted rows by 1: y == 'Y', if that is the wanted"
    ):
        check.check_wanted(["N", "Y"])


def test_jobs_count_as_joblib_counts_them():
    assert [check.check_jobs(each) for each in (None, -1, 1, 7)] == [None, None, 1, 7]
    assert check.check_jobs(-2) == max(1, effective_n_jobs(-1) - 1)
    for odd in (0, 1.5, True, "two"):
        with pytest.raises(InvalidInputError, match="-1 for all"):
            check.check_jobs(odd)


def test_gaps_as_pandas_writes_them_are_gaps():
    with pytest.raises(InvalidInputError, match="groups is missing for 1 row, the first is row 1"):
        check.check_groups(pd.Series(["a", pd.NA, "b"], dtype="string"), 3)
    with pytest.raises(
        InvalidInputError, match="y has 1 values that are NaN or infinite, the first in row 1"
    ):
        check.check_wanted(pd.Series([1, pd.NA], dtype="Int64"))


def test_impacts_whose_sums_overflow():
    assert check.check_impact([1e100]).tolist() == [1e100]
    with pytest.raises(InvalidInputError, match=r"the largest impact is 1e.308.*larger unit"):
        check.check_impact([1e308, 0])


def test_a_budget_where_there_are_no_rows():
    with pytest.raises(InvalidInputError, match="there are no rows"):
        check.check_budget(5, 0)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "a", [1]])
@pytest.mark.parametrize("use", [check.check_seed, check.make_generator, check.draw_seed])
def test_bad_seeds(seed, use):
    with pytest.raises(InvalidInputError, match="random_state must be"):
        use(seed)


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState, np.int64])
@pytest.mark.parametrize("use", [lambda seed: check.make_generator(seed).integers(1000), check.draw_seed])
def test_every_kind_of_seed_is_repeatable(kind, use):
    assert use(kind(7)) == use(kind(7)) != use(kind(8))


def test_a_number_is_drawn_as_scikit_learn_draws_it():
    for seed in (5, np.random.RandomState(5)):
        assert check.draw_seed(seed) == check_random_state(5).randint(2**31)
    with pytest.raises(InvalidInputError, match=r"less than 2\*\*32"):
        check.draw_seed(2**32)
