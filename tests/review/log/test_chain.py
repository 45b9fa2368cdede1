"""The log can be added to and not rewritten: triggers refuse, and what goes round them is noticed and named."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from shortlist.review.errors import BadRequestError, DamagedError, StoreError
from shortlist.review.log.chain import link, sum_of, text_of
from shortlist.review.log.events import Event, Imported, Judged, NameErased, Note, Shown
from shortlist.review.log.store import Store
from shortlist.verdicts import Verdict
from tests.before import asking
from tests.review.log.conftest import InFile

EVENTS = [
    Event(1, 10.0, "ann", Note(3, "first")),
    Event(2, 11.5, "bob", Imported(4, Verdict.WANTED, "known")),
    Event(3, 12.0, "ann", Shown(5, 1, 0.25, "top", 0, 600.0)),
    Event(4, 13.0, "ann", Judged(5, Verdict.NOT_WANTED, 3, True, "looked")),
]


@pytest.fixture
def log(kept):
    with closing(Store.create(kept.place)) as store:
        store.append(store.create_queue("claims", 5.0, {"seed": 1}, {"rows.parquet": "00"}), EVENTS)
    return kept


def edit(log, statements):
    """Change the database as somebody with a tool for it would."""
    with log.tool() as tool:
        for name in log.triggers:
            tool.execute(log.drop(name))
        for statement in log.first:
            tool.execute(statement)
        for statement in statements.split(";"):
            tool.execute(statement)
        for statement in log.triggers.values():
            tool.execute(statement)
        tool.commit()


def test_a_log_that_nobody_touched_has_no_faults(log, faults):
    assert faults(log) == []
    with closing(Store.open(log.place)) as store:
        assert list(store.events(1)) == EVENTS
        assert (store.head(1)[0], store.unchained(1), store.sums(1)) == (4, 0, {"rows.parquet": "00"})


@pytest.mark.parametrize(
    "statement",
    [
        "delete from events where seq = 2",
        "update events set who = 2 where seq = 1",
        "update events set payload = '{}'",
        "delete from queues",
        "update queues set fixed = '{}'",
        "update queues set seq = 2, head = 'x'",
        "update queues set head = 'x'",
        "delete from people",
        "update people set name = 'eve' where id = 1",
        "update events set words = 'other' where seq = 1",
        "update events set salt = 'x' where seq = 1",
        "update people set mark = 'x', name = null, salt = null where id = 1",
    ],
)
def test_triggers_refuse_to_rewrite(log, statement, faults):
    with log.tool() as tool, pytest.raises(Exception, match="only added to") as refused:
        tool.execute(statement)
    assert type(refused.value).__name__ in ("IntegrityError", "IntegrityConstraintViolation")
    assert faults(log) == []


AS_IT_IS = "at, who, kind, row, null, payload, hash, words, salt"
EDITS = {
    "the first event is gone": ("delete from events where seq = 1", "after event 0 comes event 2"),
    "an event between others is gone": ("delete from events where seq = 2", "after event 1 comes event 3"),
    "the last event is gone": ("delete from events where seq = 4", "should hold event 4"),
    "all events are gone": ("delete from events", "should hold event 4"),
    "another time": ("update events set at = at + 1 where seq = 3", "event 3 is not as it was written"),
    "another person": ("update events set who = 2 where seq = 4", "event 4 is not"),
    "another kind": ("update events set kind = 'note' where seq = 2", "event 2 is not"),
    "another row": ("update events set row = 9 where seq = 4", "event 4 is not"),
    "another answer": ("update events set answers = null where seq = 4", "event 4 is not"),
    "another verdict": (
        "update events set payload = replace(payload, 'not wanted', 'wanted') where seq = 4",
        "event 4 is not",
    ),
    "another score": (
        """update events set payload = replace(payload, '"score":', '"score":1') where seq = 3""",
        "event 3 is not",
    ),
    "another hash": ("update events set hash = 'x' where seq = 2", "event 2 is not"),
    "two events changed places": (
        "update events set seq = -seq where seq <= 2; update events set seq = seq + 3 where seq < 0",
        "event 1 is not",
    ),
    "an event is put in": (
        f"insert into events select queue, 5, {AS_IT_IS} from events where seq = 1",
        "event 5 is not",
    ),
    "an event is put before all others": (
        f"insert into events select queue, -1, {AS_IT_IS} from events where seq = 1",
        "after event 0 comes event -1",
    ),
    "other words": (
        "update events set words = replace(words, 'looked', 'stared')",
        "words of event 4 are not",
    ),
    "another salt": ("update events set salt = 'x' where seq = 1", "the words of event 1 are not"),
    "words that nobody wrote": (
        """update events set words = '{"note":"x"}' where seq = 3""",
        "the words of event 3 are not",
    ),
    "words are gone": (
        "update events set words = null, salt = null where seq = 2",
        "words of event 2 are gone",
    ),
    "another seed": ("""update queues set fixed = '{"seed":2}'""", "event 1 is not"),
    "other sums of files": ("update queues set files = '{}'", "event 1 is not"),
    "another beginning": ("update queues set created = 6", "event 1 is not"),
    "another end": ("update queues set seq = 3", "should hold event 3"),
    "another name": ("update people set name = 'eve' where id = 1", "person 1 was given another name"),
    "names changed places": (
        "update people set name = case id when 1 then 'bob ' else 'ann' end",
        "person 1",
    ),
    "another mark": ("update people set mark = 'x' where id = 1", "event 1 is not"),
    "a person is gone": ("delete from people where id = 2", "event 2 is not"),
    "sums that are no JSON": ("update queues set files = 'nonsense'", "event 1 is not"),
    "sums that are a number": ("update queues set files = '5'", "event 1 is not"),
    "a later beginning of the chain": (
        "update queues set unchained = 2",
        "event 2 was written with the chain",
    ),
    "an event that erases, and cannot be read": (
        "update events set kind = 'erased' where seq = 2",
        "event 2 is not",
    ),
}
#: Values of another type, which only SQLite keeps.
OF_ANOTHER_TYPE = {
    "a payload of bytes": ("update events set payload = x'00ff' where seq = 2", "event 2 is not"),
    "a payload as its bytes": (
        "update events set payload = cast(payload as blob) where seq = 4",
        "event 4 is not",
    ),
    "words of bytes": ("update events set words = cast(words as blob) where seq = 1", "event 1 is not"),
    "a hash of bytes": ("update events set hash = x'00' where seq = 4", "event 4 is not"),
    "a time in words": ("update events set at = 'noon' where seq = 3", "event 3 is not"),
    "a kind of bytes": ("update events set kind = x'00' where seq = 3", "event 3 is not"),
    "an event without a number": (
        "update events set seq = 'abc' where seq = 2",
        "after event 1 comes event 3",
    ),
    "a name of bytes": ("update people set name = x'00ff' where id = 1", "person 1 was given another name"),
    "a mark of bytes": ("update people set mark = x'00ff' where id = 2", "event 2 is not"),
    "a salt of bytes": ("update people set salt = x'00ff' where id = 2", "person 2 was given another name"),
    "an end that is no number": ("update queues set seq = 'abc'", "what the log says of the queue"),
    "sums of bytes": ("update queues set files = x'7b7d'", "what the log says of the queue"),
    "a seed of bytes": ("update queues set fixed = x'00ff'", "what the log says of the queue"),
    "a beginning in words": ("update queues set created = 'noon'", "what the log says of the queue"),
}


@pytest.mark.parametrize("what", EDITS)
def test_every_edit_is_noticed_and_named(log, what, faults):
    statement, words = EDITS[what]
    edit(log, statement)
    assert words in " ".join(faults(log))


@pytest.mark.parametrize("kept", ["sqlite"], indirect=True)
def test_every_value_of_another_type_is_noticed_and_named(log, tmp_path, faults):
    for number, (what, (statement, words)) in enumerate(OF_ANOTHER_TYPE.items()):
        copied = InFile(tmp_path / str(number))
        copied.folder.mkdir()
        shutil.copy(log.place, copied.place)
        edit(copied, statement)
        assert words in " ".join(faults(copied)), what


@pytest.mark.parametrize("kept", ["sqlite"], indirect=True)
def test_a_queue_about_which_the_log_cannot_be_read_is_damaged(log):
    edit(log, "update queues set seq = 'abc'")
    with closing(Store.open(log.place)) as store:
        for ask in (store.head, store.unchained, store.sums, store.own):
            with pytest.raises(DamagedError, match="Put a copy"):
                ask(1)


@pytest.mark.parametrize("kept", ["sqlite"], indirect=True)
def test_a_log_whose_text_is_none_any_more_is_damaged(log):
    """SQLite names the trigger that it cannot read, by a name that is no text any more: the driver cannot say it."""
    content = log.place.read_bytes()
    log.place.write_bytes(content.replace(b"triggerpeople_are", b"trigger\xf0eople_are"))
    for read_only in (True, False):
        with pytest.raises(DamagedError, match="the log is damaged"):
            Store.open(log.place, read_only=read_only)


def test_a_trigger_that_is_gone_or_another_is_noticed(log, faults):
    for name in log.triggers:
        with log.tool() as tool:
            tool.execute(log.drop(name))
            tool.commit()
            assert name in faults(log)[0]
            for statement in log.disarmed(name).split("; alter"):
                tool.execute(
                    statement.replace(" table", "alter table", 1) if " disable" in statement else statement
                )
            tool.commit()
            assert name in faults(log)[0]
            tool.execute(log.drop(name))
            tool.execute(log.triggers[name])
            tool.commit()
    assert faults(log) == []


def test_an_event_that_gets_a_field_later_keeps_its_hash(log, faults):
    """What is hashed is what is stored: fields that it does not have, or that nobody knows any more, change nothing."""
    with log.tool() as tool:
        before, payload = tool.execute('select head, \'{"row":1,"note":"","gone":7}\' from queues').fetchone()
        mark = tool.execute("select mark from people where name = 'ann'").fetchone()[0]
        head = link(before, [5, 14.0, mark, "note", 1, None, payload])
        tool.execute(
            f"insert into events values (1, 5, 14.0, 1, 'note', 1, null, '{payload}', '{head}', null, null)"
        )
        tool.execute(f"update queues set seq = 5, head = '{head}'")
        tool.commit()
    assert faults(log) == []
    with closing(Store.open(log.place)) as store:
        assert list(store.events(1, after=4)) == [Event(5, 14.0, "ann", Note(1, ""))]


def test_a_name_is_erased_from_every_byte_and_the_chain_holds(log, faults):
    with closing(Store.open(log.place)) as store:
        store.append(1, [Event(5, 14.0, "Annabel Leigh", Note(1, "seen"))])
        store.append(1, [Event(6, 14.0, "bob", NameErased(person=5))])
        store.forget_the_past("people")
        assert [event.who for event in store.events(1)] == ["ann", "bob", "ann", "ann", "erased 3", "bob"]
        assert [event.seq for event in store.events(1, who="erased 3")] == [5]
        assert store.n_nameless() == 1
        with pytest.raises(BadRequestError, match="choose another"):
            store.append(1, [Event(7, 15.0, "erased 3", Note(1, "me"))])
        assert all(b"Annabel" not in file.read_bytes() for file in log.folder.iterdir())
        store.append(1, [Event(7, 15.0, "Annabel Leigh", Note(1, "back again"))])
        assert [*store.events(1)][-1].who == "Annabel Leigh"
    assert faults(log) == []


def test_events_must_follow_each_other(log, faults):
    with closing(Store.open(log.place)) as store:
        for seqs in ([4], [6], [5, 7], [6, 5]):
            with pytest.raises(StoreError, match="ends at event 4"):
                store.append(1, [Event(seq, 14.0, "ann", Note(1, "")) for seq in seqs])
    assert faults(log) == []


# -- logs of before


@pytest.fixture
def before(tmp_path):
    """A workspace whose log has neither people nor chain."""
    return asking.unpack("cold", tmp_path / "kept") / "cold.review"


def test_an_older_log_is_read_without_being_changed(before):
    was = sum_of(before / "log.sqlite")
    with closing(Store.open(before / "log.sqlite", read_only=True)) as store:
        n_events = len(list(store.events(1)))
        assert store.unchained(1) == n_events == store.head(1)[0] > 20
    assert sum_of(before / "log.sqlite") == was


def test_an_older_log_gets_its_people_its_chain_and_the_sums_of_its_files(before):
    with closing(sqlite3.connect(before / "log.sqlite")) as tool:
        old = tool.execute(
            "select seq, at, who, kind, row, answers, payload from events order by seq"
        ).fetchall()
    with closing(Store.open(before / "log.sqlite")) as store:
        assert list(store.faults(1)) == []
        assert [(e.seq, e.at, e.who, e.kind) for e in store.events(1)] == [line[:4] for line in old]
        assert {"rows.parquet", "space/leaf_ids.npy", "space/space.npz"} <= {*store.sums(1)}
        assert store.sums(1)["rows.parquet"] == sum_of(before / "rows.parquet")
        store.append(1, [Event(len(old) + 1, 1e10, "ann", Note(1, "after"))])
        assert (store.unchained(1), list(store.faults(1))) == (len(old), [])
    with closing(sqlite3.connect(before / "log.sqlite")) as tool:
        new = tool.execute("select payload from events where seq <= ? order by seq", (len(old),)).fetchall()
    assert [line[0] for line in new] == [line[-1] for line in old]


def test_a_migration_that_fails_leaves_the_log_as_it_was(before, monkeypatch):
    monkeypatch.setattr("shortlist.review.log.tables.TRIGGERS", {"wrong": "create nonsense"})
    with pytest.raises(StoreError, match="Nothing has changed"):
        Store.open(before / "log.sqlite")
    with closing(sqlite3.connect(before / "log.sqlite")) as tool:
        tables = {name for (name,) in tool.execute("select name from sqlite_master where type = 'table'")}
    assert tables == {"alembic_version", "queues", "events"}


def test_a_log_of_a_later_version_is_refused(log):
    with log.tool() as tool:
        tool.execute("update alembic_version set version_num = '9999'")
        tool.commit()
    for read_only in (True, False):
        with pytest.raises(DamagedError, match="later version"):
            Store.open(log.place, read_only=read_only)


@pytest.mark.parametrize("folder", ["a#b", "a?b=c", "a%41b", "a b", "ä;ö&", "'quoted'", "file:x", "..."])
def test_a_log_lies_in_its_folder_whatever_the_folder_is_called(tmp_path, folder, faults):
    place = tmp_path / folder / "log.sqlite"
    place.parent.mkdir()
    with closing(Store.create(place)) as store:
        store.append(store.create_queue("claims", 0.0, {}), EVENTS[:1])
    assert {file for file in tmp_path.rglob("*") if file.is_file()} == {place, place.with_suffix(".end")}
    assert faults(InFile(place.parent)) == []
    shutil.rmtree(place.parent)


def test_the_stored_text_is_plain_json():
    assert json.loads(text_of({"note": "ü\ud800"})) == {"note": "ü\ud800"}
