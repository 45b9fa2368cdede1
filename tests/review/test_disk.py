"""A real full disk: an error to the client, no corruption, and on it goes when there is room."""

import shutil
import subprocess
import sys

import pytest

from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import ReadOnlyError, StoreError
from shortlist.review.reading import prove_folder
from shortlist.review.workspace import Workspace
from shortlist.verdicts import Verdict


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    done = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if not done or done.returncode:
        pytest.skip(f"a small tmpfs cannot be mounted here ({sys.platform})")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def review_until_refused(queue, turn):
    for acknowledged in range(200):
        future = queue.record("ann", turn.shown, Verdict.NOT_WANTED)
        if future.exception() is not None:
            return turn, acknowledged, future.exception()
        turn = future.result()
    raise AssertionError("the disk was never full")


def test_a_full_disk(small_disk, data):
    place = Workspace(small_disk / "claims.review")
    create(str(data), place, id="claim", settings={"budget": None})
    queue = Queue.open(place.folder)
    turn = queue.turn("ann").result()
    (small_disk / "ballast").write_bytes(b"x" * (shutil.disk_usage(small_disk).free - 8192))
    turn, acknowledged, error = review_until_refused(queue, turn)
    assert isinstance(error, StoreError)
    assert "make room" in str(error)
    stored = len(list(queue.log(kinds=["verdict"])))
    assert acknowledged <= stored <= acknowledged + 1
    (small_disk / "ballast").unlink()
    again = queue.record("ann", turn.shown, Verdict.NOT_WANTED).result()
    assert again.shown != turn.shown
    assert queue.snapshot.reviewed == acknowledged + 1
    queue.close()
    assert prove_folder(place.folder).holds


def test_a_read_only_disk(small_disk, data):
    place = Workspace(small_disk / "claims.review")
    create(str(data), place, id="claim")
    queue = Queue.open(place.folder)
    queue.record("ann", queue.turn("ann").result().shown, Verdict.WANTED).result()
    queue.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(ReadOnlyError, match=r"cannot be written.*--workspace"):
        create(str(data), Workspace(small_disk / "other.review"), id="claim")
    queue = Queue.open(place.folder)
    assert queue.read_only
    assert (queue.snapshot.found, queue.turn("ann").result().state) == (1, "read-only")
    with pytest.raises(ReadOnlyError):
        queue.note("ann", 0, "no room")
    queue.close()
    assert place.is_free()
    assert prove_folder(place.folder).holds
