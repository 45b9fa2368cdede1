"""The same with a real PostgreSQL server, started for these tests; skipped where it is not installed."""

from __future__ import annotations

import polars as pl
import pytest

from shortlist.exceptions import TableError
from shortlist.tables import Roles, Schema, read_batches, read_table, write_table


@pytest.fixture(scope="module")
def server(postgres_server):
    return postgres_server.url


@pytest.fixture
def url(server, claims) -> str:
    write_table(claims, f"{server}::claims", replace=True)
    return server


def test_table_comes_back_with_its_types(url, claims):
    assert read_table(url, query="claims").rows() == claims.rows()
    assert read_table(url, query="public.claims").schema["day"] == pl.Date


def test_schema_of_a_database_table_fits_the_frame(url, claims):
    learned = Schema.learn(read_table(url, query="claims"), Roles(id="claim", label="fraud"))
    assert learned.matrix(claims).shape == (40, len(learned.columns))


def test_exact_numbers_are_numbers(url):
    frame = read_table(url, query="select amount::numeric(12, 2) as amount from claims order by amount")
    assert frame["amount"].dtype.is_numeric()


def test_batches(url):
    assert [b.height for b in read_batches(url, query="claims", batch_rows=15)] == [15, 15, 10]


def test_the_server_keeps_the_rows_that_nobody_has_asked_for_yet(url):
    """Its driver would fetch all of them before it gives the first."""
    batches = read_batches(url, query="claims", batch_rows=15)
    next(batches)
    others = "select query from pg_stat_activity where state = 'idle in transaction'"
    assert any(query.startswith("FETCH FORWARD") for query in read_table(url, query=others)["query"])
    assert sum(batch.height for batch in batches) == 25


def test_failed_write_keeps_the_old_table(url):
    too_large = pl.DataFrame({"x": [1, 2**70]}, schema={"x": pl.Int128})
    with pytest.raises(TableError, match="Nothing was written"):
        write_table(too_large, f"{url}::claims", replace=True)
    assert read_table(url, query="claims").height == 40


@pytest.mark.parametrize("query", ["selct * from claims", "select nothing from claims", "no_such_table"])
def test_bad_query_says_what_to_do(url, query):
    with pytest.raises(TableError, match=r"Mend the query|Its tables"):
        read_table(url, query=query)


def test_database_that_is_not_there(url):
    with pytest.raises(TableError, match="Check host, port, name"):
        read_table(url.replace("/postgres?", "/nothing?"), query="claims")


def test_the_standard_sql_of_a_tree_gives_its_scores(server):
    import numpy as np
    import psycopg

    from shortlist.rankers import TargetTree

    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "price": rng.integers(1_900, 2_000, 1_500) / 100,
            "shop": rng.choice(["it's", 'say "hi"', "a, b", "100%"], 1_500),
            "paid": rng.random(1_500) < 0.5,
            "seen": pl.Series(rng.integers(0, 400 * 1_440, 1_500) * 60_000_000).cast(pl.Datetime("us")),
        }
    ).with_columns(pl.when(pl.Series(rng.random(1_500) < 0.9)).then(pl.all()))
    hints = [frame["price"] > 19.6, frame["shop"] == "it's", frame["paid"], frame["seen"].dt.hour() > 16]
    wanted = sum(hint.fill_null(False).cast(int) for hint in hints) + rng.random(1_500) > 2.8
    ranker = TargetTree(alpha=0.0, generations=40, n_restarts=1, random_state=0).fit(frame, wanted)
    sql = ranker.to_sql()
    assert all(name in sql for name in frame.columns)
    with psycopg.connect(server) as connection:
        connection.execute(
            "CREATE TEMP TABLE rows (n int, price float8, shop text, paid boolean, seen timestamp)"
        )
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO rows VALUES (%s, %s, %s, %s, %s)", frame.with_row_index().rows())
        found = [float(row[0]) for row in connection.execute(f"SELECT {sql} FROM rows ORDER BY n")]
    np.testing.assert_allclose(found, ranker.decision_function(frame), rtol=1e-12)
