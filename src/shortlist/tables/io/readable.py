"""What may go wrong while rows are read, as one sentence; and how wide and long a table and its values may be."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import polars as pl
from polars.exceptions import PanicException, PolarsError

from shortlist.exceptions import TableError

#: Bytes that a value may have: longer ones are as good as always a quote that nobody closed.
LONGEST_VALUE = 10_000_000
#: Columns that a table may have: each costs some milliseconds at every step.
MOST_COLUMNS = 100_000


class Panics:
    """Polars writes where its own code broke to standard error, before it raises anything.

    The program says what is wrong in its own words, so it keeps that ``hidden``; from Python nobody's standard error is
    touched. Threads share one detour, and what is no panic is passed on when the last of them has read its rows.
    """

    _hidden = False
    _lock = threading.Lock()
    _readers = 0
    _met = False
    _kept: IO[bytes]
    _real: int

    @classmethod
    @contextmanager
    def hidden(cls) -> Iterator[None]:
        """Let nobody see what polars writes of a panic."""
        cls._hidden = True
        try:
            yield
        finally:
            cls._hidden = False

    @classmethod
    @contextmanager
    def awaited(cls) -> Iterator[None]:
        """While rows are read: what is written to standard error waits until it is known to be no panic."""
        if not (cls._hidden and sys.stderr is not None and cls._enter()):
            yield
            return
        try:
            yield
        except PanicException:
            cls._met = True
            raise
        finally:
            cls._leave()

    @classmethod
    def _enter(cls) -> bool:
        """Begin to keep what is written; False where there is no room to."""
        with cls._lock:
            if cls._readers == 0:
                try:
                    kept = tempfile.TemporaryFile()  # noqa: SIM115, closed when the last reader leaves
                except OSError:
                    return False
                sys.stderr.flush()
                cls._met, cls._real, cls._kept = False, os.dup(2), kept
                os.dup2(kept.fileno(), 2)
            cls._readers += 1
            return True

    @classmethod
    def _leave(cls) -> None:
        with cls._lock:
            cls._readers -= 1
            if cls._readers == 0:
                sys.stderr.flush()
                os.dup2(cls._real, 2)
                os.close(cls._real)
                with cls._kept as kept:
                    kept.seek(0)
                    said = kept.read()
                if not cls._met:
                    os.write(2, said)


@contextmanager
def readable(source: str) -> Iterator[None]:
    """What may go wrong while a source is read, named."""
    try:
        with Panics.awaited():
            yield
    except (PolarsError, OSError, PanicException) as error:
        # What polars says of a panic is about its own code.
        told = str(error).strip() if not isinstance(error, PanicException) else "its bytes make no sense"
        reason = told.splitlines()[0] if told else type(error).__name__
        raise TableError(
            f"cannot read {source}: {reason}. The file may be cut off, damaged, or of another format than "
            "its ending says; write or copy it anew."
        ) from None


def check_width(n_columns: int, source: str = "the table") -> None:
    """Refuse a table that would take hours.

    >>> check_width(200_000, "genes.csv")
    Traceback (most recent call last):
        ...
    shortlist.exceptions.TableError: genes.csv has 200,000 columns, and 100,000 are taken at most. ...
    """
    if n_columns > MOST_COLUMNS:
        raise TableError(
            f"{source} has {n_columns:,} columns, and {MOST_COLUMNS:,} are taken at most. Leave out those that cannot "
            "matter, or give rankers in Python a sparse matrix."
        )


def check_sizes(frame: pl.DataFrame) -> None:
    """Refuse a table that is too wide, and a value that no reader could mean.

    >>> check_sizes(pl.DataFrame({"note": ["fine", "x" * (LONGEST_VALUE + 1)]}))
    Traceback (most recent call last):
        ...
    shortlist.exceptions.TableError: row 2 has a value of 10,000,001 bytes in column 'note', ...
    """
    check_width(frame.width)
    for column in frame.iter_columns():
        if column.dtype != pl.String or column.estimated_size() <= LONGEST_VALUE:
            continue
        sizes = column.str.len_bytes()
        row = sizes.arg_max()
        if row is not None and sizes[row] > LONGEST_VALUE:
            raise TableError(
                f"row {row + 1:,} has a value of {sizes[row]:,} bytes in column {column.name!r}, and "
                f"{LONGEST_VALUE:,} are taken at most. Is a closing quote missing? Else shorten it."
            )
