"""A server looks after its queues for as long as it runs, whatever becomes of one of them."""

import asyncio
import logging
from concurrent.futures import Future

import pytest

from shortlist.review.errors import StoreError
from shortlist.review.web import server


class Looked:
    """A queue that answers each look in turn with an error, with whether it changed hands, or not at all."""

    read_only = False

    def __init__(self, name, *answers):
        self.name, self._answers, self.looks = name, [*answers], 0

    def look_after(self):
        self.looks += 1
        future = Future()
        answer = self._answers.pop(0) if self._answers else False
        if isinstance(answer, Exception):
            future.set_exception(answer)
        elif answer is not None:
            future.set_result(answer)
        return future


@pytest.fixture
def look(monkeypatch):
    """Look after queues until all that is expected has happened, and for two minutes at most."""
    monkeypatch.setattr(server, "LOOK_AFTER_SECONDS", 0.001)

    def run(queues, is_done):
        taken = []

        async def until_done():
            task = asyncio.create_task(server._look_after(queues, taken.append))
            async with asyncio.timeout(120):
                while not is_done(taken):
                    await asyncio.sleep(0.001)
            assert not task.done()
            task.cancel()
            await asyncio.wait([task])

        asyncio.run(until_done())
        return taken

    return run


def test_a_queue_that_does_not_answer_keeps_nobody_from_the_others(look):
    stuck, other = Looked("stuck", None), Looked("other", False, True)
    assert look({"stuck": stuck, "other": other}, is_done=lambda taken: taken and other.looks > 3) == [other]
    assert stuck.looks == 1  # it is not asked again before it has answered


def test_what_fails_is_said_once_and_tried_again(look, caplog):
    away = StoreError("the database is away")
    queue = Looked("claims", away, away, ZeroDivisionError("a mistake"), True)
    with caplog.at_level(logging.WARNING):
        assert look({"claims": queue}, is_done=lambda taken: taken) == [queue]
    said = [record.getMessage() for record in caplog.records]
    assert said == [
        "the queue claims could not be looked after: the database is away",
        "the queue claims could not be looked after: a mistake",
    ]


def test_a_queue_that_is_opened_anew_is_looked_after_in_place_of_the_one_of_before(look):
    queues = {"claims": Looked("claims")}
    before, anew = queues["claims"], Looked("claims", True)

    def is_done(taken):
        if before.looks:
            queues["claims"] = anew
        return taken

    assert look(queues, is_done) == [anew]
