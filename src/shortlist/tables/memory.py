"""Whether a table fits into memory: the one place that decides between all rows at once and batch by batch.

What a table takes is estimated before it is read: from the counts that files keep of their rows, or from the first rows
and the size of the files. What the kernel ends for want of memory has no last words, so what cannot fit is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from shortlist.exceptions import InvalidInputError, TooLargeError
from shortlist.tables.io.dialect import chunks, sniff
from shortlist.tables.io.duck import is_duckdb
from shortlist.tables.io.files import ARROW, CSV, JSON_LINES, PARQUET, Files, find_files
from shortlist.tables.io.frames import is_lazy
from shortlist.tables.io.read import scan_table
from shortlist.tables.io.readable import readable
from shortlist.tables.io.remote import is_elsewhere
from shortlist.tables.io.sql import hide_password, is_database_url

#: What Python and the libraries that train and score take, in bytes.
BASE = 350_000_000
#: The share of the free memory that is left to others.
MARGIN = 0.1
#: Rows from which the size of the others is told.
_FIRST_ROWS = 5_000
#: No work takes more than so many bytes for each byte of a file of text.
_MOST_PER_BYTE = 30
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{unit}i": 2 ** (10 * power) for power, unit in enumerate("kmgt", start=1)}


@dataclass(frozen=True)
class TableSize:
    """How large a table is, as far as can be told before it is read.

    row_bytes : of a row in memory as it is read
    """

    rows: int
    columns: int
    row_bytes: float

    def __str__(self) -> str:
        return f"about {self.rows:,} rows of {self.columns} columns"


@dataclass(frozen=True)
class Cost:
    """The memory that a work takes, in bytes beyond ``BASE``.

    copies : of the rows as they are read
    cell, row, column : for each number of the features, for each row, and for each column
    fixed : whatever the table
    few : what it takes instead where rows are few enough for folds
    """

    copies: float = 0.0
    cell: float = 0.0
    row: float = 0.0
    column: float = 0.0
    fixed: float = 0.0
    few: Cost | None = None

    def bytes(self, size: TableSize) -> float:
        """What it takes in all.

        >>> Cost(copies=1, cell=4, row=80).bytes(TableSize(1_000_000, 40, 160.0)) / 1e6
        750.0
        """
        if self.few is not None and size.rows <= FEW_ROWS:
            return self.few.bytes(size)
        per_row = self.copies * size.row_bytes + self.cell * size.columns + self.row
        return BASE + self.fixed + size.columns * self.column + size.rows * per_row


#: The rows up to which folds, several models at once, are worth their many fits; if they come batch by batch they are
#: held as numbers then.
FEW_ROWS = 300_000
_NUMBERS = Cost(cell=12, row=1_250, column=3e6, fixed=100e6)
#: All rows at once, and batch by batch where that can be. Those of train and score are more than what
#: ``studies.speed.scale`` measures; the others are reckoned from the copies of rows and features that are held.
WHOLE = {
    "train": Cost(copies=1, cell=9, row=150, few=replace(_NUMBERS, copies=1)),
    "score": Cost(copies=1, cell=4, row=90),
    "evaluate": Cost(copies=1, row=80),
    "backtest": Cost(copies=2, cell=17, row=150, few=replace(_NUMBERS, copies=2, cell=20)),
}
BY_BATCH = {
    "train": Cost(row=70, column=4e6, fixed=240e6, few=_NUMBERS),
    "score": Cost(column=1.5e6, fixed=437e6),
}
#: Rows read at a time, and the most columns and bytes of a row of which that many are.
BATCH_ROWS, _USUAL_COLUMNS, _USUAL_BYTES = 100_000, 50, 500
#: What to do where neither fits.
_REMEDIES = {
    "train": "train on fewer rows or columns, or on several machines (--dask, --spark)",
    "score": "score the rows in parts",
    "evaluate": "measure the rows in parts",
    "backtest": "use fewer rows or columns",
}


@dataclass(frozen=True)
class Plan:
    """How a table is worked through, and the note that says so.

    batch_rows : read at a time, and kept as a sample; fewer where rows are wide
    rows : how many there are, about; None: nobody knows
    """

    by_batch: bool = False
    notes: tuple[str, ...] = ()
    batch_rows: int = BATCH_ROWS
    rows: int | None = None


def plan_for(
    work: str,
    source: Any,
    memory: Any = None,
    *,
    only_whole: str | None = None,
    columns: Sequence[str] | None = None,
) -> Plan:
    """Decide, before any work is done, whether rows come all at once or batch by batch; refuse what cannot fit.

    Parameters
    ----------
    work : "train", "score", "evaluate" or "backtest"
    source : as in ``read_table``; data frames are in memory already
    memory : the most that may be used, such as "4GB"; None: what is free, less a margin
    only_whole : what to do so that it can be done batch by batch, "" for nothing; None: it can, if the work knows how
    columns : those that are read; None: all

    >>> plan_for("score", pl.LazyFrame({"amount": range(10)}), "1GB").by_batch
    False
    """
    limit = _limit(memory)
    if limit is None or (memory is None and _surely_fits(source, limit)):
        return Plan()
    batches = BY_BATCH.get(work) if only_whole is None and can_batch(source) else None
    size = table_size(source, columns)
    if size is None:
        return Plan() if memory is None else _unknown(work, source, limit, by_batch=batches is not None)
    whole = WHOLE[work].bytes(size)
    if whole <= limit:
        says = _says(work, "in memory", f"{size} take about {gigabytes(whole)}")
        return Plan(False, (says,) if memory is not None else ())
    if batches is not None and (least := batches.bytes(size)) <= limit:
        why = f"{size} would take about {gigabytes(whole)} at once, and {gigabytes(limit)} may be used"
        says = _says(work, "batch by batch", f"{why}; so it is about {gigabytes(least)}")
        return Plan(True, (says,), _batch_rows(size), size.rows)
    raise _refused(work, source, size, limit, whole, batches, only_whole)


def _batch_rows(size: TableSize) -> int:
    """So many rows that a batch of them takes no more than a usual one does.

    >>> _batch_rows(TableSize(10**9, 40, 200.0)), _batch_rows(TableSize(10**9, 1_000, 4_000.0))
    (100000, 5000)
    """
    wide = max(size.columns / _USUAL_COLUMNS, size.row_bytes / _USUAL_BYTES, 1)
    return max(1, round(BATCH_ROWS / wide))


def _unknown(work: str, source: Any, limit: float, *, by_batch: bool) -> Plan:
    """What is done where nobody knows the size, and a limit was named: it is kept, or said not to be."""
    why = "its size is not known beforehand"
    if by_batch:
        return Plan(True, (_says(work, "batch by batch", why),))
    if not isinstance(source, str | Path):  # the rows are in memory already
        return Plan()
    return Plan(False, (_says(work, "in memory", f"{why}, so it may take more than {gigabytes(limit)}"),))


def _surely_fits(source: Any, limit: float) -> bool:
    """Whether there is nothing to measure: rows that are here already, or files of text that are small."""
    if not isinstance(source, str | Path) or not can_batch(source) or is_database_url(source):
        return True
    files = find_files(source)
    size = sum(path.stat().st_size for path in files.paths)
    return files.format in (CSV, JSON_LINES) and BASE + _MOST_PER_BYTE * size <= limit


def _says(work: str, how: str, why: str) -> str:
    doing = {"train": "trained", "score": "scored", "evaluate": "measured", "backtest": "tested"}[work]
    return f"{doing} {how}: {why}."


def _refused(
    work: str, source: Any, size: TableSize, limit: float, whole: float, batches: Cost | None, why: str | None
) -> TooLargeError:
    named = hide_password(str(source)) if isinstance(source, str | Path) else "the table"
    needs = f"would take about {gigabytes(whole)} of memory"
    if batches is not None and batches.bytes(size) < whole:
        needs += f", and {gigabytes(batches.bytes(size))} batch by batch"
    remedy = why or _REMEDIES[work]
    return TooLargeError(
        f"{named} has {size}, which {needs} to {work}; {gigabytes(limit)} may be used. Allow more (--memory) where "
        f"there is more, or {remedy}."
    )


def _limit(memory: Any) -> float | None:
    """The most that may be used by this program; None where nobody knows."""
    if memory is not None:
        given = read_size(memory)
        if given <= BASE:
            raise InvalidInputError(
                f"memory is {gigabytes(given)}, and Python with its libraries takes about {gigabytes(BASE)}; allow "
                "more."
            )
        return float(given)
    free = free_memory()
    # What the program has loaded already is not free any more.
    return None if free is None else free * (1 - MARGIN) + BASE


def read_size(text: Any) -> int:
    """Bytes, from a number of them or from text with a unit.

    >>> read_size("4GB"), read_size("1.5 GiB"), read_size("800M"), read_size(1_000)
    (4000000000, 1610612736, 800000000, 1000)
    """
    found = re.fullmatch(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*([kmgt]?i?)b?\s*", str(text).lower())
    if found is None or found[2] not in _UNITS or float(found[1]) <= 0:
        raise InvalidInputError(f"memory is a size such as 4GB or 800MB; got {str(text)!r}.")
    return int(float(found[1]) * _UNITS[found[2]])


def gigabytes(size: float) -> str:
    """A size for people.

    >>> gigabytes(2_340_000_000), gigabytes(640_000_000)
    ('2.3 GB', '640 MB')
    """
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def free_memory() -> int | None:
    """Bytes that can be had without others losing theirs, within the limit of a container; None where nobody tells."""
    try:
        told = Path("/proc/meminfo").read_text(encoding="ascii")
        free = 1024 * int(re.findall(r"MemAvailable:\s+(\d+)", told)[0])
    except (OSError, IndexError):
        return None
    limits = ((_number_in(limit), _number_in(used)) for limit, used in _containers())
    left = [limit - used for limit, used in limits if limit is not None and used is not None]
    return max(0, min([free, *left]))


#: Where Linux tells of groups of processes, and of their memory apart in its older way.
_GROUPS = Path("/sys/fs/cgroup")
_OF_THIS_PROCESS = Path("/proc/self/cgroup")


def _containers() -> Iterator[tuple[Path, Path]]:
    """The files with the limit, and what is used of it, of all groups that this process is in."""
    for line in ["::/", ":memory:/", *_lines_of(_OF_THIS_PROCESS)]:
        _, kind, name = line.split(":", 2)
        for group in (PurePosixPath(name), *PurePosixPath(name).parents):
            here = _GROUPS / kind / str(group).lstrip("/")
            if kind == "":
                yield here / "memory.max", here / "memory.current"
            elif kind == "memory":
                yield here / "memory.limit_in_bytes", here / "memory.usage_in_bytes"


def _lines_of(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _number_in(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):  # not there, or "max"
        return None


def can_batch(source: Any) -> bool:
    """Whether rows can be read some at a time: lazy frames, databases, and files that need not be read whole."""
    if is_lazy(source):
        return True
    if not isinstance(source, str | Path) or is_elsewhere(source) or is_duckdb(source):
        return False
    return is_database_url(source) or _streams(find_files(source))


def _streams(files: Files) -> bool:
    if any(path.suffix.lower() == ".gz" for path in files.paths):
        return False
    if files.format is CSV:
        return all(sniff(path).is_plain for path in files.paths)
    return files.format in (PARQUET, ARROW, JSON_LINES)


def table_size(source: Any, columns: Sequence[str] | None = None) -> TableSize | None:
    """How large a table is; None where that is not known before it is read, or it is in memory already.

    >>> table_size(pl.LazyFrame({"amount": range(10)})).rows
    10
    """
    if not can_batch(source) or is_database_url(source):
        return None
    lazy = scan_table(source)
    with readable(str(source) if isinstance(source, str | Path) else "the table"):
        first = (lazy if columns is None else lazy.select(columns)).head(_FIRST_ROWS).collect()
        if not first.height:
            return None
        files = None if is_lazy(source) else find_files(source)
        counted = files is None or files.format in (PARQUET, ARROW)
        rows = lazy.select(pl.len()).collect().item() if counted else _lines(files)
    return TableSize(int(rows), first.width, first.estimated_size() / first.height)


def columns_of(source: Any, wanted: Sequence[str]) -> list[str] | None:
    """The columns that alone need to be read, where files let others lie and have them all; None: read all.

    >>> columns_of(pl.LazyFrame({"score": [1], "fraud": [0], "amount": [3]}), ["fraud", "score", "fraud"])
    ['fraud', 'score']
    """
    lets_lie = is_lazy(source)
    if isinstance(source, str | Path) and can_batch(source) and not is_database_url(source):
        lets_lie = find_files(source).format in (PARQUET, ARROW)
    names = [*dict.fromkeys(wanted)]
    there = lets_lie and {*names} <= {*scan_table(source).collect_schema().names()}
    return names if there else None


def _lines(files: Files | None) -> int:
    """About how many rows files of lines have, by the first of them."""
    assert files is not None
    size = sum(path.stat().st_size for path in files.paths)
    begin = next(chunks(files.paths[0]), b"")
    return round(size * begin.count(b"\n") / len(begin)) if begin else 0
