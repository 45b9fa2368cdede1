"""A reviewer's name is erased while the review goes on: memory, other processes and other queues forget it, too."""

import pytest

from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import BadRequestError, NoQueueError, ReadOnlyError
from shortlist.review.reading import prove_folder
from shortlist.review.workspace import Workspace
from shortlist.verdicts import Verdict
from tests.review.desk.test_erasing import known_anywhere

NAME = "Annabel Leigh"


def test_a_name_is_erased_under_a_running_review_and_the_log_is_proved(make_queue, review):
    queue = make_queue(settings={"second_opinions": 1.0})
    review(queue, 4, NAME)
    review(queue, 2, "bob")
    queue.assign("lead", queue.snapshot.top[5].row, NAME).result()
    before = queue.standing().result()
    assert known_anywhere(queue, NAME)

    stands = queue.erase_name("admin", NAME).result()

    assert stands.startswith("erased ")
    assert known_anywhere(queue, NAME) == []
    assert NAME not in repr(queue._live.state) + repr(queue.snapshot)
    assert {event.who for event in queue.log()} == {stands, "bob", "lead", "admin"}
    (told,) = queue.log(kinds=["name erased"])
    assert (told.who, queue.person(told.body.person)) == ("admin", stands)
    assert queue.first_event_of(stands) == told.body.person == 1
    after = queue.standing().result()
    assert (after.digest, after.version) == (before.digest, before.version)
    review(queue, 2, "bob")
    folder = queue.workspace.folder
    queue.close()
    proof = prove_folder(folder)
    assert (proof.holds, proof.digest) == (True, make_queue(again=True).digest().result())


def test_a_page_that_is_still_open_does_not_bring_the_name_back(make_queue, review):
    queue = make_queue()
    turn = review(queue, 1, NAME)[-1]
    queue.erase_name("admin", NAME).result()
    for refused in (
        lambda: queue.turn(NAME),
        lambda: queue.record(NAME, turn.shown, Verdict.WANTED),
        lambda: queue.note(NAME, 3, "still here"),
        lambda: queue.assign("lead", 3, NAME),
    ):
        with pytest.raises(BadRequestError, match="this name was erased"):
            refused().result()
    assert known_anywhere(queue, NAME) == []
    queue.close()
    again = make_queue(again=True)  # somebody else may be called so
    assert again.turn(NAME).result().state == "row"
    assert {event.who for event in again.log()} == {"erased 1", "admin", NAME}
    again.erase_name("admin", NAME).result()
    assert {event.who for event in again.log()} == {"erased 1", "admin", "erased 3"}


def test_nobody_is_erased_who_is_not_there(make_queue, review):
    queue, reader = make_queue(), make_queue(again=True)
    review(queue, 1, NAME)
    queue.erase_name("admin", NAME).result()
    for name in ("bob", NAME, "erased 1", "", "a\0b"):
        with pytest.raises(NoQueueError, match="there is nobody called"):
            queue.erase_name("admin", name).result()
    with pytest.raises(ReadOnlyError):
        reader.erase_name("admin", "admin")
    assert len([*queue.log(kinds=["name erased"])]) == 1


def test_whoever_only_reads_the_queue_forgets_the_name_too(make_queue, review):
    queue, reader = make_queue(), make_queue(again=True)
    review(queue, 3, NAME)
    assert reader.knows(NAME).result()
    assert NAME in reader.snapshot.reviewers
    queue.erase_name("admin", NAME).result()
    assert not reader.look_after().result()
    assert not reader.knows(NAME).result()
    assert NAME not in repr(reader._live.state) + repr(reader.snapshot)
    assert reader.digest().result() == queue.digest().result()


@pytest.mark.slow
def test_queues_of_one_database_forget_a_name_together(postgres, data, tmp_path):
    """They share their people: what the owner of one erases, that of another finds out by itself."""
    opened = []
    for name in ("north", "south"):
        place = Workspace(tmp_path / f"{name}.review")
        create(str(data), place, id="claim", database=postgres)
        opened.append(Queue.open(place.folder))
    north, south = opened
    try:
        for queue in opened:
            turn = queue.turn(NAME).result()
            queue.record(NAME, turn.shown, Verdict.WANTED).result()
        north.erase_name("admin", NAME).result()
        south.look_after().result()
        assert NAME not in repr(south._live.state) + repr(south.snapshot)
        south.note("bob", 3, "seen").result()
        assert {event.who for event in south.log()} == {"erased 1", "bob"}
    finally:
        for queue in opened:
            queue.close()
    assert all(prove_folder(queue.workspace.folder).holds for queue in opened)
