"""A package of others, built and installed as users do it: its ranker and strategy go by name everywhere."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from shortlist.datasets import make_claims

pytestmark = pytest.mark.slow
ACME = Path(__file__).parent / "acme"
ROLES = ("--label", "fraud", "--id", "claim_id", "--budget", "5")
TRAINED = ("acme-sum", "acme-forest")
#: Runs commands one after the other, as shells do, and tells what each said.
PROGRAM = """
import contextlib, io, json, sys
from shortlist.cli._app import main
told = []
for arguments in json.load(sys.stdin):
    sys.argv = ["shortlist", *arguments]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as stop:
            told.append({"code": stop.code, "out": out.getvalue(), "err": " ".join(err.getvalue().split())})
print(json.dumps(told))
"""
COMMANDS = {
    "list": ("rank", "--model", "list"),
    "broken": ("train", "history.csv", *ROLES, "--model", "acme-broken", "-o", "m.shortlist"),
    "misspelt": ("train", "history.csv", *ROLES, "--model", "acme-sun", "-o", "m.shortlist"),
    "acme-sum": ("train", "history.csv", *ROLES, "--model", "acme-sum", "-o", "acme-sum.shortlist"),
    "acme-forest": ("train", "history.csv", *ROLES, "--model", "acme-forest", "-o", "acme-forest.shortlist"),
    "rank": ("rank", "history.csv", "new.csv", *ROLES, "--model", "acme-sum", "--json"),
    "compare": ("compare", "history.csv", *ROLES, "--models", "acme-sum,logistic", "--folds", "2", "--json"),
    "simulate": ("simulate", "history.csv", *ROLES, "--strategy", "acme-patient,similarity", "--json"),
    "strategies": ("simulate", "--strategy", "list"),
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder for PYTHONPATH with what an installer would put there."""
    wheels, folder = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
    subprocess.run(build, cwd=ACME, check=True, capture_output=True)
    (wheel,) = wheels.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    """A folder with history.csv and new.csv."""
    folder = tmp_path_factory.mktemp("claims")
    rows = make_claims(700, random_state=0, fraud_rate=0.2)
    rows.head(400).write_csv(folder / "history.csv")
    rows.tail(300).drop("fraud").write_csv(folder / "new.csv")
    return folder


def python(code, folder, *arguments, place=None, given=None):
    """What a process prints that finds the package in a place, if any."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "COLUMNS": "200", "PYTHONPATH": str(place or "")},
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(commands, folder, place=None):
    told = json.loads(python(PROGRAM, folder, place=place, given=json.dumps([*commands.values()])))
    return {name: SimpleNamespace(**each) for name, each in zip(commands, told, strict=True)}


@pytest.fixture(scope="module")
def said(claims, installed):
    """What the commands said, in a process that has the package."""
    return run(COMMANDS, claims, installed)


@pytest.fixture(scope="module")
def read_again(said, claims, installed):
    """What the saved models say in processes that did not train them: with the package, and without."""
    scores = {name: ("score", f"{name}.shortlist", "new.csv", "--json") for name in TRAINED}
    shows = {f"inspect {name}": ("inspect", f"{name}.shortlist", "--json") for name in TRAINED}
    return run(scores | shows, claims, installed), run(scores, claims)


@pytest.mark.parametrize("name", TRAINED)
def test_a_ranker_is_trained_saved_and_loaded(said, read_again, name):
    assert said[name].code == 0, said[name].err
    scored, shown = read_again[0][name], read_again[0][f"inspect {name}"]
    assert (scored.code, shown.code) == (0, 0), scored.err
    assert len(json.loads(scored.out)["rows"]) == 5
    facts = json.loads(shown.out)
    assert (facts["model"], facts["roles"]["id"]) == (name, "claim_id")
    assert facts["libraries"]["acme-shortlist"] == "1.2"


def test_a_saved_ranker_says_what_the_trained_one_said(said, read_again):
    ranked, scored = (json.loads(done.out)["rows"] for done in (said["rank"], read_again[0]["acme-sum"]))
    assert ranked == scored
    assert all(row["reason_1"] for row in ranked)


@pytest.mark.parametrize("name", TRAINED)
def test_without_the_package_a_model_says_what_to_install(read_again, name):
    done = read_again[1][name]
    assert done.code == 2
    assert f"'{name}' of the package acme-shortlist. If you trust it: pip install acme-shortlist" in done.err


def test_names_are_listed_and_a_broken_plug_in_breaks_no_other(said):
    shown = said["list"]
    assert shown.code == 0
    assert "a weighed sum, by Acme" in shown.out
    assert "acme-broken" not in shown.out
    assert (
        "'acme-broken' of the package acme-shortlist 1.2 cannot be loaded: ModuleNotFoundError" in shown.err
    )
    assert "'acme-wrong' of the package acme-shortlist 1.2 gives a Sum; it should be a" in shown.err
    assert "'logistic' of the package acme-shortlist 1.2 is left out" in shown.err
    assert "logistic regression" in shown.out


def test_a_broken_plug_in_says_so_by_name(said):
    assert said["broken"].code == 2
    assert "No module named 'acme_shortlist.missing'. Mend the package, or remove" in said["broken"].err


def test_an_unknown_name_is_told_all_names(said):
    assert said["misspelt"].code == 2
    assert "Did you mean acme-sum? Choose one of: ap-boost, " in said["misspelt"].err
    assert ", acme-forest, acme-sum" in said["misspelt"].err


def test_a_ranker_is_compared_by_name(said):
    assert said["compare"].code == 0, said["compare"].err
    assert json.loads(said["compare"].out)["setup"]["models"] == ["acme-sum", "logistic"]


def test_a_strategy_is_played_by_name(said):
    assert said["simulate"].code == 0, said["simulate"].err
    played = json.loads(said["simulate"].out)["strategies"]
    assert [each["strategy"] for each in played] == ["acme-patient", "similarity"]
    assert played[0]["found"] == played[1]["found"]
    assert "similarity, by Acme" in said["strategies"].out


LAZY = """
import sys
from shortlist.rankers.catalogue import MODELS, find_model
from shortlist.feedback.strategies.catalogue import STRATEGIES
from shortlist.workflow.history.study import usual_models
from shortlist.tables import Roles
find_model("logistic"), "acme-sum" in MODELS, [*MODELS], [*STRATEGIES]
assert "acme_shortlist" not in sys.modules
find_model("acme-sum")
assert "acme_shortlist" in sys.modules
assert "acme_shortlist.forest" not in sys.modules
print(*usual_models(Roles(label="fraud"), ["all"]))
"""


def test_plug_ins_are_imported_when_they_are_looked_up_and_all_takes_those_that_work(claims, installed):
    every = python(LAZY, claims, place=installed).split()
    assert {"ap-boost", "logistic", "acme-sum", "acme-forest"} <= {*every}
    assert not {"acme-broken", "acme-wrong"} & {*every}


REVIEW = """
import sys
from shortlist.review import Queue, Workspace, create
place = Workspace("new.review")
if sys.argv[1] == "start":
    create("new.csv", place, id="claim_id", strategy="acme-patient", settings={"budget": 20})
queue = Queue.open(place.folder)
print(type(queue._live.engine._ranker).__module__, queue.snapshot.version)
turn = queue.turn("ann").result()
for answer in ("wanted", "not wanted"):
    turn = queue.record("ann", turn.shown, answer).result()
queue.close()
"""


def test_a_review_goes_on_with_the_strategy_it_began_with(claims, installed):
    said = [python(REVIEW, claims, step, place=installed).split() for step in ("start", "go on")]
    assert said == [["acme_shortlist.patient", "0"], ["acme_shortlist.patient", "2"]]
