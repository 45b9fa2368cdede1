"""Where a queue lives, and who runs it."""

import os
import subprocess
import sys

import pytest

from shortlist.review.workspace import Workspace


@pytest.fixture
def gone():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return process.pid


def test_a_server_that_was_killed_is_not_taken_for_one_that_is_starting(queue, gone):
    """The next server holds the lock before it says where it is; what stands there until then is of the last one."""
    workspace = queue.workspace
    workspace.announce({"url": "http://127.0.0.1:8765", "token": "old", "pid": gone})
    assert workspace.running() is None
    workspace.announce({"url": "http://127.0.0.1:8765", "token": "new", "pid": os.getpid()})
    assert workspace.running()["token"] == "new"


def test_asking_for_a_server_that_has_gone_keeps_nobody_from_the_queue(queue, gone, monkeypatch):
    """Whoever asks may be set aside with the lock in hand; a server that starts just then could only read."""
    queue.workspace.announce({"url": "http://127.0.0.1:8765", "token": "old", "pid": gone})
    queue.close()
    taken = []
    monkeypatch.setattr(Workspace, "lock", lambda self, wait=0.0: taken.append(wait))
    assert queue.workspace.running() is None
    assert not taken


@pytest.mark.parametrize("content", ["", "{", "[]", "3", '{"url": "x"}', '{"pid": "x"}', '{"pid": 1e30}'])
def test_what_is_left_of_an_address_is_no_server(queue, content):
    queue.workspace.server.write_text(content)
    assert queue.workspace.running() is None
