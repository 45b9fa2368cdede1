"""What is wrong with a request, in words that can be said in any language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shortlist.languages.words import Message

#: What pydantic finds, by its name.
PROBLEMS: dict[str, Message] = {
    "missing": Message("is missing"),
    "extra_forbidden": Message("is not known here"),
    "int_parsing": Message("must be a whole number"),
    "int_type": Message("must be a whole number"),
    "int_from_float": Message("must be a whole number"),
    "int_parsing_size": Message("must be a whole number that is not as large"),
    "float_parsing": Message("must be a number"),
    "float_type": Message("must be a number"),
    "finite_number": Message("must be a finite number"),
    "bool_parsing": Message("must be true or false"),
    "bool_type": Message("must be true or false"),
    "string_type": Message("must be a text"),
    "string_pattern_mismatch": Message("is not of the form that is wanted"),
    "json_invalid": Message("is not JSON"),
}
#: Limits by the name of what goes beyond them, and how pydantic calls the limit.
LIMITS: dict[str, tuple[str, Callable[[Any], Message]]] = {
    "greater_than_equal": ("ge", lambda least: Message("must be at least %(least)s", least=least)),
    "less_than_equal": ("le", lambda most: Message("must be at most %(most)s", most=most)),
    "string_too_long": ("max_length", lambda most: Message("has at most %(most)s characters", most=most)),
    "string_too_short": (
        "min_length",
        lambda least: Message("has at least %(least)s characters", least=least),
    ),
    "too_long": ("max_length", lambda most: Message("holds at most %(most)s", most=most)),
    "too_short": ("min_length", lambda least: Message("holds at least %(least)s", least=least)),
    "enum": ("expected", lambda known: Message("must be one of: %(known)s", known=known)),
    "literal_error": ("expected", lambda known: Message("must be one of: %(known)s", known=known)),
}


def problem_of(error: Mapping[str, Any]) -> Message:
    """An error of pydantic as a message; one that we have no words for is told in pydantic's.

    >>> str(problem_of({"type": "greater_than_equal", "loc": ("body", "budget"), "ctx": {"ge": 1}, "msg": ""}))
    'budget: must be at least 1'
    """
    where = ".".join(str(part) for part in error["loc"][1:]) or str(error["loc"][0])
    name, say = LIMITS.get(error["type"], ("", None))
    known = PROBLEMS.get(error["type"]) if say is None else say(error["ctx"][name])
    return Message("%(where)s: %(problem)s", where=where, problem=known or error["msg"])
