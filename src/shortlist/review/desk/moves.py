"""The view of a queue after a batch of events: counts, the rows next up, and how the last verdicts moved them."""

from __future__ import annotations

from dataclasses import replace

from shortlist.review.desk.dealer import Deal
from shortlist.review.desk.live import Replayed
from shortlist.review.desk.snapshot import Last, NextUp, Snapshot
from shortlist.review.log.events import Event, Imported
from shortlist.review.log.state import answer_of


def take_snapshot(
    name: str, live: Replayed, deal: Deal, before: Snapshot | None, *, read_only: bool
) -> Snapshot:
    """What pages show from now on."""
    state = live.state
    checks = state.random_checks()
    sample = [is_wanted for row, is_wanted in checks.items() if row not in state.passed]
    moved = _moves([up.row for up in before.top] if before else [], deal.top)
    verdicts = tuple(state.verdict.values())
    return Snapshot(
        name=name,
        seq=state.seq,
        version=live.engine.version,
        n_rows=state.n_rows,
        settings=state.settings,
        read_only=read_only,
        verdicts=verdicts,
        shown=state.shown,
        reviewed=state.n_reviewed,
        found=len(state.wanted),
        value_found=live.rows.value(list(state.wanted)),
        parked=sum(row not in state.verdict for row in state.parked),
        top=tuple(
            NextUp(row, live.rows.id(row), score, moved.get(row))
            for row, score in zip(deal.top, deal.top_scores, strict=True)
        ),
        sampled=len(sample),
        sampled_wanted=sum(sample),
        checks=checks,
        last=_last(verdicts[-1] if verdicts else None, live, moved, before),
        reviewers=dict(state.reviewers),
    )


def _moves(before: list[int], after: list[int]) -> dict[int, int | None]:
    """Places that each row of the new top went up; None for rows that were not near the top before.

    Rows that left the top (reviewed, or on a screen) are not counted: the others do not move up by their leaving.

    >>> _moves([1, 2, 3, 4], [4, 2, 3, 9])
    {4: 2, 2: -1, 3: -1, 9: None}
    """
    staying = set(after)
    old = {row: place for place, row in enumerate(row for row in before if row in staying)}
    known = [row for row in after if row in old]
    new = {row: place for place, row in enumerate(known)}
    return {row: old[row] - new[row] if row in old else None for row in after}


def _last(
    event: Event | None, live: Replayed, moved: dict[int, int | None], before: Snapshot | None
) -> Last | None:
    """The newest verdict; while it stays the newest, so does the count of rows that it moved up."""
    if event is None or event.row is None or isinstance(event.body, Imported):
        return None
    up = sum(1 for places in moved.values() if places is None or places > 0)
    last = Last(event.seq, event.row, live.rows.id(event.row), answer_of(event), event.who, up)
    known = before.last if before else None
    return replace(last, moved=known.moved) if known and known.seq == last.seq else last
