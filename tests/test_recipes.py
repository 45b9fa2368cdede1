"""The recipes of ``docs/how-to/every-morning.md``, run as they are printed."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import shortlist
from shortlist.datasets import make_claims
from shortlist.tables import read_table

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "every-morning.md"


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What is in the folder of the recipe, and the program on the path as a scheduler would find it."""
    make_claims(600, random_state=0, fraud_rate=0.1).write_csv(tmp_path / "history.csv")
    make_claims(100, random_state=1).drop("fraud").write_csv(tmp_path / "new.csv")
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    return tmp_path


def run(command, folder):
    there = command.replace("/srv/claims", str(folder))
    return subprocess.run(["sh", "-c", there], cwd=folder, capture_output=True, text=True, check=False)


def test_the_lines_of_cron(folder):
    lines = [re.fullmatch(r"((?:\S+ ){5}) *(.*)", line).groups() for line in block("text").splitlines()]
    assert [when for when, _ in lines] == ["30 5 * * 0 ", "30 6 * * * "]
    for _, command in lines:
        assert "%" not in command
        done = run(command, folder)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert read_table(folder / "shortlist.csv").height == 50
    assert len((folder / "shortlist.log").read_text().splitlines()) >= 2
    first = (folder / "shortlist.csv").read_bytes()
    (folder / "new.csv").write_text("claim_id\n1\n")
    wrong = run(lines[1][1], folder)
    assert wrong.returncode == 2
    assert "amount" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert (folder / "shortlist.csv").read_bytes() == first


def test_the_file_of_airflow_runs_the_same_commands(folder):
    tree = ast.parse(block("python"))
    texts = {
        node.targets[0].id: ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)
    }
    printed = block("text")
    assert texts["TRAIN"] in printed
    assert texts["SCORE"] in printed
    schedules = [
        keyword.value.value for node in ast.walk(tree) if isinstance(node, ast.Call)
        for keyword in node.keywords if keyword.arg == "schedule"
    ]  # fmt: skip
    assert all(schedule in printed for schedule in schedules)
    assert len(schedules) == 2

    class AirflowFailException(Exception):
        pass

    names = {"FOLDER": str(folder), "AirflowFailException": AirflowFailException}
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    exec(compile(ast.Module([function], []), "dag", "exec"), names)
    history = folder / "history.csv"
    shortlist.train(history, label="fraud", id="claim_id", model="logistic").save(folder / "fraud.shortlist")
    names["run"](texts["SCORE"])
    assert read_table(folder / "shortlist.csv").height == 50
    (folder / "new.csv").unlink()
    with pytest.raises(AirflowFailException, match=r"new\.csv"):
        names["run"](texts["SCORE"])
