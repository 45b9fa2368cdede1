"""What a team sets for its own work: its words, reason codes, criteria, links, and the columns it always reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from shortlist.exceptions import InvalidInputError
from shortlist.languages.words import Message, joined
from shortlist.review.errors import BadRequestError
from shortlist.tables.columns.formats import Format
from shortlist.verdicts import Verdict

#: Reason codes have keys of one digit.
MOST_REASONS = 9
MOST_WORD, MOST_REASON, MOST_CRITERIA, MOST_LINKS = 30, 100, 20_000, 10
#: An address whose host is written out; what comes after it may hold columns in braces.
LINK = re.compile(r"https?://[\w.-]+(:[0-9]+)?([/?#][^\s\\]*)?", re.IGNORECASE)
PLACE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True)
class Team:
    """What a team may set.

    columns : always shown, with what other rows share of them
    words : what the team says for a verdict, such as fraud for wanted
    reasons : reason codes of a verdict, in the order of their keys
    reasons_required : whether a verdict that has reason codes needs one
    criteria : when a row is wanted, in Markdown
    links : addresses in other systems by their names, with columns in braces
    formats : what columns are, where it is not as their values look: code, year, money EUR, share, …

    >>> Team(words={"wanted": "fraud"}).word(Verdict.WANTED)
    'fraud'
    """

    columns: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, list[str]] = field(default_factory=dict)
    reasons_required: bool = False
    criteria: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)

    def word(self, verdict: Verdict) -> str | None:
        """The team's own word for a verdict."""
        return self.words.get(verdict.value)

    def needs_reason(self, verdict: Verdict) -> bool:
        """Whether a verdict cannot be given without a reason."""
        return self.reasons_required and bool(self.reasons.get(verdict.value))

    def named_columns(self) -> set[str]:
        """Columns that these settings speak of."""
        linked = {name for link in self.links.values() for name in PLACE.findall(link)}
        return {*self.columns, *self.formats, *linked}

    def _check_team(self) -> None:
        problems = [*self._problems()]
        if problems:
            raise BadRequestError(joined(problems))

    def _problems(self) -> Iterator[Message]:
        """All that is wrong, so that it can be told at once."""
        if not (_texts(self.columns) and isinstance(self.criteria, str)):
            yield Message("columns is a list of names, criteria a text.")
            return
        if not isinstance(self.reasons_required, bool):
            yield Message("reasons_required is true or false.")
        if len(self.criteria) > MOST_CRITERIA:
            yield Message("criteria have at most %(most)s characters.", most=MOST_CRITERIA)
        yield from _verdict_problems("words", self.words)
        yield from _verdict_problems("reasons", self.reasons)
        yield from _word_problems(self.words)
        yield from _reason_problems(self.reasons)
        yield from _link_problems(self.links)
        yield from _format_problems(self.formats)


def _texts(values: Any) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, str) for value in values)


def _verdict_problems(name: str, given: Any) -> Iterator[Message]:
    known = ", ".join(Verdict)
    if not isinstance(given, Mapping) or not {*given} <= {*map(str, Verdict)}:
        yield Message("%(name)s are given by verdict: %(known)s.", name=name, known=known)


def _word_problems(words: Any) -> Iterator[Message]:
    said = [*words.values()] if isinstance(words, Mapping) else []
    if not all(isinstance(word, str) and 0 < len(word) <= MOST_WORD for word in said):
        yield Message("a word for a verdict has 1 to %(most)s characters.", most=MOST_WORD)
    elif len({*said}) < len(said):
        yield Message("two verdicts cannot have the same word.")


def _reason_problems(reasons: Any) -> Iterator[Message]:
    for codes in reasons.values() if isinstance(reasons, Mapping) else ():
        if not _texts(codes) or not all(0 < len(code) <= MOST_REASON for code in codes):
            yield Message("reasons are lists of texts of 1 to %(most)s characters.", most=MOST_REASON)
        elif len(codes) > MOST_REASONS or len({*codes}) < len(codes):
            yield Message("a verdict has up to %(most)s reasons, all different.", most=MOST_REASONS)


def _link_problems(links: Any) -> Iterator[Message]:
    if not isinstance(links, Mapping) or len(links) > MOST_LINKS:
        yield Message("links are up to %(most)s addresses by name.", most=MOST_LINKS)
        return
    for name, link in links.items():
        if not isinstance(link, str) or not LINK.fullmatch(link):
            yield Message(
                "the link '%(name)s' must begin with https:// and a host, and hold no spaces.", name=str(name)
            )


def _format_problems(formats: Any) -> Iterator[Message]:
    if not isinstance(formats, Mapping) or not _texts([*formats, *formats.values()]):
        yield Message("formats are given by column.")
        return
    for text in formats.values():
        try:
            Format.read(text, Format())
        except InvalidInputError as error:
            yield error.args[0]
