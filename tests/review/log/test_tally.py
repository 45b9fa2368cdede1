"""Counts that follow the log say what a count of the whole log says."""

import datetime as dt
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.review.log.events import Drawn, Event, Imported, Judged, Override, Park, Second, Shown, Undo
from shortlist.review.log.settings import Settings
from shortlist.review.log.state import State
from shortlist.review.log.tally import ALL, MOST_SECONDS, Count
from shortlist.verdicts import Verdict

WEEK, DAY = 7 * 86_400, 86_400
PEOPLE, ROWS = ("ann", "bob", "eve"), range(6)
FIRST = [drawn for drawn in Drawn if drawn is not Drawn.SECOND]


@st.composite
def logs(draw):
    """A log as a queue writes it: rows are shown, judged, judged by a second, or put off; verdicts are taken back and
    decided anew."""
    state, events, at = State(Settings(second_opinions=0.7), len(ROWS)), [], 1.7e9
    for _ in range(draw(st.integers(0, 25))):
        at += draw(st.sampled_from([1.0, 30.0, 2 * MOST_SECONDS, DAY, WEEK]))
        who, row = draw(st.sampled_from(PEOPLE)), draw(st.sampled_from(ROWS))
        said = draw(st.sampled_from([*Verdict]))
        bodies = [Override(row, said)]
        if row not in state.verdict:
            shown = Shown(row, 1, 0.5, draw(st.sampled_from(FIRST)), 0, at + 600)
            seq = state.seq + 1
            reason = draw(st.sampled_from(["", "shell", "typo"]))
            answers = [Judged(row, said, seq, True, "", reason), Park(row, seq, at + 60)]
            bodies = [bodies, [Imported(row, said)], *([shown, answer] for answer in answers)]
            bodies = draw(st.sampled_from(bodies))
        elif draw(st.booleans()):
            bodies = [Undo(row, state.verdict[row].seq)]
            opinions = state.opinions
            if row in opinions.waiting and opinions.waiting[row].who != who:
                seq = state.seq + 1
                bodies = [Shown(row, 1, 0.5, Drawn.SECOND, 0, at + 600), Second(row, said, seq)]
            elif row in opinions.given and row not in opinions.resolved and draw(st.booleans()):
                bodies = [Undo(row, opinions.given[row].second.seq, second=True)]
        for body in bodies:
            events.append(Event(state.seq + 1, at, who, body))
            state.apply(events[-1])
            at += draw(st.sampled_from([0.0, 7.0]))
    return state, events


def counted_anew(events, belongs):
    """What all events amount to, counted row by row; ``belongs`` says whether something counts here."""
    count, seen = Count(), {e.seq: e.body for e in events if isinstance(e.body, Shown)}
    first = {e.row: e.body for e in reversed(events) if e.row is not None}
    checks = {row for row, body in first.items() if isinstance(body, Shown) and body.drawn is Drawn.AUDIT}
    for row in ROWS:
        looks = []
        for event in (e for e in events if e.row == row):
            if isinstance(event.body, Judged | Override | Second):
                looks.append(event)
            elif isinstance(event.body, Undo) and event.body.second:
                gone = next(each for each in looks if each.seq == event.body.answers)
                count.taken_back += belongs(gone, "")
                looks.remove(gone)
            elif isinstance(event.body, Undo | Imported):
                own = [look for look in looks if not isinstance(look.body, Second)]
                if own and isinstance(event.body, Undo):
                    count.taken_back += belongs(own[-1], "")
                looks = []
        if not looks:
            continue
        reason = next((e.body.reason for e in reversed(looks) if getattr(e.body, "reason", "")), "")
        count.second_opinions += sum(isinstance(look.body, Second) and belongs(look, "") for look in looks)
        if not belongs(looks[0], reason):
            continue
        said = [(e.who, e.body.verdict) for e in looks if e.body.verdict is not Verdict.UNSURE]
        second = [v for who, v in said if who != said[0][0]]
        last = [look for look in looks if not isinstance(look.body, Second)][-1].body.verdict
        count.reviewed += 1
        count.unsure += last is Verdict.UNSURE
        chosen = (Drawn.CHOSEN, Drawn.ASSIGNED)
        served = isinstance(looks[0].body, Judged) and seen[looks[0].body.answers].drawn not in chosen
        by_rank = served and row not in checks and last is not Verdict.UNSURE
        count.ranked += by_rank
        count.ranked_wanted += by_rank and last is Verdict.WANTED
        count.twice += bool(second)
        count.agreed += bool(second) and second[0] is said[0][1]
        if last is Verdict.WANTED:
            count.wanted[row] = None
    shown = {e.seq: e.at for e in events if isinstance(e.body, Shown)}
    for event in events:
        if isinstance(event.body, Judged | Second | Park) and belongs(event, ""):
            count.seconds += min(event.at - shown[event.body.answers], MOST_SECONDS)
    return count


def same(kept, anew):
    assert kept.wanted.keys() == anew.wanted.keys()
    assert kept.seconds == pytest.approx(anew.seconds)
    for name in (
        "reviewed",
        "second_opinions",
        "unsure",
        "ranked",
        "ranked_wanted",
        "twice",
        "agreed",
        "taken_back",
    ):
        assert getattr(kept, name) == getattr(anew, name), name


@given(logs())
def test_counts_that_follow_the_log_are_those_of_the_whole_log(log):
    state, events = log
    kept = state.tally.counts
    same(kept[ALL], counted_anew(events, lambda event, reason: True))
    for who in PEOPLE:
        same(kept["reviewer", who], counted_anew(events, lambda event, reason, who=who: event.who == who))
    for day in {dt.date.fromtimestamp(event.at) for event in events}:
        today = counted_anew(
            events,
            lambda event, reason, day=day: event.who == "ann" and dt.date.fromtimestamp(event.at) == day,
        )
        same(state.tally.of("ann", day), today)
        week = f"{day:%G-W%V}"
        of_week = counted_anew(
            events, lambda e, reason, week=week: f"{dt.date.fromtimestamp(e.at):%G-W%V}" == week
        )
        same(kept["week", week], of_week)
    for code in ("shell", "typo"):
        anew = counted_anew(events, lambda event, reason, code=code: reason == code)
        same(kept["reason", code], anew)


@given(logs())
def test_every_reviewed_row_counts_for_one_week_and_one_person(log):
    state, _ = log
    rows = Counter()
    for key, count in state.tally.counts.items():
        rows[key[0]] += count.reviewed
    assert (
        rows["week"]
        == rows["reviewer"]
        == rows["day"]
        == state.tally.counts[ALL].reviewed
        == state.n_reviewed
    )
    assert state.tally.counts[ALL].wanted.keys() == state.wanted.keys()
