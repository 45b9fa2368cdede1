"""What holds for every command."""

import errno
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from shortlist import __version__, cli, datasets
from shortlist.cli import _app, _output
from shortlist.datasets import make_claims

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


#: What other examples write, and what only their reader has.
WRITTEN = {"fraud.shortlist", "new.review", "verdicts.csv", "heads.txt"}
THEIRS = {"risk.shortlist", "later.csv", "demo"}


def example_of(shortlist, command):
    return shlex.split(shortlist(command, "--help").out.split("Example:")[1].split("\n\n")[0].splitlines()[0])


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory):
    """A folder with the files that ``shortlist demo`` writes, in small."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(datasets, "make_claims", make_small_claims)
        patched.setattr(sys, "argv", ["shortlist", "demo", "--folder", str(folder), "--model", "logistic"])
        with pytest.raises(SystemExit) as stop:
            _app.main()
    assert stop.value.code == 0
    return folder


def make_small_claims(n, random_state):
    return make_claims(n, random_state=random_state).gather_every(25)


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_of_the_help_name_files_of_the_demo(shortlist, monkeypatch, demo_folder, command):
    monkeypatch.setenv("COLUMNS", "200")
    there = {path.name for path in demo_folder.iterdir()} | WRITTEN | THEIRS
    named = {word for word in example_of(shortlist, command) if re.search(r"\.(csv|shortlist|review)$", word)}
    assert named <= there


@pytest.mark.slow
def test_the_examples_of_the_help_work(shortlist, monkeypatch, demo_folder, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    shutil.copytree(demo_folder, tmp_path / "demo")
    monkeypatch.chdir(tmp_path / "demo")
    target = ("history.csv", "--label", "fraud", "--id", "claim_id", "--model", "target")
    assert shortlist("train", *target, "-o", "risk.shortlist").code == 0
    commands = "evaluate monitor rank train score inspect tree backtest compare simulate"
    for command in commands.split():
        done = shortlist(*example_of(shortlist, command)[1:])
        assert (command, done.code, "error" in done.err) == (command, 0, False)


def test_a_narrow_terminal_keeps_ids_whole_and_folds_the_reasons(shortlist, monkeypatch, claims):
    monkeypatch.setattr(_output.out, "_width", 60)
    learn = ("--label", "fraud", "--id", "claim_id", "--model", "logistic", "--budget", 3)
    lines = shortlist("rank", "history.csv", "new.csv", *learn).out.splitlines()
    assert max(map(len, lines)) <= 60
    assert [word.strip() for word in lines[1].split("┃")[1:4]] == ["rank", "claim_id", "why"]
    assert sum("C-000" in line for line in lines) == 3
    assert lines[-1].endswith("more columns: widen the window, or see all with --json.")


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
    done = shortlist("demo")
    assert done.code == 1
    assert "boom" in done.err
    assert "Traceback" not in done.err


def test_ctrl_c_while_commands_are_loaded_ends_in_silence(shortlist, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(_app, "program", interrupted)
    done = shortlist("demo")
    assert (done.code, done.out, done.err) == (130, "", "")


def test_a_full_disk_is_no_fault_of_ours(shortlist, monkeypatch):
    def full():
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_app, "program", lambda: full)
    done = shortlist("demo")
    assert done.code == 2
    assert (
        done.err
        == "error: nothing more can be written: No space left on device. Make room, or write elsewhere."
    )


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
