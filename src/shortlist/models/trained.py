"""A trained model with all that scoring new rows needs; it can be kept in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.models.abilities import Scored, expected_found, expected_precision, score_rows
from shortlist.models.batches.scoring import score_batches
from shortlist.models.by_value import ByValue
from shortlist.models.file import ModelFileError, foreign, open_model, save
from shortlist.models.profile import Profile, Shift, drift_notes
from shortlist.models.reasons import reasons
from shortlist.models.shortlist import Shortlist, quiet_notes, ranked_frame, replaced_notes
from shortlist.question.options import Progress
from shortlist.rankers.base import Ranker, top_rows
from shortlist.tables import Roles, Schema, Table, load_table
from shortlist.tables.io.frames import index_of
from shortlist.tables.memory import Plan, plan_for
from shortlist.validation import check_budget

ALL_AT_ONCE = "leave out --all, so that only the first rows are kept"
NO_REASONS = "this model does not say why a row ranks high, so the shortlist has no reasons."


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A ranker trained on a table, with the roles of its columns and a profile of its rows.

    >>> import shortlist
    >>> from shortlist.datasets import make_claims
    >>> model = shortlist.train(make_claims(2_000, random_state=0), label="fraud", id="claim_id", model="logistic")
    >>> model.score(make_claims(500, random_state=1).drop("fraud"), budget=5).frame.height
    5
    """

    ranker: Ranker
    name: str  # in the catalogue
    schema: Schema
    budget: int
    version: str  # the day of training and a checksum of what the model says
    profile: Profile | None = None
    training: dict[str, Any] = field(default_factory=dict)  # rows, wanted, seconds, ...
    measures: dict[str, float] = field(default_factory=dict)  # by scores of rows that training did not see
    notes: tuple[str, ...] = ()  # what the user should know of the history
    libraries: dict[str, str] = field(default_factory=dict)
    by_value: ByValue | None = None  # how chances and values make one score; None: the ranker's score ranks

    def score(
        self,
        new: Any,
        *,
        budget: int | None = None,
        keep_all: bool = False,
        memory: Any = None,
        on_progress: Progress | None = None,
    ) -> Shortlist:
        """Rank new rows and keep the top.

        Rows that differ from those of training are scored all the same, and ``notes`` tells. A table that does not fit
        into memory is scored batch by batch, of which only the first rows of each list are kept.

        Parameters
        ----------
        new : file, folder, glob or data frame with the columns of training; needs no outcome
        budget : how many rows to keep (per list), all of them on a day that has fewer; None: the budget named in
            training
        keep_all : keep every row in ranked order; reasons are given for those within the budget
        memory : the most that may be used, such as "4GB"; None: what is free, less a margin
        on_progress : called as ``on_progress(rows, of_rows, None)`` while batches go by
        """
        most = self.budget if budget is None else check_budget(budget)
        plan = plan_for("score", new, memory, only_whole=ALL_AT_ONCE if keep_all else None)
        found = None
        if plan.by_batch:
            sizes = {"batch_rows": plan.batch_rows, "sample_rows": plan.batch_rows}
            tell = _progress_of(plan, on_progress)
            found = score_batches(self, new, most, named=budget is not None, on_rows=tell, **sizes)
        if found is None:
            found = self._score_whole(new, most, keep_all=keep_all, named=budget is not None)
        return replace(found, notes=(*found.notes, *plan.notes), index=index_of(new))

    def _score_whole(self, new: Any, budget: int, *, keep_all: bool, named: bool) -> Shortlist:
        """As ``score``, with all rows in memory; ``named``: whether the budget was asked for."""
        table = load_table(new, self.schema.roles, schema=self.schema, labelled=False)
        found = self.score_table(table, budget, keep_all=keep_all)
        return replace(found, notes=(*found.notes, *quiet_notes(table, budget if named else None)))

    def score_table(
        self,
        table: Table,
        budget: int,
        *,
        keep_all: bool = False,
        scored: Scored | None = None,
    ) -> Shortlist:
        """As ``score``, for a table that is read and encoded already, and maybe scored by this model."""
        scored = self.scored(table) if scored is None else scored
        score = scored.score
        most = len(table) if keep_all else min(budget, len(table))
        kept = top_rows(score, most, table.lists) if most else np.empty(0, dtype=np.int64)
        rank = table.in_lists.part(kept).places + 1
        shifts = self.profile.shifts(table.X, table.schema) if self.profile and len(table) else ()
        notes = [*table.notes, *(drift_notes(table, self.profile, shifts) if self.profile else ())]
        notes += self.by_value.values(table)[1] if self.by_value else ()
        return self.answer(
            table,
            kept,
            budget=budget,
            rank=rank,
            scored=scored,
            expected=expected_precision(self.ranker, scored, table.in_lists),
            notes=notes,
            shifts=shifts,
        )

    def answer(
        self,
        table: Table,
        kept: NDArray[np.int64],
        *,
        budget: int,
        rank: NDArray[np.int64],
        scored: Scored,
        expected: NDArray[np.float64] | None,
        notes: Sequence[str],
        shifts: tuple[Shift, ...],
        written: pl.DataFrame | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> Shortlist:
        """The kept rows of a table, by position, with reasons; all else that is known of them is given.

        written : rows that show how values are written; None: those of the table
        rows : where the kept rows stand in the table of new rows; None: where they stand in this one
        """
        within = rank <= budget
        given = self._reasons(table, kept, within, written)
        frame = ranked_frame(
            table,
            kept,
            rank=rank,
            scored=scored,
            expected=expected,
            reasons=given,
            version=self.version,
        )
        notes = [*notes, *([NO_REASONS] if given is None else ()), *replaced_notes(frame, table)]
        places = kept if rows is None else rows
        found = expected_found(self.ranker, scored, kept[within])
        shortlist = Shortlist(frame, self.name, self.version, self.ranker, tuple(notes), places, shifts)
        return replace(shortlist, found=found, within=int(within.sum()))

    def scored(self, table: Table) -> Scored:
        """What this model says of each row of a table that is read and encoded already."""
        score = score_rows(self.ranker, table.features)
        if self.by_value is None:
            return Scored(score)
        chance = self.by_value.chance(self.ranker, score)
        return Scored(self.by_value.score(chance, self.by_value.values(table)[0]), chance)

    def _reasons(
        self,
        table: Table,
        kept: NDArray[np.int64],
        within: NDArray[np.bool_],
        written: pl.DataFrame | None,
    ) -> list[list[str]] | None:
        """Reasons of those kept rows that are within the budget."""
        if self.profile is None:
            return None
        given = reasons(self.ranker, table, kept[within], self.profile, written=written)
        if given is None:
            return None
        each = iter(given)
        return [next(each) if inside else [] for inside in within]

    def save(self, path: str | Path) -> None:
        """Write the model to one file with a readable header; a crash leaves the old file."""
        save(
            self.ranker,
            path,
            schema=self.schema.to_dict(),
            name=self.name,
            version=self.version,
            budget=self.budget,
            training=self.training,
            measures=self.measures,
            notes=[*self.notes],
            profile=None if self.profile is None else self.profile.to_dict(),
            by_value=None if self.by_value is None else self.by_value.to_dict(),
        )

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model back; see ``shortlist.load`` for the files that are refused."""
        ranker, header = open_model(path)
        if header.get("schema") is None:
            raise ModelFileError(
                f"{path} holds a ranker that was trained on an array, which has no columns to look for in a table. "
                "Use shortlist.load(path).decision_function(X), or train with shortlist.train."
            )
        with foreign(path):
            model = cls._of(ranker, header)
            model.facts()  # a header that cannot be shown is none of ours
        return model

    @classmethod
    def _of(cls, ranker: Ranker, header: dict[str, Any]) -> Self:
        profile, by_value = header.get("profile"), header.get("by_value")
        return cls(
            ranker=ranker,
            name=str(header.get("name", header["model"])),
            schema=Schema.from_dict(header["schema"]),
            budget=int(header.get("budget", 50)),
            version=str(header.get("version", header["created"][:10])),
            profile=None if profile is None else Profile.from_dict(profile),
            training=dict(header.get("training", {})),
            measures={name: float(value) for name, value in dict(header.get("measures", {})).items()},
            notes=tuple(map(str, header.get("notes", ()))),
            libraries={"shortlist": header["shortlist"], **header["libraries"]},
            by_value=None if by_value is None else ByValue.from_dict(by_value),
        )

    @property
    def roles(self) -> Roles:
        """Which columns are not features."""
        return self.schema.roles

    def facts(self) -> dict[str, Any]:
        """What ``shortlist inspect`` shows, as plain values."""
        return {
            "model": self.name,
            "version": self.version,
            "ranker": repr(self.ranker),
            "budget": self.budget,
            "roles": self.roles.spoken,
            **({"by value": self._by_value_facts()} if self.by_value else {}),
            "training": self.training,
            "measures": self.measures,
            "libraries": self.libraries,
            "notes": [*self.notes],
            "columns": self.columns().to_dicts(),
        }

    def _by_value_facts(self) -> dict[str, Any]:
        assert self.by_value is not None
        rule = self.by_value
        return {"value": self.roles.value, "power": rule.power, "least chance": rule.least_chance}

    def columns(self) -> pl.DataFrame:
        """The columns it learned from: kind, how many values, and what they looked like."""
        rows = [
            {"column": name, "kind": kind, **_looks(self.schema, i, self.profile)}
            for i, (name, kind) in enumerate(zip(self.schema.columns, self.schema.kinds, strict=True))
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def __repr__(self) -> str:
        rows = self.training.get("rows")
        learned = f", trained on {rows:,} rows" if rows else ""
        return (
            f"TrainedModel({self.name}, version {self.version}{learned}, {len(self.schema.columns)} columns)"
        )

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{self.columns()._repr_html_()}"


def _looks(schema: Schema, column: int, profile: Profile | None) -> dict[str, Any]:
    if profile is None:
        return {}
    known = profile.columns[column]
    looks: dict[str, Any] = {"missing": round(known.missing, 4)}
    if schema.categorical[column]:
        names = [schema.value_text(column, code) for code in known.bins[:3]]
        return {**looks, "values": f"{len(schema.feature_of_column[column].categories)}: " + ", ".join(names)}
    low, middle, high = map(known.numbers.at, (0.05, 0.5, 0.95))
    if schema.parts[column] == "days":
        first, last = (schema.value_text(column, known.numbers.quantiles[i]) for i in (0, -1))
        return {**looks, "values": f"{first} to {last}"}
    return {**looks, "values": f"{middle:.4g} ({low:.4g} to {high:.4g})"}


def _progress_of(plan: Plan, on_progress: Progress | None) -> Callable[[int], Any]:
    """Tells of how many rows are done, of about as many as the plan knows of."""
    if on_progress is None:
        return lambda done: None
    return lambda done: on_progress(done, max(done, plan.rows or 0), None)
