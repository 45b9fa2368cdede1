"""Cells: the pieces that tables and figures are made of, each computed once, kept in a file, and found again.

A cell is a function and its settings. It is kept under a key that changes with what could change its value: the code of
every module of this project that the function's module imports, the checksum of its data set, and its settings,
the seed among them. A run that is stopped loses the cell it was at, and no other.
"""

from __future__ import annotations

import ast
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from studies.paper_sets import checksum

OURS = ("shortlist", "studies")


@dataclass(frozen=True)
class Cell:
    """One computation: ``work`` names a function, ``settings`` what it is called with; ``data`` there names a set."""

    work: str
    settings: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, work: Callable[..., Any], **settings: Any) -> Cell:
        """The cell that calls a function of a module with these settings."""
        return cls(f"{work.__module__}:{work.__qualname__}", tuple(sorted(settings.items())))

    def __getitem__(self, name: str) -> Any:
        return self.named[name]

    @cached_property
    def named(self) -> dict[str, Any]:
        """The settings by their names."""
        return dict(self.settings)

    @property
    def data(self) -> str | None:
        """The data set, by its name in the catalogue."""
        return self.named.get("data")

    @cached_property
    def key(self) -> str:
        """What the value is kept under."""
        module = self.work.partition(":")[0]
        parts = [self.work, self.settings, source_hash(module), checksum(self.data) if self.data else None]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]

    def compute(self) -> tuple[Any, float]:
        """The value, as JSON has it, and the seconds it took."""
        module, _, name = self.work.partition(":")
        started = time.perf_counter()
        value = getattr(import_module(module), name)(**self.named)
        return json.loads(json.dumps(value)), time.perf_counter() - started


class Kept:
    """Values of cells in a file of JSON lines; a line that a crash cut short is as good as none."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.lines: dict[str, dict[str, Any]] = {}
        text = path.read_text(encoding="utf-8") if path is not None and path.is_file() else ""
        # What follows the last line break was being written when its writer died.
        for line in text.split("\n")[:-1]:
            if line.startswith("{") and line.endswith("}"):
                read = json.loads(line)
                self.lines[read["key"]] = read

    def add(self, cell: Cell, value: Any, seconds: float) -> None:
        """Keep a value, at once."""
        line = {"key": cell.key, "settings": cell.named, "value": value, "seconds": seconds}
        self.lines[line["key"]] = line
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                # The break comes first, so that a line cut short before does not spoil this one.
                file.write("\n" + json.dumps(line) + "\n")

    def value_of(self, cell: Cell) -> Any:
        """The value of a cell, None where it is not kept."""
        return self.lines.get(cell.key, {}).get("value")


Told = Callable[[int, int, float], None]


def run(
    cells: Iterable[Cell],
    kept: Kept,
    *,
    jobs: int = 1,
    seconds: float = float("inf"),
    tell: Told = lambda done, total, left: None,
) -> bool:
    """Compute the cells that are not kept, in their order, until the time is up; whether all of them are done.

    ``tell`` hears how many are done and the seconds left.
    """
    wanted = list(dict.fromkeys(cells))
    missing = [cell for cell in wanted if cell.key not in kept.lines]
    started = time.perf_counter()
    tell(len(wanted) - len(missing), len(wanted), float("nan"))
    if missing and seconds <= 0:
        return False
    for done, (cell, (value, spent)) in enumerate(_computed(missing, jobs), 1):
        kept.add(cell, value, spent)
        gone = time.perf_counter() - started
        tell(len(wanted) - len(missing) + done, len(wanted), gone / done * (len(missing) - done))
        if gone > seconds and done < len(missing):
            return False
    return True


def _computed(cells: Sequence[Cell], jobs: int) -> Iterator[tuple[Cell, tuple[Any, float]]]:
    if jobs == 1 or len(cells) < 2:
        yield from ((cell, cell.compute()) for cell in cells)
        return
    # Forks of a process with threads may hang, so workers are started afresh.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(cell.compute): cell for cell in cells}
        try:
            yield from ((waiting[each], each.result()) for each in as_completed(waiting))
        finally:
            pool.shutdown(cancel_futures=True)


class Found(Mapping[Cell, Any]):
    """The values of cells; those that were not run are not there."""

    def __init__(self, values: Mapping[Cell, Any]) -> None:
        self._values = dict(values)

    @classmethod
    def among(cls, cells: Iterable[Cell], kept: Kept) -> Found:
        """The values that are kept of these cells."""
        values = ((cell, kept.value_of(cell)) for cell in cells)
        return cls({cell: value for cell, value in values if value is not None})

    def __getitem__(self, cell: Cell) -> Any:
        return self._values[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def where(self, **settings: Any) -> Found:
        """The cells with these settings, in their order."""
        wanted = settings.items()
        # Tables ask thousands of times: only the cells of the rarest setting are looked at.
        fewest = min((self._by_setting.get(each, []) for each in wanted), key=len, default=list(self))
        return Found({cell: self[cell] for cell in fewest if wanted <= cell.named.items()})

    @cached_property
    def _by_setting(self) -> dict[tuple[str, Any], list[Cell]]:
        cells: dict[tuple[str, Any], list[Cell]] = {}
        for cell in self:
            for each in cell.settings:
                cells.setdefault(each, []).append(cell)
        return cells

    def each(self, figure: str | None = None) -> list[Any]:
        """The values, or one figure of each."""
        return [value if figure is None else value[figure] for value in self._values.values()]


@cache
def source_hash(module: str) -> str:
    """A hash of the code of a module and of all of this project that it imports, however far down.

    Comments, docstrings and layout do not count: they change no value.
    """
    seen, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in seen and name.partition(".")[0] in OURS and (tree := _parsed(name)):
            seen.add(name)
            waiting += _imported(tree)
    texts = (f"{name}\n{ast.dump(tree)}" for name in sorted(seen) if (tree := _parsed(name)))
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


@cache
def _parsed(module: str) -> ast.Module | None:
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:  # a name of a module, no module itself
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    for part in ast.walk(tree):
        if (
            isinstance(part, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(part) is not None
        ):
            part.body = part.body[1:]
    return tree


def _imported(tree: ast.Module) -> Iterator[str]:
    for part in ast.walk(tree):
        if isinstance(part, ast.Import):
            yield from (name.name for name in part.names)
        elif isinstance(part, ast.ImportFrom) and part.module:
            yield part.module
            yield from (f"{part.module}.{name.name}" for name in part.names)
