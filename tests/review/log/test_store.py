"""The log on disk: made anew where a start left one behind, and its queue found by name."""

import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa

from shortlist.review.errors import NoQueueError
from shortlist.review.log.events import Event, Imported, Note, Undo
from shortlist.review.log.store import Store
from shortlist.verdicts import Verdict


@pytest.fixture
def place(tmp_path):
    return tmp_path / "log.sqlite"


def test_a_log_that_a_start_left_behind_is_made_anew(place):
    with closing(Store.create(place)) as left:
        left.append(left.create_queue("claims", 0.0, {}), [Event(1, 0.0, "ann", Imported(3, Verdict.WANTED))])
    with closing(Store.create(place)) as anew:
        number = anew.create_queue("claims", 0.0, {"seed": 1})
        assert list(anew.events(number)) == []


def test_each_queue_of_a_log_is_found_by_its_name(place):
    with closing(Store.create(place)) as store:
        numbers = {name: store.create_queue(name, 0.0, {}) for name in ("b", "a")}
        assert {name: store.number_of(name) for name in numbers} == numbers
        with pytest.raises(NoQueueError, match=r"no queue 'c'; it holds: a, b\. Give the folder"):
            store.number_of("c")


def test_a_queue_alone_in_its_log_is_found_after_its_folder_was_renamed(place):
    with closing(Store.create(place)) as store:
        with pytest.raises(NoQueueError, match="it holds: –"):
            store.number_of("claims")
        assert store.create_queue("claims", 0.0, {}) == store.number_of("old claims")


def test_remarks_are_found_without_reading_the_whole_log(tmp_path):
    """A page that shows the newest remarks, of which there may be few among many verdicts."""
    asked = []
    with closing(Store.create(tmp_path / "log.sqlite")) as store:
        number = store.create_queue("claims", 0.0, {})
        events = [
            Event(seq, 0.0, "ann", Note(1, "first") if seq == 1 else Undo(1, seq)) for seq in range(1, 500)
        ]
        store.append(number, events)
        sa.event.listen(store.database.engine, "before_cursor_execute", lambda *a: asked.append((a[2], a[3])))
        (found,) = store.events(number, kinds=["note"], newest_first=True, limit=20)
        assert found.body.note == "first"
        ((query, values),) = [each for each in asked if "FROM events" in each[0]]
        with closing(sqlite3.connect(tmp_path / "log.sqlite")) as tool:
            plan = str(tool.execute(f"explain query plan {query}", values).fetchall())
    assert "USING INDEX events_of_kind" in plan
    assert "SCAN events" not in plan
    assert "TEMP B-TREE" not in plan
