"""The log on disk: made anew where a start left one behind, and its queue found by name."""

from contextlib import closing

import pytest

from shortlist.review.errors import NoQueueError
from shortlist.review.log.events import Event, Imported
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
        with pytest.raises(NoQueueError, match=r"no queue 'c'; it holds a, b\. Give the folder"):
            store.number_of("c")


def test_a_queue_alone_in_its_log_is_found_after_its_folder_was_renamed(place):
    with closing(Store.create(place)) as store:
        with pytest.raises(NoQueueError, match="it holds none"):
            store.number_of("claims")
        assert store.create_queue("claims", 0.0, {}) == store.number_of("old claims")
