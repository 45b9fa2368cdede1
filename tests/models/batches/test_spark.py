"""A history that the tasks of Spark read teaches what it would teach on one machine; what goes wrong is a sentence."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import polars as pl
import psutil
import pytest

import shortlist
from shortlist.datasets import make_claims
from shortlist.exceptions import ClusterError, InvalidInputError, MissingExtraError, SchemaError, TableError
from shortlist.rankers.cluster import joining
from tests.rankers.cluster.spark import spark_session, worker_at_work

GIVEN = {"label": "fraud", "id": "claim_id", "time": "date", "category": ["previous_claims"]}


def on_spark(test):
    """Slow, and heedless of what Spark says of what other libraries will do one day."""
    for kind in ("FutureWarning", "DeprecationWarning", "ResourceWarning"):
        test = pytest.mark.filterwarnings(f"ignore::{kind}")(test)
    return pytest.mark.slow(test)


@pytest.fixture(scope="module")
def claims():
    return make_claims(3_000, random_state=0, fraud_rate=0.1).with_columns(
        fraud=pl.when(pl.col("fraud") == 1).then(pl.lit("theft")).otherwise(pl.lit("paid"))
    )


@pytest.fixture(scope="module")
def folder(claims, tmp_path_factory):
    folder = tmp_path_factory.mktemp("claims")
    for number, part in enumerate(claims.iter_slices(900)):
        part.write_parquet(folder / f"part{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def session():
    with spark_session() as session:
        yield session


def test_without_pyspark_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingExtraError, match=r"needs pyspark.*pip install 'shortlist\[spark\]'"):
        shortlist.train(folder, **GIVEN, wanted="theft", spark="local[2]")


def test_one_cluster_at_a_time(folder):
    with pytest.raises(InvalidInputError, match="give --dask or --spark, not both"):
        shortlist.train(folder, **GIVEN, wanted="theft", spark="local[2]", dask="local")


@pytest.mark.slow  # Spark is there only then
def test_without_java_it_is_told(folder, monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setattr(joining, "has_java", lambda: False)
    with pytest.raises(ClusterError, match=r"Spark runs on Java, and there is none here; install it"):
        shortlist.train(folder, **GIVEN, wanted="theft", spark="local[2]")


@pytest.mark.slow  # Spark is there only then
def test_a_master_that_is_not_there_is_told_at_once(folder, monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setattr(joining, "has_java", lambda: True)
    for master in ("spark://127.0.0.1:1", "spark://127.0.0.1:1,127.0.0.1:2", "spark://127.0.0.1:many"):
        with pytest.raises(ClusterError, match=f"no master of Spark answers at {master}; start one"):
            shortlist.train(folder, **GIVEN, wanted="theft", spark=master)


def test_files_that_differ_or_are_of_other_formats_are_refused_beforehand(claims, tmp_path):
    claims.write_csv(tmp_path / "claims.csv")
    with pytest.raises(TableError, match="a cluster reads Parquet and Arrow files"):
        shortlist.train(tmp_path / "claims.csv", **GIVEN, wanted="theft", spark="local[2]")
    claims.write_parquet(tmp_path / "part0.parquet")
    claims.drop("amount").write_parquet(tmp_path / "part1.parquet")
    with pytest.raises(SchemaError, match=r"has a column 'amount' and .*part1.parquet has not"):
        shortlist.train(tmp_path / "part*.parquet", **GIVEN, wanted="theft", spark="local[2]")


# On tasks of this machine, which start once for all of these.


@pytest.fixture
def one_model(monkeypatch):
    """Rows are few here, and where they are many there are no folds."""
    from shortlist.rankers.boosting import ap_training

    monkeypatch.setattr(ap_training, "FEW_ROWS", 0)


@on_spark
@pytest.mark.usefixtures("one_model")
@pytest.mark.parametrize("by_list", [False, True])
def test_the_model_is_that_of_one_machine(session, claims, folder, tmp_path, by_list):
    given = {**GIVEN, "wanted": "theft", "n_jobs": 1, **({"list": "region"} if by_list else {})}
    inside = shortlist.train(claims, **given)
    of_files = shortlist.train(folder, **given, spark="local[2]")
    of_spark = shortlist.train(session.createDataFrame(claims.to_arrow()), **given)
    for outside in (of_files, of_spark):
        assert outside.ranker.booster_.get_dump() == inside.ranker.booster_.get_dump()
        assert outside.profile.columns == inside.profile.columns
        assert (outside.training["rows"], outside.training["wanted"]) == (3_000, 300)
    assert of_files.schema == inside.schema
    frame = session.createDataFrame(claims.drop("fraud").to_arrow())
    there = inside.ranker.decision_function(frame).select("score").toPandas()["score"]
    here = of_spark.ranker.decision_function(of_spark.schema.encode(claims))
    assert there.tolist() == here.tolist()
    of_spark.save(tmp_path / "model.shortlist")
    new = make_claims(100, random_state=1).drop("fraud")
    found = shortlist.TrainedModel.load(tmp_path / "model.shortlist").score(new, budget=5)
    assert found.frame["claim_id"].equals(inside.score(new, budget=5).frame["claim_id"])
    assert found.frame["reason_1"].equals(inside.score(new, budget=5).frame["reason_1"])


@on_spark
def test_what_is_wrong_with_rows_is_told_as_on_one_machine(session, claims):
    gaps = claims.with_columns(
        pl.when(pl.int_range(pl.len()) % 300 == 0).then(None).otherwise("fraud").alias("fraud")
    )
    with pytest.raises(TableError, match="'fraud' is empty in 10 of 3,000 rows"):
        shortlist.train(session.createDataFrame(gaps.to_arrow()), **GIVEN, wanted="theft")
    with pytest.raises(TableError, match="burglary"):
        shortlist.train(session.createDataFrame(claims.to_arrow()), **GIVEN, wanted="burglary")


@on_spark
def test_another_master_than_that_of_the_session_is_refused(session, folder):
    with pytest.raises(ClusterError, match=r"has a session of Spark already, of local\[2\], and not of"):
        shortlist.train(folder, **GIVEN, wanted="theft", spark="spark://127.0.0.1:1")


def command(folder, target, *how):
    columns = ["--label", "fraud", "--wanted", "theft", "--id", "claim_id", "--time", "date"]
    return [sys.executable, "-m", "shortlist", "train", str(folder), *columns, *how, "-o", str(target)]


def needs_spark():
    pytest.importorskip("pyspark", reason="pyspark is not installed: Spark is not tested")
    if not joining.has_java():
        pytest.skip("Java is not installed: Spark is not tested")


@pytest.mark.slow
def test_the_program_trains_on_spark(folder, tmp_path):
    needs_spark()
    target = tmp_path / "fraud.shortlist"
    how = command(folder, target, "--spark", "local[2]")
    done = subprocess.run(how, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    assert "learned from 3,000 rows, 300 of them wanted" in done.stdout + done.stderr
    assert shortlist.TrainedModel.load(target).training["rows"] == 3_000


@pytest.mark.slow
def test_a_worker_of_spark_that_is_killed_ends_the_program(folder, tmp_path):
    needs_spark()
    target = tmp_path / "fraud.shortlist"
    target.write_bytes(b"the model of before")
    going = subprocess.Popen(
        command(folder, target, "--spark", "local[2]"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    worker = busy_worker(psutil.Process(going.pid))
    os.kill(worker.pid, signal.SIGKILL)
    said = going.communicate(timeout=500)[1]
    assert going.returncode == 2, said
    assert "a worker went away while it trained" in " ".join(said.split())
    assert target.read_bytes() == b"the model of before"
    assert [each.name for each in tmp_path.iterdir()] == [target.name]


def busy_worker(program):
    """A process of Python that Spark has given rows to."""
    while program.is_running() and program.status() != psutil.STATUS_ZOMBIE:
        with suppress(psutil.NoSuchProcess):
            worker = worker_at_work(program)
            if worker is not None:
                return worker
    raise AssertionError("the program ended before it trained.")
