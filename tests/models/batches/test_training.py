"""A history larger than memory teaches what it would teach in memory."""

import contextlib
import errno
import sqlite3
import tempfile

import polars as pl
import pytest
from polars.exceptions import ComputeError
from polars.testing import assert_frame_equal

import shortlist
from shortlist.datasets import make_claims
from shortlist.exceptions import SchemaError, TableError, TooLargeError
from shortlist.models.batches.training import train_batches
from shortlist.rankers.boosting import ap_training, external
from shortlist.rankers.boosting.trees import bins
from shortlist.rankers.catalogue import RankerOptions
from shortlist.tables import Roles, memory, write_table
from shortlist.tables.io import sql
from shortlist.tables.memory import Cost

ROLES = Roles(id="claim_id", label="fraud", time="date")


@pytest.fixture(scope="module")
def claims():
    return make_claims(4_000, random_state=0, fraud_rate=0.1)


@pytest.fixture(autouse=True)
def one_model(monkeypatch):
    """Rows are few here, and where they are many there are no folds."""
    monkeypatch.setattr(ap_training, "FEW_ROWS", 0)
    monkeypatch.setattr(ap_training, "most_rounds", lambda ranker, stops: 25)


@pytest.fixture
def beyond_memory(monkeypatch):
    monkeypatch.setattr(memory, "WHOLE", dict.fromkeys(memory.WHOLE, Cost(row=1e7)))
    monkeypatch.setattr(memory, "BY_BATCH", dict.fromkeys(memory.BY_BATCH, Cost(fixed=1e6)))


def test_the_model_is_that_of_rows_in_memory(claims, tmp_path):
    given = {"label": "fraud", "id": "claim_id", "time": "date", "n_jobs": 1}
    inside = shortlist.train(claims, **given)
    claims.write_parquet(tmp_path / "claims.parquet")
    outside = train_batches(tmp_path, ROLES, "ap-boost", RankerOptions(n_jobs=1), batch_rows=300)
    assert outside.ranker.booster_.get_dump() == inside.ranker.booster_.get_dump()
    assert outside.schema == inside.schema
    assert outside.profile == inside.profile
    assert outside.notes == inside.notes
    same = ("rows", "wanted")
    assert [outside.training[each] for each in same] == [inside.training[each] for each in same]
    new = make_claims(300, random_state=1).drop("fraud")
    version = pl.selectors.exclude("model_version", "expected_precision")
    assert_frame_equal(outside.score(new).frame.select(version), inside.score(new).frame.select(version))
    outside.save(tmp_path / "model.shortlist")
    assert shortlist.TrainedModel.load(tmp_path / "model.shortlist").training["rows"] == 4_000


@pytest.mark.parametrize("changes", [{}, {"value": "amount"}, {"list": "region"}], ids=str)
def test_rows_few_enough_for_folds_have_the_model_of_memory(
    claims, tmp_path, beyond_memory, monkeypatch, changes
):
    """All of it: its version is made of what it knows and says."""
    monkeypatch.setattr(ap_training, "FEW_ROWS", 4_000)
    given = {"label": "fraud", "id": "claim_id", "time": "date", "model": "ap-boost", "n_jobs": 1, **changes}
    inside = shortlist.train(claims, **given)
    claims.write_parquet(tmp_path / "claims.parquet", row_group_size=300)
    outside = shortlist.train(tmp_path / "claims.parquet", **given, memory="1GB")
    assert any(note.startswith("trained batch by batch") for note in outside.notes)
    assert len(inside.ranker.rounds_) > 1
    assert outside.version == inside.version
    assert outside.profile == inside.profile
    assert outside.measures == inside.measures != {}
    assert outside.ranker.booster_.get_dump() == inside.ranker.booster_.get_dump()


@pytest.mark.parametrize(("few", "walks"), [(0, 4), (4_000, 2)])
@pytest.mark.parametrize("lazy", [False, True])
def test_how_many_rows_were_read_is_told(claims, tmp_path, monkeypatch, few, walks, lazy):
    """A query on a lazy frame is asked once, and what it gave is walked through."""
    monkeypatch.setattr(ap_training, "FEW_ROWS", few)
    for each in (bins, external):
        monkeypatch.setattr(each, "CUT_ROWS", 2_000)
    claims.write_parquet(tmp_path / "claims.parquet")
    told = []
    sizes = {"batch_rows": 1_000, "n_rows": 3_900, "on_progress": lambda *how: told.append(how)}
    source = claims.lazy() if lazy else tmp_path
    train_batches(source, ROLES, "ap-boost", RankerOptions(n_jobs=1), **sizes)
    n_told = 4 * (walks + lazy)
    rows, rounds = told[:n_told], told[n_told:]
    assert [done for done, _, _ in rows] == [*range(1_000, 1_000 * n_told + 1, 1_000)]
    assert rows[-1][1] == 1_000 * n_told
    assert {total for _, total, _ in rounds}.isdisjoint({total for _, total, _ in rows})
    assert all(value is None for _, _, value in rows)


def test_a_query_that_gives_another_order_each_time_is_asked_once(claims):
    """Labels would else be those of other rows."""
    asked = []

    def shuffled(rows):
        asked.append(len(asked))
        return rows.sample(fraction=1.0, shuffle=True, seed=asked[-1])

    query = claims.lazy().map_batches(shuffled)
    given = {"label": "fraud", "id": "claim_id", "time": "date", "n_jobs": 1}
    outside = train_batches(query, ROLES, "ap-boost", RankerOptions(n_jobs=1), batch_rows=900)
    assert asked == [0]
    first = claims.sample(fraction=1.0, shuffle=True, seed=0)
    assert outside.ranker.booster_.get_dump() == shortlist.train(first, **given).ranker.booster_.get_dump()


def test_a_row_of_sums_at_the_end_is_left_out_as_in_memory(claims, tmp_path, beyond_memory):
    sums = {"claim_id": "Total", "amount": float(claims["amount"].sum())}
    pl.concat([claims, pl.DataFrame([sums])], how="diagonal").write_csv(tmp_path / "claims.csv")
    given = {"label": "fraud", "id": "claim_id", "time": "date", "n_jobs": 1}
    inside = shortlist.train(claims, **given)
    outside = shortlist.train(tmp_path / "claims.csv", **given, memory="1GB")
    assert outside.training["rows"] == 4_000
    assert outside.ranker.booster_.get_dump() == inside.ranker.booster_.get_dump()


def test_a_database_with_numbers_and_words_in_a_column_is_told(claims, tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "claims.db")) as rows, rows:
        rows.execute("create table claims (fraud, amount)")
        rows.executemany("insert into claims values (?, ?)", [(i % 9 == 0, i) for i in range(200_000)])
        rows.execute("insert into claims values (1, 'much')")
    with pytest.raises(SchemaError, match="column 'amount' holds numbers in some rows and text in some rows"):
        shortlist.train(f"sqlite:///{tmp_path}/claims.db::claims", label="fraud", memory="1GB")


def test_a_database_is_read_once(claims, tmp_path, monkeypatch):
    """It may give its rows in another order each time."""
    url = f"sqlite:///{tmp_path}/claims.db"
    write_table(claims.with_columns(pl.col("date").cast(pl.String)), f"{url}::claims")
    asked = []
    read = sql.read_query
    monkeypatch.setattr(
        "shortlist.tables.io.read.read_query",
        lambda *given, **how: asked.append(given) or read(*given, **how),
    )
    given = {"label": "fraud", "id": "claim_id", "time": "date", "n_jobs": 1}
    outside = shortlist.train(f"{url}::claims", **given, memory="1GB")
    assert "trained batch by batch: its size is not known beforehand." in outside.notes
    assert len(asked) == 1
    assert outside.version == shortlist.train(f"{url}::claims", **given).version


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        ComputeError("... No space left on device (os error 28)"),
    ],
    ids=["Python", "polars"],
)
def test_a_temporary_folder_that_is_full_is_told(claims, tmp_path, monkeypatch, error):
    url = f"sqlite:///{tmp_path}/claims.db"
    write_table(claims, f"{url}::claims")
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))

    def full(frame, path):
        path.write_bytes(b"half of it")
        raise error

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(
        TooLargeError, match=r"scratch, is full. Make room there, or name a larger one: TMPDIR="
    ):
        shortlist.train(f"{url}::claims", label="fraud", memory="1GB")
    assert not [*(tmp_path / "scratch").iterdir()]


def test_a_database_without_rows_is_told_as_in_memory(claims, tmp_path):
    url = f"sqlite:///{tmp_path}/claims.db"
    write_table(claims.head(0), f"{url}::claims")
    for memory_limit in (None, "1GB"):
        with pytest.raises(TableError, match="the table has no rows; give "):
            shortlist.train(f"{url}::claims", label="fraud", memory=memory_limit)


def test_train_goes_batch_by_batch_by_itself(claims, tmp_path, beyond_memory):
    claims.write_csv(tmp_path / "claims.csv")
    model = shortlist.train(tmp_path / "claims.csv", label="fraud", id="claim_id", memory="1GB", n_jobs=1)
    assert model.notes[-1].startswith("trained batch by batch: about 4,0")
    assert model.training["rows"] == 4_000
    assert model.score(make_claims(50, random_state=1)).frame.height == 50


def test_rank_does_both_batch_by_batch(claims, tmp_path, beyond_memory):
    claims.write_parquet(tmp_path / "old.parquet")
    make_claims(200, random_state=1).drop("fraud").write_parquet(tmp_path / "new.parquet")
    files = (tmp_path / "old.parquet", tmp_path / "new.parquet")
    found = shortlist.rank(
        *files, label="fraud", id="claim_id", value="amount", budget=5, memory="1GB", n_jobs=1
    )
    assert found.frame["rank"].to_list() == [1, 2, 3, 4, 5]
    assert any("trained without comparing" in note for note in found.notes)
    assert {note.split(":")[0] for note in found.notes} >= {"trained batch by batch", "scored batch by batch"}


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"model": "logistic"}, "learn from a label with --model ap-boost"),
        ({"tune": True}, "leave out --tune"),
        ({"skip_empty_labels": True}, "leave out --skip-empty-labels"),
    ],
)
def test_what_needs_all_rows_is_refused_with_what_to_do(claims, tmp_path, beyond_memory, options, remedy):
    claims.write_parquet(tmp_path / "claims.parquet")
    with pytest.raises(TooLargeError, match=remedy):
        shortlist.train(tmp_path / "claims.parquet", label="fraud", memory="1GB", **options)


def test_what_a_sample_shows_is_told_of_the_sample(claims):
    leaky = claims.with_columns(paid=pl.when(pl.col("fraud") == 1).then(900.0).otherwise(0.0))
    sizes = {"batch_rows": 900, "sample_rows": 1_500}
    model = train_batches(leaky.lazy(), ROLES, "ap-boost", RankerOptions(n_jobs=1), **sizes)
    assert any(note.startswith("of 1,000 rows that were looked at: column 'paid'") for note in model.notes)
    assert model.profile.rows == 4_000
