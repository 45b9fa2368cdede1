"""A test that fails gets a second try by itself at the end, which is told; one that fails again fails the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ONCE_MORE = Path(__file__).parents[1] / ".ci" / "once-more"
TESTS = """
import pathlib

def test_well():
    assert True

def test_second_try():
    tried = pathlib.Path("tried")
    before = tried.exists()
    tried.touch()
    assert before

def test_never():
    assert False
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a script of the shell")


@pytest.fixture
def run(tmp_path):
    """Runs the tests that are chosen; gives the exit code, what was printed, and which tests were told as flaky."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_three.py").write_text(TESTS)
    flaky = tmp_path / "flaky.txt"

    def run(chosen, *more):
        command = [ONCE_MORE, sys.executable, "-m", "pytest", "-p", "xdist", "-n", "2", "-k", chosen, *more]
        own = {**os.environ, "FLAKY": str(flaky), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, flaky.read_text() if flaky.exists() else ""

    return run


def test_what_passes_then_is_told(run):
    code, said, flaky = run("not never")
    assert (code, flaky) == (0, "flaky: test_three.py::test_second_try\n")
    assert "1 failed, 1 passed" in said
    assert "1 passed in" in said.partition("Once more, by themselves:")[2]


def test_what_fails_again_fails(run):
    code, said, flaky = run("never or second")
    assert (code, flaky) == (1, "")
    assert "1 failed, 1 passed" in said.partition("Once more, by themselves:")[2]


def test_what_passes_at_once_is_run_once(run):
    code, said, flaky = run("well")
    assert (code, flaky, "Once more" in said) == (0, "", False)


def test_faults_of_the_run_itself_get_no_second_try(run):
    code, said, flaky = run("well", "--no-such-option")
    assert (code, flaky, "Once more" in said) == (4, "", False)
