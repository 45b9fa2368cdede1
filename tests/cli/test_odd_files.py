"""Files that are damaged, endless, too wide, or no files at all: one sentence, exit code 2, nothing half written."""

import gzip
import os
import random
import threading
import zlib

import numpy as np
import polars as pl
import pytest

from shortlist.exceptions import TableError
from shortlist.tables import read_table
from shortlist.tables.io import readable
from shortlist.tables.io.dialect import open_text
from tests.cli.conftest import run_in
from tests.forks import FORKS

LEARN = ("--label", "fraud", "--model", "logistic", "-k", 2)
LINKS = {"circle.csv": "back.csv", "back.csv": "circle.csv", "lost.csv": "gone.csv", "d/lost.csv": "gone.csv"}


@pytest.fixture
def refused(shortlist, claims):
    """Call the program, and give its sentence."""

    def call(*arguments):
        before = {*claims.rglob("*")}
        done = shortlist(*arguments)
        assert done.code == 2, done.err
        assert done.out == ""
        assert {*claims.rglob("*")} == before
        assert done.err.startswith("error: ")
        assert "Traceback" not in done.err
        return done.err

    return call


def panics(content):
    """A Parquet file with flipped bytes over which polars' own code breaks."""
    chance = random.Random(0)
    for _ in range(500):
        flipped = bytearray(content)
        for _ in range(8):
            flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        try:
            pl.read_parquet(bytes(flipped))
        except pl.exceptions.PanicException:
            return flipped
        except pl.exceptions.PolarsError:
            pass
    return pytest.fail("no flip makes polars panic any more")


@pytest.mark.slow
def test_a_damaged_file_is_one_sentence_of_the_program(claims):
    pl.read_csv("history.csv").write_parquet("whole.parquet")
    (claims / "history.parquet").write_bytes(panics((claims / "whole.parquet").read_bytes()))
    ask = ["rank", "history.parquet", "new.csv", *map(str, LEARN), "-o", "top.csv"]
    process = FORKS.Process(target=run_in, args=(claims, ask))
    process.start()
    process.join()
    assert process.exitcode == 2
    assert not (claims / "top.csv").exists()
    assert (claims / "errors.txt").read_text() == (
        "error: cannot read history.parquet: its bytes make no sense. The file may be cut off, damaged, or of another "
        "format than its ending says; write or copy it anew.\n"
    )


def breaks_zlib(content):
    """A compressed file with one byte changed, over which zlib breaks but not gzip, which looks at its frame only."""
    chance = random.Random(0)
    for _ in range(500):
        changed = bytearray(content)
        changed[chance.randrange(len(changed))] = chance.randrange(256)
        try:
            gzip.decompress(changed)
        except zlib.error:
            return changed
        except (OSError, EOFError):
            pass
    return pytest.fail("no change breaks zlib any more")


@pytest.mark.parametrize("name", ["history.csv", "history.json"])
def test_a_damaged_compressed_file(refused, claims, name):
    pl.read_csv("history.csv").write_json("history.json")
    (claims / f"{name}.gz").write_bytes(breaks_zlib(gzip.compress((claims / name).read_bytes())))
    said = refused("rank", f"{name}.gz", "new.csv", *LEARN)
    assert f"cannot read {name}.gz: Error -3 while decompressing data" in said
    assert "Is the file complete" in said


def test_a_compressed_file_is_sound_as_long_as_it_is_read(claims):
    """Its encoding is known before its rows are read, and another program may write it meanwhile."""
    rows = (claims / "history.csv").read_bytes()
    (claims / "history.csv.gz").write_bytes(breaks_zlib(gzip.compress(rows)))
    with (
        pytest.raises(TableError, match="cannot read"),
        open_text(claims / "history.csv.gz", "utf-8") as file,
    ):
        file.read()


def test_what_is_written_beside_a_reading_is_only_late(capfd):
    with readable.Panics.hidden(), readable.readable("a.csv"):
        os.write(2, b"a warning")
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == "a warning"


@pytest.mark.parametrize("place", [1, 2])
def test_links_that_lead_nowhere(refused, claims, place):
    (claims / "d").mkdir()
    for link, target in LINKS.items():
        (claims / link).symlink_to(target)

    def ask(name):
        return refused(
            "rank", *(name if n == place else f for n, f in ((1, "history.csv"), (2, "new.csv"))), *LEARN
        )

    assert "circle.csv is a link that leads back to itself" in ask("circle.csv")
    assert "lost.csv is a link to gone.csv, where there is no file" in ask("lost.csv")
    assert "d/lost.csv is a link to gone.csv" in ask("d")
    assert "is a link" in ask("*.csv")


def test_the_result_goes_where_a_link_leads(shortlist, refused, claims):
    (claims / "there").mkdir()
    (claims / "there" / "top.csv").write_text("old")
    for link, target in {"top.csv": "there/top.csv", "new-top.csv": "there/other.csv", **LINKS}.items():
        if "/" not in link:
            (claims / link).symlink_to(target)
    for link in ("top.csv", "new-top.csv"):
        assert shortlist("rank", "history.csv", "new.csv", *LEARN, "-o", link).code == 0
        assert (claims / link).is_symlink()
        assert pl.read_csv(claims / LINKS.get(link, link)).height == 2
    assert "leads back to itself" in refused("rank", "history.csv", "new.csv", *LEARN, "-o", "circle.csv")
    (claims / "in.csv").symlink_to("history.csv")
    assert "choose another name" in refused("rank", "history.csv", "new.csv", *LEARN, "-o", "in.csv")


def test_a_name_that_no_system_takes(refused):
    said = refused("rank", "history.csv", "new.csv", *LEARN, "-o", "a" * 300 + ".csv")
    assert "too long for the name of a file" in said


def test_rows_are_read_where_nothing_can_be_kept_back(claims, monkeypatch):
    with readable.Panics.hidden():
        monkeypatch.setattr("tempfile.TemporaryFile", no_room)
        assert read_table("history.csv").height
        monkeypatch.setattr("sys.stderr", None)
        assert read_table("history.csv").height


def no_room():
    raise OSError(28, "No space left on device")


def test_a_device_is_never_replaced(refused, claims):
    assert "/dev/null is a device" in refused("train", "history.csv", *LEARN[:4], "-o", "/dev/null")
    os.mkfifo("pipe.csv")
    assert "cannot write to pipe.csv" in refused("rank", "history.csv", "new.csv", *LEARN, "-o", "pipe.csv")
    assert "/dev/zero is a device, not a file" in refused("rank", "/dev/zero", "new.csv", *LEARN)


@pytest.mark.parametrize(
    "arguments",
    [
        ("rank", "~nosuch/x.csv", "new.csv", *LEARN),
        ("rank", "history.csv", "~nosuch/x.csv", *LEARN),
        ("rank", "history.csv", "new.csv", *LEARN, "-o", "~nosuch/x.csv"),
        ("train", "history.csv", *LEARN[:4], "-o", "~nosuch/x.shortlist"),
        ("score", "~nosuch/x.shortlist", "new.csv"),
        ("backtest", "history.csv", *LEARN[:2], "--models", "logistic", "-o", "~nosuch/x.html"),
        ("rank", "history.csv", "new.csv", *LEARN, "--log", "~nosuch/x.log"),
        ("stream", "~nosuch/in", "-o", "out", "-k", 2),
    ],
)
def test_the_home_of_nobody(refused, arguments):
    assert "there is no user 'nosuch' with a home folder" in refused(*arguments)


@pytest.mark.parametrize("name", ["pipe.csv", "pipe"])
def test_a_pipe_is_read(shortlist, claims, name):
    os.mkfifo(name)
    rows = (claims / "history.csv").read_bytes()
    writer = threading.Thread(target=(claims / name).write_bytes, args=(rows,))
    writer.start()
    done = shortlist("rank", name, "new.csv", *LEARN, "-o", "top.csv")
    writer.join()
    assert done.code == 0, done.err
    shortlist("rank", "history.csv", "new.csv", *LEARN, "-o", "again.csv")
    model = pl.exclude("model")
    assert pl.read_csv("top.csv").select(model).equals(pl.read_csv("again.csv").select(model))


def test_a_review_wants_a_file_that_stays(refused):
    os.mkfifo("pipe.csv")
    assert "save the rows of pipe.csv to a file first" in refused("review", "pipe.csv", "--id", "claim_id")


def test_a_header_of_200_000_columns(refused, claims):
    (claims / "wide.csv").write_text(
        ",".join(f"c{n}" for n in range(200_000)) + ",fraud\n" + "1," * 200_000 + "1\n"
    )
    said = refused("rank", "wide.csv", "new.csv", *LEARN)
    assert "wide.csv has 200,001 columns, and 100,000 are taken at most" in said


def test_a_wide_table_is_read_as_it_is_written(claims):
    names = [f"column_of_a_table_{n}" for n in range(20_000)]  # a header longer than what is looked at first
    (claims / "wide.csv").write_text(";".join(names) + "\n" + ";".join(["007"] + ["1,5"] * 19_999) + "\n")
    assert read_table("wide.csv").row(0)[:2] == ("007", 1.5)


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("size", [11_000_000, pytest.param(100_000_000, marks=pytest.mark.slow)])
def test_a_cell_without_an_end(refused, claims, size, quote):
    value = f"{quote}{'x' * size}{quote}"
    (claims / "cell.csv").write_text(f"note,fraud\n{value},1\n" + "short,0\n" * 20)
    assert f"row 1 has a value of {size:,} bytes in column 'note'" in refused(
        "rank", "cell.csv", "new.csv", *LEARN
    )


def test_a_first_line_without_an_end(refused, claims):
    (claims / "line.csv").write_text("x" * 11_000_000)
    assert "line.csv is longer than 10,000,000 characters" in refused("rank", "line.csv", "new.csv", *LEARN)


@pytest.mark.filterwarnings(
    "ignore:.*encountered in reduce"
)  # scikit-learn adds all numbers up, and looks again
@pytest.mark.parametrize(("largest", "code"), [(3e38, 0), (1e39, 2)])
@pytest.mark.parametrize("model", ["ap-boost", "logistic"])
def test_numbers_near_the_end_of_single_precision(shortlist, claims, model, largest, code):
    rows = pl.read_csv("history.csv").with_columns(huge=pl.Series(np.linspace(-largest, largest, 600)))
    rows.write_csv("huge.csv")
    ask = ("--label", "fraud", "--id", "claim_id", "--model", model, "-k", 2)
    done = shortlist("rank", "huge.csv", "huge.csv", *ask)
    assert done.code == code, done.err
    assert code == 0 or "error: column 'huge' has infinite values, or ones too large" in done.err
