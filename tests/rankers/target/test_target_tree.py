import numpy as np
import polars as pl
import pytest

from shortlist.exceptions import InvalidInputError, NoUnwantedRowsError, NoWantedRowsError, TableError
from shortlist.metrics import average_precision, roc_auc
from shortlist.objectives import AUC, CostSaved
from shortlist.rankers import TargetTree
from shortlist.rankers.target.problem import Problem


@pytest.fixture(scope="module")
def rows():
    """Wanted where two features are high together: no single split shows it."""
    rng = np.random.default_rng(0)
    X = rng.random((2_000, 6))
    return X, (rng.random(2_000) < np.where((X[:, 0] > 0.7) & (X[:, 1] > 0.6), 0.6, 0.03)).astype(int)


def test_finds_the_corner(rows):
    X, y = rows
    ranker = TargetTree(random_state=0).fit(X[:1_000], y[:1_000])
    tree = ranker.views[0].tree
    assert set(tree.feature[tree.feature >= 0]) >= {0, 1}
    assert average_precision(y[1_000:], ranker.decision_function(X[1_000:])) > 0.4


def test_a_price_of_leaves_makes_trees_smaller(rows):
    sizes = [
        TargetTree(alpha=a, n_restarts=1, random_state=0).fit(*rows).views[0].tree.leaves.size
        for a in (0, 0.003, 0.1, 1)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 10
    assert sizes[-1] == 1


def test_cross_validation_picks_one_of_its_prices(rows):
    X, y = rows
    ranker = TargetTree(alpha="cv", n_restarts=1, generations=30, random_state=0).fit(X, y)
    assert ranker.alpha_ / y.mean() == pytest.approx(
        min((0.01, 0.03, 0.1, 0.3), key=lambda p: abs(p - ranker.alpha_ / y.mean()))
    )


def test_cross_validation_that_runs_out_of_time_leaves_the_default_price(rows):
    X, y = rows
    ranker = TargetTree(alpha="cv", generations=10**6, time_limit=0.4, random_state=0).fit(X, y)
    assert ranker.alpha_ == pytest.approx(0.1 / y.sum() ** 0.5)
    assert ranker.stopped_by_ == "time"


def test_cross_validation_copes_with_a_single_wanted_row(rows):
    X, y = rows[0][:60], np.arange(60) == 5
    assert TargetTree(alpha="cv", n_restarts=1, generations=3, random_state=0).fit(X, y).alpha_ > 0


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e100])
def test_the_price_of_a_leaf_does_not_depend_on_the_unit_of_impacts(rows, unit):
    X, impact = rows[0][:200], np.exp(3 * rows[0][:200, 0])
    ranker = TargetTree(objective=CostSaved(k=10), n_restarts=1, generations=3, random_state=0)
    assert ranker.fit(X, unit * impact).alpha_ == pytest.approx(
        0.1 * np.sqrt((impact**2).sum()) / impact.sum()
    )


def test_cross_validation_keeps_lists_together(rows):
    X, y = rows
    ranker = TargetTree(alpha="cv", n_restarts=1, generations=5, random_state=0)
    assert ranker.fit(X, y, groups=np.arange(2_000) // 100).alpha_ > 0


def test_cross_validation_and_bagging_leave_out_rows_without_weight(rows):
    X, y = rows
    weight = (np.arange(2_000) % 3 > 0).astype(float)
    ranker = TargetTree(alpha="cv", n_restarts=1, n_estimators=2, generations=5, random_state=0)
    ranker.fit(X, y, sample_weight=weight)
    assert ranker.views[0].tree.rows[0] == weight.sum()


def test_bagged_trees_average_their_scores(rows):
    X, y = rows
    ranker = TargetTree(n_estimators=4, n_restarts=1, generations=20, random_state=0).fit(X, y)
    assert len(ranker.trees_) == 4
    mean = np.mean([v.tree.score[v.tree.leaf_of(X, v.words.bins)] for v in ranker.views], axis=0)
    np.testing.assert_allclose(ranker.decision_function(X), mean)


@pytest.mark.parametrize(
    "settings", [{"n_restarts": 3}, {"n_restarts": 1}, {"n_restarts": 2, "n_estimators": 2}]
)
def test_threads_do_not_change_the_trees(rows, settings):
    ranker = TargetTree(generations=15, random_state=3, **settings)
    alone = ranker.set_params(n_jobs=1).fit(*rows).to_json()
    for n_jobs in (2, 3, 5):
        assert ranker.set_params(n_jobs=n_jobs).fit(*rows).to_json() == alone


@pytest.mark.bits
def test_bit_planes_give_the_same_trees(rows):
    X = np.column_stack([rows[0], np.where(rows[0][:, 2] < 0.1, np.nan, rows[0][:, 3])])
    sets = TargetTree(generations=15, n_restarts=1, random_state=0).fit(X, rows[1])
    planes = TargetTree(generations=15, n_restarts=1, random_state=0, memory=0).fit(X, rows[1])
    assert planes.to_json() == sets.to_json()


@pytest.mark.parametrize("accept", ["both_children", "better_child", "best_of_four", "best_two_of_four"])
def test_every_rule_of_acceptance_works(rows, accept):
    ranker = TargetTree(accept=accept, n_restarts=1, random_state=0).fit(*rows)
    history = ranker.history_["best"]
    assert history[-1] > history[0]


def test_any_objective_is_what_it_is_better_at(rows):
    """Trained for AUC, a tree has the higher AUC on its training rows than one trained for cost saved."""
    X, y = rows
    for_auc = TargetTree(objective=AUC(), alpha=0.0005, random_state=0).fit(X, y).decision_function(X)
    for_cost = (
        TargetTree(objective=CostSaved(k=20), alpha=0.0005, random_state=0).fit(X, y).decision_function(X)
    )
    assert roc_auc(y, for_auc) > roc_auc(y, for_cost)
    assert CostSaved(k=20).value(y, for_cost) > CostSaved(k=20).value(y, for_auc)


def test_missing_values_may_tell_most():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    wanted = rng.random(500) < 0.1
    X[wanted, 1] = np.nan
    ranker = TargetTree(generations=30, random_state=0).fit(X, wanted)
    assert "x1 is missing" in ranker.to_text() or "or missing" in ranker.to_text()
    assert average_precision(wanted, ranker.decision_function(X)) == 1


def test_missing_values_that_training_did_not_have_go_with_the_majority(rows):
    X, y = rows
    ranker = TargetTree(generations=30, random_state=0).fit(X, y)
    tree = ranker.views[0].tree
    gone = ranker.decision_function(np.full((1, 6), np.nan))
    node = 0
    while tree.feature[node] >= 0:
        left, right = node + 1, tree.right[node]
        node = left if tree.rows[left] >= tree.rows[right] else right
    assert gone[0] == tree.score[node]


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (np.arange(20.0)[:, None], np.zeros(20), NoWantedRowsError, "marks none of its 20 rows"),
        (np.arange(20.0)[:, None], np.ones(20), NoUnwantedRowsError, "all of its 20 rows"),
        (np.ones((20, 3)), np.arange(20) % 2, InvalidInputError, "every feature is constant"),
        (np.full((20, 3), np.nan), np.arange(20) % 2, InvalidInputError, "every feature is constant"),
        (np.zeros((0, 3)), np.zeros(0), ValueError, r"0 sample"),
        (pl.DataFrame({"a": [], "b": []}), np.zeros(0), TableError, "has no rows"),
    ],
    ids=["none wanted", "all wanted", "constant", "all missing", "no rows", "no rows of a frame"],
)
def test_rows_to_learn_nothing_from_are_refused(X, y, error, message):
    with pytest.raises(error, match=message):
        TargetTree().fit(X, y)


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_too_many_categories_are_refused(dtype):
    frame = pl.DataFrame({"id": [f"row {n}" for n in range(2**16 + 1)]}, schema={"id": dtype})
    with pytest.raises(InvalidInputError, match=r"65,?537"):
        TargetTree().fit(frame, np.arange(frame.height) % 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1}, "alpha must be a number of at least 0"),
        ({"alpha": "best"}, "alpha must be"),
        ({"n_restarts": 0}, "n_restarts must be a whole number of at least 1"),
        ({"generations": 2.5}, "generations must be a whole number"),
        ({"max_bins": 257}, "max_bins must be a whole number of at least 2 and at most 256"),
        ({"elitism": 0.5}, "must sum to 1"),
        ({"p_split": 1.5}, "p_split must be a number of at least 0 and at most 1"),
        ({"p_nudge": -0.5}, "p_nudge must be a number of at least 0 and at most 1"),
        ({"mutations": (1, 1, 1, 1)}, "four shares that sum to 1"),
        ({"accept": "worst"}, "accept must be one of"),
        ({"mutations": "all"}, "four shares that sum to 1"),
        ({"accept": ["best_of_four"]}, "accept must be one of"),
        ({"alpha": [0.1, 0.2]}, "alpha must be"),
        ({"min_leaf": 0}, "min_leaf must be a number of at least 1"),
        ({"min_leaf": "5"}, "min_leaf must be a number of at least 1"),
        ({"memory": "1 GB"}, "memory must be a number of at least 0"),
        ({"time_limit": "1 h"}, "time_limit must be a number of at least 0"),
        ({"time_limit": -1}, "time_limit must be a number of at least 0"),
        ({"time_limit": np.nan}, "time_limit must be a number of at least 0"),
        ({"objective": "ap"}, "cannot value leaves by 'ap'"),
        ({"patience": 0}, "patience must be"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_parameters_that_make_no_sense_are_named(rows, parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        TargetTree(**parameters).fit(*rows)


def test_a_refused_fit_leaves_the_old_trees(rows):
    X, y = rows
    ranker = TargetTree(generations=5, random_state=0).fit(X, y)
    before = ranker.decision_function(X)
    with pytest.raises(NoWantedRowsError):
        ranker.fit(X, np.zeros(y.size))
    np.testing.assert_array_equal(ranker.decision_function(X), before)


def test_one_list_of_labels_needs_only_popcounts(rows):
    from shortlist.lists import Lists
    from shortlist.objectives import AveragePrecision
    from shortlist.rankers.batch import Batch

    X, y = rows
    batch = Batch(X, y == 1, Lists.single(y.size), None, np.zeros(6, dtype=bool))
    assert Problem.of(batch, AveragePrecision(), 64, np.random.default_rng(0)).counted
