"""Make a queue from a data file, or continue the one that was made from it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shortlist.exceptions import InvalidInputError, TableError
from shortlist.feedback.strategies.catalogue import DEFAULT_STRATEGY, STRATEGIES, find_strategy
from shortlist.languages.words import Message
from shortlist.review.desk.engine import boosted_ranker, make_space
from shortlist.review.desk.rows import Rows
from shortlist.review.desk.rules.asked import check_named
from shortlist.review.errors import ChangedDataError, NoQueueError, NothingToReviewError, QueueExistsError
from shortlist.review.log.chain import sums_of
from shortlist.review.log.events import Event, Imported, Shown
from shortlist.review.log.settings import Fixed, Settings
from shortlist.review.log.store import Store
from shortlist.review.telling.foreseen import ModelChances
from shortlist.review.workspace import Workspace, fingerprint
from shortlist.tables import Roles, read_table, write_table
from shortlist.tables.columns.dates import slash_order
from shortlist.tables.columns.encode import encode_columns
from shortlist.tables.columns.learn import learn_feature
from shortlist.tables.columns.values import clean_text
from shortlist.tables.io.files import find_files
from shortlist.tables.io.remote import is_elsewhere, shown
from shortlist.tables.label import wanted_rows
from shortlist.verdicts import Verdict

#: A review learns one verdict at a time; from more than these a trained model learns better, and faster.
MOST_LABELS = 2000
#: Columns that are named where some are left out.
MOST_NAMED = 10

Say = Callable[[str], None]


def create(
    data: str,
    workspace: Workspace,
    *,
    id: str | None = None,
    label: str | None = None,
    wanted: Any = None,
    value: str | None = None,
    ignore: Sequence[str] = (),
    model: Path | None = None,
    strategy: str | None = None,
    seed: int = 0,
    settings: dict[str, Any] | None = None,
    database: str | None = None,
    say: Say = lambda step: None,
) -> tuple[str, ...]:
    """Read the rows, build the score space, and write the first lines of the log; returns what a user should know.

    Columns that cannot be learned from, such as free text, are shown to reviewers all the same.

    Parameters
    ----------
    label : column with verdicts that are known already, empty where they are not; they are learned first
    value : column with what a row is worth: rows are ranked by expected value once there are verdicts of both
        kinds, and values are added up over the wanted rows
    model : a trained model whose alerts are reviewed; None: an isolation forest starts cold
    settings : budget, audit and the other settings that may change later
    database : URL of the PostgreSQL database that keeps the log; None: a file of the workspace does
    say : told what is being done
    """
    strategy = strategy or DEFAULT_STRATEGY
    _check_strategy(strategy, model)
    chosen = Settings().changed(settings or {})
    _check_new(workspace)
    _check_here(data)
    say("reading the rows")
    frame = _rows(data)
    with workspace.made():
        roles, left_out = _roles(frame, Roles(id=id, label=label, ignore=ignore), learned=model is None)
        check_named(chosen.named_columns(), frame.columns)
        rows = Rows(frame, roles, value)
        rows.check_values()
        known = _known_verdicts(frame, label, wanted)
        say(f"building the score space of {frame.height:,} rows")
        ranker = None if model is None else boosted_ranker(model)
        space = make_space(rows.features(frame), strategy, ranker=ranker, seed=seed)
        fixed = Fixed(
            seed=seed,
            strategy=strategy,
            space="isolation forest" if model is None else str(model),
            id=id,
            label=label,
            value=value,
            ignore=tuple(roles.ignore),
            source=str(data),
            fingerprint=_marks(data, frame),
            first_rows=frame.height,
            settings=chosen.to_dict(),
            by_value=value is not None,
        )
        say("writing the queue")
        write_table(frame, workspace.rows)
        space.save(workspace.space)
        if ranker is not None:
            _keep_chances(workspace, ModelChances.of(ranker, space, rows.features(frame)))
        if database is not None:
            workspace.keep_log_in(database)
        _write_log(workspace, fixed, known)
        workspace.finish()
    return _said(left_out)


def _rows(data: str) -> pl.DataFrame:
    """The rows; a queue needs some, from which its score space is built."""
    frame = read_table(data, may_be_empty=True)
    if frame.is_empty():
        raise NothingToReviewError(f"{data} has no rows, so there is nothing to review and no queue is made.")
    return frame


def _keep_chances(workspace: Workspace, chances: ModelChances | None) -> None:
    """Beside the score space, whose sums tell that it stays as it is."""
    if chances is not None:
        chances.write(workspace.chances)


def _check_here(data: str) -> None:
    """Refuse rows that are on another machine."""
    if is_elsewhere(data):
        raise TableError(
            f"a review goes back to the file that it was made from; save the rows of {shown(data)} to a file first."
        )


def _roles(frame: pl.DataFrame, asked: Roles, *, learned: bool) -> tuple[Roles, list[str]]:
    """What the columns are for, and which of them a space that is learned here leaves out."""
    asked.check(frame.columns)
    roles = asked.settled(frame.columns)
    left_out = _unusable(frame, roles) if learned else []
    return replace(roles, ignore=(*roles.ignore, *left_out)), left_out


def _marks(data: str, frame: pl.DataFrame) -> dict[str, Any]:
    """By what the data are known again."""
    return {**fingerprint(find_files(data).paths), "rows": frame.height, "columns": frame.columns}


def _said(left_out: list[str]) -> tuple[str, ...]:
    if not left_out:
        return ()
    columns, more = ", ".join(left_out[:MOST_NAMED]), len(left_out) - MOST_NAMED
    if more > 0:
        columns = Message("%(columns)s and %(more)s more", columns=columns, more=more)
    return (
        Message(
            "columns that cannot be ranked by are shown all the same, and not learned from: %(columns)s.",
            columns=columns,
        ),
    )


def _unusable(frame: pl.DataFrame, roles: Roles) -> list[str]:
    """The columns that cannot be learned from: names, narratives, nested and infinite values."""
    order, found = slash_order(frame.iter_columns()), []
    for name in frame.columns:
        if name in roles.names:
            continue
        try:
            feature = learn_feature(frame[name], order=order)
            encode_columns([feature] if feature else [], frame.select(name))
        except TableError:
            found.append(name)
    return (
        found if len(found) < frame.width - len(roles.names) else []
    )  # where none is left, say what is wrong


def _check_new(workspace: Workspace) -> None:
    """Never make a queue over one in which somebody was shown a row, even if it looks half made."""
    if not workspace.has_log:
        return
    with contextlib.suppress(NoQueueError), closing(Store.open(workspace.place, read_only=True)) as store:
        shown = store.events(store.number_of(workspace.name), kinds=[Shown.kind], limit=1)
        if any(True for _ in shown):
            workspace.check_exists()
            raise QueueExistsError(
                f"there is a queue in {workspace.folder} already; go on with it, or name another."
            )


def _check_strategy(name: str, model: Path | None) -> None:
    """Refuse a strategy that is unknown or cannot learn on from a model, before anything is made."""
    if find_strategy(name).needs_forest and model is not None:
        others = [other for other, strategy in STRATEGIES.working().items() if not strategy.needs_forest]
        raise InvalidInputError(
            f"strategy {name} learns path lengths, which only an isolation forest has. Leave --model out, or choose "
            f"another strategy: {', '.join(others)}."
        )


def check_unchanged(data: str, fixed: Fixed) -> None:
    """Refuse to continue a queue whose data file has changed, and say how."""
    now, then = fingerprint(find_files(data).paths), fixed.fingerprint
    if now["sha256"] == then["sha256"]:
        return
    frame = read_table(data, may_be_empty=True)
    differences = []
    if frame.height != then["rows"]:
        differences.append(f"it had {then['rows']:,} rows and has {frame.height:,}")
    new = [name for name in frame.columns if name not in then["columns"]]
    gone = [name for name in then["columns"] if name not in frame.columns]
    differences += [f"new columns: {', '.join(new)}"] if new else []
    differences += [f"columns gone: {', '.join(gone)}"] if gone else []
    what = "; ".join(differences) or "rows and columns are as many, some values differ"
    raise ChangedDataError(
        f"{data} is not the file this queue was made from: {what}. Put the old file back; add new rows with "
        "shortlist append QUEUE NEW; or start another queue with --workspace FOLDER."
    )


def check_same(fixed: Fixed, asked: dict[str, Any]) -> None:
    """Refuse options that were fixed when the queue was made and are given another value now."""
    stored = vars(fixed)
    for name, value in asked.items():
        if value is not None and value != stored[name]:
            raise QueueExistsError(
                f"this queue was made with {name} {stored[name]!r} and cannot change to {value!r}. Leave the "
                "option out to continue, or start another queue with --workspace FOLDER."
            )


def _known_verdicts(frame: pl.DataFrame, label: str | None, wanted: Any) -> list[Imported]:
    if label is None:
        return []
    rows = np.flatnonzero(clean_text(frame[label]).is_not_null())
    if rows.size > MOST_LABELS:
        raise InvalidInputError(
            f"{rows.size:,} rows have a label already, and a review starts with at most {MOST_LABELS:,}. Train a "
            "model from them instead, and review what it alerts: shortlist review DATA --model FILE"
        )
    if not rows.size:
        return []
    flags = wanted_rows(frame[label][rows], wanted, both=False)
    return [Imported(row, Verdict.of(flag)) for row, flag in zip(rows.tolist(), flags.tolist(), strict=True)]


def _write_log(workspace: Workspace, fixed: Fixed, known: list[Imported]) -> None:
    now, who, sums = time.time(), f"column {fixed.label}", sums_of(workspace.folder)
    with closing(Store.create(workspace.place)) as store:
        number = store.create_queue(workspace.name, now, {**vars(fixed), "ignore": [*fixed.ignore]}, sums)
        store.append(number, [Event(i + 1, now, who, body) for i, body in enumerate(known)])
