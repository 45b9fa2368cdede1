"""What is done beside the review: nobody waits for it, but whoever erases something does."""

import threading

import pytest

from shortlist.feedback.ranker_files import RankerFile
from shortlist.review.desk import keeper
from shortlist.review.log.sqlite import Sqlite


class Slow:
    """A disk that takes until the gate is opened to write a checkpoint."""

    def __init__(self, monkeypatch):
        self.gate, self.begun, self.written = threading.Event(), threading.Event(), []
        write = RankerFile.write

        def wait_and_write(file, path):
            self.begun.set()
            self.gate.wait(300)
            write(file, path)
            self.written.append(path)

        monkeypatch.setattr(RankerFile, "write", wait_and_write)


@pytest.fixture
def slow(monkeypatch):
    monkeypatch.setattr(keeper, "CHECKPOINT_EVERY", 6)
    slow = Slow(monkeypatch)
    yield slow
    slow.gate.set()


def test_reviewers_do_not_wait_for_checkpoints(slow, queue, review):
    turns = review(queue, 12)
    assert slow.begun.wait(120)
    assert not slow.written
    assert len({turn.row for turn in turns}) == 13
    before = queue.digest().result()
    slow.gate.set()
    queue.close()
    first = min(each.seq for each in queue.workspace.checkpoints())
    assert len(slow.written) == 2  # one that was begun during the review, and one at its end
    assert first < queue.snapshot.seq
    assert before == queue._live.engine.digest()


def test_whoever_erases_waits_for_what_is_being_done(slow, queue, review, database):
    """A write-ahead log that is being carried over could not be emptied of what was erased."""
    review(queue, 6)
    assert slow.begun.wait(120)
    erasing = queue.erase_rows("ann", [queue.snapshot.verdicts[0].row])
    with pytest.raises(TimeoutError):
        erasing.result(0.3)
    slow.gate.set()
    erasing.result(60)
    assert slow.written
    if database is None:
        assert queue.workspace.log.with_name("log.sqlite-wal").stat().st_size == 0


def test_the_write_ahead_log_is_carried_over_beside_the_review(monkeypatch, make_queue, review, database):
    if database is not None:
        pytest.skip("a database server does so by itself")
    monkeypatch.setattr(keeper, "CHECKPOINT_EVERY", 6)
    threads = []
    tidy = Sqlite.tidy

    def noted(self):
        threads.append(threading.current_thread().name)
        tidy(self)

    monkeypatch.setattr(Sqlite, "tidy", noted)
    queue = make_queue()
    review(queue, 6)
    queue._ask(queue._keeper.chores.wait).result()
    carried = queue._store._database._path.read_bytes()
    assert {*threads} == {"review-chores"}
    assert b"not wanted" in carried  # verdicts are in the file itself by now, not only beside it
