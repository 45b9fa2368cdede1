"""What is let in, and what is turned away with which advice."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import effective_n_jobs

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
    with pytest.raises(InvalidInputError, match="groups is missing for 1 rows, the first is row 1"):
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
        InvalidInputError, match=r"y must be numbers; found 'ok'. Mark wanted rows by 1, as in y == 'ok'"
    ):
        check.check_two_classes(["ok", "fraud"])


def test_jobs_count_as_joblib_counts_them():
    assert [check.check_jobs(each) for each in (None, -1, 1, 7)] == [None, None, 1, 7]
    assert check.check_jobs(-2) == max(1, effective_n_jobs(-1) - 1)
    for odd in (0, 1.5, True, "two"):
        with pytest.raises(InvalidInputError, match="-1 for all"):
            check.check_jobs(odd)
