"""Rows that come batch by batch are ranked as they would be all at once."""

import errno
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import shortlist
from shortlist.datasets import make_claims
from shortlist.exceptions import TableError, TooLargeError
from shortlist.models.batches import names as names_module
from shortlist.models.batches.names import NamesSeen
from shortlist.models.batches.sample import EvenSample
from shortlist.models.batches.scoring import score_batches
from shortlist.models.batches.top import RunningTop
from shortlist.rankers.base import top_rows
from shortlist.rankers.chances.calibration import precision_so_far
from shortlist.tables import memory
from shortlist.tables.columns.formats import Format
from shortlist.tables.memory import Cost


@pytest.fixture(scope="module")
def history():
    return make_claims(1_500, random_state=0)


@pytest.fixture(scope="module")
def new():
    fresh = make_claims(700, random_state=1).drop("fraud")
    odd = pl.int_range(pl.len()) % 9 == 0
    return fresh.with_columns(pl.when(odd).then(pl.lit("hovercraft")).otherwise("vehicle").alias("vehicle"))


def train(history, model="logistic", **options):
    return shortlist.train(history, label="fraud", id="claim_id", model=model, **options)


@pytest.fixture(scope="module")
def boosted(history):
    return train(history[:800], model="ap-boost")


@pytest.fixture(scope="module")
def model(history):
    return train(history)


def assert_same(model, new, budget=10, batch_rows=97):
    at_once = model.score(new, budget=budget)
    in_batches = score_batches(model, new.lazy(), budget, named=True, batch_rows=batch_rows)
    assert_frame_equal(at_once.frame, in_batches.frame)
    assert at_once.notes == in_batches.notes
    assert np.array_equal(at_once.rows, in_batches.rows)
    assert at_once.shifts == in_batches.shifts
    assert at_once.found == in_batches.found


@pytest.mark.parametrize("batch_rows", [97, 699, 5_000])
def test_the_shortlist_is_that_of_all_rows_at_once(boosted, new, batch_rows):
    assert_same(boosted, new, batch_rows=batch_rows)
    assert "expected_precision" in boosted.score(new).frame.columns


def test_how_far_it_is_is_told(model, new, tmp_path, monkeypatch):
    new.write_parquet(tmp_path / "new.parquet")
    monkeypatch.setattr(memory, "WHOLE", {"score": Cost(row=1e7)})
    monkeypatch.setattr(memory, "BATCH_ROWS", 300)
    told = []
    model.score(tmp_path / "new.parquet", budget=5, memory="2GB", on_progress=lambda *how: told.append(how))
    assert told == [(300, 700, None), (600, 700, None), (700, 700, None)]


def test_lists_and_rows_without_ids(history, new):
    model = shortlist.train(history.drop("claim_id"), label="fraud", list="region", model="logistic")
    assert_same(model, new.drop("claim_id"), budget=4)
    assert_same(model, new.drop("claim_id"), budget=10_000)


def test_expected_values_and_rows_that_do_not_say_theirs(history, new):
    model = train(history, value="amount")
    gaps = new.with_columns(
        pl.when(pl.int_range(pl.len()) % 50 == 3).then(None).otherwise("amount").alias("amount")
    )
    assert_same(model, gaps)
    assert any("no amount in 14 rows" in note for note in model.score(gaps).notes)


def test_what_is_odd_is_told_of_all_rows(model, new):
    found = score_batches(model, new.lazy(), 10, named=False, batch_rows=50)
    assert any("in 78 rows: 'hovercraft' (78); read as missing." in note for note in found.notes)


def test_sums_below_the_last_row_are_no_row(model, new, tmp_path):
    file = tmp_path / "new.csv"
    new.write_csv(file)
    with file.open("a") as lines:
        lines.write("Total,,123.5" + "," * (new.width - 3) + "\n")
    for batch_rows in (new.height, 100):
        found = score_batches(model, str(file), 700, named=False, batch_rows=batch_rows)
        assert found.frame.height == 700
        assert any("the last row is left out" in note for note in found.notes)


def test_an_id_in_two_batches_is_refused(model, new):
    twice = pl.concat([new, new[3:4]])
    with pytest.raises(TableError, match=f"names several rows alike, '{new['claim_id'][3]}'"):
        score_batches(model, twice.lazy(), 10, named=False, batch_rows=100)


def test_what_is_wrong_in_a_batch_names_its_rows(model, new):
    wrong = new.with_columns(
        pl.when(pl.int_range(pl.len()) == 250).then(None).otherwise("claim_id").alias("claim_id")
    )
    with pytest.raises(
        TableError, match=r"rows 201 to 300, counted from 1 here: id column 'claim_id' is empty in 1 row"
    ):
        score_batches(model, wrong.lazy(), 10, named=False, batch_rows=100)


@given(
    score=st.lists(st.integers(0, 4), min_size=1, max_size=40),
    seed=st.integers(0, 99),
    budget=st.integers(1, 6),
    batch_rows=st.integers(1, 9),
    n_lists=st.integers(1, 3),
)
@settings(deadline=None, max_examples=50)
def test_the_running_top_is_the_top_of_all_rows(score, seed, budget, batch_rows, n_lists):
    score = np.array(score, dtype=np.float64)
    rng = np.random.default_rng(seed)
    chance, lists = rng.random(score.size), rng.integers(0, n_lists, score.size)
    top = RunningTop(budget)
    for start in range(0, score.size, batch_rows):
        part = slice(start, start + batch_rows)
        top.add(start, score[part], chance[part].__getitem__, pl.Series(lists[part]))
    rows = top.best["row"].to_numpy()
    assert rows.tolist() == top_rows(score, budget, lists).tolist()
    expected = np.empty(score.size)
    for each in np.unique(lists):
        expected[lists == each] = precision_so_far(score[lists == each], chance[lists == each])
    assert top.expected() == pytest.approx(expected[rows])
    assert top.longest == np.bincount(lists).max()


def test_names_go_to_disk_and_are_still_known(monkeypatch):
    monkeypatch.setattr(names_module, "WAITING", 100)
    batches = [pl.Series([f"claim {i}" for i in range(start, start + 60)]) for start in range(0, 600, 60)]
    with NamesSeen() as seen:
        for batch in batches:
            seen.add(batch)
        assert seen.repeated(lambda: batches) is None
        seen.add(pl.Series(["claim 17"]))
        assert seen.repeated(lambda: [*batches, pl.Series(["claim 17"])]) == "claim 17"
        folder = seen._folder
    assert not Path(folder).exists()


@given(
    names=st.lists(st.integers(0, 30), min_size=1, max_size=12),
    rising=st.integers(0, 12),
    size=st.integers(1, 4),
    kind=st.sampled_from([pl.Int64, pl.UInt8, pl.String, pl.Float64]),
)
@settings(deadline=None)
def test_names_that_rise_for_a_while_are_known_all_the_same(names, rising, size, kind):
    names = [*range(10, 10 + rising), *names]
    batches = [pl.Series(names[start : start + size]).cast(kind) for start in range(0, len(names), size)]
    with NamesSeen() as seen:
        for batch in batches:
            seen.add(batch)
        twice = seen.repeated(lambda: iter(batches))
    assert (twice is None) == (len({*names}) == len(names))
    assert twice is None or names.count(int(twice)) > 1


def test_that_there_is_no_room_for_names_is_told(monkeypatch, tmp_path):
    def full(path, mode):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(names_module, "WAITING", 10)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(TooLargeError, match=r"is full\. Make room there"), NamesSeen() as seen:
        seen.add(pl.Series([f"claim {i}" for i in range(20)]))
    assert not [*tmp_path.iterdir()]


def test_of_names_that_rise_nothing_is_kept(monkeypatch):
    monkeypatch.setattr(names_module, "WAITING", 10)
    with NamesSeen() as seen:
        for start in range(0, 600, 60):
            seen.add(pl.Series(range(start, start + 60)))
        assert seen.repeated(lambda: pytest.fail("they need not be read again")) is None
        assert seen._folder is None


def test_names_that_share_a_hash_are_no_names_that_came_twice(monkeypatch):
    monkeypatch.setattr(names_module, "_hashes", lambda names: np.zeros(len(names), dtype=np.uint64))
    with NamesSeen() as seen:
        seen.add(pl.Series(["a", "b"]))
        assert seen.repeated(lambda: [pl.Series(["a", "b"])]) is None


def test_a_sample_is_even_and_bounded():
    sample = EvenSample(most=100)
    for start in range(0, 1_000, 70):
        frame = pl.DataFrame({"row": np.arange(start, min(start + 70, 1_000))})
        sample.add(start, frame)
    assert 50 <= sample.rows.size <= 100
    assert set(np.diff(sample.rows)) == {sample.step}
    assert sample.frame["row"].to_list() == sample.rows.tolist()


def test_a_table_beyond_memory_is_scored_batch_by_batch_and_says_so(model, new, tmp_path, monkeypatch):
    file = tmp_path / "new.parquet"
    new.write_parquet(file)
    at_once = model.score(file, budget=10)
    monkeypatch.setattr(
        "shortlist.tables.memory.BY_BATCH", {"score": shortlist.tables.memory.Cost(fixed=-1e6)}
    )
    monkeypatch.setattr("shortlist.tables.memory.WHOLE", {"score": shortlist.tables.memory.Cost(row=1e6)})
    found = model.score(file, budget=10, memory="800MB")
    assert_frame_equal(at_once.frame, found.frame)
    assert found.notes[-1].startswith(
        "scored batch by batch: about 700 rows of 14 columns would take about 1.1 GB at once"
    )
    with pytest.raises(TooLargeError, match="leave out --all"):
        model.score(file, memory="800MB", keep_all=True)


def test_how_values_are_written_is_learned_of_columns_that_are_a_reason_alone(boosted, new, monkeypatch):
    learned = []
    learn = Format.learn
    monkeypatch.setattr(Format, "learn", lambda series: learned.append(series.name) or learn(series))
    found = boosted.score(new, budget=3).frame
    said = " ".join(
        text for name in found.columns if name.startswith("reason") for text in found[name] if text
    )
    assert learned
    assert len(learned) == len({*learned}) < len(boosted.schema.features)
    assert all(name in said for name in learned)


def test_a_batch_without_a_row_that_is_good_enough_changes_nothing():
    top = RunningTop(budget=2)
    top.add(0, np.array([3.0, 2.0, 1.0]), lambda rows: None, None)
    before = top.best
    assert top.add(3, np.array([0.5, 1.5]), lambda rows: None, None).tolist() == [0, 1]
    assert top.best is before
    assert top.longest == 5
