"""A trained model with all that scoring new rows needs; it can be kept in a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.models.abilities import expected_precision, score_rows
from shortlist.models.file import ModelFileError, open_model, save
from shortlist.models.profile import Profile, drift_notes
from shortlist.models.reasons import reasons
from shortlist.models.shortlist import Shortlist, ranked_frame, replaced_notes
from shortlist.rankers.base import Ranker, top_rows
from shortlist.tables import Roles, Schema, Table, load_table
from shortlist.validation import check_budget

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

    def score(self, new: Any, *, budget: int | None = None, keep_all: bool = False) -> Shortlist:
        """Rank new rows and keep the top.

        Rows that differ from those of training are scored all the same, and ``notes`` tells.

        Parameters
        ----------
        new : file, folder, glob or data frame with the columns of training; needs no outcome
        budget : how many rows to keep (per list); None: the budget named in training, or all rows of a day
            that has fewer
        keep_all : keep every row in ranked order; reasons are given for those within the budget
        """
        table = load_table(new, self.schema.roles, schema=self.schema, labelled=False)
        if budget is None:
            return self.score_table(table, self.budget, keep_all=keep_all)
        check_budget(budget, len(table) if table.lists is None and not keep_all else None)
        return self.score_table(table, budget, keep_all=keep_all)

    def score_table(
        self,
        table: Table,
        budget: int,
        *,
        keep_all: bool = False,
        score: NDArray[np.float64] | None = None,
    ) -> Shortlist:
        """As ``score``, for a table that is read and encoded already, and maybe scored by this model."""
        score = score_rows(self.ranker, table.features) if score is None else score
        kept = top_rows(score, len(table) if keep_all else min(budget, len(table)), table.lists)
        rank = table.in_lists.part(kept).places + 1
        notes = [*table.notes, *(drift_notes(table, self.profile) if self.profile else ())]
        given = self._reasons(table, kept, rank <= budget)
        if given is None:
            notes.append(NO_REASONS)
        frame = ranked_frame(
            table,
            kept,
            rank=rank,
            score=score,
            expected=expected_precision(self.ranker, score, table.in_lists),
            reasons=given,
            version=self.version,
        )
        notes += replaced_notes(frame, table)
        return Shortlist(frame, self.name, self.version, self.ranker, tuple(notes))

    def _reasons(
        self, table: Table, kept: NDArray[np.int64], within: NDArray[np.bool_]
    ) -> list[list[str]] | None:
        """Reasons of those kept rows that are within the budget."""
        given = None if self.profile is None else reasons(self.ranker, table, kept[within], self.profile)
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
        )

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model back; see ``shortlist.load`` for the files that are refused."""
        ranker, header = open_model(path)
        if header["schema"] is None:
            raise ModelFileError(
                f"{path} holds a ranker that was trained on an array, which has no columns to look for in a table. "
                "Use shortlist.load(path).decision_function(X), or train with shortlist.train."
            )
        profile = header.get("profile")
        return cls(
            ranker=ranker,
            name=header.get("name", header["model"]),
            schema=Schema.from_dict(header["schema"]),
            budget=header.get("budget", 50),
            version=header.get("version", header["created"][:10]),
            profile=None if profile is None else Profile.from_dict(profile),
            training=header.get("training", {}),
            measures=header.get("measures", {}),
            notes=tuple(header.get("notes", ())),
            libraries={"shortlist": header["shortlist"], **header["libraries"]},
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
            "roles": self.roles.to_dict(),
            "training": self.training,
            "measures": self.measures,
            "libraries": self.libraries,
            "notes": [*self.notes],
            "columns": self.columns().to_dicts(),
        }

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
    low, middle, high = (known.numbers.quantiles[i] for i in (3, 8, 13))
    if schema.parts[column] == "days":
        first, last = (schema.value_text(column, known.numbers.quantiles[i]) for i in (0, -1))
        return {**looks, "values": f"{first} to {last}"}
    return {**looks, "values": f"{middle:.4g} ({low:.4g} to {high:.4g})"}
