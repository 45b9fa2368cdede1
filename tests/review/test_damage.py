"""Every file of a queue, damaged in every way: a sentence that says what to do, or nothing lost; never a traceback."""

import json

import pytest

from shortlist.review.create import _check_new
from shortlist.review.errors import DamagedError
from shortlist.review.workspace import Workspace
from studies.quality.review_damage import every_cell, write_told, wrong
from tests.forks import FORKS

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
def test_damage_is_named_and_nothing_else_is_served(whole, tmp_path):
    told = in_a_child(whole, every_cell(whole, flips=3, log_flips=40), tmp_path)
    assert {each["file"] for each in told["damaged"]} >= KEPT
    assert wrong(told) == []


def test_some_damage_is_named_and_nothing_else_is_served(whole, tmp_path):
    told = in_a_child(whole, QUICK, tmp_path)
    assert len(told["damaged"]) == 3 * len(QUICK)
    assert wrong(told) == []


def in_a_child(whole, cells, place):
    """What commands say of the whole queue, and of each damage; in a process that may crash."""
    process = FORKS.Process(target=write_told, args=(str(whole), cells, str(place / "told.json")))
    process.start()
    process.join()
    told = json.loads((place / "told.json").read_text())
    assert [code for code, _, _ in told["whole"].values()] == [0, 0, 0]
    return told


def test_what_is_wrong_is_found(whole, tmp_path):
    """A command that ends otherwise, says nothing, breaks, or serves something else."""
    told = in_a_child(whole, [], tmp_path)
    answers = {"replay": [2, "", ""], "export": [0, "[]", ""], "open": [0, "another", ""]}
    lies = [
        {"file": "log.sqlite", "how": "gone", "ask": "replay", "same": False, "said": [0, "", ""]},
        {"file": "log.sqlite", "how": "gone", "ask": "replay", "same": False, "said": answers["replay"]},
        {
            "file": "rows.parquet",
            "how": "cut",
            "ask": "open",
            "same": True,
            "said": [2, "", "Traceback " * 9],
        },
        *({"file": "lock", "how": "cut", "ask": ask, "same": True, "said": answers[ask]} for ask in answers),
    ]
    assert wrong({**told, "damaged": lies}) == lies


def test_a_queue_without_its_mark_is_not_made_anew_over_its_verdicts(whole):
    (whole / "ready").unlink()
    with pytest.raises(DamagedError, match="'ready' is gone"):
        _check_new(Workspace(whole))
