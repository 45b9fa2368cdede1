"""Nothing acknowledged is lost: a review under faults of every kind, counted.

Parts, each with a share of the time: simulated worlds, driven by seeds (errors at every step of a request, clock
steps, stops and kills); pools of which all connections are held; power cuts at moments of a recorded run
(``review_disk``); a real disk that is full; a real server that is killed (SIGKILL) and told to stop (SIGTERM) in the
middle of verdicts, while others read the log. With ``--db`` or ``--postgres`` the logs are in PostgreSQL: the disk is
then its own, and with ``--postgres`` it is stopped and started under a server instead. It is counted what was
acknowledged and is lost, which numbers are missing, what is there twice, and where a replay differs; anything but 0
makes the exit code 1. A world whose memory differs from its log ends the study, with the command that repeats it.
"""

from __future__ import annotations

import logging
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import sqlalchemy as sa

from shortlist.review import Queue, Workspace, create
from shortlist.review.errors import StoreError
from shortlist.review.log import sqlite
from shortlist.review.log.store import Store
from shortlist.verdicts import Verdict
from studies.postgres import PostgresServer, add_database, database_of
from studies.quality import review_kill
from studies.quality.review_counts import Held, count_events, count_folder
from studies.quality.review_disk import FATES, Recorder
from studies.quality.review_files import file_cuts, small_claims
from studies.quality.review_servers import Part, ended_servers, stopped_database
from studies.quality.review_world import Counts, World
from studies.running import study_parser, tell

STEPS = 150
#: Bytes that are left of a disk: some verdicts, each of a few pages of the write-ahead log.
ROOM = 200_000


def make_queue(place: Path, n_rows: int = 80, database: str | None = None) -> Path:
    """A small queue."""
    data, folder = place / "claims.csv", place / "claims.review"
    small_claims(n_rows).write_csv(data)
    settings = {"budget": None, "audit": 0.1, "second_opinions": 0.2}
    create(str(data), Workspace(folder), id="claim_id", settings=settings, database=database)
    return folder


def worlds(
    place: Path, seeds: Sequence[int], until: float, database: str | None = None, steps: int = STEPS
) -> Part:
    """Worlds of these seeds, as many as the time allows."""
    total = Counts()
    for seed in seeds:
        (place / str(seed)).mkdir()
        folder = make_queue(place / str(seed), database=database)
        try:
            with without_word():
                total += World(folder, random.Random(seed)).live(steps)
        except BaseException as error:
            where = " --postgres" if database else ""
            command = f"python -m studies quality.review_faults --world {seed} --steps {steps}{where}"
            error.add_note(f"repeat it with: {command}")
            raise
        shutil.rmtree(folder.parent)
        if time.monotonic() > until:
            break
    tried = vars(total)
    return tried, tried.pop("held")


@contextmanager
def without_word() -> Iterator[None]:
    """Errors that are meant to happen are not told."""
    told = logging.getLogger("shortlist.review")
    before = told.level
    told.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        told.setLevel(before)


def full_pools(place: Path, until: float, rng: random.Random, database: str | None = None) -> Part:
    """Verdicts while all connections are held, each of which is refused and sent again once they are free."""
    folder, said = make_queue(place, 2000, database), dict[int, str]()
    tried = {"full pools": 0, "verdicts asked": 0}
    queue = Queue.open(folder)
    turn = queue.turn("ann").result()
    while tried["full pools"] == 0 or time.monotonic() < until:
        verdict, shown = rng.choice([*Verdict]), turn.shown or 0
        with without_word(), full_pool(queue):
            error = queue.record("ann", shown, verdict).exception()
        assert isinstance(error, StoreError), error
        turn = queue.record("ann", shown, verdict).result()
        said[shown] = verdict
        tried = {"full pools": tried["full pools"] + 1, "verdicts asked": tried["verdicts asked"] + 2}
    queue.close()
    return tried, count_folder(folder, said)


@contextmanager
def full_pool(queue: Queue, seconds: float = 0.05) -> Iterator[None]:
    """Hold all connections that a queue may have to its log; who wants one more waits for so long."""
    engine = queue._store.database.engine
    pool = engine.pool
    assert isinstance(pool, sa.QueuePool)
    with ExitStack() as held, mock.patch.object(pool, "_timeout", seconds):
        for _ in range(pool.size() + pool._max_overflow):
            held.enter_context(engine.connect())
        yield


def power_cuts(place: Path, n_verdicts: int, until: float, seed: int = 0) -> Part:
    """The moments of a short review, in any order, as a power cut could leave the disk, opened again."""
    folder, rng = make_queue(place), random.Random(seed)
    recorder = record(folder, n_verdicts, rng)
    images = [(n, fate) for n in range(len(recorder.steps) + 1) for fate in FATES]
    rng.shuffle(images)  # what time allows is spread over the whole review
    cuts, most, found = 0, 0, Held()
    for n, fate in images:
        told: dict[int, str] = dict(step.mark for step in recorder.steps[:n] if step.what == "mark")
        image = recorder.image(n, fate, rng)
        found += look_at(image, told, place / "cut.review", thoroughly=rng.random() < 0.02)
        cuts, most = cuts + 1, max(most, len(told))
        if time.monotonic() > until:
            break
    return {"moments": len(recorder.steps), "power cuts": cuts, "most verdicts before one": most}, found


def record(folder: Path, n_verdicts: int, rng: random.Random) -> Recorder:
    """A short review, recorded; the write-ahead log is put back into the database several times."""
    recorder, synced = Recorder(folder), sqlite._synced

    def often(connection: Any, _record: Any) -> None:
        synced(connection, _record)
        connection.execute("pragma wal_autocheckpoint=12")

    with mock.patch.object(sqlite, "_synced", often), recorder.recording():
        queue = Queue.open(folder)
        turn = queue.turn("ann").result()
        for _ in range(n_verdicts):
            shown, said = turn.shown or 0, rng.choice([*Verdict])
            turn = queue.record("ann", shown, said).result()
            recorder.mark((shown, str(said)))
            recorder.wrote("log.end")
        queue.close()
    recorder.check_synced()
    return recorder


def look_at(image: dict[str, bytes], told: dict[int, str], place: Path, *, thoroughly: bool) -> Held:
    """The log of a disk after a power cut; thoroughly: a review goes on with it, and is replayed."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name, content in image.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(content)
    with closing(Store.open(place / "log.sqlite")) as store:
        found = count_events(list(store.events(1)), told) + Held(unequal=len(list(store.faults(1))))
    if not thoroughly:
        return found
    queue = Queue.open(place)
    shown = queue.turn("ann").result().shown or 0
    queue.record("ann", shown, Verdict.WANTED).result()
    queue.close()
    return count_folder(place, {**told, shown: Verdict.WANTED})


def full_disks(place: Path, times: int) -> Part:
    """A real disk that fills while verdicts are stored, and has room again."""
    disk, mount = place / "disk", shutil.which("mount")
    disk.mkdir()
    call = [mount or "mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if mount is None or subprocess.run(call, capture_output=True, check=False).returncode:
        return {"full disks": 0}, Held()
    said = dict[int, str]()
    try:
        folder = make_queue(disk, 400)
        queue = Queue.open(folder)
        for _ in range(times):
            queue.turn("ann").result()  # while there is room: the row that the first verdict is on
            before = len(said)
            (disk / "ballast").write_bytes(b"x" * max(0, shutil.disk_usage(disk).free - ROOM))
            error = _review_until_refused(queue, said)
            assert isinstance(error, StoreError), error
            assert len(said) > before, "the disk was full before the first verdict"
            (disk / "ballast").unlink()
            assert _review_until_refused(queue, said, most=2) is None
        queue.close()
        return {"full disks": times}, count_folder(folder, said)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def _review_until_refused(queue: Queue, said: dict[int, str], most: int = 10**6) -> BaseException | None:
    """Give verdicts until one is not acknowledged; the error that it got."""
    asked = queue.turn("ann")
    for _ in range(most):
        if asked.exception() is not None:
            break
        shown = asked.result().shown or 0
        asked = queue.record("ann", shown, Verdict.NOT_WANTED)
        if asked.exception() is None:
            said[shown] = Verdict.NOT_WANTED
    return asked.exception()


def run(
    seconds: float,
    seed: int,
    n_cuts: int = 12,
    *,
    kills: int = 1,
    database: str | None = None,
    server: PostgresServer | None = None,
) -> dict[str, Any]:
    """All parts, each with its share of the time.

    Parameters
    ----------
    n_cuts : verdicts of the review whose power is cut
    kills : so many at least of a real server, whatever the time
    database, server : where logs are kept, and what may be stopped; None: in files
    """
    began, rng = time.monotonic(), random.Random(seed)
    told: dict[str, Any] = {}
    total = Held()

    def part(name: str, work: Callable[[Path, float], Part], until: float) -> None:
        nonlocal total
        with tempfile.TemporaryDirectory() as place:
            tried, found = work(Path(place), began + until * seconds)
        told[name], total = {**tried, **found.told()}, total + found

    def queue(place: Path) -> Path:
        return make_queue(place, 5000, database)

    seeds = range(seed, seed + 10**6)
    part("worlds", lambda place, until: worlds(place, seeds, until, database), 0.3)
    part("full pools", lambda place, until: full_pools(place, until, rng, database), 0.35)
    if database is None:
        part("power cuts", lambda place, until: power_cuts(place, n_cuts, until, seed), 0.45)
        part("files cut", lambda place, until: file_cuts(make_queue(place), until, seed), 0.55)
        part("full disks", lambda place, _: full_disks(place, 5), 0.6)
    if server is not None:
        part("database", lambda place, until: stopped_database(queue(place), server, until, rng), 0.6)
    part("servers", lambda place, until: ended_servers(queue(place), until, rng, kills), 1.0)
    return {**told, "all": total.told(), "seconds": round(time.monotonic() - began, 1)}


def main(arguments: Sequence[str]) -> None:
    """Run all parts, or repeat one world."""
    parser = study_parser(__name__, __doc__, "twenty seconds")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kills", type=int, default=1, help="of a real server, and as many stops, at least")
    parser.add_argument("--world", type=int, metavar="SEED", help="only the world of this seed")
    parser.add_argument("--steps", type=int, default=STEPS, help="of that world")
    add_database(parser)
    options = parser.parse_args(arguments)
    review_kill.FORKS.set_forkserver_preload(review_kill.PRELOAD)
    with database_of(options) as (database, server):
        if options.world is not None:
            with tempfile.TemporaryDirectory() as place:
                tried, held = worlds(Path(place), [options.world], 0, database, options.steps)
            found: dict[str, Any] = {"world": {**tried, **held.told()}, "all": held.told()}
        else:
            seconds, n_cuts = (20.0, 2) if options.quick else (options.seconds, 12)
            found = run(seconds, options.seed, n_cuts, kills=options.kills, database=database, server=server)
    tell(found, options.json, show)
    if not found["all"]["well"]:
        sys.exit(1)


def show(result: dict[str, Any]) -> None:
    for name, value in result.items():
        counts = value.items() if isinstance(value, dict) else [("", value)]
        print(f"{name:12} {'  '.join(f'{what} {count:,}' for what, count in counts)}")
