"""How shortlists did that were really written, once outcomes came back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shortlist._version import __version__
from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError
from shortlist.question import MonitorQuestion
from shortlist.question.answer import answers
from shortlist.tables.columns.words import percent
from shortlist.workflow.history.intervals import LEVEL, draws, share_interval
from shortlist.workflow.monitor.alarms import FALSE_YEARS, Plan, alarms_in, make_plan, path, spread_of, steps
from shortlist.workflow.monitor.columns import column_drift
from shortlist.workflow.monitor.figures import by_period, in_all
from shortlist.workflow.monitor.result import ALARMS, Monitor, quiet
from shortlist.workflow.monitor.runs import Daily, by_run, check_worth, read_outcomes, read_runs

#: Without a promise the first runs make one; alarms begin after them.
FIRST_RUNS = 30
_CANNOT_KNOW = (
    "recall and the share of wanted rows among all rows cannot be known: outcomes came back only for rows that were "
    "looked at. Draw some rows at random too and give their chance (--checked COLUMN), or give all outcomes "
    "(--complete)."
)


@answers(MonitorQuestion)
def monitor(question: MonitorQuestion) -> Monitor:
    """Measure shortlists that were really written by the outcomes that came back, run by run.

    Precision, value and expected precision come from the rows that were looked at. Recall needs outcomes of other
    rows: of all (``complete``), or of random checks (``checked``), each weighed by one over its chance.

    Examples
    --------
    >>> lists = pl.DataFrame({"claim": ["a", "b", "c", "d"], "day": ["2025-07-01"] * 2 + ["2025-07-02"] * 2})
    >>> known = pl.DataFrame({"claim": ["a", "b", "c", "d"], "fraud": [1, 0, 1, 1]})
    >>> monitor(lists, outcomes=known, id="claim", label="fraud", time="day", promise=0.5).table["found"].to_list()
    [3]
    """
    outcomes = read_outcomes(question)
    rows, notes = read_runs(question.shortlists, question, outcomes)
    if rows.is_empty():
        return quiet(notes)
    check_worth(rows, question)
    daily = by_run(rows)
    if not daily.known.sum():
        raise InvalidInputError(
            "no row of the shortlists has an outcome: their ids and those of the outcomes have nothing in common."
        )
    promise, source, start = _promise(question.promise, daily)
    held_to = (
        f"promised {percent(promise)}" if question.promise is not None else _not_promised(promise, source)
    )
    runs, alarms, plans = watch(daily, promise, start)
    total = {**in_all(rows, outcomes), "promised": promise}
    beside, told = _beside(question, rows, daily, outcomes)
    versions, periods = _versions(rows), by_period(rows, outcomes, question.every)
    columns, moved = column_drift(rows)
    return Monitor(
        answer=_answer(total, daily, alarms, held_to),
        table=pl.DataFrame([total], infer_schema_length=None),
        periods=periods,
        runs=runs,
        alarms=alarms,
        versions=versions,
        columns=columns,
        challenger=beside,
        setup={
            "runs": int(daily.day.size),
            "promise": f"{percent(promise, digits=1)} ({source})",
            "alarms": " ".join(f"{name}: {plan.says()}" for name, plan in plans.items()),
            "recall": "estimated by random checks"
            if question.checked
            else "all outcomes"
            if question.complete
            else "unknown",
            "shortlist version": __version__,
        },
        notes=(
            *notes,
            *told,
            *_unknown(periods, outcomes.is_whole),
            *_waiting(daily),
            *moved,
            *_way_back(versions, alarms),
        ),
    )


def _promise(given: Any, daily: Daily) -> tuple[float, str, int]:
    """The precision that was promised, where it comes from, and the run from which on it is held to."""
    if given is None:
        first = np.flatnonzero(daily.settled & (daily.listed > 0))[:FIRST_RUNS]
        if not first.size:
            first = np.flatnonzero(daily.known > 0)[:FIRST_RUNS]
        share = float(daily.found[first].sum() / daily.known[first].sum())
        runs = "run" if first.size == 1 else f"{first.size} runs"
        return share, f"what the first {runs} found", int(first[-1]) + 1
    if isinstance(given, str | Path) and not _is_number(str(given)):
        return _share(_from_backtest(Path(given))), f"the backtest {Path(given).name}", 0
    return _share(float(given)), "as given", 0


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _share(value: float) -> float:
    if not 0 < value < 1:
        raise InvalidInputError(f"the promise is a precision between 0 and 1; got {value:g}.")
    return value


def _from_backtest(path: Path) -> float:
    """The precision of the best model in the figures that a backtest wrote beside its page."""
    try:
        figures = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        models, _ = figures["setup"]["models"], figures["reach"]  # a comparison has models, too, but no reach
        return float(next(row["precision"] for row in figures["table"] if row["ranking"] in models))
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        raise InvalidInputError(
            f"{path} holds no figures of a backtest. Give the file that backtest --report writes, or a precision such "
            "as 0.4: --promise 0.4"
        ) from None


def watch(daily: Daily, promise: float, start: int) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Plan]]:
    """Every run with its sums, the alarms, and what they promise."""
    settled = daily.settled & (daily.known > 0) & (np.arange(daily.day.size) >= start)
    at = np.flatnonzero(settled)
    watches = {"promise": np.full(daily.day.size, promise)}
    if np.isfinite(daily.expected[at]).all() and at.size:
        # Chances that are too high or low in general are told by the figures; the alarm is for what changes.
        first = float(np.mean(daily.expected[at[:FIRST_RUNS]]))
        watches["expected"] = np.clip(daily.expected * promise / max(first, 1e-6), 1e-3, 1 - 1e-3)
    runs = pl.DataFrame(
        {"run": daily.day, "listed": daily.listed, "outcomes": daily.known, "found": daily.found}
    )
    runs = runs.with_columns((pl.col("found") / pl.col("outcomes")).fill_nan(None).alias("precision"))
    days = daily.day[at].tolist()
    spread = spread_of(daily.found[at], daily.known[at])
    plans, lines = {}, []
    for name, share in watches.items():
        plan = _plan(daily, at, float(np.mean(share[at])) if at.size else promise, len(watches), spread)
        added = steps(daily.found[at], daily.known[at], share[at], spread)
        plans[f"fewer found than {_NAMES[name]}"] = plan
        sums = np.full(daily.day.size, np.nan)
        sums[at] = path(added, 2 * plan.level) / plan.level
        runs = runs.with_columns(pl.Series(f"sum against {name}", sums).fill_nan(None))
        lines += [
            {
                "from": days[first],
                "to": None if end is None else days[end],
                "alarm": f"fewer found than {_NAMES[name]}",
            }
            for first, end in alarms_in(sums[at], 1.0)
        ]
    alarms = pl.DataFrame(lines, schema=ALARMS).sort("from")
    return runs, alarms, plans


#: What the model expected of each day counts at the level of the promise, so more may be found than it expected.
_NAMES = {"promise": "promised", "expected": "promised for such days"}


def _plan(daily: Daily, at: np.ndarray, share: float, n_watches: int, spread: float) -> Plan:
    """Rows in a run are those of the middle one; runs a year follow from the days between them."""
    reviewed = int(np.median(daily.known[at])) if at.size else 1
    gaps = np.diff(daily.day.astype("datetime64[D]").astype(np.int64))
    a_year = max(4, round(365 / max(1.0, float(gaps.mean()))) if gaps.size else 365)
    share = round(min(max(share, 1e-3), 1 - 1e-3), 3)  # years are played once for like shares
    plan = make_plan(
        max(1, reviewed), min(max(share, 1e-3), 1 - 1e-3), a_year, false_years=FALSE_YEARS / n_watches
    )
    return plan.slowed(spread, a_year)


def _not_promised(share: float, source: str) -> str:
    return f"no precision was promised, so later runs are held to {percent(share)}, {source}"


def _answer(total: dict[str, Any], daily: Daily, alarms: pl.DataFrame, held_to: str) -> str:
    runs = "one run" if daily.day.size == 1 else f"{daily.day.size:,} runs"
    says = (
        f"{total['found']:,} of {total['outcomes']:,} rows looked at in {runs} were wanted: "
        f"{percent(total['precision'])} (95 % interval {percent(total['precision low'])} to "
        f"{percent(total['precision high'])}); {held_to}."
    )
    if total.get("recall") is not None:
        ends = f"{percent(total['recall low'])} to {percent(total['recall high'])}"
        says += f" That is {percent(total['recall'])} of all wanted rows ({ends})."
    if alarms.is_empty():
        return f"{says} No alarm."
    rings = alarms.filter(pl.col("to").is_null())
    if rings.is_empty():
        last = alarms.row(-1, named=True)
        return (
            f"{says} No alarm rings; the last one did from {last['from']} to {last['to']}: {last['alarm']}."
        )
    return (
        f"{says} Alarm since {rings['from'][0]}: {' and '.join(rings['alarm'].unique(maintain_order=True))}."
    )


def _unknown(periods: pl.DataFrame, is_whole: bool) -> tuple[str, ...]:
    """What cannot be known of the wanted rows that were missed, in all or by period."""
    if not is_whole:
        return (_CANNOT_KNOW,)
    if "recall" in periods.columns:
        return ()
    return (
        "recall is told in all and not by period: of some outcomes nobody knows when their rows came up. Give the "
        "outcomes the column of --time, filled in every row.",
    )


def _way_back(versions: pl.DataFrame, alarms: pl.DataFrame) -> tuple[str, ...]:
    """While an alarm rings: the version before, what it found, and how to return to it."""
    if versions.height < 2 or alarms["to"].null_count() == 0:
        return ()
    now, before = versions.row(0, named=True), versions.row(1, named=True)
    if not now["outcomes"] or not before["outcomes"]:
        return ()
    return (
        f"version {now['model version']} finds {percent(now['precision'])}, and {before['model version']} before it "
        f"found {percent(before['precision'])}. The way back is to score with the file of that version, which "
        "shortlist inspect names.",
    )


def _waiting(daily: Daily) -> tuple[str, ...]:
    waiting = int((~daily.settled).sum())
    if not waiting:
        return ()
    return (f"{counted(waiting, 'run')} waiting for outcomes: alarms do not count what waits.",)


def _versions(rows: pl.DataFrame) -> pl.DataFrame:
    """What each version of the model found, the newest first: the way back is to score with the one before."""
    if "version" not in rows.columns:
        return pl.DataFrame()
    parts = rows.partition_by("version", maintain_order=True)
    lines = []
    for part in reversed(parts):
        known = part.filter(pl.col("known"))
        found = int(known["wanted"].sum())
        low, high = share_interval(found, known.height)
        lines.append(
            {
                "model version": part["version"][0],
                "from": part["when"].dt.date().min(),
                "to": part["when"].dt.date().max(),
                "outcomes": known.height,
                "found": found,
                "precision": found / known.height if known.height else None,
                "precision low": low,
                "precision high": high,
            }
        )
    return pl.DataFrame(lines, infer_schema_length=None)


def _beside(
    question: MonitorQuestion, rows: pl.DataFrame, daily: Daily, outcomes: Any
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Champion and challenger on the days that both have, and how much more the challenger found."""
    if question.challenger is None:
        return pl.DataFrame(), ()
    others, notes = read_runs(question.challenger, question, outcomes)
    if others.is_empty():
        return pl.DataFrame(), (
            "every shortlist of the challenger is empty, so there is nothing to compare.",
        )
    second = by_run(others)
    days, ours, theirs = np.intersect1d(daily.day, second.day, return_indices=True)
    if not days.size:
        raise InvalidInputError("champion and challenger have no day in common, so they cannot be compared.")
    lines = [_side("champion", daily, ours), _side("challenger", second, theirs)]
    more = second.found[theirs] - daily.found[ours]
    low, high = np.quantile(draws(days.size, 0) @ more, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    unknown = int((second.listed - second.known)[theirs].sum())
    ends = f"{low:+,.0f} to {high:+,.0f}"
    says = f"on {counted(days.size, 'day')} in common the challenger found {int(more.sum()):+,} ({ends})"
    if unknown:
        says += f"; of {unknown:,} of its rows nobody knows the outcome, and any of them may be wanted"
    return pl.DataFrame(lines, infer_schema_length=None), (
        *(f"of the challenger, {each}" for each in notes),
        f"{says}.",
    )


def _side(name: str, daily: Daily, at: np.ndarray) -> dict[str, Any]:
    found, known = int(daily.found[at].sum()), int(daily.known[at].sum())
    low, high = share_interval(found, known)
    return {
        "ranking": name,
        "days": int(at.size),
        "rows": int(daily.listed[at].sum()),
        "outcomes": known,
        "found": found,
        "precision": found / known if known else None,
        "precision low": low,
        "precision high": high,
    }
