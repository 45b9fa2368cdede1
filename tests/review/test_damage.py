"""Every file of a queue, damaged in every way: a sentence that says what to do, or nothing lost; never a traceback."""

import json
import re
import subprocess
import sys

import pytest

from shortlist.review.create import _check_new
from shortlist.review.errors import DamagedError
from shortlist.review.workspace import Workspace
from tests.forks import FORKS
from tests.review.damage import tell

KEPT = {
    "log.sqlite",
    "log.end",
    "ready",
    "lock",
    "secret",
    "rows.parquet",
    "space/leaf_ids.npy",
    "space/space.npz",
}


#: What `make test` asks too; the others are among the slow tests.
QUICK = [
    ("log.sqlite", "cut"),
    ("log.sqlite", "gone"),
    ("rows.parquet", "flipped"),
    ("space/space.npz", "replaced"),
]


@pytest.mark.slow
def test_damage_is_named_and_nothing_else_is_served(whole):
    call = [sys.executable, "-m", "tests.review.damage", str(whole), "3", "40"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert {each["file"] for each in told["damaged"]} >= KEPT
    assert_named(told)


def test_some_damage_is_named_and_nothing_else_is_served(whole, tmp_path):
    process = FORKS.Process(target=tell, args=(str(whole), QUICK, str(tmp_path / "told.json")))
    process.start()
    process.join()
    told = json.loads((tmp_path / "told.json").read_text())
    assert len(told["damaged"]) == 3 * len(QUICK)
    assert_named(told)


def assert_named(told):
    """Each damage is a sentence and the exit code that is due, or the very same verdicts and ranking."""
    assert [code for code, _, _ in told["whole"].values()] == [0, 0, 0]
    _, export, _ = told["whole"]["export"]
    _, digest, _ = told["whole"]["open"]
    for each in told["damaged"]:
        code, out, err = each["said"]
        assert code in allowed(each["file"], each["how"], each["ask"], each["same"]), each
        assert not re.search(r"Traceback|Panic|\w+Error|a fault in", out + err), each
        assert code == 0 or len((out + err).split()) > 8, each
        assert code != 1 or "CHANGED: " in out, each
        if code == 0 and each["ask"] == "export":
            assert json.loads(out) == json.loads(export), each
        if code == 0 and each["ask"] == "open":
            assert out == digest, each


def allowed(file, how, ask, same):
    """The exit codes that a command may have: 2 for what it cannot use, 1 for a proof that does not hold.

    ``same``: whether the tables of the log hold what they held; a flip in a part that is not used is no damage.
    """
    if file == "log.sqlite":
        refused = (1, 2) if ask == "replay" else (2,)
        return (0, *refused) if how == "flipped" and same else refused
    if file.startswith(("rows", "space/")):
        return (1,) if ask == "replay" else (2,)
    if file == "ready":
        return (2,) if how == "gone" else (0,)
    if file.startswith("checkpoint-"):
        return (1,) if ask == "replay" and how != "gone" else (0,)
    if file == "log.end":
        return (0, 1) if ask == "replay" else (0, 2)
    return (0,)


def test_a_queue_without_its_mark_is_not_made_anew_over_its_verdicts(whole):
    (whole / "ready").unlink()
    with pytest.raises(DamagedError, match="'ready' is gone"):
        _check_new(Workspace(whole))
