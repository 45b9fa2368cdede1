"""Functions that answer a question show its fields, and tell wrong ones under their own name."""

import re
from dataclasses import dataclass, fields
from inspect import Parameter, signature
from typing import Annotated, get_type_hints

import numpy as np
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.question import EvaluateQuestion, MonitorQuestion, RankQuestion, StudyQuestion, TrainQuestion
from shortlist.question.declare import Option, declared
from shortlist.workflow import Backtest, backtest, compare, evaluate, monitor, rank, train

ANSWERS = {
    train: TrainQuestion,
    rank: RankQuestion,
    backtest: StudyQuestion,
    compare: StudyQuestion,
    evaluate: EvaluateQuestion,
    monitor: MonitorQuestion,
}
all_functions = pytest.mark.parametrize("function", ANSWERS, ids=lambda function: function.__name__)


@all_functions
def test_the_signature_is_that_of_the_question(function):
    shown, constructor = signature(function).parameters, signature(ANSWERS[function]).parameters
    assert [*shown] == [*constructor]
    for name, parameter in shown.items():
        assert (parameter.kind, parameter.default) == (constructor[name].kind, constructor[name].default)


def test_types_are_shown_without_the_words_beside_them():
    hints = get_type_hints(backtest)
    assert (hints["label"], hints["return"]) == (str | None, Backtest)
    assert "(history: Any, *, label: str | None = None, " in str(signature(backtest))


@all_functions
def test_help_has_words_for_every_option(function):
    described = re.findall(r"^(\w+)\n    [A-Z]", function.__doc__.split("Parameters\n")[1], re.MULTILINE)
    assert described == [field.name for field in fields(ANSWERS[function])]
    assert not re.search(r"--[a-z]", function.__doc__)  # Python has no dashes


@all_functions
def test_rows_may_stand_in_their_place_and_options_have_names(function):
    kinds = {name: each.kind for name, each in signature(function).parameters.items()}
    rows = {name for name, kind in kinds.items() if kind is Parameter.POSITIONAL_OR_KEYWORD}
    assert rows <= {"history", "new", "scored", "shortlists"}
    assert {kinds[name] for name in kinds.keys() - rows} == {Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train("h.csv", lable="fraud"), "train() has no option 'lable'. Did you mean 'label'"),
        (lambda: backtest("h.csv", modles=["logistic"]), "backtest() has no option 'modles'. Did you mean"),
        (lambda: train("h.csv", seed=1), "train() has no option 'seed'. Did you mean 'random_state'?"),
        (lambda: evaluate("s.csv", tune=1), "evaluate() has no option 'tune'. See help(shortlist.evaluate)."),
        (lambda: rank("h.csv", label="fraud"), "rank(): missing a required argument: 'new'"),
        (lambda: train("h.csv", "fraud"), "train(): too many positional arguments"),
    ],
)
def test_a_wrong_call_is_told_under_the_name_of_the_function(call, message):
    with pytest.raises(TypeError) as told:
        call()
    assert message in str(told.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare("h.csv", n_folds=1), "n_folds must be at least 2; got 1."),
        (lambda: backtest("h.csv", n_folds=np.int64(0)), "n_folds must be at least 2"),
        (
            lambda: train("h.csv", random_state=-1),
            "random_state must be at least 0 and at most 4294967295; got -1.",
        ),
        (lambda: rank("h.csv", "n.csv", random_state=10**400), "random_state must be at least 0 and at most"),
        (
            lambda: train("h.csv", value_power=float("nan")),
            "value_power must be at least 0 and at most 1; got nan.",
        ),
        (lambda: compare("h.csv", review_cost=np.nan), "review_cost must be a finite number; got nan."),
        (lambda: backtest("h.csv", delay=float("inf")), "delay must be a finite number; got inf."),
    ],
)
def test_a_number_out_of_its_range_is_told_before_anything_is_read(call, message):
    with pytest.raises(InvalidInputError) as told:
        call()
    assert message in str(told.value)


def test_an_option_without_words_is_refused():
    @dataclass
    class Mute:
        loud: Annotated[bool, Option("Say it louder")] = False
        quiet: bool = False

    with pytest.raises(TypeError, match=r"Mute\.quiet needs words"):
        [*declared(Mute)]
