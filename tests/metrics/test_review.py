"""Measures of a review."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from shortlist.exceptions import InvalidInputError
from shortlist.metrics import expert_effort, precision_at_budget


def test_effort_is_the_sum_of_one_less_cosine():
    rows = np.array([[1.0, 0], [1, 1], [-1, -1], [0, 0]])
    assert expert_effort(rows) == pytest.approx((1 - np.sqrt(0.5)) + 2 + 1)
    assert expert_effort(csr_array(rows)) == pytest.approx(expert_effort(rows))


def test_scale_of_rows_does_not_count():
    rows = np.random.default_rng(0).normal(size=(5, 3))
    assert expert_effort(rows * np.array([[1], [2], [3], [1e-5], [1e5]])) == pytest.approx(
        expert_effort(rows)
    )


def test_effort_of_the_papers_tables_reaches_b_over_b_less_1():
    assert expert_effort(np.eye(6), normalize="mean") == pytest.approx(1.2)
    assert expert_effort(np.ones((6, 2)), normalize="mean") == pytest.approx(0.2)
    assert expert_effort(np.ones((6, 2))) == pytest.approx(0)


def test_one_review_is_no_switch():
    assert expert_effort([[1, 2]]) == 0
    with pytest.raises(InvalidInputError, match="two or more"):
        expert_effort([[1, 2]], normalize="mean")


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([1, 2], {}, "one row per review"),
        ([[1, np.nan]], {}, "NaN"),
        ([[1, 2]], {"normalize": "sum"}, "normalize"),
    ],
)
def test_bad_effort_input(rows, options, message):
    with pytest.raises(InvalidInputError, match=message):
        expert_effort(rows, **options)


def test_precision_at_budget():
    assert precision_at_budget([1, 0, 1, 1]) == 0.75
    assert precision_at_budget([True, False], 1) == 1.0
    for budget in (0, 3):
        with pytest.raises(InvalidInputError, match="budget"):
            precision_at_budget([1, 0], budget)


@pytest.mark.parametrize("size", [1e200, 1e-200, 1.0])
def test_the_size_of_rows_does_not_count(size):
    rows = size * np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    assert expert_effort(rows) == 2
