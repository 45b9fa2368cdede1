"""Rankers on rows that lie on workers of Dask rank as on one machine, bit for bit; what goes wrong is a sentence."""

import gc
import os
import signal
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesRegressor, IsolationForest

from shortlist.exceptions import ClusterError, InvalidInputError, SchemaError
from shortlist.feedback import AAD, OMD, FeedbackRanker, LeafSimilarity, Offline, OJRank, ScoreSpace
from shortlist.feedback.spread import held, workers
from shortlist.rankers import APBoost
from tests.rankers.cluster.dask_cluster import scaled, workers_in_processes, workers_in_threads

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

FOREST = {"n_trees": 12, "sample_size": 64, "random_state": 1}
RANKERS = {
    "leaf": lambda space: LeafSimilarity(space, kernel="leaf", random_state=3),
    "leaf, settling": lambda space: LeafSimilarity(space, kernel="leaf", window=6, random_state=3),
    "ojrank": lambda space: OJRank(space, random_state=3),
    "ojrank-all": lambda space: OJRank(space, all_coordinates=True, history="all", random_state=3),
    "omd": lambda space: OMD(space, random_state=3),
    "omd-logistic": lambda space: OMD(space, loss="logistic", random_state=3),
    "offline": lambda space: Offline(space, random_state=3),
}


def claims(n_rows=900):
    """Numbers with gaps, a category that only the first rows have, rows that stand twice, and a wanted cluster."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["age", "amount", "delay"])
    table.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    table["make"] = rng.choice(["Audi", "Fiat", "Opel"], n_rows)
    table.loc[: n_rows // 5, "make"] = "Lada"
    table.loc[::20, ["amount", "delay"]] += 3
    table.iloc[n_rows // 2 : n_rows // 2 + 40] = table.iloc[:40].to_numpy()  # rows that tie
    return table.astype({"age": float, "amount": float, "delay": float})


def in_partitions(table, *cuts):
    """A table of Dask that is cut before some rows; twice before one: an empty partition."""
    places = [0, *cuts, len(table)]
    parts = [table.iloc[low:high] for low, high in pairwise(places)]
    return dd.from_delayed([dask.delayed(lambda part: part)(part) for part in parts], meta=table.head(0))


def assert_same_review(one, other, n_verdicts, every=1):
    """Play a review with undo on both; they ask for the same rows, and rank and score alike."""
    for number in range(n_verdicts):
        row = one.ask()
        assert other.ask() == row
        for ranker in (one, other):
            ranker.tell(row, None if number % 9 == 8 else row % 20 == 0)
        if number % 7 == 3:
            back = one.reviewed[number // 2][0]
            one.untell(back)
            other.untell(back)
        if number % every == 0:
            np.testing.assert_array_equal(other.ranking(15), one.ranking(15))
    np.testing.assert_array_equal(other.ranking(), one.ranking())
    np.testing.assert_array_equal(other.scores(), one.scores())
    assert other.reviewed == one.reviewed


def test_no_cluster():  # none has been started yet
    with pytest.raises(InvalidInputError, match="no cluster to place rows on"):
        ScoreSpace.from_isolation_forest(in_partitions(claims(100), 50))


@pytest.fixture(scope="module")
def client():
    with workers_in_threads(2) as client:
        yield client


@pytest.fixture(scope="module")
def spaces(client):
    """The space of one machine, and that of two workers; of five partitions, the second and the last are empty."""
    table = claims()
    here = ScoreSpace.from_isolation_forest(table, **FOREST)
    spread = ScoreSpace.from_isolation_forest(in_partitions(table, 250, 250, 600, 900), **FOREST)
    return here, spread


@pytest.mark.parametrize("name", RANKERS)
def test_the_ranking_of_one_machine(spaces, name):
    one, other = (RANKERS[name](space) for space in spaces)
    assert_same_review(one, other, 34, every=5)
    rows = np.array([880, 3, 410, 3, 250, 10])
    np.testing.assert_array_equal(other.scores(rows), one.scores(rows))
    np.testing.assert_array_equal(other.ranking(3, among=rows), one.ranking(3, among=rows))
    np.testing.assert_array_equal(other.open_rows(), one.open_rows())
    assert other.ask(5, skip=one.ask(3)) == one.ask(5, skip=one.ask(3))
    assert [other.rank_of(row) for row in (0, 450, 899)] == [one.rank_of(row) for row in (0, 450, 899)]
    assert other.why(460) == one.why(460)
    assert other.effort() == one.effort()


def test_the_space_of_one_machine(spaces):
    here, spread = spaces
    assert repr(spread) == "SpreadSpace(900 rows, 12 members)"
    assert spread.fingerprint == here.fingerprint
    assert spread.columns.schema == here.columns.schema
    np.testing.assert_array_equal(spread.leaf_rows, here.leaf_rows)
    rows = [899, 0, 250, 0]
    np.testing.assert_array_equal(spread.leaves(rows), here.leaves(rows))
    assert spread.leaves([]).shape == (0, 12)
    assert spread.local_leaves(600) == here.local_leaves(600)
    assert spread.own_score(7) == here.own_score(7) == here.base_scores()[7]


def test_leaves_that_were_asked_for_are_kept_within_bounds(spaces, monkeypatch):
    here, spread = spaces
    monkeypatch.setattr("shortlist.feedback.spread.space.MOST_KNOWN", 50)
    for rows in (np.arange(40), np.arange(30, 70), np.arange(200)):
        np.testing.assert_array_equal(spread.leaves(rows), here.leaves(rows))


def test_a_saved_ranker_goes_on_here_and_there(spaces, tmp_path):
    here, spread = spaces
    one, other = (RANKERS["leaf, settling"](space) for space in spaces)
    assert_same_review(one, other, 10, every=9)
    other.save(tmp_path / "there")
    one.save(tmp_path / "here")
    assert_same_review(
        FeedbackRanker.load(tmp_path / "there", here),
        FeedbackRanker.load(tmp_path / "here", spread),
        10,
        every=9,
    )


def test_an_index_on_the_workers(client):
    table = claims()
    here = ScoreSpace.from_isolation_forest(table, **FOREST)
    spread = ScoreSpace.from_isolation_forest(in_partitions(table, 100, 800), **FOREST).build_index()
    assert_same_review(OJRank(here, random_state=3), OJRank(spread, random_state=3), 6, every=9)


def test_trees_of_a_trained_model_and_words_that_training_did_not_have(client):
    table = claims()
    ranker = APBoost(folds=0, n_estimators=8, random_state=0).fit(table, np.arange(len(table)) % 20 == 0)
    new = claims()
    new.loc[700:, "make"] = "Trabant"
    here = ScoreSpace.from_boosted(new, ranker)
    spread = ScoreSpace.from_boosted(in_partitions(new, 300, 300), ranker)
    assert_same_review(RANKERS["leaf"](here), RANKERS["leaf"](spread), 8, every=3)


def test_arrays_and_other_ensembles(client):
    X = np.random.default_rng(0).normal(size=(700, 4)).astype(np.float32)
    spread = da.from_array(X, chunks=(200, 2))
    isolating, trees = (
        IsolationForest(n_estimators=5, random_state=0).fit(X),
        ExtraTreesRegressor(n_estimators=5, random_state=0),
    )
    trees.fit(X, X[:, 0])
    for make in (
        lambda rows: ScoreSpace.from_isolation_forest(rows, forest=isolating),
        lambda rows: ScoreSpace.from_random_forest(rows, trees),
        lambda rows: ScoreSpace.from_isolation_forest(rows, **FOREST),
        lambda rows: ScoreSpace.from_loda(rows, n_projections=9, random_state=1),
    ):
        assert make(spread).fingerprint == make(X).fingerprint


def test_parquet_files(client, tmp_path):
    table = claims(300)
    for number, part in enumerate((table[:100], table[100:])):
        part.to_parquet(tmp_path / f"part{number}.parquet")
    spread = ScoreSpace.from_isolation_forest(dd.read_parquet(tmp_path), **FOREST)
    assert spread.fingerprint == ScoreSpace.from_isolation_forest(table, **FOREST).fingerprint


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (AAD, "AAD needs all rows on one machine"),
        (lambda space: OMD(space, loss="log-likelihood"), r"log-likelihood needs .* use loss='linear'"),
        (
            lambda space: LeafSimilarity(space, kernel="ancestor"),
            "ancestor kernel needs .* use kernel='leaf'",
        ),
        (lambda space: space.append(claims(100)), "cannot be appended"),
        (lambda space: space.save("space"), "is not saved; save the ranker"),
        (lambda space: space.base_scores(), "a number for each row"),
        (lambda space: space.leaf_sums(np.ones(900)), "a number for each row"),
        (lambda space: Offline(space).tell(900, True), "no row 900"),
    ],
)
def test_what_needs_one_machine_is_refused(spaces, ask, says):
    with pytest.raises(InvalidInputError, match=says):
        ask(spaces[1])


def test_the_default_is_the_leaf_kernel(spaces):
    assert LeafSimilarity(spaces[1]).kernel == "leaf"


def test_tables_that_cannot_be_placed(client, monkeypatch):
    table = claims(200)
    parts = [dask.delayed(table[:100]), dask.delayed(table[100:].drop(columns="make"))]
    differing = dd.from_delayed(parts, meta=table.head(0), verify_meta=False)
    with pytest.raises(SchemaError, match="partition 0 has a column 'make' and partition 1 has not"):
        ScoreSpace.from_isolation_forest(differing)
    with pytest.raises(InvalidInputError, match="no rows in any of its partitions"):
        ScoreSpace.from_isolation_forest(in_partitions(table[:0], 0))
    monkeypatch.setattr(held, "memory_limit", lambda dask_worker: 4_000)
    with pytest.raises(ClusterError, match=r"would hold 100 rows of 12 members, which take about"):
        ScoreSpace.from_isolation_forest(in_partitions(table, 100), **FOREST)


def test_a_worker_that_goes_away_while_rows_are_placed(client, monkeypatch):
    monkeypatch.setattr(held, "LOOK_EVERY", 0.1)
    rows = held.HeldRows(in_partitions(claims(100), 50))
    nowhere = {"workers": ["inproc://10.0.0.1/1/1"], "allow_other_workers": False, "pure": False}
    rows._runs = {nowhere["workers"][0]: range(1)}
    with pytest.raises(
        ClusterError, match=r"worker inproc.* went away while it placed rows, .* no score space"
    ):
        rows._gathered([client.submit(len, [], **nowhere)])


def test_workers_forget_rankers_that_are_gone(client):
    space = ScoreSpace.from_isolation_forest(in_partitions(claims(200), 100), **FOREST)
    first = Offline(space)
    first.ask()
    del first
    gc.collect()
    second, third = Offline(space), Offline(space)
    assert second.ask() == third.ask()
    known = client.run(
        lambda dask_worker: [
            len(part._known) for part in dask_worker.state.actors.values() if part.space.n_rows == 100
        ]
    )
    assert sorted(n for each in known.values() for n in each)[-2:] == [2, 2]


class Silent:
    """What an actor's answer is when its worker died at the wrong moment: it never comes."""

    def result(self, timeout):
        raise TimeoutError

    def done(self):
        return False


def test_a_worker_that_does_not_answer_and_one_that_fails():
    there = {"a": 1, "b": 1}
    looks = iter([there, {"a": 1}])
    client = SimpleNamespace(nthreads=lambda: next(looks))
    actors = [SimpleNamespace(counts=Silent), SimpleNamespace(counts=Silent)]
    asked = workers.Workers(client, ["b", "a"], actors, np.array([0, 5]))
    for _ in range(2):  # it is told again without asking anybody
        with pytest.raises(
            ClusterError, match=r"worker b went away, and the rows that it held .*ranker\.save"
        ):
            asked.each("counts")
    broken = SimpleNamespace(counts=lambda: SimpleNamespace(result=lambda timeout: 1 // 0))
    asked = workers.Workers(SimpleNamespace(nthreads=lambda: there), ["a"], [broken], np.array([0]))
    with pytest.raises(
        ClusterError, match=r"worker a failed \(ZeroDivisionError: .*\), so rows are not ranked"
    ):
        asked.each("counts")


# Processes of their own, as workers on other machines are.


@pytest.mark.slow
def test_one_two_or_three_processes_and_one_that_dies(tmp_path):
    table = claims()
    here = ScoreSpace.from_isolation_forest(table, **FOREST)
    with workers_in_processes(3) as cluster:
        for n_workers in (3, 2, 1):
            with scaled(cluster, n_workers):
                spread = ScoreSpace.from_isolation_forest(in_partitions(table, 250, 250, 600), **FOREST)
                one, other = RANKERS["leaf"](here), RANKERS["leaf"](spread)
                assert_same_review(one, other, 32, every=8)
        with scaled(cluster, 1) as client:
            other = RANKERS["leaf"](
                ScoreSpace.from_isolation_forest(in_partitions(table, 300, 600), **FOREST)
            )
            for row in range(0, 60, 10):
                other.tell(row, row % 20 == 0)
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            for _ in range(2):
                with pytest.raises(ClusterError, match=r"worker .* went away, and the rows that it held"):
                    other.ranking(10)
            other.save(tmp_path / "ranker")
    again = FeedbackRanker.load(tmp_path / "ranker", here)
    assert again.reviewed == other.reviewed
