"""How each table of ``docs/evidence`` was made, written below it from the result that it shows.

A page names the result in a comment, ``<!-- made: quality.leaks -->``; the line after it is written by this job. Where
no result is kept, or not of all figures, ``not kept`` among the names makes the line say so.
"""

from __future__ import annotations

import re
from pathlib import Path

from release.results import ROOT
from studies.kept import NOT_KEPT, how

#: Pages with such lines: evidence, and guides that carry a headline table.
PAGES = [
    *sorted((ROOT / "docs" / "evidence").glob("*.md")),
    ROOT / "docs" / "tables.md",
]
STAMP = re.compile(r"^<!-- made: (.+?) -->\n.*\n", re.MULTILINE)


def written(text: str) -> str:
    """A page with today's lines."""
    return STAMP.sub(lambda found: f"<!-- made: {found[1]} -->\n{line(found[1])}\n", text)


def line(names: str) -> str:
    """How the results of these names were made, and that of the rest nobody kept any."""
    results = [name for name in names.split(", ") if name != "not kept"]
    told = [f"Made: {' '.join(how(name) for name in results)}"] if results else []
    if "not kept" in names:
        told.append(NOT_KEPT.replace("this", "the other figures") if results else NOT_KEPT)
    return f"*{' '.join(told)}*"


def main() -> None:
    """Write the pages anew."""
    for page in PAGES:
        _write(page)


def _write(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    page.write_text(written(text), encoding="utf-8")
