"""The house in numbers: files per folder, lines of files and bodies, types, docstrings, public names, import depth.

Another package can be counted beside ours: ``--package NAME`` of an installed one, more than once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import grimp
import numpy as np

from studies.running import study_parser, tell

Function = ast.FunctionDef | ast.AsyncFunctionDef


def count(package: str) -> dict[str, Any]:
    """All figures of an installed package."""
    spec = find_spec(package)
    assert spec is not None, f"{package} is not installed"
    place = Path((spec.submodule_search_locations or [""])[0])
    sources = {path: path.read_text(encoding="utf-8") for path in place.rglob("*.py")}
    folders = {path.parent for path in sources}
    trees = [ast.parse(source) for source in sources.values()]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, Function)]
    public = [node for tree in trees for node in defined(tree) if not node.name.startswith("_")]
    return {
        "package": package,
        "files": len(sources),
        "files per folder": spread([sum(path.parent == folder for path in sources) for folder in folders]),
        "lines of a file": spread([source.count("\n") for source in sources.values()]),
        "lines of a body": spread([body_lines(node) for node in functions]),
        "annotated, %": 100 * float(np.mean([node.returns is not None for node in functions])),
        "docstrings, %": 100 * float(np.mean([ast.get_docstring(node) is not None for node in public])),
        "names without underscore": len(public),
        "names in __all__": len({name for tree in trees for name in listed(tree)}),
        "import depth": import_depth(package),
    }


def spread(values: list[int]) -> dict[str, float]:
    """Median, the ninth tenth, and the largest."""
    return {
        "median": float(np.median(values)),
        "p90": float(np.quantile(values, 0.9)),
        "max": max(values),
    }


def defined(tree: ast.Module) -> Iterator[Function | ast.ClassDef]:
    """Functions and classes at the top of a module."""
    yield from (node for node in tree.body if isinstance(node, Function | ast.ClassDef))


def body_lines(node: Function) -> int:
    """Lines of a function without its head and docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def listed(tree: ast.Module) -> list[str]:
    """The names of ``__all__``, where it is a plain list."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [
                str(each.value) for each in getattr(node.value, "elts", []) if isinstance(each, ast.Constant)
            ]
    return []


def import_depth(package: str) -> int:
    """Modules on the longest chain of imports; of a circle each is counted once."""
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    under_way: set[str] = set()

    @cache
    def depth(module: str) -> int:
        under_way.add(module)
        below = graph.find_modules_directly_imported_by(module) - under_way
        deepest = max((depth(each) for each in sorted(below)), default=0)
        under_way.discard(module)
        return 1 + deepest

    return max(depth(module) for module in sorted(graph.modules))


def main(arguments: Sequence[str]) -> None:
    """Count ours, and others where they are named."""
    parser = study_parser(__name__, __doc__, "the same: it takes seconds")
    parser.add_argument("--package", action="append", default=[], help="another package to count")
    options = parser.parse_args(arguments)
    tell([count(name) for name in ("shortlist", *options.package)], options.json, show)


def show(found: list[dict[str, Any]]) -> None:
    for name in found[0]:
        print(f"{name:26}" + "".join(f"{_cell(each[name]):>22}" for each in found))


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return " / ".join(f"{each:g}" for each in value.values())
    return f"{value:.0f}" if isinstance(value, float) else str(value)
