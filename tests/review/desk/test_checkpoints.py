"""What was learned is kept in a file, which only saves time: no other ranking ever comes from it."""

import shutil

import numpy as np
import pytest

from shortlist.review.reading import head_of, prove_folder
from shortlist.review.workspace import Workspace

#: Values that a file may hold instead of its own, and be as whole as before.
CHANGES = {
    "other sums": ("state_sums", lambda sums: sums * 3 + 1),
    "other verdicts": ("wanted", lambda wanted: ~wanted),
    "verdicts on each other's rows": ("rows", lambda rows: rows[::-1]),
    "rows that are not there": ("rows", lambda rows: rows + 10**6),
    "verdicts of another time": ("n_rows", lambda n_rows: n_rows - 1),
    "a row set aside": ("unsure", lambda unsure: np.array([10**6])),
}


@pytest.fixture
def closed(make_queue, review):
    """A queue that was reviewed and closed: its folder, and its ranking."""
    queue = make_queue()
    review(queue, 5)
    digest = queue.digest().result()
    queue.close()
    return queue.workspace, digest


@pytest.mark.bits
def test_a_checkpoint_and_the_log_give_the_same_ranking(make_queue, review):
    queue = make_queue(settings={"budget": None})
    review(queue, 40)
    digest = queue.digest().result()
    queue.close()
    assert queue.workspace.checkpoints()
    assert make_queue(again=True).digest().result() == digest


def test_a_checkpoint_that_is_ahead_of_the_log_or_of_another_log_is_not_used(make_queue, review):
    queue = make_queue()
    review(queue, 5)
    digest = queue.digest().result()
    queue.close()
    ((seq, head, _, path),) = queue.workspace.checkpoints()
    stranger = make_queue(again=True)
    review(stranger, 3)
    stranger.close()
    newest = stranger.workspace.checkpoints()[0].path
    for name in (f"checkpoint-999-{head}.npz", f"checkpoint-{seq}-{'0' * 16}.npz", "checkpoint-999.npz"):
        shutil.copy(newest, path.with_name(name))
    newest.unlink()
    again = make_queue(again=True)
    assert again.digest().result() == prove_folder(again.workspace.folder).digest != digest


def test_a_damaged_checkpoint_costs_time_only(make_queue, review):
    queue = make_queue()
    review(queue, 5)
    digest = queue.digest().result()
    queue.close()
    for checkpoint in queue.workspace.checkpoints():
        checkpoint.path.write_bytes(b"nonsense")
    assert make_queue(again=True).digest().result() == digest


@pytest.mark.parametrize(
    "of_before", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["today", "before"]
)
def test_a_changed_checkpoint_is_told_by_replay_and_never_served(closed, make_queue, of_before):
    workspace, digest = closed
    ((seq, head, _, path),) = workspace.checkpoints()
    if of_before:  # when names did not tell what is in a file
        path = path.rename(path.with_name(f"checkpoint-{seq}-{head}.npz"))
    assert prove_folder(workspace.folder).holds
    with np.load(path) as stored:
        arrays = dict(stored)
    for name, change in CHANGES.values():
        changed = {**arrays, name: change(arrays[name])}
        assert not np.array_equal(changed[name], arrays[name])
        np.savez(path, **changed)
        told = f"the file {path.name} is not what was learned by event {seq}."
        assert prove_folder(workspace.folder).faults == [told]
        again = make_queue(again=True)
        assert again.digest().result() == digest
        again.close()


def test_a_crash_before_a_checkpoint_has_its_name_costs_time_only(make_queue, review, monkeypatch):
    queue = make_queue()
    review(queue, 5)
    digest, workspace = queue.digest().result(), queue.workspace
    with monkeypatch.context() as patched:
        patched.setattr(Workspace, "name_checkpoint", lambda *told: None)
        queue.close()
    assert workspace.new_checkpoint.exists()
    assert not workspace.checkpoints()
    again = make_queue(again=True)
    assert again.digest().result() == digest
    review(again, 1)
    again.close()
    assert not workspace.new_checkpoint.exists()
    assert len(workspace.checkpoints()) == 1


def test_what_was_kept_is_not_learned_again(closed, make_queue, monkeypatch):
    def refuse(*told):
        raise AssertionError("learned again")

    _, digest = closed
    monkeypatch.setattr("shortlist.review.desk.engine.Engine.follow", refuse)
    assert make_queue(again=True).digest().result() == digest


def test_a_checkpoint_that_was_made_up_stops_no_start(closed, make_queue):
    workspace, digest = closed
    ((seq, _, _, path),) = workspace.checkpoints()
    with np.load(path) as stored:
        arrays = dict(stored)
    np.savez(workspace.new_checkpoint, **{**arrays, "rows": arrays["rows"] + 10**6})
    path.unlink()
    workspace.name_checkpoint(seq, head_of(workspace.folder)[2])
    assert make_queue(again=True).digest().result() == digest
