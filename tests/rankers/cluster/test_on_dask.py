"""A table of Dask trains the model of one machine; what is wrong with it or the cluster is told in a sentence."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

from shortlist.exceptions import ClusterError, InvalidInputError, SchemaError
from shortlist.objectives import CostSaved
from shortlist.rankers import APBoost, LambdaMART, RankBoost
from shortlist.rankers.base import top_rows
from shortlist.rankers.boosting import ap_training
from shortlist.rankers.cluster import deal, on_dask
from shortlist.tables.io.frames import is_spread
from tests.rankers.cluster.dask_cluster import scaled, workers_in_processes, workers_in_threads

dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

SETTINGS = {"folds": 0, "n_estimators": 10, "random_state": 0}


def claims(n_rows=2_000):
    """Continuous columns, text that is a category, and whole numbers; a column of lists."""
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


def on_one_machine(ranker, table, groups=None):
    return ranker.fit(table.drop(columns=["fraud", "day"]), table["fraud"], groups=groups)


def on_a_cluster(ranker, table, groups=None):
    return ranker.fit(table.drop(columns=["fraud", "day"]), table["fraud"], groups=groups)


def assert_same(one, other):
    assert other.schema_ == one.schema_
    assert other.classes_.tolist() == one.classes_.tolist()
    assert other.feature_names_in_.tolist() == one.feature_names_in_.tolist()
    assert other.booster_.get_dump(with_stats=True) == one.booster_.get_dump(with_stats=True)


def test_no_cluster():  # none has been started yet
    with pytest.raises(InvalidInputError, match="no cluster to train on"):
        on_a_cluster(APBoost(**SETTINGS), dd.from_pandas(claims(100), npartitions=2))


@pytest.fixture(scope="module")
def client():
    """Two workers that are threads of this process: they start at once."""
    with workers_in_threads() as client:
        yield client


def test_the_model_of_one_machine(client):
    table = claims()
    one = on_one_machine(APBoost(**SETTINGS), table)
    other = on_a_cluster(APBoost(**SETTINGS), dd.from_pandas(table, npartitions=4))
    assert_same(one, other)
    assert other.n_jobs is None
    assert other.predict(table.drop(columns=["fraud", "day"]).head(3)).tolist()


def test_lists_that_lie_in_several_partitions_are_brought_together(client):
    table = claims()
    one = on_one_machine(APBoost(**SETTINGS), table, table["day"])
    spread = dd.from_pandas(table, npartitions=4)
    assert_same(one, on_a_cluster(APBoost(**SETTINGS), spread, spread["day"]))


@pytest.mark.slow
@pytest.mark.parametrize("grouped", [True, False])
def test_lambda_mart_of_impacts(client, grouped):
    table = claims()
    table["paid"] = np.where(table["fraud"] == "yes", np.exp(table["amount"]), 0.0)
    X = ["age", "amount", "delay", "make"]
    ranker = LambdaMART(objective=CostSaved(k=5), n_estimators=8, random_state=0)
    one = ranker.fit(table[X], table["paid"], groups=table["day"] if grouped else None)
    dump = one.booster_.get_dump(with_stats=True)
    spread = dd.from_pandas(table, npartitions=3)
    other = ranker.fit(spread[X], spread["paid"], groups=spread["day"] if grouped else None)
    assert other.booster_.get_dump(with_stats=True) == dump


@pytest.mark.slow
def test_arrays(client):
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1_500, 4)), rng.random(1_500) < 0.2
    one = APBoost(**SETTINGS).fit(X.astype(np.float32), y)
    other = APBoost(**SETTINGS).fit(da.from_array(X, chunks=(400, 2)), da.from_array(y, chunks=400))
    assert other.booster_.get_dump() == one.booster_.get_dump()
    assert other.n_features_in_ == 4


def test_a_model_of_the_cluster_is_saved_and_read_on_a_laptop(client, tmp_path):
    import shortlist

    table = claims()
    ranker = on_a_cluster(APBoost(**SETTINGS), dd.from_pandas(table, npartitions=2))
    shortlist.save(ranker, tmp_path / "fraud.shortlist")
    X = table.drop(columns=["fraud", "day"])
    np.testing.assert_array_equal(
        shortlist.load(tmp_path / "fraud.shortlist").decision_function(X), ranker.decision_function(X)
    )


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("digits", [9, 0], ids=["distinct scores", "ties"])
def test_rows_are_scored_where_they_lie_and_the_first_are_those_of_one_machine(grouped, digits):
    table = claims()
    ranker = on_one_machine(APBoost(**SETTINGS), table)
    X = table.drop(columns=["fraud", "day"])
    spread = dd.from_pandas(table, npartitions=5)
    scores = ranker.decision_function(spread.drop(columns=["fraud", "day"]))
    assert is_spread(scores)
    here = scores.compute()
    np.testing.assert_array_equal(here, ranker.decision_function(X))
    assert here.index.equals(table.index)
    groups = (table["day"], spread["day"]) if grouped else (None, None)
    for budget in (1, 7, 50):
        found = top_rows(scores.round(digits), budget, groups[1])
        assert found.tolist() == top_rows(here.round(digits), budget, groups[0]).tolist()


def test_arrays_are_scored_where_they_lie():
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 4)), rng.random(600) < 0.2
    ranker = APBoost(**SETTINGS).fit(X, y)
    scores = ranker.decision_function(da.from_array(X, chunks=(200, 2)))
    np.testing.assert_array_equal(scores.compute(), ranker.decision_function(X))
    groups = np.arange(600) % 7
    found = top_rows(scores, 4, da.from_array(groups, chunks=200))
    assert found.tolist() == top_rows(ranker.decision_function(X), 4, groups).tolist()
    for given, says in [
        ((scores, 601), "only 600 rows"),
        ((scores, 3, groups), "groups are not"),
        ((scores, 3, da.from_array(groups, chunks=300)), "different partitions"),
        ((scores * np.nan, 3), "missing or infinite"),
    ]:
        with pytest.raises(InvalidInputError, match=says):
            top_rows(*given)


def partitions(*frames):
    return dd.from_delayed(
        [on_dask_part(frame) for frame in frames], meta=frames[0].head(0), verify_meta=False
    )


def on_dask_part(frame):
    from dask import delayed

    return delayed(lambda: frame)()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda part: part.drop(columns="amount"),
            "partition 0 has a column 'amount' and partition 1 has not",
        ),
        (lambda part: part.assign(extra=1), "partition 1 has a column 'extra' and partition 0 has not"),
        (
            lambda part: part.assign(amount="a lot"),
            "column 'amount' holds numbers in partition 0 and text in partition 1",
        ),
    ],
)
def test_partitions_that_differ_are_named(client, change, says):
    table = claims(400).drop(columns="day")
    X = table.drop(columns="fraud")
    spread = partitions(X.iloc[:200], change(X.iloc[200:]))
    ranker = APBoost(**SETTINGS)
    with pytest.raises(SchemaError, match=says):
        ranker.fit(spread, partitions(table[["fraud"]].iloc[:200], table[["fraud"]].iloc[200:])["fraud"])
    assert not hasattr(ranker, "booster_")


def test_what_cannot_be_trained_is_told(client, monkeypatch):
    table = claims(300)
    spread = dd.from_pandas(table, npartitions=3)
    X, y = spread.drop(columns=["fraud", "day"]), spread["fraud"]
    refused = [
        ({"X": X, "y": table["fraud"]}, "y is not: give y as a column of the same table"),
        ({"X": X, "y": y.repartition(npartitions=2)}, "X has 3 partitions and y has 2"),
        ({"X": X, "y": y.where(y == "no", "no")}, "one class|both|every|only"),
        ({"X": X, "y": y, "eval_set": (table, table)}, "eval_set"),
    ]
    for given, says in refused:
        with pytest.raises(InvalidInputError, match=says):
            APBoost(**SETTINGS).fit(**given)
    with pytest.raises(InvalidInputError, match="one machine"):
        RankBoost().fit(X, y)
    with pytest.raises(InvalidInputError, match="learning_rate"):
        APBoost(learning_rate=-1).fit(X, y)
    monkeypatch.setattr(ap_training, "FEW_ROWS", 0)
    with pytest.raises(InvalidInputError, match="one model"):
        APBoost(folds=4).fit(X, y)


@pytest.mark.parametrize("groups", [None, "day"])
def test_few_rows_are_learned_whole_by_one_machine(client, groups):
    """As one machine learns them: on folds, of several depths, with extra trees."""
    table = claims(600)
    spread = dd.from_pandas(table, npartitions=5)
    settings = {"n_estimators": 20, "random_state": 0}
    one = on_one_machine(APBoost(**settings), table, None if groups is None else table[groups])
    other = on_a_cluster(APBoost(**settings), spread, None if groups is None else spread[groups])
    assert_same(one, other)
    assert len(one.rounds_) > 1
    np.testing.assert_array_equal(other.oof_score_, one.oof_score_)
    np.testing.assert_array_equal(other.chance_curve_, one.chance_curve_)


def test_rows_that_do_not_fit_are_refused_beforehand(client, monkeypatch):
    spread = dd.from_pandas(claims(), npartitions=2)
    monkeypatch.setattr(on_dask, "memory_limit", lambda dask_worker: 50_000)
    with pytest.raises(ClusterError, match=r"take about 0.1 MB|would train on .* rows of 6 columns"):
        on_a_cluster(APBoost(**SETTINGS), spread)
    monkeypatch.setattr(on_dask, "memory_limit", lambda dask_worker: 5_000)
    with pytest.raises(ClusterError, match=r"list \d+ has \d+ rows and must lie on one worker"):
        on_a_cluster(APBoost(**SETTINGS), spread, spread["day"])


@pytest.mark.slow
def test_a_machine_that_raises_ends_all(client, monkeypatch):
    def broken(*given):
        if given[3] == 1:
            raise RuntimeError("the disk is full")
        return train(*given)

    train = on_dask._train_share
    monkeypatch.setattr(on_dask, "_train_share", broken)
    ranker = APBoost(**SETTINGS)
    with pytest.raises(
        ClusterError, match=r"worker .* failed, and there is no model: RuntimeError: the disk is full"
    ):
        on_a_cluster(ranker, dd.from_pandas(claims(), npartitions=4))
    assert not hasattr(ranker, "booster_")


def test_rows_of_every_list_go_to_one_machine():
    from shortlist.rankers.cluster.part import Part

    part = Part(
        np.zeros((6, 1)), np.zeros(6, bool), np.arange(6, dtype=np.uint64), np.array([2, 1, 2, 3, 1, 3])
    )
    import polars as pl

    lists = pl.DataFrame({"list": [1, 2, 3], "rows": [2, 2, 2], "pieces": [2, 1, 1]})
    owner, rows = deal.deal_lists(lists, ["a", "b"])
    split = deal.split_part(part, owner, ["a", "b"])
    assert {name: each.y.size for name, each in split.items()} == rows == {"a": 4, "b": 2}
    assert not set(split["a"].lists) & set(split["b"].lists)


# Processes of their own, as workers on other machines are.


@pytest.fixture(scope="module")
def processes():
    with workers_in_processes(3) as cluster:
        yield cluster


@pytest.mark.slow
def test_one_two_or_three_processes_train_one_model(processes):
    table = claims()
    settings = {**SETTINGS, "n_estimators": 40, "early_stopping_rounds": 5, "learning_rate": 0.5}
    one = on_one_machine(APBoost(**settings), table)
    assert one.booster_.num_boosted_rounds() < 40
    for n_workers in (3, 2, 1):
        with scaled(processes, n_workers):
            assert_same(one, on_a_cluster(APBoost(**settings), dd.from_pandas(table, npartitions=5)))


@pytest.mark.slow
def test_a_worker_that_is_killed_ends_training():
    table = dd.from_pandas(claims(20_000), npartitions=4)
    with workers_in_processes(2) as cluster, distributed.Client(cluster) as client:
        on_a_cluster(APBoost(**SETTINGS), table)  # all is compiled and loaded
        pids = client.run(os.getpid)
        ranker = APBoost(**{**SETTINGS, "n_estimators": 20_000, "early_stopping_rounds": None})
        threading.Timer(6, lambda: os.kill(next(iter(pids.values())), signal.SIGKILL)).start()
        with pytest.raises(ClusterError, match=r"worker .* went away while it trained"):
            on_a_cluster(ranker, table)
        assert not hasattr(ranker, "booster_")
        while len(client.nthreads()) < 2:
            time.sleep(0.2)
        on_a_cluster(ranker.set_params(n_estimators=3), table)  # the worker that was left did not stay behind
        assert ranker.rounds_ == (3,)
