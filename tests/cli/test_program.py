"""What holds for every command."""

import pkgutil
import subprocess
import sys

import pytest

from shortlist import __version__, cli
from shortlist.cli import _app

COMMANDS = sorted(
    _app.command_name(module.name)
    for module in pkgutil.iter_modules(cli.__path__)
    if not module.name.startswith("_")
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_json(shortlist, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "200")
    done = shortlist(command, "--help")
    assert done.code == 0
    assert f"shortlist {command}" in done.out.split("Example:")[1]
    assert "--json" in done.out


def test_version(shortlist):
    assert shortlist("--version").out.split() == ["shortlist", __version__]


def test_no_arguments_show_the_commands(shortlist):
    done = shortlist()
    assert all(command in done.out for command in COMMANDS)


def test_unknown_command_and_option_exit_with_2(shortlist):
    assert shortlist("rnak").code == 2
    assert shortlist("rank", "--buget", "5").code == 2


def test_a_fault_of_ours_is_one_message_with_code_1(shortlist, monkeypatch):
    def broken():
        raise RuntimeError("boom")

    monkeypatch.setattr(_app, "program", lambda: broken)
    done = shortlist("--version")
    assert done.code == 1
    assert "boom" in done.err
    assert "Traceback" not in done.err


def test_help_answers_without_loading_the_engines():
    code = """
import sys
from shortlist.cli._app import main
sys.argv = ["shortlist", "--help"]
try:
    main()
except SystemExit:
    print([name for name in ("xgboost", "sklearn", "numba", "sqlalchemy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("seed", [-1, 2**32])
@pytest.mark.parametrize("command", ["train", "rank", "backtest", "compare", "simulate", "demo", "review"])
def test_a_seed_that_no_generator_takes_is_a_mistake_of_the_call(shortlist, command, seed):
    files = {"demo": [], "rank": ["history.csv", "new.csv"]}.get(command, ["history.csv"])
    output = ["-o", "m.shortlist"] if command == "train" else []
    done = shortlist(command, *files, "--seed", seed, *output)
    assert done.code == 2
    assert "--seed" in done.err


def test_names_are_shown_as_they_are(shortlist, claims):
    done = shortlist(
        "train", "history.csv", "--label", "fraud", "--id", "claim_id", "-m", "logistic", "-o", "m[bold]"
    )
    assert "wrote m[bold] (" in done.err


def test_a_folder_that_cannot_be_made(shortlist, tmp_path):
    (tmp_path / "file").touch()
    done = shortlist("demo", "--folder", tmp_path / "file" / "demo")
    assert done.code == 2
    assert "name another: --folder" in done.err
