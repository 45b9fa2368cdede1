"""One list of checks that every ranker passes: scikit-learn's own, and ours."""

import copy
import inspect
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks

import shortlist.rankers
from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.metrics import roc_auc
from shortlist.objectives import NDCG, AveragePrecision, CostSaved
from shortlist.rankers import (
    AdaRank,
    APBoost,
    Baseline,
    CoordinateAscent,
    LambdaMART,
    ListNet,
    RankBoost,
    Ranker,
    RankNet,
    TargetTree,
)

# A new ranker joins here in a small, quick form: test_every_public_ranker_is_in_the_list fails until it does.
RANKERS = [
    Baseline(),
    Baseline(estimator=LinearRegression()),
    APBoost(n_estimators=10, n_jobs=1, random_state=0),
    APBoost(n_estimators=10, folds=0, n_jobs=1, random_state=0),
    RankBoost(n_estimators=20),
    LambdaMART(n_estimators=30, random_state=0),
    LambdaMART(objective=AveragePrecision(), n_estimators=30, random_state=0),
    CoordinateAscent(n_restarts=1, random_state=0),
    CoordinateAscent(objective=NDCG(gain="linear"), list_weight=CostSaved(k=5), n_restarts=1, random_state=0),
    AdaRank(),
    RankNet(n_epochs=40, random_state=0),
    ListNet(list_weight=CostSaved(k=5), n_epochs=40, random_state=0),
    TargetTree(n_restarts=2, generations=30, random_state=0),
    TargetTree(objective=CostSaved(k=5), n_restarts=2, generations=30, random_state=0),
]

#: Checks of scikit-learn that a ranker cannot pass, by class, with the reason.
WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
SPARSE_WEIGHTS = "check_sample_weight_equivalence_on_sparse_data"
SAMPLED = (
    "rows are drawn at random for folds and trees, so a row's copies are drawn apart where its weight is not"
)
DEALT = "the folds that tell what a score means are dealt by row, so a row's copies may lie in several"
RANKED = "a repeated row takes a rank of its own"
NO_ZERO = (
    "scores only rank: their zero is not where a row is as likely wanted as not, which predict goes by (a tree's "
    "score is the share of wanted rows in its leaf, as its rules say)"
)
CANNOT_PASS: dict[type, dict[str, str]] = {
    APBoost: {WEIGHTS: SAMPLED, SPARSE_WEIGHTS: SAMPLED},
    RankBoost: {WEIGHTS: DEALT, SPARSE_WEIGHTS: DEALT, "check_classifiers_train": NO_ZERO},
    LambdaMART: {WEIGHTS: RANKED, SPARSE_WEIGHTS: RANKED},
    CoordinateAscent: {WEIGHTS: RANKED},
    AdaRank: {WEIGHTS: RANKED},
}


def every_ranker(function):
    return pytest.mark.parametrize("ranker", RANKERS, ids=repr)(function)


def expected_failures(ranker):
    # Of the others, the zero happens to be in the right place for the rows of that check.
    no_zero = getattr(ranker, "folds", None) == 0 or (
        isinstance(ranker, TargetTree) and ranker.objective is None
    )
    return CANNOT_PASS.get(type(ranker), {}) | ({"check_classifiers_train": NO_ZERO} if no_zero else {})


@pytest.mark.filterwarnings("ignore:of the labels 'one' and 'two'")
@parametrize_with_checks(RANKERS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    try:
        check(estimator)
    except AssertionError:
        # Whether a row of that check lies between its zero and that place differs with the release of XGBoost.
        if isinstance(estimator, APBoost) and check.func.__name__ == "check_classifiers_train":
            pytest.xfail(NO_ZERO)
        raise


def test_every_failure_that_is_expected_is_explained_on_the_page():
    page = (Path(__file__).parents[1] / "docs" / "how-to" / "scikit-learn.md").read_text(encoding="utf-8")
    failing = Counter((type(each).__name__, check) for each in RANKERS for check in expected_failures(each))
    assert f"were expected to fail, {failing.total()} are now" in page
    for told, checks in {
        "repeated rows": (WEIGHTS, SPARSE_WEIGHTS),
        "predict": ("check_classifiers_train",),
    }.items():
        (line,) = (
            line for line in page.splitlines() if line.startswith("| ") and f"{told}" in line.split("|")[1]
        )
        number = sum(count for (_, check), count in failing.items() if check in checks)
        assert f"({number})" in line
        assert all(f"`{ranker}" in line for ranker, check in failing if check in checks)


def test_every_public_ranker_is_in_the_list():
    public = [getattr(shortlist.rankers, name) for name in shortlist.rankers.__all__]
    rankers = {
        c for c in public if inspect.isclass(c) and issubclass(c, Ranker) and not inspect.isabstract(c)
    }
    assert rankers == {type(ranker) for ranker in RANKERS}


@pytest.fixture
def lists_of_rows():
    """Twelve lists in which the first feature drives both label and impact."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, 4))
    groups = np.repeat(np.arange(12), 20)
    signal = X[:, 0] + 0.3 * rng.normal(size=240)
    impact = np.where(signal > 0.8, np.exp(2 * signal), 0.0)
    return X, impact, groups


def target(ranker, impact):
    return impact if ranker._takes_impact else (impact > 0).astype(int)


@every_ranker
def test_ranks_wanted_rows_first(ranker, lists_of_rows):
    X, impact, groups = lists_of_rows
    score = (
        clone(ranker)
        .fit(X[:160], target(ranker, impact)[:160], groups=groups[:160])
        .decision_function(X[160:])
    )
    assert score.dtype == np.float64
    assert np.isfinite(score).all()
    assert roc_auc(impact[160:] > 0, score) > 0.75  # what one cut of the first feature reaches is 0.8


@every_ranker
def test_cross_validated_scores_are_those_of_each_fold(ranker, lists_of_rows):
    X, impact, _ = lists_of_rows
    y, folds = target(ranker, impact), KFold(3)
    score = cross_val_predict(
        ranker, X, y, cv=folds, method="decision_function" if is_classifier(ranker) else "predict"
    )
    learn, judge = next(folds.split(X))
    fitted = clone(ranker).fit(X[learn], y[learn])
    np.testing.assert_array_equal(score[judge], fitted.decision_function(X[judge]))


@pytest.mark.bits
@every_ranker
def test_permuting_rows_permutes_scores(ranker, lists_of_rows):
    X, impact, groups = lists_of_rows
    fitted = clone(ranker).fit(X, target(ranker, impact), groups=groups)
    order = np.random.default_rng(0).permutation(X.shape[0])
    np.testing.assert_array_equal(fitted.decision_function(X[order]), fitted.decision_function(X)[order])


@every_ranker
def test_renaming_groups_changes_nothing(ranker, lists_of_rows):
    X, impact, groups = lists_of_rows
    named = np.array([f"list {chr(ord('z') - g)}" for g in groups])
    y = target(ranker, impact)
    by_number = clone(ranker).fit(X, y, groups=groups).decision_function(X)
    np.testing.assert_array_equal(clone(ranker).fit(X, y, groups=named).decision_function(X), by_number)


@every_ranker
@pytest.mark.parametrize("factor", [2.0**-20, 2.0**20])
def test_scaling_impacts_keeps_the_order(ranker, lists_of_rows, factor):
    if not ranker._takes_impact:
        pytest.skip("learns from labels")
    X, impact, groups = lists_of_rows
    order = np.argsort(-clone(ranker).fit(X, impact, groups=groups).decision_function(X), kind="stable")
    scaled = np.argsort(
        -clone(ranker).fit(X, impact * factor, groups=groups).decision_function(X), kind="stable"
    )
    np.testing.assert_array_equal(order, scaled)


@every_ranker
def test_one_wanted_row_is_enough(ranker, lists_of_rows):
    X, _, groups = lists_of_rows
    y = np.zeros(X.shape[0])
    y[7] = 1
    assert np.isfinite(clone(ranker).fit(X, y, groups=groups).decision_function(X)).all()


@every_ranker
def test_no_wanted_row_is_an_error_that_says_what_to_do(ranker, lists_of_rows):
    X, _, groups = lists_of_rows
    with pytest.raises(NoWantedRowsError, match=r"at least one.*Label one"):
        clone(ranker).fit(X, np.zeros(X.shape[0]), groups=groups)


@every_ranker
def test_zero_is_zero_in_sparse_rows_too(ranker):
    """Flags and counts, most of them 0: a model reads sparse rows as it does dense ones, whichever it learned from."""
    if not ranker._takes_sparse:
        pytest.skip("takes no sparse rows")
    rng = np.random.default_rng(3)
    X = rng.binomial(1, 0.2, size=(240, 6)) * rng.integers(1, 4, size=(240, 6)).astype(float)
    y = (X[:, 0] > 0) & (X[:, 1] == 0)
    for rows in (X, csr_matrix(X)):
        fitted = clone(ranker).fit(rows, y)
        score = fitted.decision_function(X)
        assert roc_auc(y, score) > 0.95
        np.testing.assert_array_equal(fitted.decision_function(csr_matrix(X)), score)
        np.testing.assert_array_equal(fitted.decision_function(csc_matrix(X)), score)


@every_ranker
def test_a_gap_is_no_zero_in_sparse_rows(ranker):
    """Whoever learned from dense rows tells both apart; from sparse ones too, or says that it cannot."""
    if not (ranker._takes_sparse and ranker._takes_missing):
        pytest.skip("takes no sparse rows with gaps")
    X = np.random.default_rng(3).choice([0, 1, np.nan], size=(240, 5))
    y, whole = np.isnan(X[:, 0]), np.nan_to_num(X)
    score = clone(ranker).fit(X, y).decision_function(X)
    assert roc_auc(y, score) > 0.95
    for kind in (csr_matrix, csc_matrix):
        np.testing.assert_array_equal(clone(ranker).fit(X, y).decision_function(kind(X)), score)
        assert_equal_or_refused(lambda: clone(ranker).fit(kind(X), y).decision_function(X), score)  # noqa: B023
    learned, of_gaps = (
        clone(ranker).fit(csr_matrix(whole), y),
        clone(ranker).fit(whole, y).decision_function(X),
    )
    for rows in (X, csr_matrix(X), csc_matrix(X)):
        assert_equal_or_refused(lambda: learned.decision_function(rows), of_gaps)  # noqa: B023


def assert_equal_or_refused(score, expected):
    try:
        np.testing.assert_allclose(score(), expected, rtol=1e-9)
    except InvalidInputError as error:
        assert "cannot tell a gap from zero. Fit the ranker on a dense array" in str(error)  # noqa: PT017


@every_ranker
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_numbers_that_no_learner_can_count_with_are_named(ranker, lists_of_rows, kind):
    if kind is csr_matrix and not ranker._takes_sparse:
        pytest.skip("takes no sparse rows")
    X, impact, groups = lists_of_rows
    y, huge, fitted = target(ranker, impact), X.astype(np.float64), clone(ranker)
    huge[5, 0] = 3e38
    assert np.isfinite(fitted.fit(kind(huge), y, groups=groups).decision_function(kind(huge))).all()
    huge[5, 0] = -1e39
    for call in (
        lambda: clone(ranker).fit(kind(huge), y, groups=groups),
        lambda: fitted.decision_function(kind(huge)),
    ):
        with pytest.raises(InvalidInputError, match=r"too large or infinite values, the first in row 5 "):
            call()


@every_ranker
def test_inputs_are_left_alone(ranker, lists_of_rows):
    X, impact, groups = (array.copy() for array in lists_of_rows)
    y = target(ranker, impact)
    for array in (X, y, groups):
        array.setflags(write=False)
    clone(ranker).fit(X, y, groups=groups).decision_function(X)


@pytest.mark.bits
@every_ranker
def test_same_seed_same_model_whatever_the_number_of_threads(ranker, lists_of_rows):
    X, impact, groups = lists_of_rows
    y = target(ranker, impact)
    again, first = clone(ranker), clone(ranker)
    if "n_jobs" in ranker.get_params():
        again.set_params(n_jobs=2)
        first.set_params(n_jobs=1)
    score = first.fit(X, y, groups=groups).decision_function(X)
    np.testing.assert_array_equal(again.fit(X, y, groups=groups).decision_function(X), score)


@every_ranker
def test_a_lazy_frame_is_a_frame(ranker):
    claims = make_claims(300, random_state=0, fraud_rate=0.2)
    frame, y = claims.drop("claim_id", "fraud"), claims["fraud"]
    eager, lazy = (clone(ranker).fit(rows, y) for rows in (frame, frame.lazy()))
    np.testing.assert_array_equal(lazy.decision_function(frame.lazy()), eager.decision_function(frame))
    assert lazy.n_features_in_ == eager.n_features_in_
    assert [*lazy.feature_names_in_] == frame.columns


@every_ranker
def test_numbers_that_make_no_sense_are_refused(ranker, lists_of_rows):
    X, impact, groups = lists_of_rows
    for name, limit in ranker._limits.items():
        for wrong in (limit.least - 1, "many", np.nan, True):
            with pytest.raises(InvalidInputError, match=f"{name} must be a .*number"):
                clone(ranker).set_params(**{name: wrong}).fit(X, target(ranker, impact), groups=groups)


@pytest.mark.parametrize("learner", [LambdaMART, CoordinateAscent, AdaRank])
@pytest.mark.parametrize("objective", ["ndcg", NDCG])
def test_what_is_no_objective_is_refused(learner, objective, lists_of_rows):
    X, impact, groups = lists_of_rows
    with pytest.raises(InvalidInputError, match=r"objective must be one of shortlist\.objectives"):
        learner(objective=objective).fit(X, impact, groups=groups)


@pytest.mark.parametrize("ranker", [each for each in RANKERS if hasattr(each, "n_jobs")], ids=repr)
@pytest.mark.parametrize("n_jobs", [0, 1.5])
def test_no_number_of_threads_is_refused_in_our_words(ranker, lists_of_rows, n_jobs):
    X, impact, groups = lists_of_rows
    with pytest.raises(InvalidInputError, match="jobs must be a whole number of threads"):
        clone(ranker).set_params(n_jobs=n_jobs).fit(X, target(ranker, impact), groups=groups)


@every_ranker
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))], ids=["deepcopy", "pickle"]
)
def test_a_copy_scores_alike(ranker, lists_of_rows, copied):
    X, impact, groups = lists_of_rows
    fitted = clone(ranker).fit(X, target(ranker, impact), groups=groups)
    np.testing.assert_array_equal(copied(fitted).decision_function(X), fitted.decision_function(X))


@every_ranker
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_data_frames_with_categories_dates_and_gaps(ranker, library):
    claims = make_claims(600, random_state=0, fraud_rate=0.1)
    y = claims["fraud"].to_numpy() * (claims["amount"].to_numpy() if ranker._takes_impact else 1)
    frame = claims.drop("fraud", "claim_id")
    if library == "pandas":
        frame = frame.to_pandas()
    score = clone(ranker).fit(frame, y).decision_function(frame)
    assert np.isfinite(score).all()
    assert np.unique(score).size > 2


@every_ranker
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": np.arange(5)}, "groups has 5 values for 240 rows"),
        ({"sample_weight": np.full(240, -1.0)}, "must not be negative"),
        ({"sample_weight": np.zeros(240)}, "zero for every row"),
        ({"groups": np.array([None] * 240, dtype=object)}, "groups is missing"),
    ],
    ids=["short groups", "negative weights", "zero weights", "missing groups"],
)
def test_bad_arguments_are_named(ranker, lists_of_rows, arguments, message):
    X, impact, _ = lists_of_rows
    with pytest.raises(InvalidInputError, match=message):
        clone(ranker).fit(X, target(ranker, impact), **arguments)


@every_ranker
def test_negative_or_missing_targets_are_refused(ranker, lists_of_rows):
    X, impact, groups = lists_of_rows
    y = target(ranker, impact).astype(float)
    with pytest.raises(InvalidInputError):
        clone(ranker).fit(X, np.where(y > 0, np.nan, 0.0), groups=groups)
    if ranker._takes_impact:
        with pytest.raises(InvalidInputError, match="negative"):
            clone(ranker).fit(X, -y, groups=groups)
