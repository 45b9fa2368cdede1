"""How values look on a page: the template engine and its filters."""

from __future__ import annotations

import datetime as dt
import math
import re
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from shortlist.languages.catalogues import available, find, language, preferred
from shortlist.languages.collect import messages_of
from shortlist.languages.values import patterned
from shortlist.languages.words import Language, Message
from shortlist.models.statements import Percent
from shortlist.review.casework.criteria import criteria_html
from shortlist.review.desk.queue import Queue
from shortlist.review.log.events import (
    Appended,
    Assigned,
    Drawn,
    Erased,
    Event,
    Imported,
    Joined,
    Judged,
    Kept,
    NameErased,
    Note,
    Override,
    Park,
    Second,
    SettingsChanged,
    Shown,
    Undo,
    to_payload,
)
from shortlist.review.log.team import Team
from shortlist.review.web.access import ROLES
from shortlist.review.web.callers import keys_of
from shortlist.review.web.security import Session
from shortlist.review.web.site import Site
from shortlist.tables.columns.formats import OF_NUMBERS, OF_TEXTS
from shortlist.verdicts import Verdict

SCRIPT = files("shortlist.review.web") / "static" / "review.js"
#: An address that every browser takes apart alike: no user before the host, and no backslash, which some read as "/".
_LINK = re.compile(r"https?://(?P<host>[\w.-]+|\[[0-9a-f:.]+\])(:[0-9]+)?([/?#][^\s\\]*)?", re.IGNORECASE)


#: What columns are.
FORMATS: dict[str, Message] = {
    "id": Message("id"),
    "code": Message("code"),
    "year": Message("year"),
    "count": Message("count"),
    "number": Message("number"),
    "money": Message("money"),
    "share": Message("share, in percent"),
    "text": Message("text"),
    "flag": Message("yes or no"),
    "date": Message("date"),
    "moment": Message("date and time"),
}


class Button(NamedTuple):
    """How a verdict is given and shown on a page."""

    mark: str
    key: str
    style: str  # a class of review.css
    label: Message
    meaning: Message


BUTTONS = {
    Verdict.WANTED: Button("✓", "y", "yes", Message("wanted"), Message("wanted")),
    Verdict.NOT_WANTED: Button("✗", "n", "no", Message("not wanted"), Message("not wanted")),
    Verdict.UNSURE: Button("?", "u", "", Message("unsure"), Message("unsure: a lead decides")),
}
KINDS = {
    Shown.kind: Message("shown"),
    Kept.kind: Message("kept"),
    Judged.kind: Message("verdict"),
    Undo.kind: Message("undo"),
    Park.kind: Message("put off"),
    Note.kind: Message("note"),
    SettingsChanged.kind: Message("settings"),
    Appended.kind: Message("rows appended"),
    Imported.kind: Message("imported verdict"),
    Override.kind: Message("override"),
    Second.kind: Message("second opinion"),
    Joined.kind: Message("joined"),
    Assigned.kind: Message("assigned"),
    Erased.kind: Message("erased"),
    NameErased.kind: Message("name erased"),
}
DRAWN = {
    Drawn.TOP: Message("from the top"),
    Drawn.AUDIT: Message("at random"),
    Drawn.REOPENED: Message("taken back"),
    Drawn.CHOSEN: Message("from the list"),
    Drawn.ASSIGNED: Message("assigned"),
    Drawn.SECOND: Message("second opinion"),
}
#: What the log tells of an event beside its row.
PARTS = {
    "rank": Message("rank"),
    "score": Message("score"),
    "drawn": Message("drawn"),
    "version": Message("version"),
    "until": Message("until"),
    "verdict": Message("verdict"),
    "note": Message("note"),
    "reason": Message("reason"),
    "changes": Message("changes"),
    "file": Message("file"),
    "rows": Message("rows"),
}


def render(
    request: Request, template: str, visitor: Session | None, *, status: int = 200, **values: Any
) -> HTMLResponse:
    """A page in the language of the queue, or of the browser; every value in it is escaped."""
    csrf = keys_of(request).csrf(visitor) if visitor else ""
    pages = pages_in(language_of(request).tag)
    site: Site = request.app.state.site
    queue = values.get("queue")
    blind = queue.snapshot.hidden_from(visitor.who) if isinstance(queue, Queue) and visitor else frozenset()
    text = pages.get_template(template).render(
        visitor=visitor, csrf=csrf, status=status, site=site, base=site.base, blind=blind, **values
    )
    return HTMLResponse(text, status_code=status)


def language_of(request: Request) -> Language:
    """What the queue of a page wishes, or all queues where it has none; else what the browser wishes."""
    queues: dict[str, Queue] = request.app.state.queues
    name = request.path_params.get("name")
    asked = [queues[name]] if name in queues else [*queues.values()]
    wishes = {queue.snapshot.settings.language for queue in asked}
    wish = find(wishes.pop()) if len(wishes) == 1 else None
    return wish or preferred(request.headers.get("accept-language", ""))


def is_link(value: Any, hosts: tuple[str, ...]) -> bool:
    """Whether a text is an address that the settings of the queue let a page link to.

    >>> is_link("https://wiki.example/C-1", ("wiki.example",)), is_link("javascript:alert(1)", ("wiki.example",))
    (True, False)
    """
    found = _LINK.fullmatch(value.strip()) if isinstance(value, str) else None
    return found is not None and found["host"].lower().strip("[]") in hosts


class Words:
    """How the values of a page are written in its language."""

    def __init__(self, language: Language) -> None:
        self.language = language

    def text(self, text: str, **values: Any) -> Markup:
        """A message of a template; values are escaped unless they are markup."""
        return Markup(self.language.pattern(text)) % self._written(values)

    def counted(self, one: str, many: str, num: int, **values: Any) -> Markup:
        """A message about a number of things."""
        return Markup(self.language.pattern(one, many, num)) % self._written({**values, "num": num})

    def _written(self, values: dict[str, Any]) -> dict[str, str]:
        return {
            name: value if isinstance(value, Markup) else self.language.write(value)
            for name, value in values.items()
        }

    def score(self, score: float) -> str:
        """A score, to three digits."""
        # Zero has no sign, nor has what is written as zero.
        return patterned(round(score, 3) + 0.0, "0.000", self.language.locale)

    def at_least(self, share: float) -> str:
        """A share that is said to be at least so much: rounded down."""
        return Percent(share, at_least=True).written(self.language)

    def money(self, value: float | None, unit: str) -> str:
        """What rows are worth, to the cent, with its unit where the language puts it."""
        if value is None or not math.isfinite(value):
            return "–"
        digits = "#,##0" if float(value).is_integer() else "#,##0.00"
        number = patterned(value, digits, self.language.locale)
        if not self.language.locale.currency_formats["standard"].pattern.startswith("¤"):
            return f"{number}\xa0{unit}".rstrip()
        return f"{unit}\xa0{number}" if unit[-1:].isalpha() else f"{unit}{number}"

    def about_money(self, value: float, unit: str) -> str:
        """What is expected, without cents that nobody can know, unless it is small."""
        return self.money(round(value, 0 if abs(value) >= 10 else 2), unit)

    def week(self, name: str) -> str:
        """The first day of a week such as 2026-W47."""
        return self.language.write(dt.date.fromisoformat(f"{name}-1"))

    def moment(self, at: float) -> str:
        """A time as people read it, in the time zone of the server, which is named."""
        return self.language.write(dt.datetime.fromtimestamp(at).astimezone())

    def told(self, event: Event, settings: Team | None = None) -> str:
        """The payload of an event in words, those of the team where it has its own."""
        settings = settings or Team()
        payload = to_payload(event.body).items()
        parts = ((name, value) for name, value in payload if name in PARTS and value != "")
        return ", ".join(
            f"{self.language.say(PARTS[name])} {self._brief(name, value, settings)}" for name, value in parts
        )

    def kind(self, kind: str) -> str:
        """The name of a kind of event."""
        return self.language.say(KINDS[kind])

    def _brief(self, name: str, value: Any, settings: Team) -> str:
        if name == "until":
            return self.moment(value)
        if name == "score":
            return self.score(value)
        if name == "verdict":
            return settings.word(value) or self.language.say(BUTTONS[value].label)
        known = DRAWN.get(value) if name == "drawn" else None
        return self.language.write(known or value)

    def script_words(self, script: Traversable) -> dict[str, str]:
        """What a script says, by what stands in it."""
        return {text: self.language.pattern(text) for text in messages_of(script)}


@lru_cache(maxsize=20)
def pages_in(tag: str) -> Environment:
    """The templates in a language."""
    words = Words(language(tag))
    pages = Environment(
        loader=_templates(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    spoken = words.language
    pages.filters.update(
        show=spoken.write, say=spoken.say, percent=spoken.percent, score=words.score, moment=words.moment,
        at_least=words.at_least, told=words.told, money=words.money, week=words.week, kind=words.kind,
        about_money=words.about_money, verdict=Verdict.of, criteria=criteria_html,
    )  # fmt: skip
    pages.tests.update(link=is_link)
    pages.globals.update(
        _=words.text, ngettext=words.counted, language=spoken, languages=available(), buttons=BUTTONS,
        formats=FORMATS, role_names=ROLES, of_numbers=OF_NUMBERS, of_texts=OF_TEXTS,
        script_words=words.script_words(SCRIPT),
    )  # fmt: skip
    return pages


def load_pages() -> None:
    """Have all that pages are made of in memory: a server that can open no more files still says so."""
    for tag in available():
        pages_in(tag)


@cache
def _templates() -> DictLoader:
    folder = files("shortlist.review.web") / "templates"
    return DictLoader({file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()})
