"""What Spark says when it fails, as a sentence that says what to do."""

from types import SimpleNamespace

import polars as pl
import pytest

from shortlist.exceptions import ClusterError, SchemaError
from shortlist.rankers.cluster.scoring import spark_scores
from shortlist.rankers.cluster.troubles import told_by_spark
from shortlist.tables import Schema

STAGE = "Job aborted due to stage failure: Could not recover from a failed barrier ResultStage: "


class SparkError(Exception):
    """As those of pyspark are."""

    __module__ = "pyspark.errors"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            f"{STAGE}Stage failed because barrier task ResultTask(3, 1) finished unsuccessfully.\n"
            "java.net.SocketException: Connection reset",
            "a worker went away while it trained",
        ),
        (
            f"{STAGE}Stage failed because barrier task ResultTask(3, 1) finished unsuccessfully.\n"
            "org.apache.spark.api.python.PythonException: ModuleNotFoundError: No module named 'shortlist'",
            "the workers of Spark have no Shortlist; install it there",
        ),
        (
            "An error occurred while calling o1.collect.\n: org.apache.spark.SparkException: the disk is full",
            "no model: org.apache.spark.SparkException: the disk is full",
        ),
        ("[UNRESOLVED_COLUMN] there is no column 'x'", r"no model: \[UNRESOLVED_COLUMN\]"),
        ("", "no reason is known"),
    ],
)
def test_what_spark_says_is_understood(said, told):
    with pytest.raises(ClusterError, match=told), told_by_spark():
        raise SparkError(said)


def test_a_driver_that_went_away():
    with pytest.raises(ClusterError, match="Spark went away"), told_by_spark():
        raise ConnectionRefusedError("nobody listens")


def test_errors_of_others_pass():
    with pytest.raises(KeyError), told_by_spark():
        raise KeyError("fraud")


def test_all_columns_that_a_data_frame_of_spark_lacks_are_named_at_once():
    rows = pl.DataFrame({"x": [1.0, 2.0], "y": [2.0, 1.0], "z": [3.0, 3.5]})
    with pytest.raises(SchemaError, match=r"trained with: 'x', 'z'\. Add them"):
        spark_scores(len, SimpleNamespace(columns=["y"]), Schema.learn(rows))
