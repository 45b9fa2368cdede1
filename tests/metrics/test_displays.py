"""Displays draw what the curves say."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from shortlist import metrics
from shortlist.exceptions import InvalidInputError, MissingExtraError

Y, SCORE = [1, 0, 1, 0], [4, 3, 2, 1]


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize("kind", ["hits", "precision", "cost saved"])
def test_from_predictions(pyplot, kind):
    display = metrics.CurveDisplay.from_predictions(Y, SCORE, kind=kind, name="model", n_bootstrap=5)
    assert np.array_equal(display.line_.get_ydata(), display.curve.value)
    assert display.ax_.get_ylabel() == kind
    assert display.ax_.get_legend().get_texts()[0].get_text() == "model"


def test_from_estimator_on_given_axes(pyplot):
    X = np.array([[3.0], [1], [2], [0]])
    _, ax = pyplot.subplots()
    model = LogisticRegression().fit(X, Y)
    display = metrics.CurveDisplay.from_estimator(model, X, Y, kind="precision", ax=ax, max_rank=2)
    assert display.ax_ is ax
    assert display.line_.get_label() == "LogisticRegression"
    assert display.curve.value.tolist() == [1.0, 1.0]


def test_no_name_no_legend(pyplot):
    assert metrics.CurveDisplay.from_predictions(Y, SCORE).ax_.get_legend() is None


def test_unknown_kind():
    with pytest.raises(InvalidInputError, match="'cost saved'"):
        metrics.CurveDisplay.from_predictions(Y, SCORE, kind="roc")


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"shortlist\[plot\]"):
        metrics.CurveDisplay.from_predictions(Y, SCORE)


def test_words_are_read_as_the_classifier_reads_them(pyplot):
    X, y = [[0], [1], [2], [3]], ["N", "N", "Y", "Y"]
    display = metrics.CurveDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, kind="precision")
    assert display.curve.value.tolist() == [1, 1, pytest.approx(2 / 3), 0.5]
