"""What no tool checks: rooms stay small, and nothing points back at what uses it."""

import ast
import statistics
from collections import Counter
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "src" / "shortlist"
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if "versions" not in path.parts]


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_for_types_only(tree):
    """Modules that are imported under ``if TYPE_CHECKING:``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for each in ast.walk(node):
                if isinstance(each, ast.ImportFrom):
                    yield "." * each.level + (each.module or "")
                elif isinstance(each, ast.Import):
                    yield from (name.name for name in each.names)


def test_a_back_reference_for_types_is_seen():
    tree = ast.parse("if typing.TYPE_CHECKING:\n    from shortlist.lists import Lists\n    from . import x")
    assert [*imported_for_types_only(tree)] == ["shortlist.lists", "."]


def test_no_module_points_back_at_its_importers_for_types():
    # The names of rooms are lazy, and commands load what they need when they run: both point downward, for types only.
    below = [path for path in FILES if path.name != "__init__.py" and PACKAGE / "cli" not in path.parents]
    found = {
        str(path.relative_to(PACKAGE)): own
        for path in below
        if (
            own := [
                name for name in imported_for_types_only(parsed(path)) if name.startswith(("shortlist", "."))
            ]
        )
    }
    assert found == {}


def test_folders_stay_small_enough_to_look_through():
    sizes = Counter(path.parent for path in FILES if path.name != "__init__.py")
    assert statistics.median(sizes.values()) <= 8
    assert {folder.name: size for folder, size in sizes.items() if size > 14} == {
        "cli": sizes[PACKAGE / "cli"]
    }


def test_files_and_functions_stay_short():
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: length for name, length in lengths.items() if length > 400} == {}
    bodies = [length for path in FILES for length in body_lengths(parsed(path))]
    assert statistics.quantiles(bodies, n=10)[-1] <= 15


def body_lengths(tree):
    """Lines of each function's body, without its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield body[-1].end_lineno - body[0].lineno + 1 if body else 0
