"""The languages that pages can speak: one catalogue each, compiled as it is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO
from pathlib import Path

from babel import Locale, UnknownLocaleError
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from shortlist.exceptions import InvalidInputError
from shortlist.languages.words import ENGLISH, SOURCE, Language, Message

CATALOGUES = files("shortlist.languages")
#: A browser that names more languages than this is no browser.
MOST_WISHES = 20


@cache
def available() -> dict[str, str]:
    """Languages that pages can speak, by tag, each by its own name.

    >>> available()["de"]
    'Deutsch'
    """
    tags = {SOURCE, *(Path(file.name).stem for file in CATALOGUES.iterdir() if file.name.endswith(".po"))}
    return {tag: str(Locale.parse(tag).get_display_name()) for tag in sorted(tags)}


def language(tag: str) -> Language:
    """The language of a tag such as ``de`` or ``de-CH``; refuses one without a catalogue.

    >>> german = language("de-CH")
    >>> german.say(Message("no verdict yet")), german.write(1234.5), german.tag
    ('noch kein Urteil', '1’234.5', 'de-CH')
    """
    found = find(tag)
    if found is None:
        known = ", ".join(available())
        raise InvalidInputError(
            Message("there is no language %(tag)s; there are: %(known)s.", tag=tag, known=known)
        )
    return found


@lru_cache(maxsize=100)  # browsers may ask for anything
def find(tag: str) -> Language | None:
    """The language of a tag, with the numbers and dates of its region; None without a catalogue."""
    parts = tag.replace("_", "-").split("-")
    try:
        locale = Locale.parse("_".join(parts))
    except (UnknownLocaleError, ValueError):
        locale = Locale.parse(parts[0]) if parts[0] in available() else None
    if locale is None or locale.language not in available():
        return None
    return Language(locale, _words(locale.language))


def preferred(header: str) -> Language:
    """The first language of an Accept-Language header that we have; English if there is none.

    >>> preferred("fr;q=0.9, de-CH;q=0.8, en;q=0.5").tag, preferred("").tag
    ('de-CH', 'en')
    """
    found = (find(tag) for tag in _wishes(header))
    return next((language for language in found if language is not None), ENGLISH)


def _wishes(header: str) -> Iterator[str]:
    """The tags of a header, most wanted first; equally wanted ones in their order."""
    wishes = []
    for part in header.split(",")[:MOST_WISHES]:
        tag, _, quality = part.partition(";q=")
        try:
            wishes.append((-float(quality or 1), tag.strip()))
        except ValueError:
            continue
    return (tag for quality, tag in sorted(wishes, key=lambda wish: wish[0]) if quality < 0 and tag)


@cache
def _words(language: str) -> NullTranslations:
    """The catalogue of a language, compiled as it is loaded, so that a language is one file."""
    if language == SOURCE:
        return NullTranslations()
    compiled = BytesIO()
    with (CATALOGUES / f"{language}.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)
