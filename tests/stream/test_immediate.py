import numpy as np
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.stream import ActiveRanker
from shortlist.stream.immediate import ImmediateAsker


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("broken", "words"),
    [([1.0, 2.0], "features"), ([1.0, np.inf, 0.0], "infinite"), (["a", 1, 2], "numbers")],
)
def test_a_broken_row_is_refused_at_once_and_the_asker_goes_on(broken, words):
    X = np.random.default_rng(0).normal(size=(200, 3))
    ranker = ActiveRanker(10, random_state=0).partial_fit(X, X[:, 0] > 1)
    asker = ImmediateAsker(ranker, window_rows=50, random_state=0)
    picked = [asker.offer(row) for row in X[:20]]
    with pytest.raises(ValueError, match=words):
        asker.offer(broken)
    picked += [asker.offer(row) for row in X[20:100]]
    assert np.reshape(picked, (2, 50)).sum(axis=1).tolist() == [10, 10]


@pytest.mark.parametrize(
    ("limits", "found"), [({"total_labels": 15}, [10, 5, 0]), ({"window_labels": 4}, [4, 4, 4])]
)
def test_the_ranker_s_limits_are_the_asker_s(limits, found):
    X = np.random.default_rng(0).normal(size=(300, 3))
    ranker = ActiveRanker(10, random_state=0, **limits).partial_fit(X, X[:, 0] > 1)
    asker = ImmediateAsker(ranker, window_rows=100, random_state=0)
    picked = np.array([asker.offer(row) for row in X]).reshape(3, 100)
    assert picked.sum(axis=1).tolist() == found
    assert ranker.labels_asked_ == sum(found)
    assert asker.asked.size == found[-1]


def test_rows_beyond_the_limit_are_not_asked_about():
    X = np.random.default_rng(0).normal(size=(100, 3))
    ranker = ActiveRanker(10, total_labels=12, random_state=0).partial_fit(X, X[:, 0] > 1)
    assert ranker.ask_about(X[:10]).size == 10
    with pytest.raises(InvalidInputError, match="leave room for 2; ask about fewer"):
        ranker.ask_about(X[10:20])
    assert ranker.n_windows_ == 2
