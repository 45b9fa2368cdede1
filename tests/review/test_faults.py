"""Simulated worlds and disks, in short; the study runs them for as long as one likes."""

import contextlib
import random
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from shortlist.review.desk.keeper import Keeper
from shortlist.review.errors import DamagedError, StoreError
from shortlist.review.log import end
from studies.postgres import own_schema
from studies.quality import review_faults
from studies.quality.review_counts import Held, count_events, count_folder
from studies.quality.review_disk import Recorder
from studies.quality.review_world import World
from tests.forks import start_server


@pytest.mark.parametrize(
    ("seeds", "steps"), [(range(100, 120), 30), pytest.param(range(200, 400), 150, marks=pytest.mark.slow)]
)
def test_worlds_in_which_everything_goes_wrong(tmp_path, seeds, steps):
    tried, found = review_faults.worlds(tmp_path, seeds, until=float("inf"), steps=steps)
    assert tried["worlds"] == len(seeds)
    assert min(tried[name] for name in ("faults", "kills", "stops", "clock_steps")) >= len(seeds) / 5
    assert found.acknowledged > len(seeds)
    assert found.is_well


def test_a_world_finds_what_it_is_made_to_find(tmp_path, monkeypatch):
    """Without the fold after an error some world must fail: the simulation is not blind."""
    whole = review_faults.make_queue(tmp_path)
    monkeypatch.setattr(Keeper, "_settle", lambda self: setattr(self, "settled", True))
    found = []
    for seed in range(8):
        shutil.copytree(whole, tmp_path / f"{seed}.review")
        try:
            found.append(World(tmp_path / f"{seed}.review", random.Random(seed)).live(120).held.is_well)
        except AssertionError:
            found.append(False)
        if not found[-1]:
            break
    assert not all(found)


def test_a_failing_seed_is_told_with_the_command_that_repeats_it(tmp_path, monkeypatch):
    monkeypatch.setattr(World, "check", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError) as failure:
        review_faults.worlds(tmp_path, [7], until=0, steps=30)
    command = "python -m studies quality.review_faults --world 7 --steps 30"
    assert failure.value.__notes__ == [f"repeat it with: {command}"]


def test_a_record_of_a_disk_that_was_not_looked_into_is_refused(tmp_path, monkeypatch):
    """As where Python has another SQLite than the one that the system finds."""
    folder = review_faults.make_queue(tmp_path)
    assert review_faults.record(folder, 1, random.Random(0)).steps
    monkeypatch.setattr(Recorder, "_watch", lambda *_: None)
    with pytest.raises(RuntimeError, match=r"no sync was recorded.*another SQLite"):
        review_faults.record(folder, 1, random.Random(0))


@pytest.mark.slow
def test_power_cuts_at_every_moment(tmp_path):
    tried, found = review_faults.power_cuts(tmp_path, 2, until=float("inf"))
    assert tried["most verdicts before one"] == 2
    assert tried["power cuts"] > 3 * tried["moments"] > 60
    assert found.acknowledged > tried["moments"]
    assert found.is_well


def test_a_power_cut_tells_a_log_that_is_not_synced(tmp_path, monkeypatch):
    """The recorded disk is not blind either: without syncs an acknowledged verdict can be lost."""
    made = review_faults.Recorder.image
    monkeypatch.setattr(
        review_faults.Recorder,
        "image",
        lambda self, n, fate, rng: made(_without_syncs(self), n, fate, rng),
    )
    with contextlib.suppress(StoreError, DamagedError):  # a log that cannot be read at all
        _, found = review_faults.power_cuts(tmp_path, 2, until=float("inf"))
        assert found.lost


def _without_syncs(recorder):
    copy = object.__new__(review_faults.Recorder)
    copy.before = recorder.before
    copy.steps = [step if step.what != "sync" else type(step)("mark") for step in recorder.steps]
    return copy


def test_an_end_that_is_cut_off_is_missed(make_queue, review):
    """What a damaged write-ahead log loses, or an older copy of the log alone, is not taken for the whole."""
    queue = make_queue()
    review(queue, 2)
    log = queue.workspace.log
    assert end.told_end(log) == dict([queue._store.head(1)])
    queue.close()
    older = log.read_bytes()
    again = make_queue(again=True)
    review(again, 2)
    again.close()
    log.write_bytes(older)
    with pytest.raises(DamagedError, match="should hold event"):
        make_queue(again=True)


@pytest.mark.slow
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_a_minute_of_faults(store, request):
    start_server()
    server = None if store == "sqlite" else request.getfixturevalue("postgres_server")
    with contextlib.nullcontext() if server is None else own_schema(server.url) as url:
        result = review_faults.run(seconds=60.0, seed=1, n_cuts=3, database=url, server=server)
    # How much is tried depends on how fast the machine is just now; every part is tried at least once.
    assert min(result[part]["acknowledged"] for part in ("worlds", "full pools")) >= 1
    assert result["servers"]["kills"] >= 1 <= result["servers"]["terms"]
    assert result["full pools"]["full pools"] >= 1
    assert server or result["power cuts"]["power cuts"] >= 1
    assert not server or result["database"]["database stops"] >= 1
    assert [result["all"][name] for name in ("lost", "gaps", "doubles", "unequal")] == [0, 0, 0, 0]


def test_every_count_of_the_study_can_be_more_than_nothing(make_queue, review):
    """One log with a verdict that was deleted, one that answers twice, and a score that was changed."""
    queue = make_queue()
    review(queue, 4)
    events = list(queue.log())
    said = {event.answers: str(event.body.verdict) for event in events if event.kind == "verdict"}
    folder, log = queue.workspace.folder, queue.workspace.log
    queue.close()
    assert count_folder(folder, said) == Held(acknowledged=len(said))
    verdict = next(event for event in events if event.kind == "verdict")
    without = [event for event in events if event is not verdict]
    assert count_events(without, said) == Held(len(said), lost=1, gaps=1)
    again = [*events, replace(verdict, seq=len(events) + 1)]
    assert count_events(again, said) == Held(len(said), doubles=1)
    assert count_events(events, {**said, verdict.answers: "another"}).lost == 1
    with closing(sqlite3.connect(log)) as connection:
        for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f"drop trigger {name}")
        connection.execute("update events set payload = replace(payload, '\"score\":0.', '\"score\":1.')")
        connection.commit()
    assert count_folder(folder, said).unequal
