"""Text columns: learned from others than the row itself, left out where they do not help, told by their words."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from shortlist.exceptions import TableError
from shortlist.question import StudyQuestion
from shortlist.tables import Roles, Schema, load_table
from shortlist.tables.columns.text import PIECES, TextWeights
from shortlist.workflow import score, train

ROWS = 200
WANTED = np.arange(ROWS) % 4 == 0


def claims(*, telling: bool, seed: int = 0) -> pl.DataFrame:
    """Claims with a note each, which says of wanted rows more often than of others that a neck hurts; or nothing."""
    rng = np.random.default_rng(seed)
    words = np.array(["door", "wheel", "glass", "rain", "car", "street", "paint", "tree", "dog", "evening"])
    speaks = rng.random(ROWS) < np.where(WANTED, 0.8, 0.1) if telling else rng.random(ROWS) < 0.3
    notes = [
        " ".join([*rng.permutation(words)[:5], *(["whiplash"] if says else []), str(rng.integers(1e6))])
        for says in speaks
    ]
    return pl.DataFrame(
        {"fraud": WANTED.astype(int), "amount": rng.normal(size=ROWS).round(2), "note": notes}
    )


def load(frame: pl.DataFrame, **roles):
    return load_table(frame, Roles(label="fraud", **roles))


def test_text_that_helps_is_learned_from():
    table = load(claims(telling=True))
    assert table.schema.columns == ("amount", "note (words)", "note (letters)")
    assert "its words and letters are learned from" in " ".join(table.notes)
    new = claims(telling=True, seed=1)
    rows = load_table(new.drop("fraud"), table.roles, schema=table.schema, labelled=False)
    assert roc_auc_score(WANTED, rows.X[:, 1]) > 0.8


def test_rows_are_weighed_by_others():
    """What a row says of itself is no evidence: notes that are all different say nothing."""
    frame = claims(telling=False)
    own = TextWeights.fit(frame["note"], WANTED).columns(frame["note"])[:, 0]
    assert roc_auc_score(WANTED, own) > 0.8, "the weights know the rows that taught them"
    table = load(frame)
    assert table.schema.columns == ("amount",)
    assert "its words do not help" in " ".join(table.notes)


def test_columns_that_are_constant_or_almost_empty_are_no_hindrance():
    once = pl.Series([1.5, *[None] * (ROWS - 1)])
    frame = claims(telling=True).with_columns(same=pl.lit(1), once=once)
    assert "note (words)" in load(frame).schema.columns
    assert "note (words)" in load(frame.drop("amount")).schema.columns


def test_text_can_be_left_out():
    table = load(claims(telling=True), ignore_text=True)
    assert table.schema.columns == ("amount",)
    assert "as you asked" in " ".join(table.notes)
    only = claims(telling=True).drop("amount")
    with pytest.raises(TableError, match="no column to learn from but free text"):
        load(only, ignore_text=True)


def test_part_of_a_table_learns_its_own_words():
    table = load(claims(telling=True))
    half = table.take(np.arange(ROWS // 2))
    again = half.learned_again()
    assert again.schema.features[-1].weights != table.schema.features[-1].weights
    alone = load(claims(telling=True).head(ROWS // 2))
    np.testing.assert_array_equal(again.X, alone.X)
    rest = table.take(np.arange(ROWS // 2, ROWS)).under(again.schema)
    np.testing.assert_array_equal(rest.X, again.schema.matrix(rest.frame))


def test_weights_are_stored_and_a_missing_text_is_missing():
    table = load(claims(telling=True))
    stored = Schema.from_dict(table.schema.to_dict())
    new = pl.DataFrame({"amount": [1.0, 2.0], "note": ["whiplash again", None]})
    matrix = stored.matrix(new)
    np.testing.assert_array_equal(matrix, table.schema.matrix(new))
    assert matrix[0, 1] > 0
    assert np.isnan(matrix[1, 1:]).all()


def test_the_words_that_tell_are_named():
    feature = load(claims(telling=True)).schema.features[-1]
    for part in PIECES:
        assert "whiplash" in feature.text_weights.telling("the dog had Whiplash in the rain", part)
        assert feature.text_weights.telling("", part) == []


def test_reasons_name_the_words():
    model = train(claims(telling=True), label="fraud", model="logistic")
    top = score(model, claims(telling=True, seed=1).drop("fraud"), budget=10)
    reasons = top.frame.select(
        pl.concat_str(pl.selectors.starts_with("reason"), separator=" ", ignore_nulls=True)
    ).to_series()
    speaks = top.frame["note"].str.contains("whiplash")
    assert speaks.sum() >= 8
    assert reasons.filter(speaks).str.contains("note: 'whiplash'").all()


def test_text_without_labels_is_refused_as_before():
    with pytest.raises(TableError, match="If it names the rows: --id note"):
        Schema.learn(claims(telling=True))


def test_each_part_of_a_study_decides_for_itself_whether_a_text_helps():
    """Words that tell in the rows to learn from and mislead in the others: the others have no say in it."""
    rng = np.random.default_rng(0)
    wanted = rng.random(400) < 0.3
    past = np.arange(400) < 200
    says = np.where(wanted == past, "broken glass", "all is well")
    frame = pl.DataFrame(
        {
            "amount": rng.normal(size=400),
            "note": [
                f"{words} on day {day}" for words, day in zip(says, rng.integers(9999, size=400), strict=True)
            ],
            "y": wanted,
        }
    )
    roles = Roles(label="y")
    assert "note" in load_table(frame, roles).schema.dropped  # all rows together: it does not help
    open_ = load_table(frame, roles, by_parts=True)
    assert [each.name for each in open_.schema.features] == ["amount", "note"]
    assert "wherever its words help" in " ".join(open_.notes)
    learned = open_.take(np.flatnonzero(past)).learned_again()
    assert "note" in [each.name for each in learned.schema.features]
    tested = open_.take(np.flatnonzero(~past)).under(learned.schema)
    assert roc_auc_score(tested.wanted, tested.X[:, -2]) < 0.2
    study = StudyQuestion(frame, label="y", ignore_text=True).read_history(by_parts=True)
    assert "note" in study.schema.dropped
