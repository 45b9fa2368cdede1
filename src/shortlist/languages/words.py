"""Sentences that keep their parts, and languages to say them in."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from gettext import NullTranslations
from typing import Any

from babel import Locale

from shortlist.languages.values import decimal_text, moment_text, percent_text

SOURCE = "en"  # what messages are written in


class Message(str):
    """A sentence and the values in it; as a plain text it is English.

    Whoever makes one need not know who will read it: an error that is raised in the thread of a queue is German on one
    reviewer's page, and English on another's and in the log. The text is the key in the catalogues, so it is written
    out where the message is made; ``%`` is written ``%%``.

    >>> said = Message("%(who)s reviewed %(rows)s rows.", who="ann", rows=1200)
    >>> str(said), said.text
    ('ann reviewed 1,200 rows.', '%(who)s reviewed %(rows)s rows.')
    """

    text: str
    many: str  # the text for several; empty where nothing is counted
    values: dict[str, Any]

    def __new__(cls, text: str, /, **values: Any) -> Message:
        """A message; values may be messages themselves, numbers, or times."""
        return cls._made(text, "", values)

    @classmethod
    def _made(cls, text: str, many: str, values: dict[str, Any]) -> Message:
        message = super().__new__(cls, ENGLISH.fill(text, many, values))
        message.text, message.many, message.values = text, many, values
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        return Message._made, (self.text, self.many, self.values)


def counted(one: str, many: str, num: int, /, **values: Any) -> Message:
    """A message about a number of things, ``%(num)s`` in its texts.

    >>> str(counted("%(num)s check", "%(num)s checks", 1)), str(counted("%(num)s check", "%(num)s checks", 0))
    ('1 check', '0 checks')
    """
    return Message._made(one, many, {**values, "num": num})


def joined(messages: Iterable[str], between: str = " ") -> Message:
    """Several messages as one, each of which is said in the language of whoever reads it.

    >>> str(joined([Message("%(rows)s rows.", rows=1200), Message("Nothing.")]))
    '1,200 rows. Nothing.'
    """
    parts = {f"part{i}": message for i, message in enumerate(messages)}
    return Message(between.join(f"%({name})s" for name in parts), **parts)


class Language:
    """How one page speaks: all its words, numbers and dates.

    >>> ENGLISH.write(1234.5), ENGLISH.write(dt.date(2024, 5, 1)), ENGLISH.write(None)
    ('1,234.5', 'May 1, 2024', '–')
    """

    def __init__(self, locale: Locale, words: NullTranslations) -> None:
        self.locale, self._words = locale, words

    @cached_property
    def tag(self) -> str:
        """Its name in HTML."""
        return str(self.locale).replace("_", "-")

    def say(self, message: str) -> str:
        """A message in this language; other texts stay as they are."""
        if not isinstance(message, Message):
            return message
        return self.fill(message.text, message.many, message.values)

    def fill(self, text: str, many: str, values: Mapping[str, Any]) -> str:
        """A text of the catalogue with its values put in."""
        return self.pattern(text, many, values.get("num", 1)) % {
            name: self.write(value) for name, value in values.items()
        }

    def pattern(self, text: str, many: str = "", num: float = 1) -> str:
        """What the catalogue holds for a text, its values still to be put in."""
        return self._words.ngettext(text, many, num) if many else self._words.gettext(text)  # type: ignore[arg-type]

    def write(self, value: Any) -> str:
        """A value in a sentence: a message, a number, a date, a time with its zone, or a text, which is left alone.

        Others say by ``written(language)`` how they are written.
        """
        if isinstance(value, bool):
            value = Message("yes") if value else Message("no")
        if isinstance(value, str):
            return self.say(value)
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            return "–"
        if isinstance(value, int | float):
            return decimal_text(value, self.locale)
        if isinstance(value, dt.date | dt.time):
            return moment_text(value, self.locale)
        return value.written(self) if hasattr(value, "written") else str(value)

    def percent(self, share: float | None) -> str:
        """A share in percent; small ones with a digit after the point.

        >>> ENGLISH.percent(0.0251), ENGLISH.percent(0.684), ENGLISH.percent(None)
        ('2.5 %', '68 %', '–')
        """
        return "–" if share is None else percent_text(share, self.locale)


#: What messages are written in needs no catalogue.
ENGLISH = Language(Locale.parse(SOURCE), NullTranslations())
