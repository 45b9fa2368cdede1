"""How values look on a page: the template engine and its filters."""

from __future__ import annotations

import datetime as dt
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from shortlist.review.desk.fields import show
from shortlist.review.log.events import Event, to_payload
from shortlist.review.web.callers import keys_of
from shortlist.review.web.security import Session
from shortlist.verdicts import Verdict


class Button(NamedTuple):
    """How a verdict is given and shown on a page."""

    mark: str
    key: str
    style: str  # a class of review.css
    meaning: str


BUTTONS = {
    Verdict.WANTED: Button("✓", "y", "yes", "wanted"),
    Verdict.NOT_WANTED: Button("✗", "n", "no", "not wanted"),
    Verdict.UNSURE: Button("?", "u", "", "unsure: a lead decides"),
}


def render(
    request: Request, template: str, visitor: Session | None, *, status: int = 200, **values: Any
) -> HTMLResponse:
    """A page; every value in it is escaped."""
    csrf = keys_of(request).csrf(visitor) if visitor else ""
    text = PAGES.get_template(template).render(visitor=visitor, csrf=csrf, status=status, **values)
    return HTMLResponse(text, status_code=status)


def is_link(value: Any, hosts: tuple[str, ...]) -> bool:
    """Whether a text is an address that the settings of the queue let a page link to.

    >>> is_link("https://wiki.example/C-1", ("wiki.example",)), is_link("javascript:alert(1)", ("wiki.example",))
    (True, False)
    """
    if not isinstance(value, str) or not hosts:
        return False
    try:
        parts = urlsplit(value.strip())
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.hostname in hosts


def moment(at: float) -> str:
    """A time as people read it, in the time zone of the server."""
    return dt.datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S")


def told(event: Event) -> str:
    """The payload of an event in words."""
    hidden = ("row", "passed", "answers", "learn")
    values = {
        name: value for name, value in to_payload(event.body).items() if name not in hidden and value != ""
    }
    return ", ".join(f"{name} {_brief(name, value)}" for name, value in values.items())


def _brief(name: str, value: Any) -> str:
    if name == "until":
        return moment(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


PAGES = Environment(
    loader=FileSystemLoader(str(files("shortlist.review.web") / "templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
PAGES.filters.update(show=show, moment=moment, told=told, verdict=Verdict.of)
PAGES.tests.update(link=is_link)
PAGES.globals.update(buttons=BUTTONS)
