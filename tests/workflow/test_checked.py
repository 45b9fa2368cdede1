"""Histories in which outcomes are known only of rows that were looked at."""

import numpy as np
import polars as pl
import pytest

from shortlist import rank, train
from shortlist.exceptions import InvalidInputError

ASK = {"label": "fraud", "id": "claim", "ignore": ["truth"], "checked": "chance"}


def seen_rows(n=12_000, share=0.06, seed=0):
    """Rows of which people looked at a tenth, by hints that no column tells, and chance at some of the others."""
    rng = np.random.default_rng(seed)
    amount, age, hint = rng.normal(size=(3, n))
    truth = rng.random(n) < 1 / (1 + np.exp(4.5 - amount - age - 2 * hint))
    ranked = hint > np.quantile(hint, 0.9)
    checked = ~ranked & (rng.random(n) < share)
    frame = pl.DataFrame({"claim": np.arange(n), "amount": amount, "age": age, "truth": truth})
    return frame.with_columns(
        fraud=pl.when(pl.Series(ranked | checked)).then("truth"),
        chance=pl.when(pl.Series(checked)).then(share),
    )


@pytest.fixture(scope="module")
def history():
    return seen_rows()


@pytest.fixture(scope="module")
def fresh():
    return seen_rows(seed=1)


def expected_share(model, rows):
    """The share of wanted rows that a model expects among all rows."""
    new = rows.drop("fraud", "chance")
    return float(model.score(new, keep_all=True).frame["expected_precision"][-1])


@pytest.mark.slow
def test_chances_hold_for_all_rows_where_some_were_drawn_at_random(history, fresh):
    truth = fresh["truth"].mean()
    corrected = train(history, **ASK, model="ap-boost", n_jobs=1)
    as_they_are = train(
        history, **{**ASK, "checked": None, "ignore": ["truth", "chance"]}, skip_empty_labels=True,
        model="ap-boost", n_jobs=1,
    )  # fmt: skip
    assert expected_share(corrected, fresh) == pytest.approx(truth, rel=0.3)
    assert expected_share(as_they_are, fresh) > 1.5 * truth
    assert any("random checks" in note for note in corrected.notes)
    assert any("not for all" in note for note in as_they_are.notes)
    assert set(corrected.measures) == {"average precision"}


def test_expected_value_is_corrected_too(history, fresh):
    money = history.with_columns(amount=pl.col("amount").exp())
    top = rank(money, fresh.with_columns(amount=pl.col("amount").exp()).drop("fraud", "chance"), **ASK,
               value="amount", budget=12_000, model="logistic")  # fmt: skip
    assert top.frame["chance"].mean() == pytest.approx(fresh["truth"].mean(), rel=0.3)


def test_rankings_are_not_compared_where_what_they_find_cannot_be_known(history):
    money = history.head(3_000).with_columns(amount=pl.col("amount").exp())
    notes = train(money, **ASK, value="amount", n_jobs=1).notes
    assert any("cannot be known. Name another with --model" in note for note in notes)


def test_a_history_without_checks_is_refused(history):
    with pytest.raises(InvalidInputError, match="marks no row as a random check"):
        train(history.with_columns(chance=pl.lit(None, dtype=pl.Float64)), **ASK)
