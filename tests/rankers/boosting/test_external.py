"""Training from a table on disk gives the trees of training in memory."""

import tempfile
from contextlib import nullcontext
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from shortlist import scratch
from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError, NoWantedRowsError, SchemaError, TableError, TooLargeError
from shortlist.rankers import APBoost
from shortlist.rankers.boosting import ap_training, external
from shortlist.rankers.boosting.external import read_outcomes
from shortlist.rankers.boosting.trees import bins
from shortlist.tables import Roles, Schema, load_table
from shortlist.tables.table import RowFacts

ROLES = Roles(id="claim_id", label="fraud")


def settings(**changes):
    return {
        "folds": 0,
        "early_stopping_rounds": None,
        "n_estimators": 12,
        "random_state": 0,
        "n_jobs": 1,
        **changes,
    }


@pytest.fixture
def folder(tmp_path):
    claims = make_claims(6_000, random_state=0, fraud_rate=0.05)
    for number, part in enumerate(claims.iter_slices(2_000)):
        part.write_parquet(tmp_path / f"part{number}.parquet")
    return tmp_path


@pytest.mark.parametrize("loss", ["mix", "ap_exp", "logistic"])
def test_same_trees_as_in_memory(folder, loss):
    table = load_table(folder, ROLES)
    inside = APBoost(**settings(loss=loss)).fit(table.features, table.y, **table.for_fit)
    outside = APBoost(**settings(loss=loss)).fit_table(folder, ROLES, batch_rows=700)
    assert outside.booster_.get_dump() == inside.booster_.get_dump()
    np.testing.assert_array_equal(
        outside.decision_function(table.features), inside.decision_function(table.features)
    )


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143)], ids=["Ctrl-C", "SIGTERM"])
def test_stopped_while_rows_are_read_it_stops_and_leaves_no_bins(folder, tmp_path, monkeypatch, stop):
    (tmp_path / "bins").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "bins"))
    whole, seen = Schema.matrix, []

    def matrix(schema, batch):
        seen.append([*(tmp_path / "bins").iterdir()])
        if len(seen) == 3:
            raise stop
        return whole(schema, batch)

    monkeypatch.setattr(Schema, "matrix", matrix)
    with pytest.raises(type(stop)):
        APBoost(**settings()).fit_table(folder / "*.parquet", ROLES, batch_rows=700)
    assert seen[-1]
    assert not [*(tmp_path / "bins").iterdir()]


def table_with(n_columns, *, gaps=0.0, n_categories=0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, n_columns))
    X[rng.random(X.shape) < gaps] = np.nan
    frame = pl.DataFrame(X).with_columns(y=pl.Series(rng.random(4_000) < 0.1))
    return frame.with_columns(shop=pl.int_range(4_000) % n_categories) if n_categories else frame


def few_rows_decide_cuts(monkeypatch):
    for each in (external, bins):
        monkeypatch.setattr(each, "CUT_ROWS", 1_000)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("max_bin", [64, 256, 512])
@pytest.mark.parametrize("n_categories", [0, 900])
@pytest.mark.parametrize("n_columns", [4, 60])
def test_bins_on_disk_are_no_larger_than_was_reckoned(
    tmp_path, monkeypatch, gaps, max_bin, n_categories, n_columns
):
    few_rows_decide_cuts(monkeypatch)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    reckoned, written = [], []
    monkeypatch.setattr(external, "check_room", lambda folder, needed: reckoned.append(needed))

    def look(*_):
        written.append(sum(path.stat().st_size for path in tmp_path.rglob("*.page")))

    table = table_with(n_columns, gaps=gaps, n_categories=n_categories)
    table.write_parquet(tmp_path / "rows.parquet")
    roles = Roles(label="y", category=["shop"] if n_categories else [])
    ranker = APBoost(**settings(callback=look, n_estimators=1, max_bin=max_bin))
    ranker.fit_table(tmp_path / "rows.parquet", roles, batch_rows=500)
    assert reckoned[0] / 4 < written[0] <= reckoned[0]


@pytest.mark.parametrize(("free", "fits"), [(0.3e6, False), (0.9e6, True)])
def test_bins_that_have_no_room_on_disk_are_refused_before_they_are_written(
    tmp_path, monkeypatch, free, fits
):
    """XGBoost would end the whole program."""
    few_rows_decide_cuts(monkeypatch)
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    table_with(20).write_parquet(tmp_path / "rows.parquet")
    told = None if fits else pytest.raises(TooLargeError, match=r"scratch, has room for 0 MB.* TMPDIR=")
    with told or nullcontext():
        APBoost(**settings()).fit_table(tmp_path / "rows.parquet", Roles(label="y"))
    assert not [*(tmp_path / "scratch").iterdir()]


@pytest.mark.parametrize("folds", [0, 4])
@pytest.mark.parametrize("rows", [5_000, 6_500])
def test_a_table_that_others_write_to_meanwhile_is_told(folder, monkeypatch, rows, folds):
    """Rows would else have the labels of other rows, or none."""
    learn = Schema.learn_by_batch

    def learned_before_somebody_writes(*given):
        schema = learn(*given)
        make_claims(rows - 4_000, random_state=3).write_parquet(folder / "part2.parquet")
        return schema

    monkeypatch.setattr(Schema, "learn_by_batch", learned_before_somebody_writes)
    with pytest.raises(TableError, match="had 6,000 rows when it was read first and has others now"):
        APBoost(**settings(folds=folds)).fit_table(folder / "*.parquet", ROLES)


def test_all_that_is_wrong_with_outcomes_is_told_at_once(folder):
    odd = pl.scan_parquet(folder / "*.parquet").with_columns(
        fraud=pl.when(pl.col("fraud") == 1).then(1), amount=-pl.col("amount")
    )
    with pytest.raises(InvalidInputError, match=r"(?s)label column 'fraud' is empty.*must not be negative"):
        read_outcomes(odd, Roles(id="claim_id", label="fraud", impact="amount"))


def test_lazy_frame_with_lists(folder):
    lazy = pl.scan_parquet(folder / "*.parquet").with_columns(week=pl.int_range(pl.len()) // 500)
    roles = Roles(id="claim_id", label="fraud", list="week")
    table = load_table(lazy.collect(), roles)
    inside = APBoost(**settings()).fit(table.features, table.y, **table.for_fit)
    outside = APBoost(**settings()).fit_table(lazy, roles, batch_rows=1_000)
    assert outside.booster_.get_dump() == inside.booster_.get_dump()


def test_patterns_and_known_impacts_mean_what_they_mean_in_memory(folder):
    roles = Roles(label="fraud", impact="amount", impact_known=True, ignore=["*_id", "d*"])
    table = load_table(folder, roles)
    outside = APBoost(**settings()).fit_table(folder, roles)
    assert outside.schema_ == table.schema
    assert "amount" in outside.feature_names_in_
    assert not {"claim_id", "date"} & {*outside.feature_names_in_}


def test_what_goes_with_the_rows_is_what_training_in_memory_takes(folder):
    roles = Roles(id="claim_id", label="fraud", impact="amount", list="region", time="date")
    facts, _ = read_outcomes(folder, roles)
    table = load_table(folder, roles)
    known = {each.name: getattr(table, each.name) is not None for each in fields(RowFacts)}
    assert {each: getattr(facts, each) is not None for each in known} == {**known, "time": False}
    assert facts.for_fit["groups"].n_rows == len(table)


def test_labels_in_words_are_read_as_in_memory(folder):
    words = pl.scan_parquet(folder / "*.parquet").with_columns(
        fraud=pl.when(pl.col("fraud") == 1).then(pl.lit(" Theft")).otherwise(pl.lit("paid"))
    )
    facts, _ = read_outcomes(words, ROLES, "theft")
    np.testing.assert_array_equal(facts.wanted, load_table(words.collect(), ROLES, wanted="theft").wanted)
    assert facts.wanted.sum() == load_table(folder, ROLES).wanted.sum()


def test_a_label_of_many_values_is_read_as_in_memory(folder):
    """The numbers of 300 values do not fit into the byte that those of the first batches fit into."""
    many = pl.scan_parquet(folder / "*.parquet").with_columns(fraud=pl.int_range(pl.len()) // 20)
    facts, _ = read_outcomes(many, ROLES, [0, 299], batch_rows=900)
    np.testing.assert_array_equal(facts.wanted, load_table(many.collect(), ROLES, wanted=[0, 299]).wanted)
    assert facts.wanted.sum() == 40


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        (pl.when(pl.col("fraud") == 1).then(1), None),
        (pl.lit("paid"), None),
        (pl.col("fraud"), "theft"),
        (pl.lit(1), None),
    ],
    ids=["gaps", "words", "unknown", "one kind"],
)
def test_labels_that_cannot_be_read_are_refused_in_the_words_of_memory(folder, label, wanted):
    odd = pl.scan_parquet(folder / "*.parquet").with_columns(fraud=label)
    with pytest.raises(InvalidInputError) as outside:
        read_outcomes(odd, ROLES, wanted)
    with pytest.raises(InvalidInputError) as inside:
        load_table(odd.collect(), ROLES, wanted=wanted)
    assert str(outside.value) == str(inside.value)


def test_a_data_frame_can_be_scored_afterwards(folder):
    ranker = APBoost(**settings()).fit_table(folder, ROLES)
    new = make_claims(50, random_state=1).drop("fraud", "claim_id")
    assert np.isfinite(ranker.decision_function(new)).all()


def test_a_folder_with_differing_schemas(folder):
    make_claims(100, random_state=2).drop("amount").write_parquet(folder / "part9.parquet")
    with pytest.raises(SchemaError, match="amount"):
        APBoost(**settings()).fit_table(folder, ROLES)


def test_no_wanted_row(tmp_path):
    make_claims(1_000, random_state=2).with_columns(fraud=pl.lit(0)).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(NoWantedRowsError):
        APBoost(**settings()).fit_table(tmp_path, ROLES)


@pytest.mark.parametrize(
    "changes", [{"folds": 4}, {"tune": True}, {"warm_start": True}, {"loss": "ap_exp_faithful"}]
)
def test_what_needs_rows_in_memory_is_refused(folder, monkeypatch, changes):
    monkeypatch.setattr(ap_training, "FEW_ROWS", 5_999)
    with pytest.raises(InvalidInputError, match="one model"):
        APBoost(**settings(**changes)).fit_table(folder, ROLES)


def test_rows_few_enough_for_folds_have_the_ensemble_of_memory(folder, monkeypatch):
    monkeypatch.setattr(ap_training, "FEW_ROWS", 6_000)
    table = load_table(folder, ROLES)
    default = {"n_estimators": 20, "random_state": 0, "n_jobs": 1}
    inside = APBoost(**default).fit(table.features, table.y, **table.for_fit)
    outside = APBoost(**default).fit_table(folder, ROLES, batch_rows=700)
    assert len(inside.rounds_) > 1
    assert outside.booster_.get_dump() == inside.booster_.get_dump()
    np.testing.assert_array_equal(outside.oof_score_, inside.oof_score_)
    np.testing.assert_array_equal(outside.chance_curve_, inside.chance_curve_)


@pytest.mark.parametrize("lists", [None, "week"])
def test_it_stops_where_training_in_memory_stops(folder, lists):
    lazy = pl.scan_parquet(folder / "*.parquet").with_columns(week=pl.int_range(pl.len()) // 100)
    roles = Roles(id="claim_id", label="fraud", list=lists, ignore=() if lists else ["week"])
    table = load_table(lazy.collect(), roles)
    early = settings(early_stopping_rounds=3, n_estimators=40)
    inside = APBoost(**early).fit(table.features, table.y, **table.for_fit)
    outside = APBoost(**early).fit_table(lazy, roles, batch_rows=700)
    assert outside.rounds_ == inside.rounds_ < (40,)
    assert outside.booster_.get_dump() == inside.booster_.get_dump()
    assert outside.calibrated_on_ == "held-out rows"
    np.testing.assert_allclose(outside.chance_curve_, inside.chance_curve_, atol=1e-6)


def test_the_schema_of_batches_is_that_of_the_table(folder):
    roles = Roles(id="claim_id", label="fraud", category=["previous_claims"], missing=["phone"])
    _, learned = read_outcomes(folder, roles, batch_rows=111)
    assert learned == load_table(folder, roles).schema


def test_rows_on_disk_have_no_names_in_memory(folder):
    facts, _ = read_outcomes(folder, ROLES)
    assert facts.ids.shape == facts.wanted.shape
    assert facts.ids.strides == (0,)
