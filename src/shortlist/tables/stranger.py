"""A table of a stranger is opened in a child process first: what unpacks to too much fills that one, and no other."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from shortlist.exceptions import ShortlistError, TableError

#: Memory that the child may take beside what its imports took: enough for any honest table of this size.
MOST_BYTES, MOST_TIMES = 768 * 2**20, 30
MOST_ROWS, MOST_COLUMNS = 20_000_000, 10_000
MOST_SECONDS, MOST_TOLD = 300, 2000
#: How the child says that the rows are too many, or no table, as opposed to a crash.
TOO_MANY, NO_TABLE = 3, 4


def check_table(path: Path) -> None:
    """Refuse a table that is more than it looks, or no table at all."""
    child = [sys.executable, "-P", "-c", f"from {__name__} import _child; _child()", str(path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "POLARS_MAX_THREADS": "1"}
    try:
        ended = subprocess.run(child, env=env, capture_output=True, timeout=MOST_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise _too_much() from None
    if ended.returncode == NO_TABLE:
        raise TableError(ended.stdout.decode(errors="replace")[:MOST_TOLD])
    if ended.returncode != 0:
        raise _too_much()


@contextlib.contextmanager
def named_as(path: Path, name: str, hint: str = "") -> Iterator[None]:
    """Tell what is wrong with a file by the name its sender knows it by: where it lies here would tell them nothing.

    hint : said after what is wrong with the file itself

    >>> with named_as(Path("/tmp/x1/rows.csv"), "claims.csv"):
    ...     raise TableError("/tmp/x1/rows.csv has no rows.")
    Traceback (most recent call last):
        ...
    shortlist.exceptions.TableError: claims.csv has no rows.
    """
    try:
        yield
    except TableError as error:
        told = str(error)
        if str(path) not in told:
            raise
        raise type(error)(told.replace(str(path), name) + hint) from None


def sent_as(format: str) -> tuple[str, str]:
    """How the rows that a program has sent are named, and what it is told beside."""
    other = "parquet" if format == "csv" else "csv"
    return "the file that was sent", f" It was read as {format}; another format is named so: ?format={other}"


def _too_much() -> TableError:
    return TableError(
        f"these rows unpack to more than a file of this size may hold (at most {MOST_ROWS:,} rows and "
        f"{MOST_COLUMNS:,} columns). Send fewer, or make the queue on the server's own machine: shortlist review FILE"
    )


def _child() -> None:
    """What the child process runs."""
    from shortlist.tables.io.read import read_table  # noqa: PLC0415  before limits are counted

    path = Path(sys.argv[1])
    _limit(MOST_BYTES + MOST_TIMES * path.stat().st_size)
    code = 0
    try:
        frame = read_table(path)
        code = TOO_MANY if frame.height > MOST_ROWS or frame.width > MOST_COLUMNS else 0
    except ShortlistError as refusal:
        sys.stdout.buffer.write(str(refusal).encode(errors="replace"))
        sys.stdout.flush()
        code = NO_TABLE
    except BaseException:  # also MemoryError, and what polars raises in a panic
        code = TOO_MANY
    os._exit(code)


def _limit(more: int) -> None:
    """A limit of memory beside what was taken; a system without one keeps the parent's limit of time."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415

        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + more, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
