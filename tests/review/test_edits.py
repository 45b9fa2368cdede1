"""Edits by hand, in the log and in every file, each of which looks sound: ``shortlist replay`` notices and names it."""

import os
from contextlib import closing

import numpy as np
import polars as pl
import pytest

from shortlist.review.desk.live import rebuild
from shortlist.review.log.end import tell_end
from shortlist.review.log.events import Drawn, Event, Shown
from shortlist.review.log.store import Store
from shortlist.review.publish import line_of
from tests.cli.conftest import run_in
from tests.forks import FORKS
from tests.review.log.conftest import InFile
from tests.review.log.test_chain import EDITS, EVENTS, OF_ANOTHER_TYPE, edit


def raise_amount(path):
    """One value of a table."""
    rows = pl.read_parquet(path)
    amounts = [rows["amount"][0] + 1, *rows["amount"][1:]]
    rows.with_columns(amount=pl.Series(amounts)).write_parquet(path)


def roll(path):
    """Leaves of other rows."""
    np.save(path, np.roll(np.load(path), 1))


def rescale(names):
    """Other numbers in a file of arrays."""

    def change(path):
        with np.load(path) as stored:
            arrays = dict(stored)
        found = [name for name in arrays if names in name and np.issubdtype(arrays[name].dtype, np.floating)]
        assert found, [*arrays]
        np.savez(path, **{name: array * 3 + 1 if name in found else array for name, array in arrays.items()})

    return change


FILES = {
    "one value of the rows": ("rows.parquet", raise_amount, "is not as it was written"),
    "one value of rows that arrived": ("rows-*.parquet", raise_amount, "is not as it was written"),
    "leaves of other rows": ("space/leaf_ids.npy", roll, "is not as it was written"),
    "another scale of scores": ("space/space.npz", rescale(""), "is not as it was written"),
    "another state of the ranking": (
        "checkpoint-*.npz",
        rescale("state_"),
        "is not what was learned by event",
    ),
}
#: What `make test` asks too.
QUICK = {"another verdict", "a payload as its bytes", "one value of the rows"}


def each_of(edits):
    return [pytest.param(what, marks=() if what in QUICK else pytest.mark.slow) for what in edits]


def say_so():
    os.dup2(os.open("said.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 1)


def replay(folder, *options):
    """The exit code of ``shortlist replay`` in a process of its own, and what it says."""
    arguments = ["replay", folder.name, *map(str, options)]
    process = FORKS.Process(target=run_in, args=(folder.parent, arguments, say_so))
    process.start()
    process.join()
    return process.exitcode, *((folder.parent / name).read_text() for name in ("said.txt", "errors.txt"))


def assert_told(folder, words):
    code, out, err = replay(folder)
    assert (code, err) == (1, "")
    assert [line for line in out.splitlines() if line.startswith("CHANGED: ") and words in line], out


@pytest.fixture
def logged(make_queue):
    """A queue with the events that edits are made for, which replays."""
    workspace = make_queue().workspace
    with closing(Store.open(workspace.place)) as store:
        store.append(1, EVENTS[:2])
        engine = rebuild(workspace, store, 1).engine
        shown = Shown(5, 1, engine.scores([5])[0], Drawn.TOP, engine.version, 600.0)
        store.append(1, [Event(3, 12.0, "ann", shown), EVENTS[3]])
    return workspace.folder


@pytest.mark.parametrize("what", each_of(EDITS | OF_ANOTHER_TYPE))
def test_replay_tells_every_edit_of_the_log(logged, what):
    statements, words = (EDITS | OF_ANOTHER_TYPE)[what]
    edit(InFile(logged), statements)
    assert_told(logged, words)


@pytest.mark.slow
def test_replay_tells_an_end_that_is_missed(logged):
    assert replay(logged)[0] == 0
    tell_end(logged / "log.sqlite", 5, "0" * 64)
    assert_told(logged, "the log should hold event 5")


@pytest.mark.parametrize("what", each_of(FILES))
def test_replay_tells_every_edit_of_a_file(whole, what):
    names, change, words = FILES[what]
    (path,) = whole.glob(names)
    before = path.read_bytes()
    change(path)
    assert path.read_bytes() != before
    assert_told(whole, f"the file {path.relative_to(whole).as_posix()} {words}")


@pytest.mark.slow
def test_a_log_that_was_cut_with_all_that_tells_its_end_is_noticed_by_what_was_told_outside(logged, tmp_path):
    """Without heads kept elsewhere nobody can tell: such a log is what it was two events ago."""
    with closing(Store.open(logged / "log.sqlite", read_only=True)) as store:
        seq, head = store.head(1)
    ends = "(select {} from events where seq = 2)"
    edit(
        InFile(logged),
        f"delete from events where seq > 2; update queues set seq = {ends.format('seq')}, head = {ends.format('hash')}",
    )
    (logged / "log.end").unlink()
    assert replay(logged)[0] == 0
    heads = tmp_path / "heads.txt"
    heads.write_text(line_of("claims", seq, head) + "\n")
    code, out, _ = replay(logged, "--heads", heads)
    assert code == 1
    assert f"CHANGED: the log should hold event {seq}" in out
