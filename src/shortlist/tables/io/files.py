"""Which files a path, a folder or a glob means, and in which format they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shortlist.exceptions import TableError
from shortlist.tables.roles import did_you_mean

FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".ipc": "arrow", ".feather": "arrow", ".jsonl": "jsonl", ".ndjson": "jsonl",
}  # fmt: skip
#: What to do with files that people have, by their ending.
_ADVICE = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), " Save the spreadsheet as .csv first."),
    ".json": " Write one object per line and call it .jsonl.",
}
_KNOWN = ".csv .tsv .txt .csv.gz .parquet .arrow .ipc .feather .jsonl .ndjson"


@dataclass(frozen=True)
class Files:
    """Table files of one format, in the order of their names."""

    paths: tuple[Path, ...]
    format: str
    #: Folder names such as year=2024 are columns.
    hive: bool = False


def format_of(path: Path) -> str | None:
    """The format that a file's ending stands for; CSV and JSON lines may be compressed with gzip."""
    ending = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    known = FORMATS.get(ending.lower())
    return None if path.suffix.lower() == ".gz" and known not in ("csv", "jsonl") else known


def is_table(path: Path) -> bool:
    """Whether a file of a folder is a table: engines leave marks such as _SUCCESS and .part.crc beside theirs."""
    return path.is_file() and path.name[0] not in "._" and format_of(path) is not None


def matches(pattern: Path) -> Iterator[Path]:
    """What a glob means, from the root or from here."""
    return Path(pattern.anchor or ".").glob(str(pattern.relative_to(pattern.anchor)))


def find_files(source: str | Path) -> Files:
    """The files of a path, of a folder (with its subfolders) or of a glob."""
    path = Path(source).expanduser()
    if path.is_dir():
        found = _in_folder(path)
        return Files(*found, hive=any("=" in str(each.relative_to(path).parent) for each in found[0]))
    if path.is_file():
        return _one_format([path], str(path))
    if any(sign in str(source) for sign in "*?["):
        return _one_format(_glob(path), str(source))
    raise TableError(f"there is no file {path}.{_close_files(path)}")


def _in_folder(folder: Path) -> tuple[tuple[Path, ...], str]:
    tables = [each for each in folder.rglob("*") if is_table(each) and not _is_hidden(each, folder)]
    if not tables:
        raise TableError(f"the folder {folder} holds no tables; Shortlist reads {_KNOWN}.")
    files = _one_format(tables, str(folder))
    return files.paths, files.format


def _is_hidden(path: Path, folder: Path) -> bool:
    """Whether it lies in a folder that engines keep for themselves."""
    return any(part[0] in "._" for part in path.parent.relative_to(folder).parts)


def _glob(pattern: Path) -> list[Path]:
    found = [each for each in matches(pattern) if each.is_file()]
    if not found:
        raise TableError(f"no file matches {pattern}; check the folder and the pattern.")
    return found


def _one_format(paths: list[Path], source: str) -> Files:
    formats: dict[str, Path] = {}
    for path in sorted(paths):
        kind = format_of(path)
        if kind is None:
            advice = _ADVICE.get(path.suffix.lower(), "")
            raise TableError(
                f"cannot tell the format of {path} by its ending; Shortlist reads {_KNOWN}.{advice}"
            )
        formats.setdefault(kind, path)
    if len(formats) > 1:
        examples = " and ".join(path.name for path in formats.values())
        raise TableError(
            f"{source} mixes formats ({examples}); name one with a glob such as '{source}/*.csv'."
        )
    return Files(tuple(sorted(paths)), next(iter(formats)))


def _close_files(path: Path) -> str:
    if not path.parent.is_dir():
        return f" Nor is there a folder {path.parent}."
    return did_you_mean(path.name, [each.name for each in path.parent.iterdir()])
