"""Databases, with SQLite: rows out and in, and what goes wrong."""

from __future__ import annotations

import sqlite3

import polars as pl
import pytest

from shortlist.exceptions import MissingExtraError, TableError
from shortlist.tables import Roles, Schema, read_batches, read_table, scan_table, write_table


@pytest.fixture
def url(tmp_path, claims) -> str:
    url = f"sqlite:///{tmp_path}/claims.db"
    write_table(claims, f"{url}::claims")
    return url


def test_table_comes_back(url, claims):
    frame = read_table(url, query="claims")
    assert frame.columns == claims.columns
    assert frame["amount"].to_list() == claims["amount"].to_list()
    assert frame["day"].to_list() == claims["day"].cast(pl.String).to_list()


def test_schema_of_a_database_table_fits_the_frame(url, claims):
    roles = Roles(id="claim", label="fraud")
    learned = Schema.learn(read_table(url, query="claims"), roles)
    kept = [f.name for f in learned.features]
    assert kept == ["amount", "make", "police", "day"]
    assert learned.matrix(claims).shape == (40, len(learned.columns))


def test_query(url):
    frame = read_table(url, query="select make, count(*) as n from claims group by make order by n, make")
    assert frame["n"].sum() == 40


def test_batches(url):
    batches = list(read_batches(url, query="claims", batch_rows=15))
    assert [batch.height for batch in batches] == [15, 15, 10]


def test_names_are_quoted(tmp_path):
    url = f"sqlite:///{tmp_path}/odd.db"
    write_table(pl.DataFrame({"group": [1], 'a "b"': [2]}), f"{url}::order")
    assert read_table(url, query="order").rows() == [(1, 2)]


def test_existing_table_is_kept_unless_allowed(url, claims):
    with pytest.raises(TableError, match=r"'claims' exists already.*replace=True"):
        write_table(claims[:3], f"{url}::claims")
    assert read_table(url, query="claims").height == 40
    write_table(claims[:3], f"{url}::claims", replace=True)
    assert read_table(url, query="claims").height == 3


def test_failed_write_keeps_the_old_table(url, tmp_path):
    too_large = pl.DataFrame({"x": [1, 2**70]}, schema={"x": pl.Int128})
    with pytest.raises(TableError, match="Nothing was written"):
        write_table(too_large, f"{url}::claims", replace=True)
    with pytest.raises(TableError, match="Nothing was written"):
        write_table(too_large, f"{url}::fresh")
    with sqlite3.connect(tmp_path / "claims.db") as connection:
        assert connection.execute("select name from sqlite_master").fetchall() == [("claims",)]
        assert connection.execute("select count(*) from claims").fetchone() == (40,)
    connection.close()


def test_nested_column_cannot_be_written(url):
    with pytest.raises(TableError, match="'x' holds List"):
        write_table(pl.DataFrame({"x": [[1]]}), f"{url}::nested")


@pytest.mark.parametrize("place", ["sqlite://", "sqlite:///:memory:"])
def test_a_table_in_memory_would_be_lost(claims, place):
    with pytest.raises(TableError, match="gone when the command ends"):
        write_table(claims, f"{place}::claims")


def test_target_without_table(url, claims):
    with pytest.raises(TableError, match="::NAME"):
        write_table(claims, url)


def test_no_query_lists_the_tables(url):
    with pytest.raises(TableError, match="Its tables: claims"):
        read_table(url)


def test_unknown_table_suggests(url):
    with pytest.raises(TableError, match=r"no table 'claim'\. Did you mean 'claims'"):
        read_table(url, query="claim")


@pytest.mark.parametrize(
    "query", ["selct * from claims", "select nothing from claims", "create table t (a int)"]
)
def test_bad_query(url, query):
    with pytest.raises(TableError, match=r"Mend the query|selects rows"):
        read_table(url, query=query)


def test_query_without_rows(url):
    with pytest.raises(TableError, match="has no rows"):
        read_table(url, query="select * from claims where amount > 1e9")


def test_missing_database_is_not_created(tmp_path):
    (tmp_path / "claims.db").touch()
    with pytest.raises(TableError, match=r"no database file .*Did you mean 'claims\.db'"):
        read_table(f"sqlite:///{tmp_path}/claim.db", query="x")
    assert not (tmp_path / "claim.db").exists()


def test_file_that_is_no_database(put):
    path = put("a.db", "this is text, not a database" * 50)
    with pytest.raises(TableError, match="not a database"):
        read_table(f"sqlite:///{path}", query="select 1 from x")
    with pytest.raises(TableError, match="not a database"):
        read_table(f"sqlite:///{path}", query="x")


def test_server_that_is_not_there_hides_the_password():
    with pytest.raises((TableError, MissingExtraError)) as caught:
        read_table("postgresql://me:secret@localhost:1/claims", query="x")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["foo://bar", "://", "sqlite:////nowhere/at/all.db"])
def test_bad_url(url):
    with pytest.raises(TableError):
        read_table(url, query="x")


def test_database_is_not_lazy(url):
    with pytest.raises(TableError, match="read_batches"):
        scan_table(url)
