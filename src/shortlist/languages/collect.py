"""All messages of the package: ``python -m shortlist.languages.collect it`` writes those that it.po lacks into it.

A translator fills them in; nothing else is needed for pages in that language.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

PACKAGE = files("shortlist")
IN_PYTHON: dict[str, Any] = {"Message": None, "counted": (1, 2)}
ON_PAGES: dict[str, Any] = {"_": None, "ngettext": (1, 2)}
#: How messages are found in a file, by its ending.
METHODS: dict[str, tuple[Any, dict[str, Any]]] = {
    ".py": ("python", IN_PYTHON),
    ".html": (babel_extract, ON_PAGES),
    ".js": ("javascript", ON_PAGES),
}
#: What the head of a catalogue tells; dates would change with every run.
HEAD = ("Language:", "Plural-Forms", "MIME-Version", "Content-Type", "Content-Transfer-Encoding")


def collect(language: str | None = None) -> Catalog:
    """Every message in the package, without translations."""
    catalogue = Catalog(locale=language, project="Shortlist", fuzzy=False)
    for file in _sources(PACKAGE):
        for text in messages_of(file):
            catalogue.add(text, flags={"python-format"})
    return catalogue


def messages_of(file: Traversable) -> list[Any]:
    """The messages of a file: texts, or a pair of texts where things are counted."""
    method, keywords = METHODS[Path(file.name).suffix]
    source = file.read_bytes()
    if not any(f"{keyword}(".encode() in source for keyword in keywords):
        return []  # at once: taking a file apart takes long
    return [
        text
        for _, text, *_ in extract(method, BytesIO(source), keywords, options={"encoding": "utf-8"})
        if text
    ]


def update(path: Path) -> Catalog:
    """Add the messages that a catalogue lacks, drop those that are no longer said, keep all translations."""
    wanted = collect(path.stem)
    if path.exists():
        with path.open("rb") as file:
            catalogue = read_po(file, locale=path.stem)
        catalogue.update(wanted, no_fuzzy_matching=True)
        wanted = catalogue
    wanted.header_comment = f"# The pages of Shortlist in {wanted.locale.english_name}."
    write(wanted, path)
    return wanted


def write(catalogue: Catalog, path: Path) -> None:
    """Write a catalogue so that only what was translated differs from the version before."""
    written = BytesIO()
    write_po(written, catalogue, width=0, sort_output=True, no_location=True, ignore_obsolete=True)
    head, *messages = written.getvalue().decode().split("\n\n")
    kept = [line for line in head.splitlines() if not line.startswith('"') or line[1:].startswith(HEAD)]
    path.write_text("\n\n".join(["\n".join(kept), *messages]))


def _sources(folder: Traversable) -> Iterator[Traversable]:
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        if each.is_dir() and each.name != "vendor":
            yield from _sources(each)
        elif Path(each.name).suffix in METHODS:
            yield each


def lacking(catalogue: Catalog) -> list[Any]:
    """The messages without a translation."""
    return [message.id for message in catalogue if message.id and not any(message.string or ())]


if __name__ == "__main__":
    for tag in sys.argv[1:]:
        left = lacking(update(Path(str(PACKAGE)) / "languages" / f"{tag}.po"))
        print(f"{tag}: {len(left)} messages to translate")
