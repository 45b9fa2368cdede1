"""Which files a path, a folder or a glob means, and in which format they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import polars as pl

from shortlist.exceptions import MissingExtraError, TableError
from shortlist.tables.io.delimited import read_delimited, scan_delimited, sink_delimited
from shortlist.tables.io.objects import read_objects, sink_objects
from shortlist.tables.io.paths import kind_of, named_path, no_file
from shortlist.tables.io.spreadsheets import read_spreadsheet, sink_spreadsheet


@dataclass(frozen=True)
class Format:
    """A format of table files: reading, writing, help and messages know of it what its record says."""

    name: str
    #: Endings of its files, the usual one first.
    endings: tuple[str, ...]
    #: The rows of a file, lazily, told whether folder names such as year=2024 are columns.
    scan: Callable[[Path, bool], pl.LazyFrame]
    #: Writes rows to an open file whose name has this ending; None: such files are only read.
    sink: Callable[[pl.LazyFrame, IO[bytes], str], Any] | None = None
    #: All rows of a file at once, where that takes more than to collect the lazy ones.
    read: Callable[[Path], pl.DataFrame] | None = None
    #: Whether it has no place for values of a type.
    refuses: Callable[[pl.DataType], bool] = lambda dtype: False
    #: Whether its files are read when compressed with gzip, too.
    gzip: bool = False
    #: Whether a spreadsheet that opens such a file runs text as formulas.
    formulas: bool = False
    #: The package that it needs, and the extra of ours that brings it.
    needs: tuple[str, str] | None = None

    def check_installed(self) -> None:
        """Refuse a format whose package is not installed."""
        if self.needs is not None and find_spec(self.needs[0]) is None:
            raise MissingExtraError.of(*self.needs)


def _has_no_text(dtype: pl.DataType) -> bool:
    """Lists and bytes have no place in a line of text."""
    return dtype.is_nested() or dtype == pl.Binary


CSV = Format(
    "csv",
    (".csv", ".tsv", ".txt"),
    scan=lambda path, hive: scan_delimited(path),
    sink=sink_delimited,
    read=read_delimited,
    refuses=_has_no_text,
    gzip=True,
    formulas=True,
)
PARQUET = Format(
    "parquet",
    (".parquet", ".pq"),
    scan=lambda path, hive: _sound(path, lambda: pl.scan_parquet(path, hive_partitioning=hive, glob=False)),
    sink=lambda rows, file, ending: rows.sink_parquet(file),
)
JSON_LINES = Format(
    "jsonl",
    (".jsonl", ".ndjson"),
    scan=lambda path, hive: _sound(path, lambda: pl.scan_ndjson(path, infer_schema_length=None)),
    sink=lambda rows, file, ending: rows.sink_ndjson(file, check_extension=False),
    refuses=lambda dtype: dtype == pl.Binary,
    gzip=True,
)
ARROW = Format(
    "arrow",
    (".arrow", ".ipc", ".feather"),
    scan=lambda path, hive: _sound(path, lambda: pl.scan_ipc(path, glob=False)),
    sink=lambda rows, file, ending: rows.sink_ipc(file),
)
JSON = Format(
    "json",
    (".json",),
    scan=lambda path, hive: read_objects(path).lazy(),
    sink=sink_objects,
    read=read_objects,
    refuses=lambda dtype: dtype == pl.Binary,
    gzip=True,
)
EXCEL = Format(
    "excel",
    (".xlsx",),
    scan=lambda path, hive: read_spreadsheet(path).lazy(),
    sink=sink_spreadsheet,
    read=read_spreadsheet,
    refuses=_has_no_text,
    needs=("fastexcel", "excel"),
)
#: Spreadsheets that are read and not written.
OTHER_SHEETS = replace(EXCEL, name="spreadsheet", endings=(".xls", ".xlsb", ".xlsm", ".ods"), sink=None)
FORMATS = (CSV, PARQUET, JSON_LINES, ARROW, JSON, EXCEL, OTHER_SHEETS)


def _sound(path: Path, scan: Callable[[], pl.LazyFrame]) -> pl.LazyFrame:
    """A scan that names an empty or broken file now, not when the rows are read."""
    if path.stat().st_size == 0:
        raise TableError(f"{path} is empty; write it anew.")
    lazy = scan()
    lazy.collect_schema()
    return lazy


def usual_endings() -> list[str]:
    """One ending of each format that can be written, for help and messages.

    >>> usual_endings()
    ['.csv', '.parquet', '.jsonl', '.arrow', '.json', '.xlsx']
    """
    return [each.endings[0] for each in FORMATS if each.sink]


def _readable() -> str:
    return " ".join(
        ending for each in FORMATS for ending in (*each.endings, *([f"{each.endings[0]}.gz"] * each.gzip))
    )


@dataclass(frozen=True)
class Files:
    """Table files of one format, in the order of their names."""

    paths: tuple[Path, ...]
    format: Format
    #: The folder below which folder names such as year=2024 are columns.
    root: Path | None = None

    @property
    def hive(self) -> bool:
        """Whether folder names are columns."""
        return self.root is not None


def format_of(path: Path) -> Format | None:
    """The format that a file's ending stands for; some may be compressed with gzip."""
    compressed = path.suffix.lower() == ".gz"
    ending = Path(path.stem).suffix if compressed else path.suffix
    known = next((each for each in FORMATS if ending.lower() in each.endings), None)
    return None if known is not None and compressed and not known.gzip else known


def is_table(path: Path) -> bool:
    """Whether a file of a folder is a table: engines leave marks such as _SUCCESS and .part.crc beside theirs."""
    return _has_a_tables_name(path) and path.is_file()


def _has_a_tables_name(path: Path) -> bool:
    return path.name[0] not in "._" and format_of(path) is not None


def _is_file(path: Path) -> bool:
    """Whether it is a file; a link that leads to none is named, as nobody would miss its rows."""
    if path.is_symlink() and kind_of(path) in ("nothing", "circle of links"):
        raise no_file(path)
    return path.is_file()


def matches(pattern: Path) -> Iterator[Path]:
    """What a glob means, from the root or from here."""
    return Path(pattern.anchor or ".").glob(str(pattern.relative_to(pattern.anchor)))


def find_files(source: str | Path) -> Files:
    """The files of a path, of a folder (with its subfolders) or of a glob."""
    path = named_path(source)
    kind = kind_of(path)
    if kind == "folder":
        found = _in_folder(path)
        hive = any("=" in str(each.relative_to(path).parent) for each in found[0])
        return Files(*found, root=path if hive else None)
    if "::" in str(source) and kind == "nothing":
        return _sheet(*str(path).rsplit("::", 1))
    if kind == "file":
        return _one_format([path], str(path))
    if any(sign in str(source) for sign in "*?["):
        return _one_format(_glob(path), str(source))
    raise no_file(path)


def _sheet(path: str, name: str) -> Files:
    """The sheet of a spreadsheet that is named behind it."""
    files = find_files(path)
    if files.format not in (EXCEL, OTHER_SHEETS):
        raise TableError(
            f"only spreadsheets and databases have tables of a name; write {path} without ::{name}."
        )

    def read(file: Path) -> pl.DataFrame:
        return read_spreadsheet(file, name)

    return replace(files, format=replace(files.format, read=read, scan=lambda file, hive: read(file).lazy()))


def _in_folder(folder: Path) -> tuple[tuple[Path, ...], Format]:
    named = (each for each in folder.rglob("*") if _has_a_tables_name(each) and not _is_hidden(each, folder))
    tables = [each for each in named if _is_file(each)]
    if not tables:
        raise TableError(f"the folder {folder} holds no tables; Shortlist reads {_readable()}.")
    files = _one_format(tables, str(folder))
    return files.paths, files.format


def _is_hidden(path: Path, folder: Path) -> bool:
    """Whether it lies in a folder that engines keep for themselves."""
    return any(part[0] in "._" for part in path.parent.relative_to(folder).parts)


def _glob(pattern: Path) -> list[Path]:
    found = [each for each in matches(pattern) if _is_file(each)]
    if not found:
        raise TableError(f"no file matches {pattern}; check the folder and the pattern.")
    return found


def _one_format(paths: list[Path], source: str) -> Files:
    formats: dict[Format, Path] = {}
    for path in sorted(paths):
        kind = format_of(path)
        if kind is None:
            raise TableError(
                f"cannot tell the format of {path} by its ending; Shortlist reads {_readable()}."
            )
        formats.setdefault(kind, path)
    if len(formats) > 1:
        examples = " and ".join(path.name for path in formats.values())
        raise TableError(
            f"{source} mixes formats ({examples}); name one with a glob such as '{source}/*.csv'."
        )
    kind = next(iter(formats))
    kind.check_installed()
    return Files(tuple(sorted(paths)), kind)
