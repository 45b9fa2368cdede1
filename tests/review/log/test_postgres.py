"""The log in a database: who may write to it, what is not written down, and a server that goes away and comes back."""

import contextlib
import json
import threading
import time
from contextlib import closing

import pytest
import sqlalchemy as sa

from shortlist.exceptions import InvalidInputError
from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import DamagedError, NotOwnerError, StoreError
from shortlist.review.log import postgres as database_of_log
from shortlist.review.log import store as store_of_log
from shortlist.review.log.database import Remote, reading
from shortlist.review.log.events import Event, Note
from shortlist.review.log.postgres import AdvisoryLock
from shortlist.review.log.store import Store
from shortlist.review.reading import head_of, prove_folder
from shortlist.review.workspace import Workspace
from shortlist.verdicts import Verdict
from studies.postgres import running_postgres

psycopg = pytest.importorskip("psycopg")


@pytest.fixture
def place(postgres, tmp_path):
    return Remote(postgres, "claims", tmp_path)


def test_one_at_a_time_owns_a_queue_and_the_lock_dies_with_its_connection(place, postgres):
    mine = AdvisoryLock.take(place)
    assert AdvisoryLock.take(place) is None
    other = AdvisoryLock.take(place._replace(queue="another"))
    assert mine.is_held()
    assert other.is_held()
    with psycopg.connect(postgres, autocommit=True) as tool:
        key = "(hashtextextended(current_schema() || ' claims', 0) & 4294967295)::oid"
        tool.execute(f"select pg_terminate_backend(pid) from pg_locks where objid = {key}")
    assert not mine.is_held()
    assert other.is_held()
    taken = AdvisoryLock.take(place)
    assert taken.is_held()
    for lock in (mine, other, taken):
        lock.release()


def test_the_owner_is_checked_in_the_transaction_that_writes(place):
    """Whoever waited for the line of the queue while another became its owner writes nothing."""
    with closing(Store.create(place)) as first, closing(Store.open(place)) as second:
        number = first.create_queue("claims", 0.0, {})
        first.own(number)
        first.append(number, [Event(1, 1.0, "ann", Note(1, "mine"))])
        second.own(number)
        assert (first.is_owned(number), second.is_owned(number)) == (False, True)
        with pytest.raises(NotOwnerError):
            first.append(number, [Event(2, 2.0, "ann", Note(1, "late"))])
        second.append(number, [Event(2, 2.0, "bob", Note(1, "in time"))])
        assert [event.who for event in first.events(number)] == ["ann", "bob"]


def test_two_queues_may_meet_the_same_new_person_at_the_same_moment(place, tmp_path):
    (tmp_path / "second").mkdir()
    with closing(Store.create(place)) as store:
        queues = [store.create_queue("", 0.0, {}), None]
        with closing(Store.open(Remote(place.url, "second", tmp_path / "second"))) as other:
            queues[1] = other.create_queue("", 0.0, {})
            stores, failed = [store, other], []

            def write(each):
                try:
                    for n in range(1, 21):
                        stores[each].append(queues[each], [Event(n, 1.0, f"person {n}", Note(1, ""))])
                except Exception as error:
                    failed.append(error)

            threads = [threading.Thread(target=write, args=(each,)) for each in (0, 1)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            assert failed == []
            assert [*store.faults(queues[0]), *other.faults(queues[1])] == []


def test_names_that_no_database_takes_are_nobodys(place):
    with closing(Store.create(place)) as store:
        number = store.create_queue("claims", 0.0, {})
        store.append(number, [Event(1, 1.0, "ann", Note(1, ""))])
        assert [*store.events(number, who="a\0nn\udc80")] == [*store.events(number, who="ann")]
        assert [*store.events(number, who="\0")] == []
        assert [*store.events(number, after=2**53)] == []


def test_all_tables_are_made_once_however_many_come_first(place):
    stores = []
    threads = [threading.Thread(target=lambda: stores.append(Store.open(place))) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(stores) == 4
    [store.close() for store in stores]


def test_a_database_without_a_log_is_not_changed_by_a_reader(place):
    with pytest.raises(DamagedError, match="holds no log"):
        Store.open(place, read_only=True)


@pytest.mark.parametrize("url", ["mysql://host/x", "nothing", "sqlite:///x.db", ""])
def test_other_databases_are_refused(url, tmp_path):
    with pytest.raises(InvalidInputError, match="postgresql://USER@HOST/NAME"):
        Workspace(tmp_path).keep_log_in(url)


def test_a_queue_in_a_database_goes_through_a_restart_of_it(data, truth, tmp_path, monkeypatch):
    """Nothing that was acknowledged is lost; what was not is sent again, and a second server reads meanwhile."""
    with running_postgres() as server:
        workspace = Workspace.beside(str(data))
        create(str(data), workspace, id="claim", database=server.url.replace("me@", "me:secret@"))
        assert "secret" not in "".join(
            path.read_text(errors="ignore") for path in workspace.folder.glob("*.json")
        )
        assert not workspace.log.exists()
        with closing(Queue.open(workspace.folder)) as queue, closing(Queue.open(workspace.folder)) as reader:
            assert (queue.read_only, reader.read_only) == (False, True)
            turn = queue.turn("ann").result()
            turn = queue.record("ann", turn.shown, Verdict.WANTED).result()
            server.stop()
            with pytest.raises(StoreError, match="Send this again"):
                queue.record("ann", turn.shown, Verdict.WANTED).result()
            with pytest.raises(StoreError):
                queue.look_after().result()
            server.start()
            assert not queue.look_after().result()  # it took its lock again
            assert AdvisoryLock.take(workspace.place) is None
            queue.record("ann", turn.shown, Verdict.WANTED).result()
            assert reader.turn("bob").result().state == "read-only"
            assert not reader.look_after().result()
            assert reader.snapshot.reviewed == 2
        proof = prove_folder(workspace.folder)
        assert (proof.holds, proof.head) == (True, head_of(workspace.folder)[2])
        told = json.loads((workspace.folder / "log.json").read_text())
        monkeypatch.setenv("SHORTLIST_DB", "postgresql://me@/elsewhere")
        assert workspace.place == Remote("postgresql://me@/elsewhere", told["queue"], workspace.folder)


@pytest.mark.slow
def test_an_owner_that_is_gone_in_the_middle_of_a_transaction_keeps_nobody_from_the_queue(
    data, make_workspace, postgres, monkeypatch
):
    """Its lock is free, but not the line of the queue: whoever takes over reads meanwhile, and tries again."""
    monkeypatch.setattr(store_of_log, "OWN_SECONDS", 1)
    monkeypatch.setattr(database_of_log, "IDLE_SECONDS", 10)
    workspace = Workspace.beside(str(data))
    make_workspace(data, workspace, database=postgres)
    with closing(Queue.open(workspace.folder)) as owner, closing(Queue.open(workspace.folder)) as reader:
        gone = owner._store._engine.connect()
        gone.execute(owner._store._locked, {"of": owner._number})
        owner._lock.release()
        with pytest.raises(StoreError, match="lock timeout"):
            look_until_something_happens(reader)
        assert reader.turn("bob").result(timeout=120).state == "read-only"
        until = time.monotonic() + 60
        while reader.read_only and time.monotonic() < until:
            with contextlib.suppress(StoreError):
                reader.look_after().result(timeout=120)
        assert reader.turn("bob").result(timeout=120).state == "row"
        with pytest.raises(StoreError, match="idle-in-transaction"), reading():  # who comes back late
            gone.execute(sa.text("select 1"))
        gone.invalidate()
        gone.close()


def look_until_something_happens(queue):
    """A database takes its time to notice that a connection was closed, and its lock is free."""
    while not queue.look_after().result(timeout=120):
        time.sleep(0.01)


def test_a_database_that_is_gone_without_a_word_is_missed_at_both_ends(place):
    with closing(Store.create(place)) as store:
        lock = AdvisoryLock.take(place)
        for connection in (store._engine.connect(), lock._connection):
            query = "select name from pg_settings where source = 'session'"
            named = {*connection.exec_driver_sql(query).scalars()}
            assert {"idle_in_transaction_session_timeout", *database_of_log.ITS_LIMITS} <= named
            ours = connection.connection.driver_connection.info.get_parameters()
            assert {
                name: int(ours[name]) for name in database_of_log.OUR_LIMITS
            } == database_of_log.OUR_LIMITS
            connection.close()
        lock.release()


def test_what_the_url_says_of_time_limits_is_heeded(place):
    url = f"{place.url}&connect_timeout=3&tcp_user_timeout=0"
    with closing(Store.create(place._replace(url=url))) as store, store._engine.connect() as connection:
        ours = connection.connection.driver_connection.info.get_parameters()
        assert (ours["connect_timeout"], ours["tcp_user_timeout"]) == ("3", "0")


@pytest.mark.slow
def test_migrations_take_their_time(place, monkeypatch):
    monkeypatch.setattr(database_of_log, "IDLE_SECONDS", 1)
    database = database_of_log.Postgres(place)
    with closing(database.engine.connect()) as quick, closing(database.engine.connect()) as slow:
        quick.execute(sa.text("select 1"))
        database.take_time(slow)
        time.sleep(2)
        slow.execute(sa.text("select 1"))
        with pytest.raises(sa.exc.DBAPIError, match="idle-in-transaction"):
            quick.execute(sa.text("select 1"))
        quick.invalidate()
    database.engine.dispose()
