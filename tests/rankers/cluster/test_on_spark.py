"""A data frame of Spark trains the model of one machine; what goes wrong is told in a sentence."""

import os
import signal
import sys
import threading
import time
from functools import reduce

import numpy as np
import pandas as pd
import psutil
import pytest

from shortlist.exceptions import ClusterError, InvalidInputError, SchemaError
from shortlist.objectives import CostSaved
from shortlist.rankers import APBoost, LambdaMART, RankBoost
from shortlist.rankers.base import top_rows
from shortlist.rankers.boosting import ap_training
from tests.rankers.cluster.spark import spark_session, worker_at_work

# Spark's own, of what other libraries will do one day.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

SETTINGS = {"folds": 0, "n_estimators": 10, "random_state": 0}  # rows and columns are drawn by default


@pytest.fixture(scope="module")
def session():
    with spark_session() as session:
        yield session


def claims(n_rows=2_000):
    """Continuous columns with gaps, text that is a category, whole numbers, and a column of lists."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=["age", "amount", "delay", "visits"])
    table.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    table["make"] = rng.choice(["Audi", "Fiat", "Opel"], n_rows)
    table.loc[: n_rows // 4, "make"] = "Lada"  # the last partitions have none
    table["seats"] = rng.integers(2, 7, n_rows)
    table["day"] = rng.integers(0, 30, n_rows)
    risk = table["amount"] + (table["make"] == "Fiat") + rng.normal(size=n_rows)
    table["fraud"] = np.where(risk > risk.quantile(0.9), "yes", "no")
    return table


def spread(session, *tables):
    """Tables one after the other, each in two partitions."""
    import pyarrow as pa

    frames = [session.createDataFrame(pa.Table.from_pandas(each, preserve_index=False)) for each in tables]
    return reduce(lambda one, other: one.union(other), frames)


def in_parts(table, n_parts=3):
    return [table.iloc[rows] for rows in np.array_split(np.arange(len(table)), n_parts)]


def on_one_machine(ranker, table, groups=None):
    return ranker.fit(table.drop(columns=["fraud", "day"]), table["fraud"], groups=groups)


def assert_same(one, other):
    assert other.schema_ == one.schema_
    assert other.classes_.tolist() == one.classes_.tolist()
    assert other.feature_names_in_.tolist() == one.feature_names_in_.tolist()
    assert other.booster_.get_dump(with_stats=True) == one.booster_.get_dump(with_stats=True)


def cases(table):
    """The same rows in the same order, dealt to partitions otherwise."""
    empty, wanted = table.head(0), table["fraud"] == "yes"
    return {
        "two partitions": (table, [table]),
        "six partitions": (table, in_parts(table)),
        "an empty partition": (table, [empty, *in_parts(table, 2), empty]),
        "wanted rows together": (pd.concat([table[wanted], table[~wanted]]), [table[wanted], table[~wanted]]),
    }


@pytest.mark.parametrize("case", cases(claims(20)))
def test_the_model_of_one_machine(session, case):
    whole, parts = cases(claims())[case]
    one = on_one_machine(APBoost(**SETTINGS), whole)
    other = APBoost(**SETTINGS).fit(spread(session, *parts).drop("day"), "fraud")
    assert_same(one, other)
    assert other.n_jobs is None


def test_rows_may_be_dealt_anyhow(session, monkeypatch):
    """Spark deals rows by a hash of their number; here the wanted ones to one task, and none to another."""
    from pyspark.sql import functions

    from shortlist.rankers.cluster import on_spark

    table = claims()
    one = on_one_machine(APBoost(**SETTINGS), table)
    numbered = spread(session, table).drop("day")
    deal = type(numbered).repartition

    for key in (functions.col("fraud"), functions.lit(1), functions.rand(3)):
        monkeypatch.setattr(type(numbered), "repartition", lambda frame, n, _, key=key: deal(frame, n, key))
        stage, read = on_spark.spark_rows(numbered, 2)
        features = [name for name in numbered.columns if name != "fraud"]
        trained = on_spark.train_on_spark(
            APBoost(**SETTINGS), stage, read, on_spark.Columns(features, "fraud"), most=100
        )
        assert_same(one, trained.ranker)
        assert (trained.n_rows, trained.n_wanted) == (2_000, 200)
        assert trained.sample["amount"].to_list() == table["amount"].iloc[::20].to_list()


def test_early_stopping(session):
    table = claims()
    settings = {**SETTINGS, "n_estimators": 40, "early_stopping_rounds": 5, "learning_rate": 0.5}
    one = on_one_machine(APBoost(**settings), table)
    assert one.booster_.num_boosted_rounds() < 40
    assert_same(one, APBoost(**settings).fit(spread(session, table).drop("day"), "fraud"))


def test_lists_and_weights(session):
    table = claims().assign(weight=np.random.default_rng(1).uniform(0.5, 2, 2_000))
    X = table.drop(columns=["fraud", "day", "weight"])
    one = APBoost(**SETTINGS).fit(X, table["fraud"], groups=table["day"], sample_weight=table["weight"])
    other = APBoost(**SETTINGS).fit(
        spread(session, *in_parts(table)), "fraud", groups="day", sample_weight="weight"
    )
    assert_same(one, other)


@pytest.mark.parametrize("grouped", [True, False])
def test_lambda_mart_of_impacts(session, grouped):
    table = claims()
    table["paid"] = np.where(table["fraud"] == "yes", np.exp(table["amount"]), 0.0)
    table = table[["age", "amount", "delay", "make", "paid", *(["day"] if grouped else [])]]
    ranker = LambdaMART(objective=CostSaved(k=5), n_estimators=8, random_state=0)
    X = table.drop(columns=["paid", "day"], errors="ignore")
    one = ranker.fit(X, table["paid"], groups=table["day"] if grouped else None)
    dump = one.booster_.get_dump(with_stats=True)
    other = ranker.fit(spread(session, *in_parts(table)), "paid", groups="day" if grouped else None)
    assert other.booster_.get_dump(with_stats=True) == dump


@pytest.mark.parametrize("grouped", [False, True])
def test_rows_are_scored_where_they_lie_and_the_first_are_those_of_one_machine(session, grouped):
    from pyspark.sql import functions

    table = claims()
    ranker = on_one_machine(APBoost(**SETTINGS), table)
    scored = ranker.decision_function(spread(session, *in_parts(table), table.head(0)))
    assert scored.columns == [*table.columns, "score"]
    here = ranker.decision_function(table.drop(columns=["fraud", "day"]))
    found = scored.select("amount", "score").toPandas()
    np.testing.assert_array_equal(found["score"], here)
    np.testing.assert_array_equal(found["amount"], table["amount"])
    groups = ("day", table["day"]) if grouped else (None, None)
    ties = scored.withColumn("score", functions.round("score", 0))
    for budget in (1, 7, 50):
        assert top_rows(scored, budget, groups[0]).tolist() == top_rows(here, budget, groups[1]).tolist()
        assert (
            top_rows(ties, budget, groups[0]).tolist() == top_rows(here.round(), budget, groups[1]).tolist()
        )


@pytest.mark.parametrize("groups", [None, "day"])
def test_few_rows_are_learned_whole_by_one_task(session, groups):
    """As one machine learns them: on folds, of several depths, with extra trees."""
    table = claims(600)
    settings = {"n_estimators": 20, "random_state": 0}
    one = on_one_machine(APBoost(**settings), table, None if groups is None else table[groups])
    rows = spread(session, table) if groups is not None else spread(session, table.drop(columns="day"))
    other = APBoost(**settings).fit(rows, "fraud", groups=groups)
    assert_same(one, other)
    assert len(one.rounds_) > 1
    np.testing.assert_array_equal(other.oof_score_, one.oof_score_)


def test_folds_of_more_rows_are_refused(session, monkeypatch):
    monkeypatch.setattr(ap_training, "FEW_ROWS", 0)
    with pytest.raises(InvalidInputError, match="one model"):
        APBoost(folds=4).fit(spread(session, claims(300)), "fraud")


def test_what_cannot_be_done_is_told(session):
    table = claims(300)
    rows = spread(session, table)
    refused = [
        (lambda: APBoost(**SETTINGS).fit(rows, table["fraud"]), "so y is the name of one of its columns"),
        (lambda: APBoost(**SETTINGS).fit(rows, "fraud", groups="month"), "groups is the name .* got 'month'"),
        (lambda: APBoost(**SETTINGS).fit(rows, "fraud", eval_set=(table, table)), "eval_set"),
        (lambda: APBoost(learning_rate=-1).fit(rows, "fraud"), "learning_rate"),
        (lambda: APBoost(**SETTINGS).fit(rows.where("fraud = 'no'"), "fraud"), "one class|both|every|only"),
        (lambda: APBoost(**SETTINGS).fit(rows.where("false"), "fraud"), "no rows in any of its partitions"),
        (lambda: RankBoost().fit(rows, "fraud"), r"one machine, and X is a table of Spark.*X.toPandas\(\)"),
        (lambda: top_rows(rows, 3), "without a column 'score'"),
    ]
    for work, says in refused:
        with pytest.raises(InvalidInputError, match=says):
            work()
    ranker = on_one_machine(APBoost(**SETTINGS), table)
    with pytest.raises(SchemaError, match=r"lacks columns .*: 'amount'"):
        ranker.decision_function(rows.drop("amount"))
    with pytest.raises(InvalidInputError, match="has a column 'score' already"):
        ranker.decision_function(rows.withColumn("score", rows["amount"]))
    with pytest.raises(ClusterError, match=r"Spark failed, and there is no model: .*DIVIDE_BY_ZERO"):
        APBoost(**SETTINGS).fit(rows.selectExpr("fraud", "amount", "seats / (seats - seats) AS odd"), "fraud")


class BrokenBoost(APBoost):
    """Its second machine fails while the first trains."""

    def _fit(self, batch, held_out=None):
        from pyspark import BarrierTaskContext

        if BarrierTaskContext.get().partitionId() == 1:
            raise RuntimeError("the disk is full")
        super()._fit(batch, held_out)


@pytest.fixture
def sent_by_value():
    """Workers have no tests to import."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def test_a_worker_that_raises_ends_all(session, sent_by_value):
    ranker = BrokenBoost(**SETTINGS)
    rows = spread(session, claims()).drop("day")
    with pytest.raises(
        ClusterError,
        match=r"worker on 127.0.0.1 failed, and there is no model: RuntimeError: the disk is full",
    ):
        ranker.fit(rows, "fraud")
    assert not hasattr(ranker, "booster_")


def test_a_worker_that_is_killed_ends_training(session):
    rows = spread(session, claims()).drop("day")
    ranker = APBoost(**{**SETTINGS, "n_estimators": 100_000, "early_stopping_rounds": None})
    killer = threading.Thread(target=kill_a_worker, args=(session,))
    killer.start()
    with pytest.raises(ClusterError, match="a worker went away while it trained"):
        ranker.fit(rows, "fraud")
    killer.join()
    assert not hasattr(ranker, "booster_")
    ranker.set_params(n_estimators=3).fit(rows, "fraud")  # nothing was left behind
    assert ranker.rounds_ == (3,)


def kill_a_worker(session):
    """The Python of a task, once two of them have been at work for a while; where none is found, training ends, too."""
    tracker, since, until = session.sparkContext.statusTracker(), None, time.monotonic() + 120
    while time.monotonic() < until:
        stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
        busy = [each for each in stages if each is not None and each.numActiveTasks == each.numTasks == 2]
        since = (since or time.monotonic()) if busy else None
        worker = worker_at_work(psutil.Process()) if busy and time.monotonic() - since > 3 else None
        if worker is not None:
            os.kill(worker.pid, signal.SIGKILL)
            return
        time.sleep(0.1)
    session.sparkContext.cancelAllJobs()
