"""The design pages are true: every folder of the package is named, and what is named is there."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "src" / "shortlist"
DESIGN = PROJECT / "docs" / "design"
PAGES = sorted(DESIGN.glob("*.md"))
EVIDENCE = sorted((PROJECT / "docs" / "evidence").glob("*.md"))


def trees():
    """The two trees of the house: what lies in the package, and what beside it."""
    inside, beside = re.findall(r"```text\n(.*?)```", (DESIGN / "house.md").read_text(), re.DOTALL)
    return [[line.split()[0] for line in block.splitlines() if line] for block in (inside, beside)]


def test_every_folder_is_in_the_house_and_the_house_has_no_other():
    named = {name for name in trees()[0] if name.endswith("/")} - {"src/shortlist/"}
    folders = (path for path in PACKAGE.rglob("*") if path.is_dir() and path.name != "__pycache__")
    there = {f"{path.relative_to(PACKAGE).as_posix()}/" for path in folders if any(path.iterdir())}
    assert named == there


def test_every_module_beside_the_rooms_is_in_the_house():
    named = {name for name in trees()[0] if name.endswith(".py")}
    assert named == {path.name for path in PACKAGE.glob("*.py")} - {"__main__.py", "_version.py"}


def test_rooms_stand_in_the_order_of_imports():
    layers = re.search(
        r"^layers = \[\n(.*?)^\]", (PROJECT / "pyproject.toml").read_text(), re.DOTALL | re.MULTILINE
    )
    order = re.findall(r"[a-z]+", layers.group(1))
    rooms = [name.removesuffix(".py").split("/")[0] for name in trees()[0][1:] if name != "__init__.py"]
    assert list(dict.fromkeys(rooms)) == order


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_named_is_there(page):
    named = re.findall(r"`([a-z_/]+(?:/|\.py|\.toml))`", page.read_text())
    if page.stem == "house":
        named += trees()[1]
        named += re.findall(r"(?<![*\w])[a-z_]+\.py\b", page.read_text())  # not a pattern such as *_x.py
    known = {path.name for path in PROJECT.glob("[a-z]*/**/*.py")}  # not those of an environment
    missing = [
        name
        for name in named
        if not any((place / name).exists() for place in (PROJECT, PACKAGE)) and name not in known
    ]
    assert missing == []


def test_the_design_can_be_found():
    assert "docs/design/" in (PROJECT / "CONTRIBUTING.md").read_text()
    assert "design/index" in (PROJECT / "docs" / "index.md").read_text()
    linked = (DESIGN / "index.md").read_text()
    assert all(f"\n{page.stem}\n" in linked for page in PAGES if page.stem != "index")


@pytest.mark.parametrize("page", EVIDENCE, ids=lambda page: page.stem)
def test_every_test_that_is_called_evidence_is_there(page):
    named = set(re.findall(r"`(test_\w+)`", page.read_text()))
    sources = "".join(path.read_text() for path in (PROJECT / "tests").rglob("test_*.py"))
    assert {name for name in named if f"def {name}(" not in sources} == set()


def test_all_evidence_can_be_found():
    linked = (PROJECT / "docs" / "index.md").read_text()
    assert EVIDENCE
    assert all(f"evidence/{page.stem}\n" in linked for page in EVIDENCE)
