"""A server that is told to stop in the middle of a slow write finishes it or undoes it."""

import re
import sqlite3
import threading
import time
from contextlib import closing

import httpx
import pytest

from shortlist.review.errors import ReviewError
from studies.quality import review_kill
from studies.quality.review_counts import count_folder
from studies.quality.review_faults import make_queue
from tests.cli.conftest import run_in
from tests.forks import FORKS, start_server

#: How often it is tried to meet the server in the middle of a write.
TRIES = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    start_server()
    return make_queue(tmp_path_factory.mktemp("stopped"))


def stop_while_it_writes(folder, acknowledged, verdict, *, held_for):
    """Another program locks the database, a verdict waits for it, and the server is told to stop."""
    process = review_kill.start(folder)
    with (
        review_kill.client_of(folder, "ann") as client,
        closing(sqlite3.connect(folder / "log.sqlite")) as other,
    ):
        shown = client.turn().shown
        other.execute("begin immediate")
        asking = threading.Thread(target=ask, args=(client, shown, verdict, acknowledged))
        asking.start()
        time.sleep(0.3)
        process.terminate()
        asking.join(held_for)
        other.rollback()
        asking.join()
        process.join(review_kill.PATIENCE)
    assert process.exitcode is not None
    return shown


def ask(client, shown, verdict, acknowledged):
    try:
        client.record(shown, verdict)
        acknowledged[shown] = verdict
    except (httpx.HTTPError, ReviewError):
        pass


def ahead(folder):
    """Checkpoints of events that the log does not have."""
    with closing(sqlite3.connect(folder / "log.sqlite")) as log:
        last = log.execute("select max(seq) from events").fetchone()[0]
    numbers = [int(re.search(r"\d+", path.name)[0]) for path in folder.glob("checkpoint*")]
    return [number for number in numbers if number > last]


def replay(folder):
    """The exit code of ``shortlist replay``."""
    process = FORKS.Process(target=run_in, args=(folder.parent, ["replay", folder.name]))
    process.start()
    process.join()
    return process.exitcode


@pytest.mark.slow
@pytest.mark.parametrize("held_for", [1.0, None], ids=["freed", "kept"])
def test_a_verdict_that_waits_for_the_disk_is_stored_or_refused(folder, held_for):
    acknowledged, met = {}, False
    for _ in range(TRIES):
        shown = stop_while_it_writes(folder, acknowledged, "wanted", held_for=held_for)
        assert ahead(folder) == []
        assert replay(folder) == 0
        found = count_folder(folder, acknowledged)
        assert found.is_well, found
        met = shown in acknowledged or held_for is None
        if met:
            break
    assert met
    final = review_kill.start(folder)
    try:
        assert review_kill.check(folder, acknowledged).is_well
    finally:
        final.kill()
        final.join()
