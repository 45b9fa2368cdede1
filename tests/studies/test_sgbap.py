"""The study of the SGBAP paper: its engine beside plain twins, its tuning, and what it drops."""

import json

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from shortlist.metrics import average_precision, ndcg_at_k, roc_auc
from studies.frame.cells import Cell, Found
from studies.paper_sets import paper_sets
from studies.papers import (
    sgbap,
    sgbap_beyond,
    sgbap_boost,
    sgbap_figures,
    sgbap_future_runs,
    sgbap_package,
    sgbap_runs,
)
from studies.papers.sgbap_boost import LOSSES, coded, grow, path
from studies.papers.sgbap_tables import PROPERTIES, TABLE_3
from studies.papers.sgbap_toy import pulled, surface

needs_sets = pytest.mark.skipif(paper_sets().is_empty(), reason="no data sets beside the project")


def rows(seed=0, n=240):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (n, 6)).astype(float)
    return X, X[:, 0] + X[:, 1] + rng.normal(size=n) > 17


@pytest.mark.slow
@pytest.mark.parametrize(("depth", "leaf"), [(1, 1), (3, 5), (6, 10), (100, 1)])
def test_a_tree_is_that_of_scikit_learn(depth, leaf):
    """On the rows it learned from: where a value is missing in a node, scikit-learn cuts half-way to the next."""
    X, _ = rows()
    target = np.random.default_rng(1).normal(size=len(X))
    codes = coded(X, np.arange(len(X)))
    found = sgbap_boost.apply(codes, *grow(codes, np.arange(len(X)), target, leaf, depth, 12))
    twin = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=leaf, random_state=0).fit(X, target)
    assert found == pytest.approx(twin.predict(X), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_those_of_the_values(loss):
    f, y = np.random.default_rng(2).normal(size=40), np.arange(40) % 3 == 0
    number = LOSSES[loss]
    step = 1e-5 * np.eye(40)
    slopes = [
        (sgbap_boost.value(f + e, y, number) - sgbap_boost.value(f - e, y, number)) / 2e-5 for e in step
    ]
    assert sgbap_boost.gradient(f, y, number) == pytest.approx(slopes, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_rounds_are_read_off_along_the_way(loss):
    X, y = rows()
    learn, test = np.arange(160), np.arange(160, 240)
    setting = {"loss": loss, "step": 0.1, "share": 0.5, "leaf": 5, "depth": 3, "seed": 0}
    codes = coded(X, learn)
    along = path(codes, y, learn, test, rounds=np.array([5, 20]), **setting)
    assert np.array_equal(along[0], path(codes, y, learn, test, rounds=np.array([5]), **setting)[0])
    assert average_precision(y[test], along[1]) > 2 * y[test].mean()


def test_codes_keep_order_gaps_and_many_values():
    X = np.array([[0.5, np.nan], [7.0, 1.0], [3.0, 2.0], [9.0, 1.5]])
    codes = coded(X, np.arange(3))
    assert codes[:, 0].tolist() == [0, 2, 1, 3]
    assert codes[:, 1].tolist() == [sgbap_boost.MOST_BINS, 0, 1, 1]
    many = coded(np.random.default_rng(0).normal(size=(1_000, 1)), np.arange(1_000))
    assert np.unique(many).size > 200


def test_settings_are_drawn_from_the_grid_alike_for_all():
    assert sgbap_runs.drawn(24) == sgbap_runs.drawn(30)[:24]
    assert len(set(sgbap_runs.drawn(24))) == 24
    assert len(sgbap_runs.GRID) == 108


@pytest.mark.slow
def test_the_best_setting_of_the_folds_is_chosen(monkeypatch):
    X, y = rows()
    learn = np.arange(160)
    monkeypatch.setattr(sgbap_runs, "drawn", lambda n: [(0.1, 0.5, 5, 1), (0.1, 0.5, 5, 3)])
    codes, rounds = coded(X, learn), np.array([1, 40])
    (*setting, best), value = sgbap_runs.choose(codes, y, learn, "SGBAP", rounds, 2, 3, 0)
    assert tuple(setting) in sgbap_runs.drawn(2)
    assert best in (1, 40)
    assert 0 < value <= 1


def test_the_easiest_wanted_rows_are_dropped():
    y = np.array([1, 1, 0, 1, 0, 0, 0, 0, 0, 0], bool)
    ranks = np.array([5.0, 1.0, 0.0, 3.0, 2, 4, 6, 7, 8, 9])
    assert sgbap_runs.without_easiest(y, ranks, share=0.1).tolist() == [0, 2, 4, 5, 6, 7, 8, 9]


def test_ties_count_at_their_worst():
    auc, ap, top, at_p = sgbap_runs.measures(np.array([True, False]), np.zeros(2))
    assert (auc, ap, top, at_p) == (0.5, 0.5, 0.0, 0.0)


def test_every_dash_of_the_paper_has_a_method():
    dashes = {method for figures in TABLE_3.values() for method, row in figures.items() if row is None}
    assert dashes <= {*sgbap_runs.ENGINE, *sgbap_package.METHODS}
    assert set(PROPERTIES) <= set(TABLE_3)


def test_table_1_and_the_costs_of_the_toy_set():
    figures = {(each.row, each.column): each for each in sgbap.entries_1(Found({}))}
    assert all(each.ours == pytest.approx(each.paper, abs=0.011) for each in figures.values())
    assert sgbap.minima(Found({})).verdict == "holds"
    assert surface("ap_exp", 1.5, 0.7) == pytest.approx(surface("ap_exp", 0.0, 0.7))


def test_bars_and_claims_follow_the_figures():
    def found(ours, theirs=0.5):
        return Found(
            {
                Cell.of(sgbap_runs.tuned, data="pima", seed=seed, method=method): {
                    "AP": (ours if method == "SGBAP" else theirs) + 0.001 * seed
                }
                for seed in range(8)
                for method in sgbap_runs.ENGINE
            }
        )

    assert sgbap.near(found(0.7), data="pima").verdict == "holds"
    assert sgbap.near(found(0.6), data="pima").verdict == "does not hold"
    assert sgbap.best(found(0.7), data="pima", measure="AP").verdict == "holds"
    assert sgbap.best(found(0.4), data="pima", measure="AP").verdict == "does not hold"
    assert sgbap.large(found(0.7)).verdict == "cannot be decided"


@pytest.mark.slow
@pytest.mark.real_data
@needs_sets
def test_one_set_tuned_and_one_of_the_package(tmp_path, capsys):
    found = sgbap_runs.tuned("breast_ljubljana", 0, "SGBAP", settings=2)
    assert found["AP"] > 0.3
    assert found["chosen"][4] in sgbap_runs.ROUNDS
    assert sgbap_package.packaged("breast_ljubljana", 0, "RankBoost")["AP"] > 0.3
    sgbap.main(["--table", "2", "--json", "--results", str(tmp_path / "cells")])
    figures = json.loads(capsys.readouterr().out)["tables"]["2"]["entries"]
    assert {each["row"]: each["ours"] for each in figures if each["column"] == "columns"} == {
        name: printed[2] for name, printed in PROPERTIES.items()
    }


@pytest.mark.slow
@pytest.mark.real_data
@needs_sets
def test_figure_gets_harder():
    first, last = sgbap_runs.harder("pima", "RankBoost", repeats=1, settings=1, shares=(0.05,))
    assert last["wanted"] < 0.08 < first["wanted"]
    assert last["AP"] < first["AP"]


def test_the_gradient_of_ap_pulls_the_first_wanted_row_and_that_of_pairs_the_last():
    assert sgbap.emphasis(Found({})).verdict == "holds"
    assert sum(pulled("ap_exp")) == pytest.approx(1)
    assert pulled("ap_exp") == pytest.approx(sorted(pulled("ap_exp"), reverse=True))


def test_the_two_lists_of_figure_1_have_the_paper_s_measures():
    found = []
    for places in sgbap_figures.TWO_LISTS:
        y, score = np.isin(np.arange(10), places), -np.arange(10.0)
        found += [roc_auc(y, score), average_precision(y, score)]
    assert found == pytest.approx([0.63, 0.33, 0.56, 0.38], abs=0.006)


def test_w8a_is_a_table_of_its_own_with_its_claim():
    cells = sgbap.w8a(30, False)
    assert next(cell["method"] for cell in cells) == "SGBAP"
    found = Found({cell: {"AUC": 0.9, "AP": 0.76, "Pos@Top": 0.1, "P@k": 0.7} for cell in cells})
    assert {each.row.partition(",")[0] for each in sgbap.entries_w8a(found)} == {"w8a_train"}
    assert sgbap.large(found).verdict == "holds"


def test_smooth_ndcg_is_ndcg_far_apart_and_its_gradient_that_of_its_values():
    y = np.arange(12) % 3 == 0
    f = np.random.default_rng(4).normal(size=12)
    slopes = [
        (sgbap_future_runs.smooth_ndcg(f + e, y) - sgbap_future_runs.smooth_ndcg(f - e, y)) / 2e-5
        for e in 1e-5 * np.eye(12)
    ]
    assert sgbap_future_runs.smooth_ndcg_gradient(f, y) == pytest.approx(-np.array(slopes), abs=1e-8)
    assert sgbap_future_runs.smooth_ndcg(1e6 * f, y) == pytest.approx(ndcg_at_k(y, f, 12))


@pytest.mark.parametrize("loss", sgbap_future_runs.GRADIENTS)
def test_a_small_net_learns_by_each_loss(loss):
    X, y = rows()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    weights = sgbap_future_runs.fit(Z[:160], y[:160], sgbap_future_runs.GRADIENTS[loss], seed=0)
    assert average_precision(y[160:], sgbap_future_runs._score(Z[160:], weights)[0]) > 2 * y[160:].mean()


def test_the_net_s_gradient_is_that_of_its_weights():
    rng = np.random.default_rng(5)
    Z, slope = rng.normal(size=(9, 3)), rng.normal(size=9)
    weights = [rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4)]
    found = sgbap_future_runs._backwards(Z, sgbap_future_runs._score(Z, weights)[1], slope, weights[2])
    for i, gradient in enumerate(found):
        moved = [w.copy() for w in weights]
        moved[i].ravel()[1] += 1e-6
        gap = slope @ (sgbap_future_runs._score(Z, moved)[0] - sgbap_future_runs._score(Z, weights)[0])
        assert gradient.ravel()[1] == pytest.approx(gap / 1e-6, rel=1e-4)


def test_ap_and_f1_are_judged_by_their_correlation():
    def found(sign):
        cells = (Cell.of(sgbap_runs.tuned, data="pima", seed=seed, method="SGBAP") for seed in range(6))
        return Found(
            {cell: {"AP": 0.1 * i, "P@k": sign * 0.2 * i + 0.01 * (i % 2)} for i, cell in enumerate(cells)}
        )

    assert sgbap_beyond.correlated(found(1)).verdict == "holds"
    assert sgbap_beyond.correlated(found(-1)).verdict == "cannot be decided"
    assert sgbap_beyond.correlated(Found({})).verdict == "cannot be decided"
