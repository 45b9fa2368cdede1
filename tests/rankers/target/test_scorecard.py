"""A scorecard adds up whole points, and every form of it says the same."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from shortlist.exceptions import InvalidInputError
from shortlist.metrics import average_precision
from shortlist.models.file import load, save
from shortlist.objectives import CostSaved
from shortlist.rankers import TargetTree
from shortlist.rankers.target.scorecard import LEAVES, Scorecard, fit_ridge
from tests.rankers.target.test_reading import SVG, in_sqlite, odd_labels, odd_table, route, seen_by_model

QUICK = {"generations": 30, "n_restarts": 1, "n_jobs": 1, "random_state": 0}


@pytest.fixture(scope="module")
def card():
    frame = odd_table(1_500, 0)
    return TargetTree(scorecard=3, **QUICK).fit(frame, odd_labels(frame, 1))


def test_points_are_whole_and_sum_to_about_a_hundred(card):
    points = [tree.points[tree.leaves] for tree in card._trees]
    assert [each.min() for each in points] == [0, 0, 0]
    assert sum(each.max() for each in points) == pytest.approx(100, abs=1.5)
    assert all(np.array_equal(each, np.rint(each)) and each.size <= LEAVES for each in points)
    scores = card.decision_function(odd_table(500, 2))
    assert np.array_equal(scores, np.rint(scores))


def test_json_sql_and_contributions_give_the_same_scores(card):
    new = odd_table(400, 3)
    scores = card.decision_function(new)
    document = json.loads(card.to_json())
    rows = [*seen_by_model(new).iter_rows(named=True)]
    assert document["score"] == "sum"
    assert [sum(route(tree, row) for tree in document["trees"]) for row in rows] == scores.tolist()
    in_text = new.with_columns(pl.col("seen").cast(pl.String))
    assert in_sqlite(card, new.columns, in_text.rows()) == scores.tolist()
    np.testing.assert_allclose(card.contributions(new).sum(axis=1), scores, atol=1e-9)


def test_leaves_tell_what_falls_into_them(card):
    frame = odd_table(1_500, 0)
    X, y = card.schema_.matrix(frame), odd_labels(frame, 1)
    for tree in card._trees:
        leaf = tree.leaf_of(X, card._bins)
        for each in tree.leaves:
            assert tree.rows[each] == np.sum(leaf == each)
            assert tree.gain[each] == y[leaf == each].sum()
        assert tree.rows[0] == y.size
        assert tree.points[0] == pytest.approx(tree.points[leaf].mean())


def test_text_rules_and_drawing_show_every_leaf_with_its_points(card):
    n_leaves = sum(tree.leaves.size for tree in card._trees)
    told = "Add up the points of these 3 trees; most points first."
    for text in (card.to_text(), card.to_rules()):
        assert text.startswith(told)
        assert text.count(" points, ") + text.count("1 point, ") == n_leaves
        assert [f"tree {number}\n" in text for number in (1, 2, 3)] == [True] * 3
    root = ET.fromstring(card.to_svg())
    boxes = [element.get("class") for element in root.iter(SVG + "rect")]
    assert boxes.count("leaf") == n_leaves
    words = [text.text for text in root.iter(SVG + "text")]
    assert sum(word.endswith((" points", " point")) for word in words) == n_leaves
    assert {"tree 1", "tree 2", "tree 3"} <= {*words}


def test_a_row_is_explained_by_a_rule_of_each_tree(card):
    new = odd_table(50, 4)
    rules = card.to_rules().splitlines()
    for total, told in zip(card.decision_function(new), card.explain(new), strict=True):
        first, *parts = told.split("; ")
        assert int(first.split()[0]) == total == sum(int(part.split()[0]) for part in parts)
        assert all(part in rules for part in parts)


def test_a_saved_scorecard_is_the_same(card, tmp_path):
    save(card, tmp_path / "model.shortlist")
    again = load(tmp_path / "model.shortlist")
    new = odd_table(200, 5)
    np.testing.assert_array_equal(again.decision_function(new), card.decision_function(new))
    assert again.to_text() == card.to_text()


def test_it_ranks_what_no_tree_of_as_few_leaves_can():
    rng = np.random.default_rng(0)
    X = rng.random((4_000, 4))
    y = rng.random(4_000) < 0.01 * 3.0 ** (X > 0.7).sum(axis=1)
    ap = {}
    for scorecard, leaves in ((4, 4), (None, 4)):
        ranker = TargetTree(scorecard=scorecard, max_leaves=leaves, **QUICK).fit(X[:2_000], y[:2_000])
        ap[scorecard] = average_precision(y[2_000:], ranker.decision_function(X[2_000:]))
    assert ap[4] > ap[None] + 0.03


def test_impacts_and_weights_are_taken():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    impact = np.where(X[:, 0] > 1, 5_000.0, 0.0) + np.where(X[:, 1] > 1, 1_000.0, 0.0)
    ranker = TargetTree(scorecard=2, objective=CostSaved(k=20), **QUICK)
    ranker.fit(X, impact, sample_weight=np.repeat([1.0, 2.0], 200))
    assert ranker._trees[0].rows[0] == 600
    scores = ranker.decision_function(X)
    assert scores[impact == 6_000].min() > scores[impact == 0].max()


def test_rows_weigh_by_their_residual():
    X = np.repeat(np.arange(4.0), 25)[:, None]
    y = np.repeat([0.0, 0.0, 1.0, 1.0], 25)
    y[[0, 99]] = 1.0, 0.0
    given = {}
    plain_add = Scorecard.add

    def add(self, tree):
        plain_add(self, tree)
        given.setdefault("weight", self.problem.weight)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scorecard, "add", add)
        TargetTree(scorecard=2, **QUICK).fit(X, y)
    weight = given["weight"]
    assert weight[y == 1].mean() == pytest.approx(1)
    assert weight[0] > 5 * weight[1]  # wanted among the unwanted
    assert weight[99] > 5 * weight[98]


def test_the_ridge_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    lines = np.column_stack([np.eye(3)[rng.integers(3, size=12)], np.eye(2)[rng.integers(2, size=12)]])
    rows, hits = rng.integers(5, 40, size=12).astype(float), rng.integers(0, 5, size=12).astype(float)
    beta = fit_ridge(np.column_stack([lines, np.ones(12)]), rows, hits)
    model = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
    model.fit(np.vstack([lines, lines]), np.repeat([1, 0], 12), sample_weight=np.r_[hits, rows - hits])
    np.testing.assert_allclose(beta, [*model.coef_[0], model.intercept_[0]], atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scorecard": 1}, "scorecard must be"),
        ({"scorecard": 21}, "scorecard must be"),
        ({"scorecard": 3, "n_estimators": 5}, r"scorecard=3 adds trees up and n_estimators=5 averages them"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        TargetTree(**settings).fit(np.arange(40.0)[:, None], np.arange(40) % 2)
