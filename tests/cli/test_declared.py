"""Commands offer what their questions ask for, and hand it on as Python takes it."""

import re
from dataclasses import fields
from inspect import signature
from typing import get_args

import pytest
import typer
from typer.models import ArgumentInfo

from shortlist import workflow
from shortlist.cli import _app
from shortlist.exceptions import InvalidInputError
from shortlist.question import EvaluateQuestion, MonitorQuestion, RankQuestion, StudyQuestion, TrainQuestion

ASKED = {
    "train": TrainQuestion,
    "rank": RankQuestion,
    "backtest": StudyQuestion,
    "compare": StudyQuestion,
    "evaluate": EvaluateQuestion,
    "monitor": MonitorQuestion,
}
COLUMNS = {"label": "fraud", "impact": "amount", "list": "region", "id": "claim"}
HISTORY = {**COLUMNS, "time": "date", "wanted": "yes", "skip-empty-labels": True, "impact-known": True}
WORK = {"seed": 7, "jobs": 2, "budget": 9, "ignore": ["a", "b"], "category": ["zip"], "missing": ["9", "?"]}
WORK |= {"ignore-text": True, "value": "amount", "value-power": 0.5, "least-chance": 0.01}
WORK |= {"memory": "4GB"}
GIVEN = {
    "train": {
        **HISTORY,
        **WORK,
        "model": "logistic",
        "tune": True,
        "checked": "chance",
        "dask": "local",
        "spark": "local[2]",
        "output": "m.shortlist",
    },
    "rank": {**HISTORY, **WORK, "model": "logistic", "tune": True, "checked": "chance", "all": True},
    "backtest": {**HISTORY, **WORK, "every": "week", "delay": 2.5, "folds": 3, "models": "logistic, xgboost"}
    | {"baseline": ["x desc"], "baseline-column": ["old", "older"], "review-cost": 35.0}
    | {"slice": ["region"], "words": "fraud", "currency": "€"},
    "evaluate": {**COLUMNS, "wanted": "yes", "skip-empty-labels": True, "score": "s", "budget": 9}
    | {"against": ["x"], "outcomes": "o.csv", "missing": ["9"], "value": "amount", "memory": "4GB"},
}
GIVEN["monitor"] = {
    "label": "fraud",
    "impact": "amount",
    "value": "amount",
    "id": "claim",
    "wanted": "yes",
    "missing": ["9"],
} | {
    "outcomes": "o.csv",
    "time": "date",
    "every": "week",
    "checked": "chance",
    "complete": True,
    "promise": "0.4",
    "challenger": "c.csv",
}
GIVEN["compare"] = GIVEN["backtest"]
#: Names in Python, where the command line has others; and what is not as it was typed.
NAMES = {
    "seed": "random_state",
    "jobs": "n_jobs",
    "all": "keep_all",
    "folds": "n_folds",
    "baseline": "baselines",
    "baseline-column": "baseline_columns",
    "slice": "slices",
}
MEANT = {"models": ["logistic", "xgboost"]}
ROWS = {"rank": ["h.csv", "n.csv"], "evaluate": ["s.csv"], "monitor": ["s.csv"]}


@pytest.fixture
def heard(monkeypatch, shortlist):
    """What a command asks of the workflow, for options as they are typed."""

    def hear(command, given):
        asked = {}

        def stop(**options):
            asked.update(options)
            raise InvalidInputError("enough")

        monkeypatch.setattr(workflow, command, stop)
        assert "enough" in shortlist(command, *ROWS.get(command, ["h.csv"]), *_typed(given)).err
        return asked

    return hear


def _typed(given):
    for name, value in given.items():
        if value is True:
            yield f"--{name}"
        else:
            for each in value if isinstance(value, list) else [value]:
                yield from (f"--{name}", each)


@pytest.mark.parametrize("command", ASKED)
def test_every_option_arrives_as_it_was_meant(heard, command):
    asked = heard(command, GIVEN[command])
    for name, value in GIVEN[command].items():
        if name != "output":
            meant = MEANT.get(name, tuple(value) if isinstance(value, list) else value)
            assert asked.pop(NAMES.get(name, name.replace("-", "_"))) == meant
    assert callable(asked.pop("on_progress", print))
    assert [*asked.values()] == ROWS.get(command, ["h.csv"])  # no other option is left


def test_several_values_may_be_wanted(heard):
    asked = heard("train", {"label": "fraud", "output": "m.shortlist", "wanted": ["fraud", "theft"]})
    assert asked["wanted"] == ("fraud", "theft")


@pytest.mark.parametrize("command", ASKED)
def test_what_is_not_given_has_the_default_of_the_question(heard, command):
    needed = {"label": "fraud"} | ({"output": "m.shortlist"} if command == "train" else {})
    asked = heard(command, needed)
    for field in fields(ASKED[command])[1:]:
        if field.name not in ("label", "new", "on_progress"):
            assert asked[field.name] == field.default, field.name


def _fractions():
    """Every option of every command that takes a number with a fraction, with what the command needs beside it."""
    for command in _app.program().registered_commands:
        parameters = signature(command.callback).parameters.values()
        kinds = {each.name: get_args(each.annotation) for each in parameters}
        rows = ["no.csv" for _, about in kinds.values() if isinstance(about, ArgumentInfo)]
        needed = ["--label", "fraud", *(["--output", "no.shortlist"] if command.name == "train" else [])]
        for name, (kind, _) in kinds.items():
            if float in (kind, *get_args(kind)):
                yield [command.name, *rows, *needed], f"--{name.replace('_', '-')}"


def test_no_option_takes_what_is_no_number_to_count_with(shortlist):
    found = [*_fractions()]
    assert {"--delay", "--review-cost", "--value-power", "--poll"} <= {option for _, option in found}
    for command, option in found:
        for value in ("nan", "inf", "-inf"):
            done = shortlist(*command, f"{option}={value}")
            assert done.code == 2, done.err
            name = option.removeprefix("--")
            ranges = rf"--{name}': .*(less|greater) than or equal to"
            assert re.search(rf"{name.replace('-', '_')} must be a finite number|{ranges}", done.err), (
                done.err
            )


def test_one_word_has_one_help_text():
    program = typer.main.get_command(_app.program())
    texts = {}
    for name, command in program.commands.items():
        for option in command.params:
            if option.name in ("wanted", "skip_empty_labels", "ignore", "id", "id_", "jobs", "json"):
                texts.setdefault(option.opts[0], {}).setdefault(option.help, []).append(name)
    texts["--id"].pop("Column that names the row.")  # import names its column otherwise: it has a default
    assert {word: len(said) for word, said in texts.items()} == dict.fromkeys(texts, 1)
