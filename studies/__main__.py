"""List the studies, or run one.

python -m studies                             one line per study
python -m studies speed.metrics --quick --json
python -m studies sgbap --help                the room may be left out where the name is clear
python -m studies data list                   the papers' data sets: what is here, and how to get the others
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from shortlist.exceptions import ShortlistError

PLACE = Path(__file__).parent
ROOMS = ("papers", "speed", "quality")


def studies() -> dict[str, str]:
    """Every study, such as ``speed.metrics``, and what it is about. Files are read, not imported: that takes time."""
    found = {}
    for room in ROOMS:
        for path in sorted((PLACE / room).glob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            if any(isinstance(part, ast.FunctionDef) and part.name == "main" for part in tree.body):
                found[f"{room}.{path.stem}"] = (ast.get_docstring(tree) or "").split("\n", 1)[0]
    return found


def find(name: str) -> str:
    """The study of this name, with or without its room; an error that names the choices if there is not just one."""
    if name == "data":  # no study: the sets that studies use
        return name
    known = [*studies()]
    matches = [each for each in known if name in (each, each.partition(".")[2])]
    if len(matches) == 1:
        return matches[0]
    choices = matches or known
    raise SystemExit(
        f"{'Several studies are' if matches else 'No study is'} called {name!r}; choose: {', '.join(choices)}"
    )


def main(arguments: Sequence[str]) -> None:
    """List them, or run the one that is named."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        for name, about in studies().items():
            print(f"{name:<26} {about}")
        return
    name = find(arguments[0])
    try:
        study = import_module(f"studies.{name}")
    except ModuleNotFoundError as error:  # a rival or a tool, which the package itself does not need
        raise SystemExit(f"{name} needs {error.name}; make test installs all that studies use.") from None
    try:
        study.main(arguments[1:])
    except ShortlistError as error:  # it says what to do, such as where data sets are looked for
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main(sys.argv[1:])
