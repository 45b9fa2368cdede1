"""Tables elsewhere: a web server of our own, a store of fsspec, standard input; DuckDB, JSON, folders with names."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import duckdb
import fsspec
import polars as pl
import pytest

from shortlist.exceptions import TableError
from shortlist.tables import read_batches, read_table, scan_table, write_table
from shortlist.tables.io.write import check_target

FRAME = pl.DataFrame({"id": ["a", "b"], "amount": [3, 5]})


@pytest.fixture
def web(tmp_path):
    """The address of a server that hands out a folder, and the folder."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", tmp_path
    server.shutdown()
    server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["rows.csv", "rows.parquet", "rows.jsonl", "rows.json", "rows.xlsx", "rows.arrow"]
)
def test_a_web_address_is_read_as_a_file_is(web, name):
    address, folder = web
    write_table(FRAME, folder / name)
    assert read_table(f"{address}/{name}?key=secret").equals(FRAME)
    assert scan_table(f"{address}/{name}").collect().equals(FRAME)
    assert pl.concat(read_batches(f"{address}/{name}", batch_rows=1)).equals(FRAME)


def test_a_web_address_without_an_ending_is_told_by_its_content(web):
    address, folder = web
    FRAME.write_parquet(folder / "export")
    assert read_table(f"{address}/export").equals(FRAME)


def test_what_the_web_refuses_is_said_without_its_key(web):
    address, _ = web
    with pytest.raises(TableError, match=r"cannot read http.*/none\.csv: .*not found") as refusal:
        read_table(f"{address}/none.csv?key=secret")
    assert "secret" not in str(refusal.value)
    with pytest.raises(TableError, match="cannot read http://127"):
        read_table("http://127.0.0.1:9/rows.csv")
    with pytest.raises(TableError, match="cannot write to http"):
        check_target(f"{address}/rows.csv")


def test_a_store_is_read_and_written():
    write_table(FRAME, "memory://claims/rows.parquet")
    assert read_table("memory://claims/rows.parquet").equals(FRAME)
    write_table(FRAME, "memory://claims/more.parquet")
    assert read_table("memory://claims/*.parquet").height == 4
    assert read_table("memory://claims").height == 4
    with pytest.raises(TableError, match=r"cannot reach memory://claims/none\.csv"):
        read_table("memory://claims/none.csv")
    with pytest.raises(TableError, match="cannot tell the format"):
        check_target("memory://claims/rows.doc")
    fsspec.filesystem("memory").rm("/claims", recursive=True)


def test_a_store_whose_package_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(TableError, match="s3fs"):
        read_table("s3://bucket/rows.parquet")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl", ".json", ".arrow", ".xlsx"])
def test_standard_input_is_told_by_its_content(tmp_path, monkeypatch, ending):
    path = tmp_path / f"rows{ending}"
    write_table(FRAME, path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert read_table("-").equals(FRAME)


def test_nothing_by_standard_input_is_said(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(TableError, match="is empty"):
        read_table("-")
    leader, terminal = os.openpty()
    with os.fdopen(terminal) as keyboard:
        monkeypatch.setattr(sys, "stdin", keyboard)
        with pytest.raises(TableError, match="nothing comes by standard input"):
            read_table("-")
    os.close(leader)


def test_a_list_of_objects(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"a": 1}, {"a": 2.5, "b": "x"}], indent=1))
    assert read_table(path).rows() == [(1.0, None), (2.5, "x")]
    path.write_text('\n{"a": 1}\n{"a": 2}\n')
    assert read_table(path).rows() == [(1,), (2,)]
    packed = tmp_path / "rows.json.gz"
    packed.write_bytes(gzip.compress(b'[{"a": 1}]'))
    assert read_table(packed).rows() == [(1,)]


@pytest.mark.parametrize(
    ("content", "says"),
    [('{"a": {"0": 1}}', "holds no list of rows"), ("[1, ", "cannot read"), ("", "is empty")],
)
def test_other_json_is_refused(tmp_path, content, says):
    (tmp_path / "rows.json").write_text(content)
    with pytest.raises(TableError, match=says):
        read_table(tmp_path / "rows.json")


def test_duckdb_is_read_and_written(tmp_path):
    place = f"duckdb:///{tmp_path}/claims.duckdb"
    check_target(f"{place}::history")
    write_table(FRAME, f"{place}::history")
    for source in (f"{place}::history", f"{tmp_path}/claims.duckdb::history"):
        assert read_table(source).equals(FRAME)
        assert scan_table(source).collect().equals(FRAME)
        assert pl.concat(read_batches(source, batch_rows=1)).equals(FRAME)
    assert read_table(place, query="select amount from history where id = 'b'").rows() == [(5,)]
    for refuse in (check_target, partial(write_table, FRAME)):
        with pytest.raises(TableError, match="exists already; replace it with --replace"):
            refuse(f"{place}::history", replace=False)
    write_table(FRAME.head(1), f"{place}::history", replace=True)
    assert read_table(f"{place}::history").height == 1


@pytest.mark.parametrize(
    ("name", "says"),
    [("claims.duckdb::histroy", "no table 'histroy'. Did you mean 'history'"),
     ("claims.duckdb", "say which table: FILE::TABLE. Its tables: history"),
     ("none.duckdb::history", "there is no database file"), ("text.duckdb::history", "refused: .*not a valid DuckDB")],
)  # fmt: skip
def test_what_duckdb_lacks_is_said(tmp_path, name, says):
    with duckdb.connect(str(tmp_path / "claims.duckdb")) as connection:
        connection.execute("create table history as select 1 as x")
    (tmp_path / "text.duckdb").write_text("no database")
    with pytest.raises(TableError, match=says):
        read_table(f"{tmp_path}/{name}")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl", ".json", ".arrow"])
def test_names_of_folders_are_columns(tmp_path, ending):
    for year, region in ((2023, "north"), (2024, "south")):
        folder = tmp_path / f"year={year}" / f"region={region}"
        folder.mkdir(parents=True)
        write_table(FRAME, folder / f"rows{ending}")
    for read in (read_table, lambda source: scan_table(source).collect()):
        rows = read(tmp_path)
        assert rows.columns == ["id", "amount", "year", "region"]
        assert rows.filter(pl.col("year") == 2024)["region"].to_list() == ["south", "south"]
