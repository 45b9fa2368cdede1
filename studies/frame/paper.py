"""What a paper declares: its tables, its figures, its claims, and which cells they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from studies.frame.cells import Cell, Found
from studies.frame.claims import Claim

#: Which cells are needed for so many repeats; the second says whether the run is a quick one.
Plan = Callable[[int, bool], list[Cell]]


@dataclass(frozen=True)
class Entry:
    """One figure of a table: ours with its error, over so many runs, beside the paper's."""

    row: str
    column: str
    ours: float | None = None
    error: float | None = None  # standard error of the mean
    spread: float | None = None  # standard deviation over runs
    runs: int = 0
    paper: float | None = None

    def text(self, digits: int) -> str:
        """As tables print it: ours ± error (paper)."""
        error = "" if self.error is None else f" ± {_short(self.error, digits)}"
        paper = "" if self.paper is None else f" ({_short(self.paper, digits)})"
        ours = ("-" if paper else "") if self.ours is None else _short(self.ours, digits)
        return f"{ours}{error}{paper}"


def _short(value: float, digits: int) -> str:
    """As pages write figures: .732, not 0.732."""
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"


def entry(row: str, column: str, values: Sequence[float], paper: float | None = None) -> Entry:
    """The mean of some runs, and its standard error where there are several.

    >>> entry("pima", "AP", [0.6, 0.8], 0.71).text(2)
    '.70 ± .10 (.71)'
    """
    if not len(values):
        return Entry(row, column, paper=paper)
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
    error = None if spread is None else spread / len(values) ** 0.5
    return Entry(row, column, float(np.mean(values)), error, spread, len(values), paper)


@dataclass(frozen=True)
class Table:
    """A table of a paper."""

    number: str
    title: str
    plan: Plan
    entries: Callable[[Found], Iterable[Entry]]
    digits: int = 3
    optional: bool = False  # run only where it is asked for by its number


@dataclass(frozen=True)
class Figure:
    """A figure of a paper; ``draw`` makes it of a matplotlib figure."""

    number: str
    title: str
    plan: Plan
    draw: Callable[[Found, Any], None]


@dataclass(frozen=True)
class Paper:
    """A paper, as far as it can be run."""

    name: str
    title: str
    reference: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()
    repeats: int = 10  # of the full run
    quick_repeats: int = 2
    left_out: tuple[str, ...] = ()  # what cannot be had, a sentence each

    def parts(self, table: str | None, figure: str | None) -> Iterator[Table | Figure | Claim]:
        """What is asked for: one table, one figure, or everything."""
        everything = table is None and figure is None
        yield from (e for e in self.tables if e.number == table or (everything and not e.optional))
        yield from (each for each in self.figures if everything or each.number == figure)
        yield from self.claims if everything else ()

    def catalogue(self) -> dict[str, Any]:
        """Numbers and titles of all that the paper has here."""
        return {
            "paper": self.name,
            "title": self.title,
            "reference": self.reference,
            "tables": {each.number: each.title for each in self.tables},
            "figures": {each.number: each.title for each in self.figures},
            "claims": [f"{each.text} ({each.where})" for each in self.claims],
            "left out": list(self.left_out),
        }


def as_dicts(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Entries as JSON has them."""
    return [asdict(each) for each in entries]
