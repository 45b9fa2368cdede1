"""Verdicts beyond the window are settled: they still count, and a verdict costs the same late as early."""

from __future__ import annotations

import numpy as np
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.feedback import FeedbackRanker, LeafSimilarity, ScoreSpace, simulate
from shortlist.feedback.strategies.leaf_similarity import Factor
from tests.feedback.conftest import make_rows, make_space, play, same
from tests.feedback.strategies.test_strategies import kernel_by_hand

WINDOW = 8
KINDS = ("leaf", "ancestor")


def scores_by_hand(K, prior, rows, target):
    """The formulas of the docstring on dense matrices; half of the window is settled whenever it overflows."""
    level, settled = np.zeros(prior.size), 0
    prior = prior.copy()
    while len(rows) - settled > WINDOW:
        together = rows[settled : settled + WINDOW]
        inverse = np.linalg.inv(K[np.ix_(together, together)] + 0.1 * np.eye(WINDOW))
        of_target = inverse @ (target[settled : settled + WINDOW] - level[together])
        of_prior = inverse @ prior[together]
        half = together[: WINDOW // 2]
        level += K[:, half] @ of_target[: WINDOW // 2]
        prior -= K[:, half] @ of_prior[: WINDOW // 2]
        settled += WINDOW // 2
    fade = 0.5 * (1 + np.sum(target == 1)) / (1 + len(rows))
    left, wanted = rows[settled:], rows[target == 1]
    ridge = 0.1 * np.eye(len(left))
    alpha = np.linalg.solve(
        K[np.ix_(left, left)] + ridge, target[settled:] - level[left] - fade * prior[left]
    )
    last = wanted[-1] if wanted.size else rows[-1]
    return level + fade * prior + K[:, left] @ alpha + 0.1 * K[:, last]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reviews", [8, 9, 12, 13, 30])
def test_settled_verdicts_keep_their_weights(kind, reviews):
    space, wanted = make_space(60, n_trees=5), make_rows(60)[1]
    ranker = LeafSimilarity(space, kernel=kind, window=WINDOW)
    play(ranker, wanted, reviews)
    rows = np.array([row for row, _ in ranker.reviewed])
    base = space.base_scores()
    prior = (base - np.median(base)) / (base.max() - np.median(base))
    expected = scores_by_hand(kernel_by_hand(space, kind), prior, rows, np.where(wanted[rows], 1.0, -0.5))
    assert ranker.scores() == pytest.approx(expected, abs=1e-5 if kind == "ancestor" else 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_within_the_window_nothing_changes(kind, wanted):
    small, large = (LeafSimilarity(make_space(), kernel=kind, window=window) for window in (32, 64))
    for ranker in (small, large):
        play(ranker, wanted, 32)
    assert same(small, large)
    play(small, wanted, 1)
    play(large, wanted, 1)
    assert not np.array_equal(small.scores(), large.scores())


@pytest.mark.parametrize("kind", KINDS)
def test_any_settled_verdict_can_be_taken_back(kind, wanted):
    """Also after loading, when only the newest settled state is known; and arrivals are scored by settled rows too."""
    ranker = LeafSimilarity(make_space(), kernel=kind, window=WINDOW)
    play(ranker, wanted, 45)
    ranker.space.append(make_rows(30, seed=5)[0])
    for position in (44, 41, 20, 3, 0):
        ranker.untell(ranker.reviewed[position][0])
        fresh = LeafSimilarity(ranker.space, kernel=kind, window=WINDOW)
        for row, verdict in ranker.reviewed:
            fresh.tell(row, verdict)
        assert same(ranker, fresh)


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_ranker_learns_only_the_window_again(kind, wanted, tmp_path, monkeypatch):
    ranker = LeafSimilarity(make_space(), kernel=kind, window=WINDOW)
    play(ranker, wanted, 45)
    ranker.save(tmp_path / "ranker")
    ranker.space.save(tmp_path / "space")
    learned = []
    add = Factor.add
    monkeypatch.setattr(Factor, "add", lambda self, near, own: learned.append(own) or add(self, near, own))
    loaded = FeedbackRanker.load(tmp_path / "ranker", ScoreSpace.load(tmp_path / "space"))
    assert len(learned) <= 2 * WINDOW
    for other in (ranker, loaded):
        other.space.append(make_rows(30, seed=5)[0])
        play(other, np.resize(wanted, 330), 3)
        other.untell(other.reviewed[2][0])
    assert same(ranker, loaded)


@pytest.mark.parametrize("kind", KINDS)
def test_a_late_verdict_costs_no_more_than_an_early_one(kind, wanted, monkeypatch):
    sizes = []
    solve = Factor.solve
    monkeypatch.setattr(Factor, "solve", lambda self, right: sizes.append(self.size) or solve(self, right))
    play(LeafSimilarity(make_space(), kernel=kind, window=WINDOW), wanted, 60)
    assert max(sizes) == WINDOW


@pytest.mark.parametrize("kind", KINDS)
def test_settling_does_not_lose_what_was_learned(kind):
    """Three windows and more: as many wanted rows are found as with all verdicts solved for together."""
    X, wanted = make_rows(2000)
    space = ScoreSpace.from_isolation_forest(X, n_trees=50, random_state=0)
    exact, windowed = (
        simulate(LeafSimilarity(space, kernel=kind, window=window), wanted, 250) for window in (1024, 64)
    )
    assert windowed.hits[-1] >= exact.hits[-1] - 1
    assert windowed.hits.mean() >= exact.hits.mean() - 2


@pytest.mark.parametrize(("window", "words"), [(0, "at least 1"), (7, "even"), (2.5, "whole number")])
def test_a_bad_window_is_refused(window, words):
    with pytest.raises(InvalidInputError, match=words):
        LeafSimilarity(make_space(60), window=window)
