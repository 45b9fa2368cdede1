"""How many of its rows a shortlist expects to be wanted: true of rows with known chances, and said in one sentence."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from shortlist.models import TrainedModel
from shortlist.models.batches.scoring import score_batches
from shortlist.models.by_value import ByValue
from shortlist.rankers import APBoost, RankBoost
from shortlist.rankers.chances.calibration import chance_curve
from shortlist.tables import Roles, Schema
from tests.before.asking import unpack

SENTENCE = re.compile(
    r"Of these (\d+) rows.*, expect about ([\d.]+) to be wanted; (\d+) to (\d+) in nine of ten such shortlists\."
)


class Given(APBoost):
    """Scores by the first column; of chances it knows what the rows tell that it is given."""

    def _score(self, X):
        return np.asarray(X)[:, 0]


def drawn(rng, n=400):
    """Rows whose log-odds are x - 1, and which of them are wanted."""
    x = rng.normal(size=n)
    frame = pl.DataFrame({"x": x, "amount": np.exp(rng.normal(size=n)), "region": rng.choice([*"abc"], n)})
    return frame, rng.random(n) < expit(x - 1)


def model_of(rng, *, by_value=False, in_lists=False):
    """A model that knows the outcomes of 400 rows."""
    frame, wanted = drawn(rng)
    region = {"list": "region"} if in_lists else {"ignore": ["region"]}
    known = frame.with_columns(wanted=pl.Series(wanted))
    schema = Schema.learn(known, Roles(label="wanted", impact="amount", impact_known=True, **region))
    ranker = Given()
    ranker.schema_, ranker.n_features_in_ = schema, 2
    ranker.chance_curve_, ranker.chance_error_ = chance_curve(frame["x"].to_numpy(), wanted)
    return TrainedModel(ranker, "given", schema, 30, "v1", by_value=ByValue() if by_value else None)


@pytest.fixture(scope="module")
def model():
    return model_of(np.random.default_rng(0))


@pytest.fixture(scope="module")
def new():
    return drawn(np.random.default_rng(1))[0]


def test_nine_of_ten_shortlists_find_what_is_said():
    """Every second one by expected value."""
    rng, n = np.random.default_rng(0), 80
    off, within = [], []
    for number in range(n):
        frame, wanted = drawn(rng)
        top = model_of(rng, by_value=number % 2 == 1).score(frame)
        found = wanted[top.rows].sum()
        off.append(found - top.found.expected)
        within.append(top.found.low <= found <= top.found.high)
    assert abs(np.mean(off)) < 3 * np.std(off) / np.sqrt(n)
    assert 0.9 - 2.5 * np.sqrt(0.09 / n) < np.mean(within) < 0.9 + 2.5 * np.sqrt(0.09 / n)


@pytest.mark.parametrize("options", [{}, {"by_value": True}, {"in_lists": True}])
def test_the_sentence_has_the_numbers_of_the_shortlist(new, options):
    model = model_of(np.random.default_rng(0), **options)
    top = model.score(new, budget=12)
    n, expected, low, high = map(float, SENTENCE.fullmatch(top.expectation).groups())
    assert (n, low, high) == (top.within, top.found.low, top.found.high)
    assert n == top.frame.height == (36 if options.get("in_lists") else 12)
    assert ("in 3 lists" in top.expectation) == ("in_lists" in options)
    assert expected == pytest.approx(top.found.expected, abs=0.5)
    # What is expected of one list stands at its last row.
    last = top.frame.filter(pl.col("rank") == 12)["expected_precision"].sum()
    assert top.found.expected == pytest.approx(12 * last)
    in_batches = score_batches(model, new.lazy(), 12, named=True, batch_rows=97)
    assert (in_batches.found, in_batches.within) == (top.found, top.within)
    assert in_batches.expectation == top.expectation


def test_of_every_row_those_within_the_budget_are_told(model, new):
    whole, top = model.score(new, budget=12, keep_all=True), model.score(new, budget=12)
    assert (whole.found, whole.within, whole.frame.height) == (top.found, 12, 400)
    assert whole.expectation.startswith("Of the 12 rows within the budget, expect")


def test_one_row_has_a_chance_and_no_row_has_none(model, new):
    one, none = model.score(new, budget=1), model.score(new.head(0), budget=5)
    chance = one.frame["expected_precision"][0]
    assert one.expectation == f"This row is wanted with a chance of {100 * chance:.0f} %."
    assert (none.found, none.expectation, none.within) == (None, None, 0)


def test_a_budget_larger_than_the_table_counts_the_rows_there_are(model, new):
    top = model.score(new.head(7), budget=50)
    assert top.within == 7
    assert top.expectation.startswith("Of these 7 rows, expect")
    assert top.found.expected == pytest.approx(7 * top.frame["expected_precision"][-1])
    assert top.found.high <= 7


def test_where_the_model_does_not_know_nothing_is_claimed(model, new, tmp_path, monkeypatch):
    monkeypatch.setattr("shortlist.models.file.is_known", lambda checksum: True)
    before = TrainedModel.load(unpack("models", tmp_path) / "ap-boost.shortlist")
    top = before.score(tmp_path / "rows.csv", budget=5)
    assert "expected_precision" in top.frame.columns
    assert (top.found, top.expectation, top.within) == (None, None, top.frame.height)

    class Simple(RankBoost):
        _score = Given._score

    other = Simple()
    other.schema_, other.n_features_in_, other.classes_ = model.schema, 2, np.array([False, True])
    other.alpha_ = None
    assert replace(model, ranker=other).score(new).expectation is None
