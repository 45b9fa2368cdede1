"""Functions that take the arguments of another one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def asks_like(
    question: Callable[Arguments, Any],
) -> Callable[[Callable[..., Answer]], Callable[Arguments, Answer]]:
    """Give a function the signature of another, for people and for type checkers."""

    def signed(function: Callable[..., Answer]) -> Callable[Arguments, Answer]:
        @wraps(function)
        def call(*args: Arguments.args, **options: Arguments.kwargs) -> Answer:
            asked.bind(*args, **options)  # a wrong argument is told here, not by a function nobody called
            return function(*args, **options)

        asked = signature(question)
        answer = signature(function).return_annotation
        call.__signature__ = asked.replace(return_annotation=answer)  # type: ignore[attr-defined]
        return call

    return signed
