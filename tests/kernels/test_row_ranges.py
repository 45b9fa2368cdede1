"""Rows shared out to threads: every row once, and the same bits however many threads there are."""

import numba
import numpy as np
import pytest

from shortlist.feedback import LeafSimilarity, ScoreSpace
from shortlist.feedback.rows import part
from shortlist.kernels.feedback.trees import BLOCK
from shortlist.kernels.row_ranges import over_ranges
from tests.feedback.conftest import make_rows, play, same


@pytest.mark.parametrize("threads", [1, 2, 3, 9])
@pytest.mark.parametrize(
    ("first", "last"), [(0, 0), (0, 5 * BLOCK + 7), (BLOCK + 5, 2 * BLOCK), (3, 3 * BLOCK)]
)
def test_every_row_is_worked_on_once(monkeypatch, threads, first, last):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
    out = np.zeros(last + 10)

    def work(low, high):
        out[low:high] += 1

    over_ranges(work, first, last, size=100)
    assert out[first:last].tolist() == [1] * (last - first)
    assert out.sum() == last - first


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 2)

    def work(low, high):
        if low:
            raise ValueError("of a later range")

    with pytest.raises(ValueError, match="later range"):
        over_ranges(work, 0, 4 * BLOCK, size=BLOCK)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_come_in_the_order_of_the_rows(threads):
    lows = over_ranges(lambda low, high: low, 0, 95, size=10, threads=threads)
    assert lows == [*range(0, 95, 10)]


def test_scores_do_not_depend_on_threads(monkeypatch):
    X, wanted = make_rows(3 * BLOCK)
    monkeypatch.setattr(part, "CELLS_AT_ONCE", 100)
    rankers = []
    for threads in (1, 3):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        space = ScoreSpace.from_isolation_forest(X, n_trees=10, random_state=1)
        ranker = LeafSimilarity(space, kernel="leaf")
        play(ranker, wanted, 5)
        rankers.append(ranker)
    assert same(*rankers)
