"""A backup of a server that runs, restored elsewhere: nothing is lost, nothing written over, nothing half there."""

import gzip
import io
import json
import signal
import sqlite3
import subprocess
import sys
import tarfile
import threading
from contextlib import closing

import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.review.archive.backup import CONTENTS, back_up
from shortlist.review.archive.restore import restore
from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import DamagedError
from shortlist.review.log.database import Remote
from shortlist.review.log.sqlite import Sqlite
from shortlist.review.reading import head_of, prove_folder
from shortlist.review.server.accounts import Accounts
from shortlist.review.web.access import Role
from shortlist.review.workspace import Workspace
from studies.postgres import own_schema
from tests.review.conftest import make_rows

PASSWORD = "correct horse battery"


def make_server(place, database=None):
    """A folder with two queues, one of them further down, and one person."""
    (place / "north").mkdir(parents=True)
    for data in (place / "claims.csv", place / "north" / "invoices.csv"):
        make_rows(60, 6).drop("truth").write_csv(data)
        create(str(data), Workspace.beside(str(data)), id="claim", database=database)
        with closing(Queue.open(Workspace.beside(str(data)).folder)) as queue:
            judge(queue, 3)
    if database is None:
        with closing(Accounts(Sqlite(place / "people.sqlite", place))) as accounts:
            accounts.join(accounts.invite(Role.ADMIN), "Ann", PASSWORD)
            accounts.sign_in("Ann", PASSWORD, "here")
    return place


def judge(queue, n, who="ann"):
    turn = queue.turn(who).result()
    for _ in range(n):
        turn = queue.record(who, turn.shown, "wanted", note="seen").result()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return make_server(tmp_path_factory.mktemp("served") / "reviews")


@pytest.fixture(scope="module")
def backup(server, tmp_path_factory):
    target = tmp_path_factory.mktemp("kept") / "reviews.tar.gz"
    back_up(server, target)
    return target


def test_all_queues_and_people_are_there_again_elsewhere(server, backup, tmp_path):
    done = restore(backup, tmp_path / "elsewhere")
    places = [queue.place for queue in done.queues]
    assert places == ["claims.review", "north/invoices.review"]
    for place in places:
        was, now = prove_folder(server / place), prove_folder(tmp_path / "elsewhere" / place)
        assert now.holds
        assert (now.digest, now.head, now.events) == (was.digest, was.head, was.events)
        names = {path.name for path in (tmp_path / "elsewhere" / place).iterdir()}
        assert not names & {"secret", "server.json", "log.json"}
    with closing(Accounts(Sqlite(tmp_path / "elsewhere" / "people.sqlite", tmp_path))) as accounts:
        assert [(each.name, each.role) for each in accounts.people()] == [("Ann", Role.ADMIN)]
        assert accounts.opened(accounts.people()[0]) == ([], [])  # everybody signs in anew
        assert accounts.sign_in("ann", PASSWORD, "there")
    with closing(Queue.open(tmp_path / "elsewhere" / places[0])) as queue:
        judge(queue, 2)
    assert prove_folder(tmp_path / "elsewhere" / places[0]).holds


def test_one_queue_alone(server, tmp_path):
    back_up(server / "claims.review", tmp_path / "one.tar.gz")
    restore(tmp_path / "one.tar.gz", tmp_path / "mine.review")
    assert head_of(tmp_path / "mine.review")[1:] == head_of(server / "claims.review")[1:]


def test_a_backup_made_while_people_review_is_of_one_moment(make_queue, tmp_path):
    queue, stop = make_queue(settings={"budget": None}), threading.Event()

    def review():
        turn = queue.turn("ann").result()
        while not stop.is_set():
            turn = queue.record("ann", turn.shown, "not wanted").result()

    thread = threading.Thread(target=review)
    thread.start()
    try:
        made = [back_up(queue.workspace.folder, tmp_path / f"{n}.tar.gz") for n in range(3)]
    finally:
        stop.set()
        thread.join()
    for n, contents in enumerate(made):
        restore(tmp_path / f"{n}.tar.gz", tmp_path / f"{n}.review")
        proof = prove_folder(tmp_path / f"{n}.review")
        assert (proof.holds, proof.events, proof.head) == (
            True,
            contents.queues[0].seq,
            contents.queues[0].head,
        )
        assert queue._store.hash_of(1, proof.events) == proof.head  # a beginning of the log as it went on


@pytest.mark.slow
@pytest.mark.parametrize("target", ["files", "database"])
def test_logs_in_a_database(postgres, postgres_server, tmp_path, target, monkeypatch):
    place = make_server(tmp_path / "reviews", postgres)
    back_up(place, tmp_path / "reviews.tar.gz", database=None)
    heads = [head_of(place / name) for name in ("claims.review", "north/invoices.review")]
    with own_schema(postgres_server.url) as empty:
        restore(
            tmp_path / "reviews.tar.gz", tmp_path / "new", database=empty if target == "database" else None
        )
        for name, head in zip(("claims.review", "north/invoices.review"), heads, strict=True):
            workspace = Workspace(tmp_path / "new" / name)
            assert isinstance(workspace.place, Remote) == (target == "database")
            assert head_of(workspace.folder) == head
            with closing(Queue.open(workspace.folder)) as queue:
                judge(queue, 2, who=f"somebody new in {name}")
            assert prove_folder(workspace.folder).holds
        if target == "database":
            with pytest.raises(InvalidInputError, match="holds logs or people already"):
                restore(tmp_path / "reviews.tar.gz", tmp_path / "again", database=empty)
            assert not (tmp_path / "again").exists()
    assert head_of(place / "claims.review") == heads[0]  # the old one is as it was


@pytest.mark.slow
def test_people_in_a_database(postgres, postgres_server, tmp_path):
    from shortlist.review.log.postgres import Postgres

    place = make_server(tmp_path / "reviews", postgres)
    with closing(Accounts(Postgres(Remote(postgres, "", place)))) as accounts:
        accounts.join(accounts.invite(Role.LEAD), "Bea", PASSWORD)
    back_up(place, tmp_path / "reviews.tar.gz", database=postgres)
    with own_schema(postgres_server.url) as empty:
        restore(tmp_path / "reviews.tar.gz", tmp_path / "new", database=empty)
        assert not (tmp_path / "new" / "people.sqlite").exists()
        with closing(Accounts(Postgres(Remote(empty, "", place)))) as accounts:
            assert accounts.sign_in("bea", PASSWORD, "there")
            assert accounts.join(accounts.invite(Role.VIEWER), "Cy", PASSWORD).id == 2


def test_nothing_is_written_over(server, backup, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    with pytest.raises(InvalidInputError, match="nothing is written over"):
        restore(backup, tmp_path / "full")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]
    (tmp_path / "empty").mkdir()
    restore(backup, tmp_path / "empty")
    assert (tmp_path / "empty" / "claims.review" / "ready").exists()
    with pytest.raises(InvalidInputError, match="no queue"):
        back_up(tmp_path / "full", tmp_path / "none.tar.gz")
    with pytest.raises(InvalidInputError, match="there is no folder"):
        back_up(server, tmp_path / "nowhere" / "none.tar.gz")
    assert {path.name for path in tmp_path.iterdir()} == {"full", "empty"}


def damaged(backup, kind):
    """A backup that somebody has cut, changed, or made."""
    whole = backup.read_bytes()
    if kind == "cut":
        return whole[: len(whole) // 2]
    if kind == "no file":
        return b"hello"
    plain, made = io.BytesIO(gzip.decompress(whole)), io.BytesIO()
    with tarfile.open(fileobj=plain) as old, tarfile.open(fileobj=made, mode="w:gz") as new:
        for entry in old:
            content = old.extractfile(entry).read()
            if kind == "changed" and entry.name.endswith("rows.parquet"):
                content = content[:-1] + b"!"
            if kind == "later" and entry.name == CONTENTS:
                content = json.dumps({**json.loads(content), "format": 99}).encode()
            if kind == "a queue outside" and entry.name == CONTENTS:
                told = json.loads(content)
                told["queues"][0]["place"] = "../../outside"
                content = json.dumps(told).encode()
            if kind == "without contents" and entry.name == CONTENTS:
                continue
            entry.size = len(content)
            new.addfile(entry, io.BytesIO(content))
        if kind == "climbs out":
            new.addfile(tarfile.TarInfo("folder/../../out"), io.BytesIO())
        if kind == "a link":
            link = tarfile.TarInfo("folder/link")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            new.addfile(link)
    return made.getvalue()


KINDS = ["cut", "no file", "changed", "later", "without contents", "climbs out", "a queue outside", "a link"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_that_is_not_whole_leaves_nothing(backup, tmp_path, kind):
    place = tmp_path / "in"
    (tmp_path / "outside").mkdir()
    place.mkdir()
    (place / "bad.tar.gz").write_bytes(damaged(backup, kind))
    with pytest.raises(DamagedError):
        restore(place / "bad.tar.gz", place / "new")
    assert [path.name for path in place.iterdir()] == ["bad.tar.gz"]
    assert [*(tmp_path / "outside").iterdir()] == []


def test_a_log_that_was_rewritten_is_not_restored(server, tmp_path):
    """Sums of files tell damage, not who made them: the chain of the log is checked as well."""
    back_up(server / "claims.review", tmp_path / "one.tar.gz")
    restore(tmp_path / "one.tar.gz", tmp_path / "forged.review")
    with closing(sqlite3.connect(tmp_path / "forged.review" / "log.sqlite")) as log:
        for (name,) in log.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            log.execute(f"drop trigger {name}")
        log.execute("update events set payload = replace(payload, 'seen', 'SEEN')")
        log.commit()
    back_up(tmp_path / "forged.review", tmp_path / "forged.tar.gz")
    with pytest.raises(DamagedError, match="not as it was written"):
        restore(tmp_path / "forged.tar.gz", tmp_path / "new.review")
    assert not (tmp_path / "new.review").exists()


SLOWLY = """
import sys, time
from pathlib import Path
from shortlist.review.archive import backup, restore
add, settle = backup._add, restore._settle
def slow(*given):
    add(*given) if len(given) == 4 else settle(*given)
    print("on its way", flush=True)
    time.sleep(60)
backup._add = restore._settle = slow
getattr({"back_up": backup, "restore": restore}[sys.argv[1]], sys.argv[1])(*map(Path, sys.argv[2:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", ["back_up", "restore"])
def test_killed_it_leaves_nothing_half_written(server, backup, tmp_path, what):
    target = tmp_path / ("reviews.tar.gz" if what == "back_up" else "reviews")
    source = server if what == "back_up" else backup
    command = [sys.executable, "-c", SLOWLY, what, str(source), str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "on its way\n"
        process.send_signal(signal.SIGKILL)
    assert not target.exists()
    assert len([*tmp_path.iterdir()]) == 1  # what it was at
    (back_up if what == "back_up" else restore)(source, target)
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert target.is_dir() or target.stat().st_size > 0
