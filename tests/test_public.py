"""What is public is listed, documented and typed, and what the README shows works."""

import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

import shortlist
from shortlist.cli._app import program

PROJECT = Path(__file__).parents[1]
README = PROJECT / "README.md"
#: Homes of names that are not at the top.
REST = ("datasets", "exceptions", "metrics", "objectives", "question", "report", "review", "verdicts")
HOMES = sorted(set(shortlist._HOME.values()) | {f"shortlist.{name}" for name in REST})
PUBLIC = [(home, name) for home in HOMES for name in import_module(home).__all__]


@pytest.mark.parametrize("name", shortlist.__all__)
def test_public_name_exists(name):
    assert getattr(shortlist, name) is not None


def test_public_names_are_listed():
    assert set(shortlist.__all__) <= set(dir(shortlist))


def test_the_names_at_the_top_lead_to_the_homes():
    homes = shortlist._HOME
    assert set(shortlist.__all__) == {*homes, "__version__"}
    assert set(homes.values()) <= set(HOMES)
    assert all(name in import_module(home).__all__ for name, home in homes.items())
    with pytest.raises(AttributeError, match="no attribute 'APBost'"):
        _ = shortlist.APBost


@pytest.mark.parametrize(("home", "name"), PUBLIC)
def test_a_public_name_exists_and_says_what_it_is(home, name):
    found = getattr(import_module(home), name)
    if inspect.isclass(found) or inspect.isfunction(found):
        assert inspect.getdoc(found)
        assert found.__module__.startswith("shortlist.")
        assert pickle.loads(pickle.dumps(found)) is found
    else:  # a constant is explained where it is made
        package = Path(import_module(home).__file__).parent
        source = "".join(path.read_text() for path in package.rglob("*.py"))
        assert re.search(rf"^#: .*\n(#.*\n)*{name}\b", source, re.MULTILINE), f"{home}.{name}"


def test_every_package_draws_the_line():
    packages = [each for each in pkgutil.walk_packages(shortlist.__path__, "shortlist.") if each.ispkg]
    assert len(packages) > 30
    for package in packages:
        listed = import_module(package.name).__all__
        assert bool(listed) == (package.name in HOMES), package.name
        assert listed == sorted(set(listed), key=listed.index), package.name


def test_the_reference_shows_the_homes_and_what_can_be_had_from_the_top():
    page = (PROJECT / "docs" / "api.md").read_text()
    shown = re.findall(r"^   (shortlist\.\w+)$", page, re.MULTILINE)
    top = {f"shortlist.{name}" for name in shortlist._HOME}
    assert sorted(shown) == sorted([*top, *HOMES])


@pytest.mark.slow
def test_type_checkers_know_the_parameters(tmp_path):
    """As a user would run mypy: in another folder, with its own settings."""
    client = tmp_path / "client.py"
    client.write_text((PROJECT / "tests" / "data" / "client.py.txt").read_text())
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", client]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    lines = client.read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert len(wrong) == 9
    assert {int(number) for number in re.findall(r"client\.py:(\d+): error", told)} == wrong, told
    assert (Path(shortlist.__file__).parent / "py.typed").is_file()


def test_to_import_shortlist_loads_none_of_the_libraries():
    code = "import shortlist, sys; print([name for name in ('numpy', 'sklearn', 'polars') if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_every_command_of_the_readme_exists():
    known = {command.name for command in program().registered_commands}
    mentioned = set(re.findall(r"(?:\.venv/bin/|`)shortlist ([a-z-]+)", README.read_text()))
    assert mentioned
    assert mentioned <= known


def test_every_option_of_the_readme_exists():
    commands = typer.main.get_command(program()).commands.values()
    known = {flag for command in commands for option in command.params for flag in option.opts}
    shown = set(re.findall(r"(--[a-z][a-z-]+)", README.read_text()))
    assert shown - known == {"--help"}
