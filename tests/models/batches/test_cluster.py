"""A history of Dask teaches what it would teach on one machine, with all that a trained model has."""

import polars as pl
import pytest

import shortlist
from shortlist.datasets import make_claims
from shortlist.exceptions import ClusterError, InvalidInputError, SchemaError, TableError
from shortlist.models.batches.cluster import read_parts
from shortlist.rankers.boosting import ap_training

dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

GIVEN = {"label": "fraud", "id": "claim_id", "time": "date", "category": ["previous_claims"]}


@pytest.fixture(scope="module")
def claims():
    return make_claims(3_000, random_state=0, fraud_rate=0.1).with_columns(
        fraud=pl.when(pl.col("fraud") == 1).then(pl.lit("theft")).otherwise(pl.lit("paid"))
    )


@pytest.fixture
def folder(claims, tmp_path):
    for number, part in enumerate(claims.iter_slices(900)):
        part.write_parquet(tmp_path / f"part{number}.parquet")
    return tmp_path


@pytest.fixture(scope="module")
def client():
    """Two workers that are threads of this process: they start at once."""
    here = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    with here, distributed.Client(here) as client:
        yield client


@pytest.fixture(autouse=True)
def one_model(monkeypatch):
    """Rows are few here, and where they are many there are no folds."""
    monkeypatch.setattr(ap_training, "FEW_ROWS", 0)
    monkeypatch.setattr(ap_training, "most_rounds", lambda ranker, stops: 12)


def test_the_model_is_that_of_one_machine(client, claims, folder, tmp_path):
    inside = shortlist.train(claims, **GIVEN, wanted="theft", n_jobs=1)
    outside = shortlist.train(read_parts(folder, 4), **GIVEN, wanted="theft", n_jobs=1)
    assert outside.ranker.booster_.get_dump() == inside.ranker.booster_.get_dump()
    assert outside.schema == inside.schema
    assert outside.profile.columns == inside.profile.columns
    same = ("rows", "wanted")
    assert (
        [outside.training[each] for each in same] == [inside.training[each] for each in same] == [3_000, 300]
    )
    outside.save(tmp_path / "model.shortlist")
    new = make_claims(100, random_state=1).drop("fraud")
    found = shortlist.TrainedModel.load(tmp_path / "model.shortlist").score(new, budget=5)
    assert found.frame["claim_id"].equals(inside.score(new, budget=5).frame["claim_id"])
    assert found.frame["reason_1"].equals(inside.score(new, budget=5).frame["reason_1"])


def test_few_rows_teach_what_they_teach_on_one_machine(client, claims, monkeypatch):
    monkeypatch.setattr(ap_training, "FEW_ROWS", 300_000)
    inside = shortlist.train(claims.head(600), **GIVEN, wanted="theft", n_jobs=1)
    outside = shortlist.train(
        dd.from_pandas(claims.head(600).to_pandas(), npartitions=2), **GIVEN, wanted="theft"
    )
    assert len(inside.ranker.rounds_) > 1
    assert outside.ranker.booster_.get_dump() == inside.ranker.booster_.get_dump()


def test_where_value_counts_it_is_told_that_models_were_not_compared(client, claims):
    table = dd.from_pandas(claims.head(600).to_pandas(), npartitions=2)
    trained = shortlist.train(table, **GIVEN, wanted="theft", value="amount")
    assert any("ap-boost is trained without comparing it with others" in note for note in trained.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "logistic"}, "--model ap-boost; 'logistic' needs all rows on one machine"),
        ({"tune": True}, "'ap-boost' with --tune needs all rows"),
        ({"skip_empty_labels": True}, "without --skip-empty-labels"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(client, claims, options, message):
    table = dd.from_pandas(claims.to_pandas(), npartitions=2)
    with pytest.raises(InvalidInputError, match=message):
        shortlist.train(table, **GIVEN, wanted="theft", **options)


def test_a_row_without_a_label_is_counted(client, claims):
    gaps = claims.with_columns(
        pl.when(pl.int_range(pl.len()) % 300 == 0).then(None).otherwise("fraud").alias("fraud")
    )
    with pytest.raises(TableError, match="'fraud' is empty in 10 of 3,000 rows"):
        shortlist.train(dd.from_pandas(gaps.to_pandas(), npartitions=2), **GIVEN, wanted="theft")


def test_a_column_that_one_file_lacks_is_named(folder):
    make_claims(100, random_state=2).drop("amount").write_parquet(folder / "part9.parquet")
    with pytest.raises(SchemaError, match=r"has a column 'amount' and .*part9.parquet has not"):
        shortlist.train(folder, **GIVEN, wanted="theft", dask="local")


def test_other_formats_are_refused(claims, tmp_path):
    claims.write_csv(tmp_path / "claims.csv")
    with pytest.raises(TableError, match="a cluster reads Parquet and Arrow files"):
        shortlist.train(tmp_path / "claims.csv", **GIVEN, wanted="theft", dask="local")


def test_a_scheduler_that_is_not_there_is_told_in_a_sentence(folder, monkeypatch):
    monkeypatch.setattr("shortlist.rankers.cluster.joining.PATIENCE", 0.5)
    with pytest.raises(ClusterError, match=r"no scheduler of Dask answers at tcp://127.0.0.1:1; start one"):
        shortlist.train(folder, **GIVEN, wanted="theft", dask="tcp://127.0.0.1:1")


@pytest.mark.slow
def test_the_program_trains_on_processes_of_this_machine(claims, folder, tmp_path):
    """In a process of its own, as whoever starts workers must be."""
    import subprocess
    import sys

    target = tmp_path / "fraud.shortlist"
    columns = ["--label", "fraud", "--wanted", "theft", "--id", "claim_id", "--time", "date"]
    command = [
        sys.executable,
        "-m",
        "shortlist",
        "train",
        str(folder),
        *columns,
        "--dask",
        "local",
        "-j",
        "2",
    ]
    done = subprocess.run(
        [*command, "-o", str(target)], capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "learned from 3,000 rows, 300 of them wanted" in done.stdout + done.stderr
    assert shortlist.TrainedModel.load(target).training["rows"] == 3_000
