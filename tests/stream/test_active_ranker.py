import copy

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError
from shortlist.stream import ActiveRanker

SCHEMES = ("sequential", "exponential", "inverse", "uniform")


@parametrize_with_checks(
    [ActiveRanker(5, random_state=0), ActiveRanker(5, learner="perceptron", random_state=0)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def stream(seed=0, n_windows=8, rows=400, features=5, cut=1.8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_windows * rows, features)) * np.logspace(-3, 4, features)
    Z = X / np.logspace(-3, 4, features)
    return (
        X,
        Z[:, 0] + Z[:, 1] + 0.4 * rng.normal(size=X.shape[0]) > cut,
        np.split(np.arange(X.shape[0]), n_windows),
    )


def run(ranker, X, y, parts):
    for part in parts:
        rows = ranker.ask(X[part])
        while rows.size:
            ranker.tell(rows, y[rows])
            rows = ranker.ask()
    return ranker


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_the_refit_learns_from_few_labels(kernel):
    X, y, parts = stream()
    ranker = run(ActiveRanker(30, extra_labels=20, kernel=kernel, random_state=0), X, y, parts)
    assert ranker.labels_asked_ == 8 * 50
    assert np.mean([p for _, p in ranker.precisions_[3:]]) > 0.85
    assert ranker.alarms_ == []


def test_the_top_k_come_first():
    X, y, parts = stream()
    ranker = run(ActiveRanker(20, random_state=0), X, y, parts[:-1])
    score = copy.deepcopy(ranker).decision_function(X[parts[-1]])
    rows = ranker.ask(X[parts[-1]])
    assert rows[:20].tolist() == (parts[-1][0] + np.argsort(-score, kind="stable")[:20]).tolist()
    assert rows.size == np.unique(rows).size == 40


def test_wanted_rows_that_are_not_odd_are_found():
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    y = np.linalg.norm(X - [0.5, 0.0, 0.0], axis=1) < 0.35  # where the isolation forest looks last
    ranker = run(ActiveRanker(50, extra_labels=50, random_state=0), X, y, np.split(np.arange(20_000), 10))
    assert y.mean() < 0.015
    assert max(precision for _, precision in ranker.precisions_) > 0.2


def odd_places(ranker, X, wanted):
    """How many of the top 10 and of the 20 extra labels go to the rows that are oddest."""
    rows = ranker.ask(X)
    odd = np.isin(rows - (ranker.n_rows_ - len(X)), np.arange(30))
    ranker.tell(rows, np.full(rows.size, wanted))
    return int(odd[:10].sum()), int(odd[10:].sum())


def test_each_window_without_a_find_makes_the_cold_start_count_for_less():
    X = np.random.default_rng(0).normal(size=(3_000, 2))
    X[:30] += 50.0
    ranker = ActiveRanker(10, extra_labels=20, random_state=0)
    assert odd_places(ranker, X, np.nan)[0] == 10
    assert odd_places(ranker, X, 0)[1] >= 10  # nobody knew what the first window held
    top, extra = odd_places(ranker, X, 0)
    assert (top, extra < 5) == (10, True)
    for _ in range(2):
        top, extra = odd_places(ranker, X, 0)
        assert (5 <= top < 8, extra < 5) == (True, True)


@settings(max_examples=25)
@given(
    st.sampled_from(["refit", "perceptron"]),
    st.sampled_from(SCHEMES),
    st.integers(1, 30),
    st.integers(0, 20),
    st.one_of(st.none(), st.integers(0, 40)),
    st.one_of(st.none(), st.integers(0, 100)),
    st.integers(0, 5),
)
def test_hard_budgets_are_never_exceeded(learner, scheme, k, extra, per_window, total, seed):
    X, y, parts = stream(seed, n_windows=4, rows=50)
    ranker = ActiveRanker(
        k, extra_labels=extra, scheme=scheme, learner=learner, window_labels=per_window,
        total_labels=total, cold_start="random", kernel=None, random_state=seed,
    )  # fmt: skip
    asked = np.zeros(X.shape[0], dtype=int)
    for part in parts:
        rows = ranker.ask(X[part])
        while rows.size:
            asked[rows] += 1
            ranker.tell(rows, y[rows])
            rows = ranker.ask()
    assert asked.max() <= 1
    of_window = asked.reshape(4, 50).sum(axis=1)
    assert of_window.max() <= min(k + extra, 50 if per_window is None else per_window)
    assert asked.sum() == ranker.labels_asked_ <= (200 if total is None else total)


@pytest.mark.parametrize("scheme", ["exponential", "inverse", "uniform"])
def test_expected_queries_equal_the_misses_of_the_top_k(scheme):
    X, y, parts = stream(1, n_windows=1, rows=300, cut=0.5)
    start = ActiveRanker(20, learner="perceptron", scheme=scheme, random_state=0)
    rows = start.ask(X[parts[0]])
    start.tell(rows, y[rows])
    missed = int((~y[rows]).sum())
    drawn = []
    for seed in range(600):
        trial = copy.deepcopy(start)
        trial.rng_ = np.random.default_rng(seed)
        drawn.append(trial.ask().size)
    assert missed > 3
    assert np.mean(drawn) == pytest.approx(missed, abs=5 * np.sqrt(missed / 600))


def test_labels_in_any_order_give_the_same_model():
    X, y, parts = stream()
    on_time, late = ActiveRanker(20, random_state=3), ActiveRanker(20, random_state=3)
    rows = on_time.ask(X[parts[0]])
    assert rows.tolist() == late.ask(X[parts[0]]).tolist()
    on_time.tell(rows, y[rows])
    for row in np.random.default_rng(0).permutation(rows):
        late.tell([row], [y[row]])
    np.testing.assert_array_equal(on_time.decision_function(X), late.decision_function(X))


def test_late_labels_of_several_windows_give_the_same_model():
    X, y, parts = stream()
    rankers = [ActiveRanker(20, random_state=3) for _ in range(2)]
    asked = [[ranker.ask(X[part]) for part in parts[:3]] for ranker in rankers]
    for order, ranker, rows in zip([(0, 1, 2), (2, 0, 1)], rankers, asked, strict=True):
        for window in order:
            ranker.tell(rows[window][::-1], y[rows[window][::-1]])
    a, b = (ranker.decision_function(X) for ranker in rankers)
    np.testing.assert_array_equal(a, b)
    assert rankers[0].pending_.size == 0


def test_two_windows_of_delay_cost_little():
    X, y, parts = stream(2, n_windows=16)
    ranker, waiting = ActiveRanker(30, extra_labels=20, random_state=0), []
    for part in parts:
        waiting.append(ranker.ask(X[part]))
        if len(waiting) > 2:
            rows = waiting.pop(0)
            ranker.tell(rows, y[rows])
    assert np.mean([p for _, p in ranker.precisions_[5:]]) > 0.9


def test_seed_rows_replace_the_cold_start():
    X, y, parts = stream(4, cut=3.2)
    wanted = np.flatnonzero(y)[-5:]
    cold = ActiveRanker(20, random_state=0)
    seeded = ActiveRanker(20, random_state=0).partial_fit(X[wanted], np.ones(5))
    hits = {}
    for name, ranker in {"cold": cold, "seeded": seeded}.items():
        rows = ranker.ask(X[parts[0]]) - (ranker.n_rows_ - parts[0].size)
        hits[name] = y[parts[0]][rows[:20]].sum()
    assert hits["seeded"] > hits["cold"]


def test_unsure_verdicts_teach_nothing_and_close_the_window():
    X, _y, parts = stream()
    ranker = ActiveRanker(10, random_state=0)
    rows = ranker.ask(X[parts[0]])
    ranker.tell(rows, [None] * rows.size)
    assert ranker.pending_.size == 0
    assert not ranker.learner_.ready
    assert ranker.precisions_ == []


def test_drift_is_noticed_and_recovered_from():
    X, y, parts = stream(5, n_windows=30)
    Z = X / np.logspace(-3, 4, 5)
    y[15 * 400 :] = (Z[:, 2] - Z[:, 0] > 2.0)[15 * 400 :]
    ranker = run(ActiveRanker(30, extra_labels=30, kernel=None, random_state=0), X, y, parts)
    precision = np.array([p for _, p in ranker.precisions_])
    assert ranker.alarms_
    assert ranker.alarms_[0] == 16
    assert precision[15] < 0.5
    assert precision[22:].mean() > 0.8


def test_data_frames_with_categories_and_gaps():
    claims = make_claims(6_000, random_state=0, fraud_rate=0.1)
    y = claims["fraud"].to_numpy().astype(bool)
    frame = claims.drop("fraud", "claim_id")
    ranker = ActiveRanker(30, random_state=0)
    for start in range(0, 6_000, 1_000):
        rows = ranker.ask(frame[start : start + 1_000])
        ranker.tell(rows, y[rows])
    assert np.mean([p for _, p in ranker.precisions_[2:]]) > 2 * y.mean()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_rows_far_down_a_large_window_are_reached(scheme):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 2))
    ranker = ActiveRanker(10, learner="perceptron", scheme=scheme, random_state=0)
    ranker.partial_fit(X[:3_000], X[:3_000, 0] > 1.5)
    wanted = X[:, 0] < -1.5  # the opposite: they stand at the bottom
    rows, asked = ranker.ask(X[3_000:]), []
    while rows.size:
        asked.append(rows)
        ranker.tell(rows, wanted[rows])
        rows = ranker.ask()
    asked = np.concatenate(asked)
    assert np.unique(asked).size == asked.size == ranker.labels_asked_
    if scheme == "sequential":  # down to the tenth wanted row from the top
        order = 3_000 + np.argsort(-X[3_000:] @ np.array([1.0, 0.0]))
        assert asked.size > 2_000
        assert wanted[asked].sum() == 10
        assert wanted[order[:1_000]].sum() == 0
    else:
        assert 10 < asked.size < 60


def test_many_windows_may_wait_for_their_labels():
    X, y, parts = stream()
    ranker = ActiveRanker(10, random_state=0)
    asked = np.concatenate([ranker.ask(X[part]) for part in parts])
    shuffled = np.random.default_rng(0).permutation(asked)
    ranker.tell(shuffled[:70], y[shuffled[:70]])
    assert sorted(ranker.pending_) == sorted(shuffled[70:])
    ranker.tell(shuffled[70:], y[shuffled[70:]])
    assert [window for window, _ in sorted(ranker.precisions_)] == list(range(1, 9))
    assert not ranker.is_due_


# -- bad input


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused_and_the_stream_goes_on(value):
    X, _, parts = stream()
    ranker = ActiveRanker(10, random_state=0)
    ranker.ask(X[parts[0]])
    broken = X[parts[1]].copy()
    broken[7, 2] = value
    with pytest.raises(ValueError, match="infinity"):
        ranker.ask(broken)
    assert ranker.n_windows_ == 1
    broken[7, 2] = np.nan  # missing is fine
    assert ranker.ask(broken).size == 20


def test_values_too_large_are_refused_in_every_window(asked):
    ranker, _, X, _ = asked
    broken = X[400:800].copy()
    broken[0, 0] = 1e300
    with pytest.raises(InvalidInputError, match="too large"):
        ranker.ask(broken)


@pytest.mark.parametrize("settings", [{"learner": "perceptron"}, {"learner": "refit"}])
@pytest.mark.parametrize("ask", ["ask", "ask_about"])
def test_an_array_that_is_used_again_changes_nothing(settings, ask):
    X, y, _ = stream()
    rankers = [ActiveRanker(10, random_state=0, **settings) for _ in range(2)]
    for ranker, reused in zip(rankers, (True, False), strict=True):
        ranker.partial_fit(X[:400], y[:400])
        window = X[400:440].copy()
        rows = getattr(ranker, ask)(window)
        if reused:
            window[:] = 0
        ranker.tell(rows, y[rows])
    scores = [ranker.decision_function(X) for ranker in rankers]
    np.testing.assert_array_equal(*scores)


@pytest.fixture
def asked():
    X, y, parts = stream()
    ranker = ActiveRanker(10, random_state=0)
    return ranker, ranker.ask(X[parts[0]]), X, y


def test_rows_never_asked_about_are_refused_and_nothing_is_taken(asked):
    ranker, rows, *_ = asked
    never = np.setdiff1d(np.arange(400), rows)[0]
    with pytest.raises(InvalidInputError, match=rf"1 rows are not waiting for a label: {never}\."):
        ranker.tell([rows[0], never], [1, 0])
    assert ranker.pending_.size == 20


def test_labels_are_taken_once(asked):
    ranker, rows, *_ = asked
    ranker.tell(rows[:2], [1, 0])
    with pytest.raises(InvalidInputError, match="have been answered"):
        ranker.tell(rows[:1], [0])
    with pytest.raises(InvalidInputError, match="told twice"):
        ranker.tell(rows[[3, 3]], [0, 1])


def test_a_window_with_other_columns_is_refused_and_the_stream_goes_on(asked):
    ranker, _, X, _ = asked
    with pytest.raises(ValueError, match="features"):
        ranker.ask(X[:50, :3])
    assert ranker.n_windows_ == 1
    assert ranker.ask(X[400:800]).size == 20


def test_frames_with_other_columns_are_refused():
    frame = pl.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) ** 2})
    ranker = ActiveRanker(5, random_state=0)
    ranker.ask(frame)
    with pytest.raises(ValueError, match="b"):
        ranker.ask(frame.drop("b"))
    assert ranker.n_rows_ == 40


def test_a_window_smaller_than_k_is_asked_whole():
    X, _y, _ = stream()
    rows = ActiveRanker(50, random_state=0).ask(X[:7])
    assert sorted(rows) == list(range(7))


def test_telling_before_asking():
    with pytest.raises(NotFittedError):
        ActiveRanker(5).tell([0], [1])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"k": 0}, "k must be"),
        ({"scheme": "best"}, "scheme 'best'"),
        ({"learner": "svm"}, "learner 'svm'"),
        ({"kernel": "poly"}, "kernel 'poly'"),
        ({"extra_labels": -1}, "extra_labels"),
        ({"total_labels": 1.5}, "total_labels"),
        ({"explore": 1.5}, "explore"),
        ({"decay": 0.0}, "decay"),
        ({"cold_start": "warm"}, "cold_start"),
        ({"average": True}, "average"),
        ({"drift_decay": None}, "drift_decay must be a number above 0 and at most 1"),
        ({"explore": "x"}, "explore must be a number"),
        ({"standardize": "no"}, "standardize 'no'"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_settings_that_cannot_be_used(setting, message):
    with pytest.raises(InvalidInputError, match=message):
        ActiveRanker(**setting).ask(np.zeros((3, 1)))


@pytest.mark.parametrize("values", [("N", "Y"), (-1, 1), (False, True)])
def test_windows_are_labelled_in_the_values_that_fit_takes(values, tmp_path):
    X, y, _ = stream()
    words = np.where(y, *values[::-1])
    plain = ActiveRanker(10, random_state=0).fit(X[:400], y[:400]).partial_fit(X[400:800], y[400:800])
    began = ActiveRanker(10, random_state=0).partial_fit(pl.LazyFrame(X[:400]), words[:400])
    began.save(tmp_path / "state")
    for ranker in (
        ActiveRanker(10, random_state=0).fit(X[:400], words[:400]),
        ActiveRanker(10, random_state=0).partial_fit(X[:400], words[:400]),
    ):
        ranker.partial_fit(X[400:800], words[400:800])
        np.testing.assert_array_equal(ranker.decision_function(X), plain.decision_function(X))
    again = ActiveRanker.load(tmp_path / "state").partial_fit(pl.DataFrame(X[400:410]), words[:1].repeat(10))
    assert again.score(pl.DataFrame(X), words) > 0.5


def test_a_refused_window_of_labels_changes_nothing():
    X, _, _ = stream()
    ranker = ActiveRanker(10, random_state=0)
    with pytest.raises(InvalidInputError, match="y has 3 values for 400 rows"):
        ranker.partial_fit(X[:400], [0, 1, 0])
    assert not hasattr(ranker, "plan_")


def test_a_window_is_one_list():
    X, y, _ = stream()
    with pytest.raises(InvalidInputError, match="as one list; leave groups out"):
        ActiveRanker(10).fit(X[:400], y[:400], groups=np.arange(400) % 2)
