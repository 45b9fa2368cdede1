"""The papers' data sets: their catalogue, and getting them from packages, origins and copies, always checked."""

import hashlib
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import polars as pl
import pytest

from shortlist.exceptions import TableError
from studies import data
from studies.__main__ import main
from studies.data_origins import ORIGINS, Origin, contents
from studies.paper_sets import data_folder, load_paper_set, paper_sets

GLASS = b"1,1.5,13,4,1,71,0,8,0,0,1\n2,1.6,14,3,1,72,0,7,0,0,6\n"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture
def served(tmp_path):
    """A folder and the address of a server of its files."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """No set is here, and no package holds one."""
    monkeypatch.setenv("SHORTLIST_DATA", str(tmp_path / "mine"))
    monkeypatch.delenv("SHORTLIST_DATA_URL", raising=False)
    monkeypatch.setattr(Origin, "installed", lambda self: None)
    return tmp_path / "mine"


def with_row(monkeypatch, name, **changed):
    row = data.catalogue()[name] | changed
    monkeypatch.setattr(data, "catalogue", lambda: {name: row})


def test_every_set_has_its_rows_licence_and_checksum():
    rows = data.catalogue()
    assert len(rows) == 40
    assert all(int(row["rows"]) > 0 and row["licence"] and len(row["sha256"]) == 64 for row in rows.values())
    assert set(ORIGINS) <= set(rows)
    assert all(len(rows[name]["contents"]) == 64 for name in ORIGINS)


def test_a_copy_is_downloaded_and_checked(served, empty, monkeypatch, capsys):
    folder, address = served
    pl.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}).write_parquet(folder / "glass.parquet")
    found = hashlib.sha256((folder / "glass.parquet").read_bytes()).hexdigest()
    monkeypatch.setenv("SHORTLIST_DATA_URL", f"{address}/")
    with pytest.raises(TableError, match=r"its checksum differs\. Nothing was kept"):
        data.get("glass")
    assert list(empty.iterdir()) == []
    with_row(monkeypatch, "glass", sha256=found)
    main(["data", "get", "glass"])
    assert "glass.parquet" in capsys.readouterr().out
    assert load_paper_set("glass").y.tolist() == [0, 1]
    monkeypatch.setenv("SHORTLIST_DATA_URL", "http://127.0.0.1:1")
    assert data.get("glass") == empty / "glass.parquet"  # it is here: nothing is asked for again


def test_the_file_of_an_origin_becomes_the_set(served, empty, monkeypatch):
    folder, address = served
    (folder / "glass.data").write_bytes(GLASS)
    origin = Origin(ORIGINS["glass"].read, address=f"{address}/glass.data")
    monkeypatch.setitem(ORIGINS, "glass", origin)
    with pytest.raises(TableError, match="does not hold the rows of the catalogue"):
        data.get("glass")
    assert list(empty.iterdir()) == []
    with_row(monkeypatch, "glass", contents=contents(ORIGINS["glass"].read(GLASS)))
    data.get("glass")
    found = load_paper_set("glass")
    assert found.y.tolist() == [0, 1]
    assert found.X.columns[:2] == ["RI", "Na"]


def test_what_cannot_be_had_is_told_in_a_sentence(served, empty):
    with pytest.raises(
        TableError, match="there is no set 'nothing'; `python -m studies data list` names them"
    ):
        data.get("nothing")
    with pytest.raises(
        TableError, match=r"w8a_train has no origin .* copy w8a_train\.npz into .*SHORTLIST_DATA_URL"
    ):
        data.get("w8a_train")
    with pytest.raises(TableError, match=r"cannot be read .* SHORTLIST_DATA"):
        data.download(f"{served[1]}/nothing")
    with pytest.raises(TableError, match="no address of a web server"):
        data.download("file:///etc/hosts")
    with pytest.raises(SystemExit, match="there is no set"):
        main(["data", "get", "nothing"])


def test_the_list_says_where_each_set_is(empty, capsys):
    main(["data", "list", "--json"])
    where = {row["name"]: row["where"] for row in json.loads(capsys.readouterr().out)}
    assert where["glass"] == "at its origin"
    assert where["w8a_train"] == "a copy of your own"
    main(["data", "list"])
    assert "of UCI (CC BY 4.0)" in capsys.readouterr().out


def test_a_file_in_a_package_is_found(tmp_path, monkeypatch):
    (tmp_path / "a_package" / "files").mkdir(parents=True)
    (tmp_path / "a_package" / "__init__.py").write_text("")
    (tmp_path / "a_package" / "files" / "glass.data").write_bytes(GLASS)
    monkeypatch.syspath_prepend(tmp_path)
    origin = Origin(ORIGINS["glass"].read, "a_package/files/glass.data")
    assert origin.read(origin.installed().read_bytes())["y"].to_list() == [0, 1]
    assert Origin(ORIGINS["glass"].read, "no_such_package/any").installed() is None


def test_each_origin_is_read_as_it_is_written():
    ecoli = b"AAT_ECOLI   0.49  0.29  0.48  0.50  0.56  0.24  0.35   cp\nX  0.1  0.2  0.3  0.5  0.5  0.2  0.3   omL\n"
    assert ORIGINS["ecoli"].read(ecoli)["y"].to_list() == [0, 1]
    pima = b"@relation pima\n6,148,72,35,0,33.6,0.627,50,positive\n1,85,66,29,0,26.6,0.351,31,negative\n"
    assert ORIGINS["pima"].read(pima)["y"].to_list() == [1, 0]
    wisconsin = b"1000025,5,1,1,1,2,1,3,1,1,2\n1002945,5,4,4,5,7,?,3,2,1,4\n"
    assert ORIGINS["wisconsin"].read(wisconsin)["Bare.nuclei"].to_list() == [1, None]
    fires = b"X,Y,month,day,FFMC,DMC,DC,ISI,temp,RH,wind,rain,area\n7,5,mar,fri,86,26,94,5,8,51,6.7,0,0\n"
    assert ORIGINS["forest_fires"].read(fires).columns[-2:] == ["list", "y"]


@pytest.mark.real_data
@pytest.mark.skipif(paper_sets().is_empty(), reason="the papers' data sets are not here")
def test_the_sets_that_are_here_are_those_of_the_catalogue():
    rows = data.catalogue()
    assert set(paper_sets()["name"]) == set(rows)
    for name in ORIGINS:
        assert contents(load_paper_set(name).frame) == rows[name]["contents"]
    for name, row in rows.items():
        assert (data_folder() / row["file"]).is_file(), name
