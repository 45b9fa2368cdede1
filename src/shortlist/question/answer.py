"""Functions that answer a question take its fields as arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from textwrap import wrap
from typing import Any, ParamSpec, TypeVar, cast

from shortlist.exceptions import InvalidInputError
from shortlist.question.declare import Option, declared
from shortlist.tables.roles import did_you_mean

Options = ParamSpec("Options")
Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


def answers(
    question: Callable[Options, Asked],
) -> Callable[[Callable[[Asked], Answer]], Callable[Options, Answer]]:
    """Let a function of a question be called with the question's fields.

    Type checkers see the arguments of the question's constructor; ``help`` shows them with their words.
    """
    asked = cast(type, question)

    def answering(function: Callable[[Asked], Answer]) -> Callable[Options, Answer]:
        @wraps(function)
        def call(*args: Options.args, **options: Options.kwargs) -> Answer:
            _check_call(function.__name__, asked, takes, args, options)
            _check_ranges(asked, takes.bind(*args, **options).arguments)
            return function(question(*args, **options))

        takes = question_signature(asked, signature(function, eval_str=True).return_annotation)
        call.__signature__ = takes  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in takes.parameters.values()}
        call.__annotations__["return"] = takes.return_annotation
        call.__doc__ = with_parameters(function.__doc__ or "", asked)
        return call

    return answering


def question_signature(question: type, answer: Any) -> Signature:
    """The constructor's signature, with plain types and another answer."""
    kinds = {name: each.kind for name, each in signature(question).parameters.items()}
    parameters = {
        each.name: Parameter(
            each.name,
            kinds[each.name],
            annotation=each.type,
            default=Parameter.empty if each.default is MISSING else each.default,
        )
        for each in declared(question)
    }
    return Signature([parameters[name] for name in kinds], return_annotation=answer)


def with_parameters(doc: str, question: type) -> str:
    """The docstring with a section on the question's fields before its examples."""
    about, heading, examples = cleandoc(doc).partition("Examples\n--------")
    lines = ["Parameters", "----------"]
    for each in declared(question):
        lines += [each.name, *(f"    {line}" for line in wrap(f"{each.about.in_python}.", 100))]
    return "\n".join([about.rstrip(), "", *lines, "", heading + examples]).rstrip() + "\n"


def _check_call(
    name: str, question: type, takes: Signature, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """Tell a wrong argument of the function, not of a question that nobody called."""
    for option in options:
        if option not in takes.parameters:
            hint = did_you_mean(_python_name(option, question), takes.parameters)
            raise TypeError(f"{name}() has no option {option!r}.{hint} See help(shortlist.{name}).")
    try:
        takes.bind(*args, **options)
    except TypeError as error:
        raise TypeError(f"{name}(): {error}") from None


def _check_ranges(question: type, given: dict[str, Any]) -> None:
    """Numbers lie where they are declared to lie, as the command line holds them to."""
    for each in declared(question):
        if isinstance(each.about, Option) and not each.about.allows(given.get(each.name)):
            raise InvalidInputError(f"{each.name} must be {each.about.range}; got {given[each.name]!r}.")


def _python_name(option: str, question: type) -> str:
    """The field that has this name on the command line, as ``seed`` is there for ``random_state``."""
    spoken = {each.about.name: each.name for each in declared(question) if isinstance(each.about, Option)}
    return spoken.get(option.replace("_", "-"), option)
