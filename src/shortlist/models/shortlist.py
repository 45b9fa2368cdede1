"""The answer: the top rows in order, with what is known of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.counts import counted, nearly
from shortlist.models.abilities import Scored
from shortlist.models.profile import Shift
from shortlist.rankers.base import Ranker
from shortlist.rankers.chances.calibration import Found
from shortlist.tables import Table
from shortlist.tables.columns.words import percent

N_REASONS = 3


@dataclass(frozen=True, eq=False)
class Shortlist:
    """The top rows in order, and what was used to find them.

    The frame has: rank, the id (or the row number), the list, score, expected_precision (where the model
    knows it), reason_1 to reason_3 (where the model gives reasons), model_version; then the columns of
    the new rows. Where rows are ranked by expected value, their value stands before the score, which is the
    expected value, and the chance that they are wanted after it.

    ``found`` tells how many of the rows within the budget, all lists together, are expected to be wanted, with bounds
    that hold in nine of ten such shortlists; None where the model does not know, and where there are no rows.
    """

    frame: pl.DataFrame
    model: str
    version: str
    ranker: Ranker
    notes: tuple[str, ...]  # what the user should know of the new rows
    rows: NDArray[np.int64]  # where each of them stands in the table of new rows, from 0
    shifts: tuple[Shift, ...] = ()  # how far each column lies from the rows of training
    index: Any = None  # what pandas calls the new rows, where they came from there
    found: Found | None = None  # how many of the rows within the budget are expected to be wanted
    within: int = 0  # how many rows these are: fewer than the frame has where every row was kept

    @property
    def expectation(self) -> str | None:
        """What ``found`` says, as a sentence; None where nothing is known."""
        if self.found is None:
            return None
        n_lists = int((self.frame["rank"] == 1).sum())
        return expectation(self.found, self.within, of=self.frame.height, n_lists=n_lists)

    def to_pandas(self) -> Any:
        """The frame as one of pandas; rows that came from pandas keep their index.

        >>> import pandas as pd, shortlist
        >>> from shortlist.datasets import make_claims
        >>> model = shortlist.train(make_claims(2_000, random_state=0), label="fraud", id="claim_id", model="logistic")
        >>> new = make_claims(500, random_state=1).drop("fraud")
        >>> new = pd.DataFrame(new.to_dicts(), index=[f"row {i}" for i in range(500)])
        >>> top = model.score(new, budget=5).to_pandas()
        >>> bool((new.loc[top.index, "claim_id"] == top["claim_id"]).all())
        True
        """
        import pandas as pd  # noqa: PLC0415  which is for those who have it

        columns = {column.name: column.to_numpy() for column in self.frame}
        return pd.DataFrame(columns, index=None if self.index is None else self.index[self.rows])

    def _repr_html_(self) -> str:
        return self.frame._repr_html_()


def ranked_frame(
    table: Table,
    kept: NDArray[np.int64],
    *,
    rank: NDArray[np.int64],
    scored: Scored,
    expected: NDArray[np.float64] | None,
    reasons: list[list[str]] | None,
    version: str,
) -> pl.DataFrame:
    """The kept rows, list by list and best first; their ranks and reasons are in order of ``kept``."""
    head: dict[str, object] = {"rank": rank, table.roles.id or "row": table.ids[kept]}
    if table.roles.list is not None:
        head[table.roles.list] = table.frame[table.roles.list][kept]
    if scored.chance is not None and table.roles.value is not None:
        head[table.roles.value] = table.frame[table.roles.value][kept]
    head["score"] = scored.score[kept]
    if scored.chance is not None:
        head["chance"] = scored.chance[kept]
    if expected is not None:
        head["expected_precision"] = expected[kept]
    if reasons is not None:
        head |= _reason_columns(reasons)
    head["model_version"] = pl.Series([version], dtype=pl.String).new_from_index(0, kept.size)
    taken = [name for name in head if name in table.frame.columns]
    return pl.DataFrame(head).hstack(table.frame[kept].drop(taken))


def expectation(found: Found, n_rows: int, *, of: int | None = None, n_lists: int = 1) -> str:
    """How many of so many rows are expected to be wanted, as a sentence; ``of``: how many rows are shown.

    >>> expectation(Found(22.7, 19, 27), 50)
    'Of these 50 rows, expect about 23 to be wanted; 19 to 27 in nine of ten such shortlists.'
    >>> expectation(Found(0.31, 0, 1), 20, n_lists=2)
    'Of these 20 rows in 2 lists, expect about 0.31 to be wanted; 0 to 1 in nine of ten such shortlists.'
    >>> expectation(Found(9.98, 10, 10), 10, of=500)
    'Of the 10 rows within the budget, expect about 10 to be wanted; 10 in nine of ten such shortlists.'
    >>> expectation(Found(0.31, 0, 1), 1), expectation(Found(0.31, 0, 1), 1, of=500)
    ('This row is wanted with a chance of 31 %.', 'The row within the budget is wanted with a chance of 31 %.')
    """
    all_shown = of is None or of == n_rows
    if n_rows == 1:  # bounds of 0 and 1 would tell nothing
        row = "This row" if all_shown else "The row within the budget"
        return f"{row} is wanted with a chance of {percent(found.expected)}."
    rows = f"these {n_rows:,} rows" if all_shown else f"the {n_rows:,} rows within the budget"
    lists = f" in {n_lists:,} lists" if n_lists > 1 else ""
    bounds = f"{found.low:,}" if found.low == found.high else f"{found.low:,} to {found.high:,}"
    return (
        f"Of {rows}{lists}, expect about {nearly(found.expected)} to be wanted; {bounds} in nine of ten such "
        "shortlists."
    )


def quiet_notes(table: Table, budget: int | None) -> tuple[str, ...]:
    """What is told of a day with no rows, or with fewer than the budget; None: nobody asked for one."""
    if not len(table):
        return ("there are no new rows, so the shortlist is empty.",)
    if budget is None:
        return ()
    return few_notes(int(table.in_lists.sizes.max()), budget, in_lists=table.lists is not None)


def few_notes(most: int, budget: int, *, in_lists: bool) -> tuple[str, ...]:
    """What is told where the longest list, or the only one, has so many rows."""
    where = "the longest list has" if in_lists else "there is" if most == 1 else "there are"
    return (f"{where} {counted(most, 'row')}, fewer than the budget of {budget:,}.",) if most < budget else ()


def replaced_notes(frame: pl.DataFrame, table: Table) -> list[str]:
    """Which columns of the new rows gave way to the shortlist's own of that name, as a note."""
    own = frame.columns[: frame.columns.index("model_version") + 1]
    kept = {table.roles.id, table.roles.list, table.roles.value}
    replaced = [name for name in own if name in table.frame.columns and name not in kept]
    says = f"the shortlist's own columns replace those of the new rows: {', '.join(replaced)}."
    return [says] if replaced else []


def _reason_columns(reasons: list[list[str]]) -> dict[str, pl.Series]:
    filled: list[list[str | None]] = [[*row, *[None] * (N_REASONS - len(row))] for row in reasons]
    return {
        f"reason_{i + 1}": pl.Series([row[i] for row in filled], dtype=pl.String) for i in range(N_REASONS)
    }
