import numpy as np
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.stream import ActiveRanker
from shortlist.stream.immediate import ImmediateAsker


def test_rows_are_picked_at_once_within_the_budget_and_learned_from():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=6_000) > 1.7
    ranker = ActiveRanker(30, kernel=None, random_state=0)
    ranker.partial_fit(X[:20], np.arange(20) < 1)  # next to nothing is known, and that is wrong
    asker = ImmediateAsker(ranker, window_rows=500, random_state=0)
    picked = np.zeros(6_000, dtype=bool)
    for window in range(12):
        part = slice(500 * window, 500 * (window + 1))
        for row in range(part.start, part.stop):
            picked[row] = asker.offer(X[row])
            assert picked[part].sum() <= 30
        ranker.tell(asker.asked, y[part][picked[part]])
    assert picked.reshape(12, 500).sum(axis=1).tolist() == [30] * 12
    late = picked[3_000:]
    assert y[3_000:][late].mean() > 5 * y.mean()
    assert ranker.labels_asked_ == 360


def test_the_reservoir_is_a_uniform_sample():
    ranker = ActiveRanker(1, kernel=None, random_state=0).partial_fit(
        np.arange(10.0).reshape(-1, 1), np.arange(10) > 8
    )
    kept = np.zeros(40)
    for seed in range(400):
        asker = ImmediateAsker(ranker, window_rows=41, reservoir_rows=10, random_state=seed)
        for value in range(40):
            asker.offer([float(value)])
        kept[np.array(asker._filling).ravel().astype(int)] += 1
    assert np.all(np.abs(kept - 100) < 5 * np.sqrt(400 * 0.25 * 0.75))


def test_more_picks_than_rows():
    with pytest.raises(InvalidInputError, match="use larger windows"):
        ImmediateAsker(ActiveRanker(50), window_rows=10)


def test_an_asker_resumes_amid_a_window(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1_500, 3))
    y = X[:, 0] > 1.0

    def play(asker, *, interrupt):
        picked = []
        for row in range(1_500):
            picked.append(asker.offer(X[row]))
            if row % 300 == 299:
                asker.ranker.tell(asker.asked, y[row - 299 : row + 1][picked[-300:]])
            if interrupt and row % 70 == 0:
                asker.save(tmp_path / "asker")
                asker = ImmediateAsker.load(tmp_path / "asker")
        return picked, asker.ranker.decision_function(X)

    def fresh():
        ranker = ActiveRanker(10, random_state=0).partial_fit(X[:50], y[:50])
        return ImmediateAsker(ranker, window_rows=300, reservoir_rows=100, random_state=2)

    whole, cut = play(fresh(), interrupt=False), play(fresh(), interrupt=True)
    assert whole[0] == cut[0]
    np.testing.assert_array_equal(whole[1], cut[1])


def test_the_state_of_a_ranker_is_not_that_of_an_asker(tmp_path):
    ActiveRanker(5).save(tmp_path / "state")
    with pytest.raises(InvalidInputError, match="holds no asker"):
        ImmediateAsker.load(tmp_path / "state")
