"""What is still missed in a queue, from what its log says: the same on the page, over HTTP and on the command line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from shortlist.review.log.events import Event
from shortlist.review.log.state import verdict_of
from shortlist.review.telling.missed import Missed, Out, missed


def missed_in(
    batches: Sequence[int], verdicts: Iterable[Event], seen: Iterable[tuple[int, bool]], found: int
) -> Missed | None:
    """Bounds on the wanted rows that nobody has found; None without a random check that could tell.

    Parameters
    ----------
    batches : how many rows came together
    verdicts : those in force
    seen : rows that somebody has seen, in order, and whether drawn at random
    found : how many wanted rows this review has found
    """
    said = {event.row: verdict_of(event).is_wanted for event in verdicts}
    starts = [*accumulate(batches)]
    return missed(
        batches, (Out(said.get(row), is_check, bisect_right(starts, row)) for row, is_check in seen), found
    )
