"""Type checkers know the options: a misspelt one, or one of the wrong type, is told before anything runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
PROJECT = Path(__file__).parents[2]
IMPORTS = "from shortlist.workflow import backtest, compare, evaluate, rank, train\n"
RIGHT = """
train("h.csv", label="fraud", wanted=3, ignore=["note"], budget=5, tune=True, on_progress=print)
rank("h.csv", new="n.csv", impact="amount", budget=None, keep_all=True).frame.height
backtest("h.csv", label="fraud", time="date", every=3.5, models=["logistic"]).periods.height
compare("h.csv", label="fraud", n_folds=3, baselines=("amount desc",)).pick.upper()
evaluate("s.csv", label="fraud", against=("amount",), outcomes="o.csv").rows + 1
"""
WRONG = {
    'train("h.csv", lable="fraud")': 'Unexpected keyword argument "lable" for "train"; did you mean "label"?',
    'train("h.csv", budget="5")': 'Argument "budget" to "train" has incompatible type "str"; expected "int"',
    'train("h.csv", "fraud")': 'Too many positional arguments for "train"',
    'rank("h.csv", label="fraud")': 'Missing positional argument "new" in call to "rank"',
    'backtest("h.csv", model="logistic")': 'Unexpected keyword argument "model" for "backtest"',
    'compare("h.csv", n_folds=None)': 'Argument "n_folds" to "compare" has incompatible type "None"',
    'evaluate("s.csv", tune=True)': 'Unexpected keyword argument "tune" for "evaluate"',
    'train("h.csv").page()': '"TrainedModel" has no attribute "page"',
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What mypy says of each line of a client's script."""
    script = tmp_path_factory.mktemp("client") / "client.py"
    script.write_text(IMPORTS + RIGHT + "\n".join(WRONG) + "\n")
    # A cache of its own, as mypy may check the project at the same time.
    command = [sys.executable, "-m", "mypy", "--cache-dir", script.parent / "cache", script]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    found = re.findall(r"client\.py:(\d+): error: (.*)", done.stdout)
    lines = script.read_text().splitlines()
    return {lines[int(number) - 1]: message for number, message in found}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_option_is_rejected(said, line):
    assert WRONG[line] in said[line]


def test_right_options_are_accepted(said):
    assert set(said) == set(WRONG)
