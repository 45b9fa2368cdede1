"""``shortlist.toml``, ``--quiet``, ``--log`` and standard input: a command that nobody watches."""

import io
import re
import subprocess
import sys
from unittest.mock import Mock

import pytest
import typer

from shortlist.tables import read_table


@pytest.fixture
def model(claims, shortlist, tmp_path):
    done = shortlist(
        "train", "history.csv", "--label", "fraud", "--id", "claim_id", "-m", "logistic", "-o", "m.shortlist"
    )
    assert done.code == 0, done.err
    return tmp_path


def test_options_come_from_the_file_and_the_command_line_wins(model, shortlist):
    (model / "shortlist.toml").write_text('quiet = true\nmissing = ["?"]\n[score]\nbudget = 7\n')
    assert shortlist("score", "m.shortlist", "new.csv", "-o", "top.csv").err == ""
    assert read_table(model / "top.csv").height == 7
    shortlist("score", "m.shortlist", "new.csv", "-o", "top.csv", "-k", "3")
    assert read_table(model / "top.csv").height == 3


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            "labl = 'fraud'\nbugdet = 3",
            "says 'labl'.*Did you mean 'label'.*says 'bugdet'.*Did you mean 'budget'",
        ),
        ("[scor]\nbudget = 3", "says 'scor'.*Did you mean 'score'"),
        ("[score]\nlabel = 'x'", "says 'score.label', which is no option"),
        ("budget = ", "cannot read shortlist.toml"),
        (
            "models = 'logistic,os.path.X'",
            "a file may not ask for that. Name it on the command line: --models",
        ),
        ("[score]\nbudget = 'many'", "--budget.*Options are read from shortlist.toml, too"),
    ],
)
def test_what_is_wrong_with_the_file_is_said(model, shortlist, content, says):
    (model / "shortlist.toml").write_text(content)
    done = shortlist("score", "m.shortlist", "new.csv")
    assert done.code == 2
    assert re.search(says, done.err)


def test_an_option_may_have_the_name_of_a_command_and_one_text_stand_for_a_list(model, shortlist):
    (model / "shortlist.toml").write_text("score = 'risk'\nsimulate = true\nmissing = '?'\n")
    assert shortlist("score", "m.shortlist", "new.csv", "-o", "top.csv").code == 0


def test_another_file_or_none_is_named_by_the_environment(model, shortlist, monkeypatch):
    (model / "shortlist.toml").write_text("nonsense")
    monkeypatch.setenv("SHORTLIST_CONFIG", "")
    assert shortlist("score", "m.shortlist", "new.csv", "-o", "top.csv").code == 0
    monkeypatch.setenv("SHORTLIST_CONFIG", "none.toml")
    assert "there is no file none.toml" in shortlist("score", "m.shortlist", "new.csv").err


def test_the_log_tells_what_was_said_and_how_it_ended(model, shortlist):
    assert (
        shortlist("score", "m.shortlist", "new.csv", "-o", "top.csv", "--quiet", "--log", "run.log").err == ""
    )
    assert shortlist("score", "m.shortlist", "none.csv", "--log", "run.log").code == 2
    lines = (model / "run.log").read_text().splitlines()
    kinds = [line.split()[1] for line in lines if " note: " not in line]
    assert kinds == ["begin:", "done:", "end:", "begin:", "error:", "end:"]
    assert "exit code 0" in lines[-4]
    assert "exit code 2" in lines[-1]
    assert (
        "there is no folder" in shortlist("score", "m.shortlist", "new.csv", "--log", "nowhere/run.log").err
    )


def test_the_log_tells_of_an_end_by_hand_and_of_a_result_that_is_an_exit_code(model, shortlist, monkeypatch):
    for stop, code in ((KeyboardInterrupt(), 130), (SystemExit(143), 143)):
        monkeypatch.setattr("shortlist.models.TrainedModel.load", Mock(side_effect=stop))
        assert shortlist("inspect", "m.shortlist", "--log", "run.log").code == code
        assert f"exit code {code}" in (model / "run.log").read_text().splitlines()[-1]

    def differs(*_, **__):
        raise typer.Exit(1)

    monkeypatch.setattr("shortlist.models.TrainedModel.load", differs)
    assert shortlist("inspect", "m.shortlist", "--log", "run.log").code == 1
    assert "exit code 1" in (model / "run.log").read_text().splitlines()[-1]


def test_new_rows_come_by_standard_input(model, shortlist, monkeypatch):
    shortlist("score", "m.shortlist", "new.csv", "-o", "by-file.csv")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((model / "new.csv").read_bytes())))
    done = shortlist("score", "m.shortlist", "-", "-o", "by-pipe.csv")
    assert done.code == 0, done.err
    assert read_table(model / "by-pipe.csv").equals(read_table(model / "by-file.csv"))


def test_help_loads_no_table():
    """What makes the program's own help quick: none of what commands need is loaded for it."""
    code = (
        "import sys; from shortlist.cli._app import main; sys.argv = ['shortlist', '--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted({'polars', 'numpy', 'sklearn', 'xgboost', 'numba'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "Rank new rows by a trained model" in done.stdout


@pytest.mark.slow
def test_to_score_loads_no_reports_studies_or_servers(model):
    """What a fresh process needs to rank a few rows, and no more."""
    # Templates are not among them: dask has them, and to read some models scikit-learn loads it where it is installed.
    heavy = ("shortlist.workflow", "shortlist.report", "shortlist.review", "matplotlib", "sqlalchemy",
             "alembic", "fastapi", "uvicorn", "httpx", "duckdb", "lightgbm", "shap", "IPython")  # fmt: skip
    code = (
        "import sys; from shortlist.cli._app import main\n"
        "sys.argv = ['shortlist', 'score', 'm.shortlist', 'new.csv', '-o', 'top.csv', '--quiet']\n"
        f"try: main()\nexcept SystemExit as stop: print(stop.code, sorted({{*{heavy}}} & {{*sys.modules}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=model, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0 []"
