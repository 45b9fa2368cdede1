"""Queues whose rows have a value are ranked by expected value, anew after every verdict."""

import numpy as np
import pytest

from shortlist.review.desk import live as live_queue
from shortlist.review.telling.estimate import Calibration
from shortlist.verdicts import Verdict


def open_in_order(queue):
    return queue._live.ranking.top(500)


@pytest.fixture
def valued(make_queue, review):
    queue = make_queue(value="amount")
    review(queue, 12)
    return queue


def expected_by_hand(queue):
    """Chance times value of every open row, as the docstring says it."""
    live = queue._live
    shown = {event.seq: event.body.score for event in queue.log(kinds=["shown"])}
    said = [
        (shown[event.body.answers], event.body.verdict is Verdict.WANTED)
        for event in queue.log(kinds=["verdict"])
    ]
    scores = live.engine.all_scores()
    curve = Calibration.of(
        [*(score for score, _ in said), *[float(np.median(scores))] * 3],
        [*(wanted for _, wanted in said), *[False] * 3],
        extend=True,
    )
    rows = live.engine.open_rows()
    return dict(zip(rows.tolist(), curve.chance(scores[rows]) * live.rows.values[rows], strict=True))


def test_the_next_row_is_that_of_the_largest_expected_value(valued):
    expected = expected_by_hand(valued)
    order = open_in_order(valued)
    assert order == sorted(expected, key=expected.__getitem__, reverse=True)
    assert order != valued._live.engine.top(500)  # by score alone it would be another
    assert [valued._live.ranking.rank_of(row) for row in order[:3]] == [1, 2, 3]
    some = np.array(order[10:40:3])
    assert valued._live.ranking.best_of(some, 4) == order[10:22:3]


def test_the_middle_stays_unlikely_when_only_the_latest_verdicts_count(make_queue, review, monkeypatch):
    monkeypatch.setattr("shortlist.review.telling.estimate.RECENT", 9)
    queue = make_queue(value="amount")
    review(queue, 12)
    expected = expected_by_hand(queue)
    assert open_in_order(queue) == sorted(expected, key=expected.__getitem__, reverse=True)


def test_every_verdict_ranks_anew(valued):
    before = open_in_order(valued)
    turn = valued.turn("ann").result()
    valued.record("ann", turn.shown, Verdict.NOT_WANTED).result()
    after = open_in_order(valued)
    assert after != [row for row in before if row != turn.row]


def test_before_verdicts_of_both_kinds_the_score_ranks(make_queue):
    queue = make_queue(value="amount")
    assert open_in_order(queue) == queue._live.engine.top(500)


def test_a_replay_gives_the_same_ranking(valued, make_queue):
    order = open_in_order(valued)
    valued.close()
    assert open_in_order(make_queue(again=True)) == order


def test_a_queue_of_before_keeps_its_order(make_queue, review, monkeypatch):
    """What never changes did not tell of it then."""

    class Older(live_queue.Fixed):
        @classmethod
        def from_dict(cls, stored):
            stored.pop("by_value")
            return super().from_dict(stored)

    monkeypatch.setattr(live_queue, "Fixed", Older)
    queue = make_queue(value="amount")
    review(queue, 12)
    assert queue.snapshot.value_found > 0
    assert open_in_order(queue) == queue._live.engine.top(500)


def test_without_a_value_the_score_ranks(queue, review):
    review(queue, 12)
    assert queue._live.ranking is queue._live.engine


def test_what_is_next_is_told_with_what_it_is_ranked_by(valued):
    expected = expected_by_hand(valued)
    top = valued.snapshot.top
    assert [up.expected_value for up in top] == pytest.approx([expected[up.row] for up in top])
    assert [up.expected_value for up in top] == sorted((up.expected_value for up in top), reverse=True)
    turn = valued.turn("ann").result()
    assert turn.expected_value == pytest.approx(expected[turn.row])


@pytest.mark.parametrize(("options", "verdicts"), [({"value": "amount"}, 0), ({}, 12)])
def test_nothing_is_expected_where_the_score_ranks(make_queue, review, options, verdicts):
    queue = make_queue(**options)
    review(queue, verdicts)
    assert {up.expected_value for up in queue.snapshot.top} <= {None}
    assert queue.turn("ann").result().expected_value is None
