"""Every file of a queue, damaged in every way: a sentence that says what to do, or nothing lost; never a traceback."""

import json
import re
import subprocess
import sys

import pytest

from shortlist.review.create import _check_new
from shortlist.review.errors import DamagedError
from shortlist.review.workspace import Workspace

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


@pytest.mark.slow
def test_damage_is_named_and_nothing_else_is_served(whole):
    call = [sys.executable, "-m", "tests.review.damage", str(whole), "3"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert {each["file"] for each in told["damaged"]} >= KEPT
    export = json.loads(told["whole"]["export"][1])
    for each in told["damaged"]:
        code, out, err = each["said"]
        assert code in allowed(each["file"], each["how"], each["ask"]), each
        assert not re.search(r"Traceback|Panic|\w+Error", out + err), each
        assert code == 0 or len((out + err).split()) > 8, each
        if code == 0 and each["ask"] == "export":
            assert json.loads(out) == export, each


def allowed(file, how, ask):
    """The exit codes that a command may have: 2 for what it cannot use, 1 for a proof that does not hold."""
    if file.startswith(("rows", "space/")):
        return (1,) if ask == "replay" else (2,)
    if file == "ready":
        return (2,) if how == "gone" else (0,)
    if file.startswith(("log.", "checkpoint-")):  # a flip in a part that is not used is no damage
        return (
            (0, 1)
            if ask == "replay" and file != "log.sqlite"
            else (0, 2)
            if file.startswith("log.end")
            else (0, 1, 2)
        )
    return (0,)


def test_a_queue_without_its_mark_is_not_made_anew_over_its_verdicts(whole):
    (whole / "ready").unlink()
    with pytest.raises(DamagedError, match="'ready' is gone"):
        _check_new(Workspace(whole))
