"""Learn from labelled history, rank new rows, keep the top."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.rankers.base import Ranker, top_rows
from shortlist.rankers.catalogue import DEFAULT_MODEL, Wish, find_model
from shortlist.tables import Roles, Table, load_table
from shortlist.validation import check_budget, check_groups

#: Told what is done, of how much, and the value reached where there is one.
Progress = Callable[[int, int, float | None], Any]


@dataclass(frozen=True, eq=False)
class Shortlist:
    """The top rows in order, and what was used to find them."""

    frame: pl.DataFrame  # rank, score, then the columns of the new rows
    model: str
    ranker: Ranker
    notes: tuple[str, ...]  # what the user should know of the new rows

    def _repr_html_(self) -> str:
        return self.frame._repr_html_()


def rank(
    history: Any,
    new: Any,
    *,
    label: str | None = None,
    impact: str | None = None,
    list: str | None = None,
    id: str | None = None,
    ignore: Sequence[str] = (),
    wanted: Any = None,
    budget: int = 50,
    model: str | None = None,
    tune: bool = False,
    keep_all: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    on_progress: Progress | None = None,
) -> Shortlist:
    """Train a ranker on labelled history and rank the new rows.

    Parameters
    ----------
    history, new : files, folders, globs or data frames with the same columns; ``new`` needs no outcome
    label : column that says which rows are wanted; ``wanted`` is its value for them if that is not plain
    impact : column that says how much a row matters; rows that are not wanted count 0
    list : column whose values split rows into lists, each with a budget of its own
    budget : how many rows to keep (per list)
    model : a name of :data:`shortlist.rankers.catalogue.MODELS`; None: the default for what is given
    tune : try a few settings by cross-validation before training (models that can: ap-boost)
    keep_all : keep every new row in ranked order, not only the top
    on_progress : called as ``on_progress(done, total, value)`` while training (models that can: ap-boost)

    >>> from shortlist.datasets import make_claims
    >>> old, new = make_claims(2_000, random_state=0), make_claims(500, random_state=1).drop("fraud")
    >>> top = rank(old, new, label="fraud", id="claim_id", budget=5, model="logistic")
    >>> top.frame["claim_id"].len()
    5
    """
    roles = Roles(id=id, label=label, impact=impact, list=list, ignore=tuple(ignore))
    name = model or default_model(roles)
    entry = find_model(name)
    if tune and not entry.tunes:
        raise InvalidInputError(f"model {name!r} has nothing to tune; leave tune out, or use ap-boost.")
    check_budget(budget)
    known = load_table(history, roles, wanted=wanted)
    fresh = load_table(new, roles, schema=known.schema, labelled=False)
    if not (keep_all or fresh.groups is not None):
        check_budget(budget, len(fresh))
    ranker = entry.make(Wish(budget, random_state, n_jobs, tune))
    _report_to(ranker, on_progress)
    ranker.fit(known.features, training_target(known, entry.learns_from), groups=known.groups)
    _report_to(ranker, None)  # a trained ranker can be saved
    score = ranker.decision_function(fresh.features)
    kept = top_rows(score, len(fresh) if keep_all else budget, fresh.groups)
    frame = _ranked_frame(fresh, score, kept, _expected_precision(ranker, score, fresh.groups))
    return Shortlist(frame, name, ranker, tuple(fresh.notes))


def default_model(roles: Roles) -> str:
    """The catalogue's default for labels, or for impacts where there is no label."""
    if roles.label is None and roles.impact is None:
        raise InvalidInputError("name the column that says which rows matter: label=... or impact=...")
    return DEFAULT_MODEL["impact" if roles.label is None else "label"]


def training_target(table: Table, learns_from: str) -> NDArray:
    """What a ranker learns: wanted or not, or the impact of wanted rows."""
    if learns_from == "label":
        return table.wanted
    if table.worth is None:
        raise InvalidInputError("this model learns from impacts; name their column with --impact.")
    return table.worth


def _report_to(ranker: Ranker, on_progress: Progress | None) -> None:
    if "callback" in ranker.get_params(deep=False):
        ranker.set_params(callback=on_progress)


def _expected_precision(ranker: Ranker, score: NDArray[np.float64], groups: NDArray | None) -> NDArray | None:
    """For each row the share of wanted rows to expect down to it in its list; None where nothing was held out."""
    if getattr(ranker, "chance_curve_", None) is None:
        return None
    expected = np.empty_like(score)
    for rows in check_groups(groups, score.size):
        expected[rows] = ranker.expected_precision(score[rows])
    return expected


def _ranked_frame(
    table: Table, score: NDArray[np.float64], kept: NDArray[np.int64], expected: NDArray | None
) -> pl.DataFrame:
    """The kept rows with their rank (within their list), score and expected precision in front."""
    groups = None if table.groups is None else table.groups[kept]
    rank_ = np.arange(1, kept.size + 1)
    if groups is not None:
        first = np.concatenate([[True], groups[1:] != groups[:-1]])
        rank_ = rank_ - np.maximum.accumulate(np.where(first, np.arange(kept.size), 0))
    head = {"rank": rank_, "score": score[kept]}
    if expected is not None:
        head["expected precision"] = expected[kept]
    if table.roles.id is None:
        head["row"] = table.ids[kept]
    taken = [name for name in head if name in table.frame.columns]
    return pl.DataFrame(head).hstack(table.frame[kept].drop(taken))
