"""How an option is declared: its words stand beside its type, as ``Annotated[type, Option(...)]``."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Annotated, Any, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class InPython:
    """What only a program can give; the command line does not offer it.

    help : what it is, without a full stop
    python : the same in Python's words, where those of the command line do not fit
    default : in words, what happens where nothing is given
    """

    help: str
    _: dataclasses.KW_ONLY
    python: str | None = None
    default: str | None = None

    @property
    def in_python(self) -> str:
        """The help as docstrings show it, where ``--time`` is ``time``.

        >>> Option("Folds, where there is no --time", default="5").in_python
        'Folds, where there is no ``time``; default: 5'
        """
        text = self.python or re.sub(r"--([a-z][a-z-]*)|'(\S+)'", _as_code, self.help)
        return text if self.default is None else f"{text}; default: {self.default}"


@dataclass(frozen=True)
class Argument(InPython):
    """What a command takes by its place."""


@dataclass(frozen=True)
class Option(InPython):
    """What a command takes by its name.

    name : on the command line, without dashes, where it is not that of the field
    short : one letter with a dash
    metavar : what stands for the value in ``--help``
    least, most : the range of a number
    commas : several names are given as one text with commas; otherwise the option is repeated
    counts : one whole number, or several with commas
    repeated : one value or several, by repeating the option
    shows : the names that the value "list" shows instead of doing the work
    """

    _: dataclasses.KW_ONLY
    name: str | None = None
    short: str | None = None
    metavar: str | None = None
    least: int | None = None
    most: int | None = None
    commas: bool = False
    counts: bool = False
    repeated: bool = False
    shows: str | None = None

    def allows(self, value: Any) -> bool:
        """Whether a number is one to count with and lies in the range; other values have none."""
        is_number = isinstance(value, Real)
        least, most = -inf if self.least is None else self.least, inf if self.most is None else self.most
        return not is_number or bool(-inf < value < inf and least <= value <= most)

    @property
    def range(self) -> str:
        """The range in words.

        >>> Option("Folds", least=2).range, Option("Seed", least=0, most=9).range, Option("Delay").range
        ('at least 2', 'at least 0 and at most 9', 'a finite number')
        """
        ends = {"at least": self.least, "at most": self.most}
        return (
            " and ".join(f"{word} {end}" for word, end in ends.items() if end is not None)
            or "a finite number"
        )


@dataclass(frozen=True)
class Declared:
    """One option of a question: its name, type and default, and what was declared beside the type."""

    name: str
    type: Any
    default: Any  # dataclasses.MISSING: it must be given
    about: InPython


def declared(question: type) -> Iterator[Declared]:
    """The options of a question, in the order in which they are declared."""
    hints = get_type_hints(question, include_extras=True)
    for field in dataclasses.fields(question):
        kind, about = split_hint(hints[field.name])
        if about is None:
            raise TypeError(f"{question.__name__}.{field.name} needs words: Annotated[type, Option(help)]")
        yield Declared(field.name, kind, field.default, about)


def split_hint(hint: Any) -> tuple[Any, InPython | None]:
    """The type, and what we declared beside it, if anything.

    >>> split_hint(Annotated[int, Option("How many")])[0]
    <class 'int'>
    """
    if get_origin(hint) is not Annotated:
        return hint, None
    kind, *beside = get_args(hint)
    ours = [each for each in beside if isinstance(each, InPython)]
    return (kind, ours[0]) if ours else (hint, None)


def _as_code(found: re.Match[str]) -> str:
    option, quoted = found.groups()
    return f"``{option.replace('-', '_') if option else quoted}``"
