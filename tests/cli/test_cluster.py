"""What goes wrong on a cluster ends ``train --dask`` and ``train --spark`` with a sentence, and no half model."""

import os
import signal
import subprocess
import sys
import threading

import psutil
import pytest

from shortlist.datasets import make_claims
from shortlist.rankers.cluster import joining

BEFORE = b"the model of before"
COLUMNS = ["--label", "fraud", "--id", "claim_id", "--time", "date"]


@pytest.fixture
def folder(tmp_path):
    """Files of a history, and a model that was trained before."""
    (tmp_path / "history").mkdir()
    for number, part in enumerate(make_claims(1_200, random_state=0, fraud_rate=0.1).iter_slices(600)):
        part.write_parquet(tmp_path / "history" / f"part{number}.parquet")
    (tmp_path / "fraud.shortlist").write_bytes(BEFORE)
    return tmp_path


def train(folder, *how):
    return ["train", str(folder / "history"), *COLUMNS, "-o", str(folder / "fraud.shortlist"), *how]


def assert_as_before(folder):
    assert (folder / "fraud.shortlist").read_bytes() == BEFORE
    assert {each.name for each in folder.iterdir()} == {"history", "fraud.shortlist"}


@pytest.mark.parametrize(
    ("option", "package", "address", "says"),
    [
        ("--dask", "distributed", "tcp://127.0.0.1:1", "no scheduler of Dask answers at tcp://127.0.0.1:1"),
        ("--dask", "distributed", "somewhere", "no scheduler of Dask answers at somewhere"),
        pytest.param(
            "--spark",
            "pyspark",
            "spark://127.0.0.1:1",
            "no master of Spark answers at spark://127.0.0.1:1",
            marks=pytest.mark.slow,  # Spark is there only then
        ),
    ],
)
def test_a_cluster_that_is_not_there(shortlist, folder, monkeypatch, option, package, address, says):
    pytest.importorskip(package)
    monkeypatch.setattr(joining, "PATIENCE", 0.5)
    monkeypatch.setattr(joining, "has_java", lambda: True)
    done = shortlist(*train(folder, option, address))
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err
    assert_as_before(folder)


@pytest.mark.parametrize("how", [("--dask", "local"), ("--spark", "local[2]")])
def test_a_column_that_one_file_lacks(shortlist, folder, how):
    rows = make_claims(100, random_state=1)
    rows.drop("amount").write_parquet(folder / "history" / "part9.parquet")
    done = shortlist(*train(folder, *how))
    assert done.code == 2
    assert "has a column 'amount' and" in done.err
    assert "part9.parquet has not" in done.err
    assert_as_before(folder)


@pytest.mark.slow
def test_a_worker_of_dask_that_is_killed(folder):
    """Rows are so many that training takes longer than it takes to kill a worker."""
    pytest.importorskip("distributed")
    rows = make_claims(200_000, random_state=0, fraud_rate=0.1)
    rows.write_parquet(folder / "history" / "part0.parquet")
    command = [sys.executable, "-m", "shortlist", *train(folder, "--dask", "local", "-j", "2")]
    said = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as program:
        late = threading.Timer(400, program.kill)
        late.start()
        for line in program.stderr:
            said.append(line)
            if "got rank 1" in line:  # the engine tells when the workers have found each other
                os.kill(worker_of(program).pid, signal.SIGKILL)
        late.cancel()
    assert program.returncode == 2, said
    assert "went away while it trained" in " ".join(" ".join(said).split())
    assert_as_before(folder)


def worker_of(program):
    """The process of a worker, and not the one that looks after it."""
    below = psutil.Process(program.pid).children(recursive=True)
    return max(below, key=lambda each: each.cpu_times().user)
