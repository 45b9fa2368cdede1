"""No CSV file that a command writes is run by a spreadsheet; with ``--verbatim`` its text is as it is."""

import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import polars as pl
import pytest

from shortlist import cli
from shortlist.review import Workspace, create
from shortlist.tables.io import formulas

LEARN = ("--label", "fraud", "--id", "claim_id")
PLAYED = ("history.csv", *LEARN, "--time", "date", "-k", 5)
FROM_LIST = ("top.csv", "--outcomes", "outcomes.csv", *LEARN)
MODELS = ("--models", "logistic", "--folds", 2)

#: Commands whose tables hold what stands in the files of their users.
ROWS = {
    "rank": ("history.csv", "new.csv", *LEARN, "--model", "logistic", "-k", 5),
    "score": ("model.shortlist", "new.csv", "-k", 5),
    "export": ("queue.review",),
    "stream": ("new.csv", "--once", "--id", "claim_id", "-k", 5, "--kernel", "linear"),
}
#: And those whose tables hold our own words; they might once hold others.
WORDS = {
    "evaluate": (*FROM_LIST, "-k", 5),
    "monitor": (*FROM_LIST, "--time", "date"),
    "backtest": (*PLAYED, "--models", "logistic"),
    "compare": ("history.csv", *LEARN, "-k", 5, *MODELS),
    "simulate": ("history.csv", *LEARN, "-k", 5, "--strategy", "similarity", "--trees", 5),
}


@pytest.fixture
def place(claims):
    """The claims with ids that a spreadsheet would run, as other programs write them."""
    for name in ("history.csv", "new.csv", "outcomes.csv"):
        rows = pl.read_csv(claims / name)
        rows.with_columns(claim_id="=" + rows["claim_id"]).write_csv(claims / name)
    return claims


def make(command, shortlist):
    """What a command needs beside the tables."""
    if command == "score":
        train = ("train", "history.csv", *LEARN, "--model", "logistic", "-o", "model.shortlist")
        assert shortlist(*train).code == 0
    if command == "export":
        create("new.csv", Workspace(Path("queue.review")), id="claim_id")
        said = pl.read_csv("new.csv").head(2).select("claim_id", verdict=pl.lit("wanted"))
        said.write_csv("said.csv")
        assert shortlist("import", "queue.review", "said.csv", "--id", "claim_id").code == 0
    if command in ("evaluate", "monitor"):
        assert shortlist("rank", *ROWS["rank"], "-o", "top.csv").code == 0


def written(shortlist, command, arguments, *options):
    """The text of the table that a command writes."""
    target = "out" if command == "stream" else "out.csv"
    done = shortlist(command, *arguments, *options, "-o", target)
    assert done.code == 0, done.err
    return Path("out/to-label/window-000001.csv" if command == "stream" else target).read_text()


@pytest.mark.parametrize("command", ROWS)
def test_text_of_rows_is_marked_unless_programs_are_to_read_it(shortlist, place, command):
    make(command, shortlist)
    assert "'=C" in written(shortlist, command, ROWS[command])
    Path("stream.state").unlink(missing_ok=True)
    text = written(shortlist, command, ROWS[command], "--verbatim")
    assert "=C" in text
    assert "'" not in text


@pytest.mark.parametrize(
    "command",
    ["evaluate", *(pytest.param(name, marks=pytest.mark.slow) for name in [*WORDS][1:])],
)
def test_words_are_marked_where_they_would_run(shortlist, place, command, monkeypatch):
    make(command, shortlist)
    monkeypatch.setattr(formulas, "_RUNS", r"^'*[a-z]")  # as if spreadsheets ran every word
    assert written(shortlist, command, WORDS[command]).startswith("'")
    assert "'" not in written(shortlist, command, WORDS[command], "--verbatim")


def test_every_command_with_the_option_is_tried():
    commands = [each.name for each in iter_modules(cli.__path__) if not each.name.startswith("_")]
    have = {
        name
        for name in commands
        if "verbatim" in inspect.signature(import_module(f"shortlist.cli.{name}").command).parameters
    }
    assert have == {*ROWS, *WORDS}
