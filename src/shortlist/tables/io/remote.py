"""Tables elsewhere: web addresses, and what fsspec reaches such as s3:// and gs://; standard input and pipes.

They are copied to this machine and read as other files are, since the whole of a file tells how it is written.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from shortlist.exceptions import MissingExtraError, TableError
from shortlist.tables.io.paths import is_pipe, named_path

STANDARD_INPUT = "-"
_WEB = ("http", "https")
_STORES = ("s3", "gs", "gcs", "az", "abfs", "abfss", "adl", "hf", "ftp", "sftp", "hdfs", "memory", "file")
#: How a file begins, and the ending that stands for it.
_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"PK\x03\x04": ".xlsx",
    b"[": ".json",
    b"{": ".jsonl",
}
_SECONDS = 60


def is_elsewhere(source: object) -> bool:
    """Whether a table has to be brought here first, since it cannot be read twice from where it is.

    >>> is_elsewhere("s3://claims/2024.parquet"), is_elsewhere("sqlite:///claims.db"), is_elsewhere("-")
    (True, False, True)
    """
    named = isinstance(source, str) and (source == STANDARD_INPUT or _scheme(source) in (*_WEB, *_STORES))
    return named or is_pipe(source)


@contextmanager
def brought_here(source: str | Path) -> Iterator[Path]:
    """A copy of a table, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="shortlist-") as folder:
        if source == STANDARD_INPUT:
            yield _from_standard_input(Path(folder))
        elif is_pipe(source):
            yield _from_a_pipe(named_path(source), Path(folder))
        elif _scheme(str(source)) in _WEB:
            yield _from_the_web(str(source), Path(folder))
        else:
            yield _from_a_store(str(source), Path(folder))


@contextmanager
def taken_there(target: str) -> Iterator[Path]:
    """A place to write to; what lies there afterwards is copied to the target."""
    check_there(target)
    with tempfile.TemporaryDirectory(prefix="shortlist-") as folder:
        path = Path(folder) / _name(target)
        yield path
        store, place = _store(target)
        with _explained(target):
            store.put_file(str(path), place)


def check_there(target: str) -> None:
    """Refuse an address that cannot be written to."""
    if _scheme(target) in _WEB or target == STANDARD_INPUT or is_pipe(target):
        raise TableError(
            f"cannot write to {shown(target)}; give a file, a database, or a store such as s3://."
        )
    _store(target)


def shown(source: str) -> str:
    """An address as it may be shown: without what is behind a question mark, which may be a key.

    >>> shown("https://host/claims.csv?signature=abc"), shown("-")
    ('https://host/claims.csv', 'standard input')
    """
    return "standard input" if source == STANDARD_INPUT else source.partition("?")[0]


def _scheme(source: str) -> str:
    return source.partition("://")[0].lower() if "://" in source else ""


def _name(source: str) -> str:
    return Path(unquote(urlsplit(source).path)).name or "table"


def _from_standard_input(folder: Path) -> Path:
    if sys.stdin is None or sys.stdin.isatty():
        raise TableError("nothing comes by standard input (-); pipe a table in, or give a file.")
    path = folder / "standard input"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return _named_by_content(path)


def _from_a_pipe(pipe: Path, folder: Path) -> Path:
    path = folder / pipe.name
    with pipe.open("rb") as rows, path.open("wb") as file:
        shutil.copyfileobj(rows, file)
    return _named_by_content(path)


def _from_the_web(source: str, folder: Path) -> Path:
    path = folder / _name(source)
    asked = Request(source, headers={"User-Agent": "shortlist"})
    try:
        with urlopen(asked, timeout=_SECONDS) as answer, path.open("wb") as file:
            shutil.copyfileobj(answer, file)
    except (URLError, OSError, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()
        raise TableError(
            f"cannot read {shown(source)}: {getattr(error, 'reason', error)}. Check the address, and that it needs no "
            "password."
        ) from None
    return _named_by_content(path)


def _from_a_store(source: str, folder: Path) -> Path:
    store, place = _store(source)
    with _explained(source):
        many = any(sign in place for sign in "*?[") or store.isdir(place)
        path = folder / ("table" if many else _name(source))
        store.get(place, f"{path}/" if many else str(path), recursive=many)
    return path if many else _named_by_content(path)


def _store(source: str) -> tuple[Any, str]:
    try:
        fsspec = import_module("fsspec")
    except ModuleNotFoundError:
        raise MissingExtraError.of("fsspec", "remote") from None
    try:
        return fsspec.core.url_to_fs(source)
    except (ImportError, ValueError) as error:
        raise TableError(f"cannot reach {shown(source)}: {error}") from None


@contextmanager
def _explained(source: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # each store has errors of its own
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TableError(
            f"cannot reach {shown(source)}: {reason}. Check the address and your rights there."
        ) from None


def _named_by_content(path: Path) -> Path:
    """The same file under an ending that says its format, where it has none that is known."""
    if path.suffix:
        return path
    with path.open("rb") as file:
        start = file.read(64).lstrip()
    ending = next((each for begin, each in _BEGINNINGS.items() if start.startswith(begin)), ".csv")
    return path.rename(path.with_name(path.name + ending))
