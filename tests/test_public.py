"""Public names exist, and what the README shows works."""

import re
from importlib import import_module
from pathlib import Path

import pytest
import typer

import shortlist
from shortlist.cli._app import program

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.parametrize("name", shortlist.__all__)
def test_public_name_exists(name):
    assert getattr(shortlist, name) is not None


def test_public_names_are_listed():
    assert set(shortlist.__all__) <= set(dir(shortlist))


@pytest.mark.parametrize("package", ["metrics", "rankers", "tables", "datasets", "workflow"])
def test_packages_export_what_they_promise(package):
    module = import_module(f"shortlist.{package}")
    assert all(hasattr(module, name) for name in module.__all__)


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
