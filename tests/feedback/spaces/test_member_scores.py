"""Score spaces of any ensemble whose members give scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.exceptions import InvalidInputError
from shortlist.feedback import LeafSimilarity, ScoreSpace
from tests.feedback.conftest import make_rows, play
from tests.feedback.spaces.test_score_space import leaf_counts_by_hand


def distances(n=400):
    """Three members, each the distance from the middle in some columns."""
    X, wanted = make_rows(n)
    members = [np.abs(X[:, columns]).sum(axis=1) for columns in ([0, 1], [1, 2], [0, 2])]
    return np.column_stack(members), wanted


def test_a_leaf_is_worth_the_mean_score_of_its_rows():
    S, _ = distances()
    space = ScoreSpace.from_scores(S, n_bins=20)
    leaves = space.leaves(np.arange(400))
    means = np.array(
        [S[leaves[:, t] == leaf, t].mean() for t in range(3) for leaf in np.unique(leaves[:, t])]
    )
    assert space.values == pytest.approx(0.1 + 0.1 * (means - means.min()) / np.ptp(means))
    assert space.leaf_rows.min() >= 1


def test_bins_get_narrower_towards_the_top_down_to_one_row():
    S, _ = distances()
    space = ScoreSpace.from_scores(S[:, :1], n_bins=12)
    by_value = space.leaf_rows[np.argsort(space.values)]
    assert by_value[-1] == 1
    assert by_value[0] > 400 / 4
    assert np.all(np.diff(by_value) <= 1)  # shares of whole rows


def test_weights_of_one_rank_as_the_sum_of_scores_does():
    S, _ = distances()
    space = ScoreSpace.from_scores(S, n_bins=200)
    assert np.corrcoef(space.base_scores(), S.sum(axis=1))[0, 1] > 0.99
    assert set(np.argsort(-space.base_scores())[:3]) <= set(np.argsort(-S.sum(axis=1))[:6])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 999), n=st.integers(2, 40), bins=st.integers(2, 9))
def test_any_scores_fall_where_a_walk_leads(seed, n, bins):
    rng = np.random.default_rng(seed)
    S = rng.integers(0, 5, (n, 3)).astype(float)
    S[rng.random(S.shape) < 0.2] = np.nan
    S[:2, 0] = 0, 1
    space = ScoreSpace.from_scores(S, n_bins=bins)
    leaves = space.leaves(np.arange(n))
    assert np.array_equal(leaves, leaf_counts_by_hand(space, S))
    for t in range(3):  # a higher score never has a smaller value
        known = np.flatnonzero(~np.isnan(S[:, t]))
        order = known[np.argsort(S[known, t], kind="stable")]
        assert np.all(np.diff(space.values[leaves[order, t]]) >= 0)
    assert np.diff(space.forest.leaf_starts).max() <= bins


def test_rows_that_arrive_are_placed_by_their_scores(tmp_path):
    S, wanted = distances()
    ranker = LeafSimilarity(ScoreSpace.from_scores(S), random_state=0)
    play(ranker, wanted, 40)
    assert ranker.hits >= 10
    arrived = ranker.space.append([[99.0, 99.0, 99.0], [np.nan, np.nan, np.nan]])
    top, bottom = ranker.space.leaves(list(arrived))
    assert np.array_equal(top, ranker.space.leaves(S.argmax(axis=0)).diagonal())
    assert np.array_equal(bottom, ranker.space.leaves(S.argmin(axis=0)).diagonal())
    ranker.space.save(tmp_path)
    assert ScoreSpace.load(tmp_path).fingerprint == ranker.space.fingerprint


@pytest.mark.parametrize(
    ("S", "named", "words"),
    [
        (np.ones((9, 2)), {}, "no member has two scores"),
        (np.full((9, 2), np.nan), {}, "no member has two scores"),
        (np.eye(3), {"n_bins": 1}, "n_bins must be 2 or more"),
        (np.eye(3), {"n_bins": 0}, "n_bins"),
        (np.array([[1.0], [np.inf]]), {}, "infinite"),
    ],
)
def test_scores_that_make_no_space_are_refused(S, named, words):
    with pytest.raises(InvalidInputError, match=words):
        ScoreSpace.from_scores(S, **named)
