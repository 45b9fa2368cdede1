"""The model that several machines train together is that of one machine, to the bit, whoever holds which rows."""

import copy

import numpy as np
import pytest

from shortlist.kernels.average_precision import average_precision_of_blocks
from shortlist.lists import Lists
from shortlist.objectives import NDCG, AveragePrecision, CostSaved
from shortlist.rankers import APBoost, LambdaMART
from shortlist.rankers.boosting.trees import bins
from shortlist.rankers.cluster.part import Part, train_part
from tests.rankers.machines import on_machines, run_machines

pytestmark = pytest.mark.slow

N_ROWS = 3_000


def rows(share=0.1, categories=False):
    """Continuous features, so that cuts and rows drawn matter; and an outcome that they tell something of."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 6)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    score = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) ** 2 + rng.normal(size=N_ROWS)
    if categories:
        X[:, 5] = np.where(np.arange(N_ROWS) < 1_000, 3, rng.integers(0, 3, N_ROWS))
    return X, score > np.quantile(score, 1 - share)


def spread_over(n_machines, how, y, groups=None):
    """The rows of each machine, in no order."""
    rng = np.random.default_rng(1)
    place = rng.integers(0, n_machines, N_ROWS)
    if how == "wanted rows on one":
        place = np.where(y, 0, rng.integers(n_machines > 1, n_machines, N_ROWS))
    elif how == "an empty machine":
        place[:] = 0
    elif how == "in order":
        place = np.arange(N_ROWS) * n_machines // N_ROWS
    if groups is not None:
        place = rng.integers(0, n_machines, groups.max() + 1)[groups]
    return [rng.permutation(np.flatnonzero(place == number)) for number in range(n_machines)]


def trained_together(ranker, X, y, held, groups=None, weight=None, categorical=None):
    """The model of each machine, trained in step."""
    categorical = np.zeros(X.shape[1], bool) if categorical is None else categorical
    ready = copy.deepcopy(ranker)
    ready.schema_, ready.n_features_in_, ready.sparse_ = None, X.shape[1], False
    ready.classes_ = np.array([False, True])

    def work(number, communicator):
        mine = held[number]
        lists = None if groups is None else groups[mine]
        part = Part(X[mine], y[mine], mine.astype(np.uint64), lists, None if weight is None else weight[mine])
        own = copy.deepcopy(ready)
        vars(own).update({name: told for name, told in vars(ranker).items() if name == "callback"})
        return train_part(own, part, categorical, communicator)

    return run_machines(len(held), work)


def assert_same(one, other):
    assert other.booster_.get_dump(with_stats=True) == one.booster_.get_dump(with_stats=True)
    assert other.booster_.num_boosted_rounds() == one.booster_.num_boosted_rounds() > 1


def ap_boost(**changes):
    settings = {"folds": 0, "n_estimators": 12, "random_state": 0, "n_jobs": 1, "early_stopping_rounds": None}
    return APBoost(**{**settings, **changes})


@pytest.mark.parametrize("n_machines", [1, 2, 3])
@pytest.mark.parametrize("loss", ["mix", "ap_exp"])
def test_the_model_of_one_machine(loss, n_machines):
    X, y = rows()
    one = ap_boost(loss=loss).fit(X, y)
    for other in trained_together(ap_boost(loss=loss), X, y, spread_over(n_machines, "at random", y)):
        assert_same(one, other)
        np.testing.assert_array_equal(other.chance_curve_, one.chance_curve_)


@pytest.mark.parametrize("how", ["wanted rows on one", "an empty machine", "in order"])
@pytest.mark.parametrize("share", [0.1, 0.001], ids=["a long list", "a short list"])
def test_however_rows_are_spread(how, share):
    X, y = rows(share)
    one = ap_boost().fit(X, y)
    for other in trained_together(ap_boost(), X, y, spread_over(3, how, y)):
        assert_same(one, other)


def test_categories_that_only_one_machine_has():
    X, y = rows(categories=True)
    categorical = np.arange(6) == 5
    held = spread_over(3, "in order", y)
    assert 3 not in X[held[2], 5]
    (one,) = trained_together(ap_boost(), X, y, [np.arange(N_ROWS)], categorical=categorical)
    for other in trained_together(ap_boost(), X, y, held, categorical=categorical):
        assert_same(one, other)


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_a_machine_without_rows_knows_what_columns_hold(empty):
    X, y = rows(categories=True)
    categorical = np.arange(6) == 5
    held = spread_over(2, "in order", y)
    held.insert(empty, np.arange(0))
    (one,) = trained_together(ap_boost(), X, y, [np.arange(N_ROWS)], categorical=categorical)
    for other in trained_together(ap_boost(), X, y, held, categorical=categorical):
        assert_same(one, other)
        assert other.booster_.feature_types == one.booster_.feature_types


def test_cuts_by_a_sample(monkeypatch):
    monkeypatch.setattr(bins, "CUT_ROWS", 500)
    X, y = rows()
    one = ap_boost().fit(X, y)
    for other in trained_together(ap_boost(), X, y, spread_over(3, "at random", y)):
        assert_same(one, other)


def test_weights_of_rows():
    X, y = rows()
    weight = np.random.default_rng(2).uniform(0.2, 2, N_ROWS)
    one = ap_boost().fit(X, y, sample_weight=weight)
    for other in trained_together(ap_boost(), X, y, spread_over(2, "at random", y), weight=weight):
        assert_same(one, other)


@pytest.mark.parametrize("weighted", [False, True])
def test_early_stopping_by_the_average_precision_of_all_rows(weighted):
    X, y = rows()
    weight = np.random.default_rng(2).uniform(0.2, 2, N_ROWS) if weighted else None
    settings = {"early_stopping_rounds": 3, "n_estimators": 60, "learning_rate": 0.2}
    seen, seen_too = [], []
    one = ap_boost(**settings, callback=lambda *told: seen.append(told)).fit(X, y, sample_weight=weight)
    ranker = ap_boost(**settings, callback=lambda *told: seen_too.append(told))
    held = spread_over(3, "at random", y)
    for other in trained_together(ranker, X, y, held, weight=weight):
        assert_same(one, other)
        assert other.calibrated_on_ == "held-out rows"
        np.testing.assert_array_equal(other.chance_curve_, one.chance_curve_)
    assert one.booster_.num_boosted_rounds() < 60
    assert sorted(seen_too) == sorted(3 * seen)  # AP to the bit, in every round, on every machine


@pytest.mark.parametrize("loss", ["mix", "ap_exp"])
@pytest.mark.parametrize("early", [None, 3])
def test_lists(loss, early):
    X, y = rows()
    groups = np.random.default_rng(3).integers(0, 40, N_ROWS)
    settings = {"loss": loss, "early_stopping_rounds": early, "learning_rate": 0.5}
    one = ap_boost(**settings).fit(X, y, groups=groups)
    held = spread_over(3, "lists", y, groups)
    for other in trained_together(ap_boost(**settings), X, y, held, groups):
        assert_same(one, other)


def test_a_machine_whose_lists_have_no_wanted_row():
    X, y = rows(0.3)
    groups = np.random.default_rng(3).integers(0, 40, N_ROWS)
    y &= groups % 2 == 0
    held = [np.flatnonzero(groups % 2 == number) for number in range(2)]
    settings = {"objective": AveragePrecision(), "n_estimators": 5, "n_jobs": 1, "random_state": 0}
    early = {"early_stopping_rounds": 3, "learning_rate": 0.5}
    for ranker in (LambdaMART(**settings), ap_boost(**early)):
        one = copy.deepcopy(ranker).fit(X, y, groups=groups)
        for other in trained_together(ranker, X, y, held, groups):
            assert_same(one, other)


@pytest.mark.parametrize("objective", [CostSaved(k=5), NDCG(k=10), AveragePrecision(), NDCG()])
@pytest.mark.parametrize("eval_groups", [None, 0.3])
def test_lambda_mart(objective, eval_groups):
    X, y = rows(0.3)
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 40, N_ROWS)
    known = np.where(y, rng.lognormal(size=N_ROWS), 0.0) if objective.takes_impact else y
    settings = {"objective": objective, "eval_groups": eval_groups, "n_estimators": 15, "n_jobs": 1}
    one = LambdaMART(**settings, random_state=0).fit(X, known, groups=groups)
    held = spread_over(3, "lists", y, groups)
    for other in trained_together(LambdaMART(**settings, random_state=0), X, known, held, groups):
        assert_same(one, other)
        np.testing.assert_array_equal(other.eval_values_, one.eval_values_)


@pytest.mark.parametrize(
    "list_weight", [CostSaved(k=3), lambda impacts: float(impacts.sum()), np.arange(40) + 1]
)
@pytest.mark.parametrize("objective", [NDCG(k=5), AveragePrecision()], ids=["impacts", "labels"])
def test_weights_of_lists(objective, list_weight):
    X, y = rows(0.3)
    groups = np.random.default_rng(3).integers(0, 40, N_ROWS)
    impact = np.where(y, 1.0 + np.arange(N_ROWS), 0.0) if objective.takes_impact else y
    settings = {"objective": objective, "list_weight": list_weight, "n_estimators": 5, "n_jobs": 1}
    one = LambdaMART(**settings, random_state=0).fit(X, impact, groups=groups)
    held = spread_over(2, "lists", y, groups)
    for other in trained_together(LambdaMART(**settings, random_state=0), X, impact, held, groups):
        assert_same(one, other)
        if not objective.takes_impact:
            np.testing.assert_array_equal(other.chance_curve_, one.chance_curve_)


def test_one_list_on_one_machine_is_enough_for_lambda_mart():
    X, y = rows(0.3)
    groups = np.zeros(N_ROWS, dtype=np.int64)
    settings = {"objective": CostSaved(k=5), "n_estimators": 5, "n_jobs": 1, "random_state": 0}
    one = LambdaMART(**settings).fit(X, y * 1.0, groups=groups)
    for other in trained_together(
        LambdaMART(**settings), X, y * 1.0, spread_over(2, "lists", y, groups), groups
    ):
        assert_same(one, other)


def test_what_machines_bring_together():
    def work(number, sums):
        mine = np.arange(number)  # the first has none
        flags, table = sums.gather(mine % 2 == 0), sums.gather(np.full((number, 2), number, np.float32))
        most = sums.max(np.array([float(number)]))
        return flags, table, most, sums.sum(np.array([[1.0, number]])), sums.gather(mine[:0])

    for flags, table, most, total, nothing in on_machines(3, work):
        assert flags.tolist() == [True, True, False]
        assert table.tolist() == [[1, 1], [2, 2], [2, 2]]
        assert (most.tolist(), total.tolist(), nothing.size) == ([2], [[3, 3]], 0)


def test_average_precision_of_blocks_is_that_of_rows():
    from shortlist.metrics import average_precision

    rng = np.random.default_rng(0)
    for _ in range(50):
        y, score = rng.random(40) < 0.4, rng.integers(0, 12, 40)
        y[0] = True
        blocks = np.unique(score[y])[::-1]
        counts = [
            [np.sum(y & (score == at)), np.sum(~y & (score > at)), np.sum(~y & (score == at))]
            for at in blocks
        ]
        found = average_precision_of_blocks(*np.array(counts).T)
        assert found == average_precision(y, score)


def test_lists_taken_in_parts_are_numbered_as_on_one_machine():
    groups = np.random.default_rng(0).integers(0, 12, 200)
    held = [np.flatnonzero(groups % 2 == number) for number in range(2)]
    whole = Lists.from_groups(groups)
    chosen = np.array([1, 2, 5, 7, 8])
    _, taken = whole.take(chosen)

    def work(number, sums):
        part = Part(
            np.zeros((held[number].size, 1)),
            groups[held[number]] > 3,
            held[number].astype(np.uint64),
            groups[held[number]],
        )
        lists = part.batch(np.zeros(1, bool), sums).lists
        rows, mine = lists.take(lists.here(chosen))
        return held[number][rows], mine.row_keys, mine.of_all(mine.sizes), mine.n_in_all

    for rows, numbers, sizes, n_lists in on_machines(2, work):
        all_rows, _ = whole.take(chosen)
        np.testing.assert_array_equal(all_rows[numbers.astype(int)], rows)
        np.testing.assert_array_equal(sizes, taken.sizes)
        assert n_lists == 5
