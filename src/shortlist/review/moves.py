"""The view of a queue after a batch of events: counts, the rows next up, and how the last verdicts moved them."""

from __future__ import annotations

from dataclasses import replace

from shortlist.review.dealer import Deal
from shortlist.review.events import Answer, Event, Shown, Verdict
from shortlist.review.replay import Replayed
from shortlist.review.state import State, answer_of
from shortlist.review.view import Last, NextUp, Snapshot


def take_snapshot(
    name: str, live: Replayed, deal: Deal, before: Snapshot | None, *, read_only: bool
) -> Snapshot:
    """What pages show from now on."""
    state = live.state
    reviewed = state.reviewed()
    wanted = [event.row for event in reviewed if answer_of(event) is Answer.WANTED]
    ranked = [event for event in reviewed if _is_ranked(event, state)]
    checks = state.random_checks()
    sample = [is_wanted for row, is_wanted in checks.items() if row not in state.passed]
    moved = _moves([up.row for up in before.top] if before else [], deal.top)
    return Snapshot(
        name=name,
        seq=state.seq,
        version=live.engine.version,
        n_rows=state.n_rows,
        settings=state.settings,
        read_only=read_only,
        answers=tuple(answer_of(event) for event in reviewed),
        value_found=live.rows.value([row for row in wanted if row is not None]),
        unsure=tuple(e.row for e in reviewed if answer_of(e) is Answer.UNSURE and e.row is not None),
        parked=sum(row not in state.verdict for row in state.parked),
        imported=len(state.verdict) - len(reviewed),
        top=tuple(
            NextUp(row, live.rows.id(row), score, moved.get(row))
            for row, score in zip(deal.top, deal.top_scores, strict=True)
        ),
        shown_scores=tuple(_shown(event, state).score for event in ranked),
        shown_wanted=tuple(answer_of(event) is Answer.WANTED for event in ranked),
        sampled=len(sample),
        sampled_wanted=sum(sample),
        checks=len(checks),
        checks_wanted=sum(checks.values()),
        last=_last(reviewed, live, moved, before),
        reviewers=dict(state.reviewers),
    )


def _is_ranked(event: Event, state: State) -> bool:
    """Whether a verdict tells what the ranking is worth: not on a random check, not undecided."""
    return (
        isinstance(event.body, Verdict)
        and answer_of(event) is not Answer.UNSURE
        and event.row not in state.checks
    )


def _shown(event: Event, state: State) -> Shown:
    body = event.body
    assert isinstance(body, Verdict)
    shown = state.shown[body.answers].body
    assert isinstance(shown, Shown)
    return shown


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
    reviewed: list[Event], live: Replayed, moved: dict[int, int | None], before: Snapshot | None
) -> Last | None:
    """The newest verdict; while it stays the newest, so does the count of rows that it moved up."""
    if not reviewed:
        return None
    event = reviewed[-1]
    assert event.row is not None
    up = sum(1 for places in moved.values() if places is None or places > 0)
    last = Last(event.seq, event.row, live.rows.id(event.row), answer_of(event), event.who, up)
    known = before.last if before else None
    return replace(last, moved=known.moved) if known and known.seq == last.seq else last
