"""Messages keep their parts, and each language says them in its own way."""

import copy
import datetime as dt
import pickle

import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.languages.catalogues import available, find, language, preferred
from shortlist.languages.words import ENGLISH, Message, counted
from shortlist.review.log.settings import Settings

GERMAN = language("de")


def test_a_message_is_english_as_a_text_and_german_on_a_german_page():
    said = Message(
        "%(who)s reviewed %(row)s at %(at)s. Here is the next row.", who="ann", row="C-7", at=dt.time(14, 2)
    )
    assert said == "ann reviewed C-7 at 2:02\u202fPM. Here is the next row."
    assert GERMAN.say(said) == "ann hat C-7 um 14:02 geprüft. Hier ist die nächste Zeile."
    assert GERMAN.say("C-7 %s") == "C-7 %s"  # what is no message is nobody's to change


def test_a_message_within_a_message_is_said_in_the_same_language():
    assert (
        GERMAN.say(Message("take back verdict %(seq)s", seq=Message("wanted")))
        == "Urteil Treffer zurücknehmen"
    )


@pytest.mark.parametrize(
    ("num", "english", "german"),
    [(0, "0 wait", "0 warten"), (1, "1 waits", "1 wartet"), (1200, "1,200 wait", "1.200 warten")],
)
def test_numbers_of_things(num, english, german):
    said = counted("%(num)s waits for a lead.", "%(num)s wait for a lead.", num)
    assert said == f"{english} for a lead."
    assert GERMAN.say(said) == f"{german} auf die Leitung."


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda said: pickle.loads(pickle.dumps(said))])
def test_a_copy_can_still_be_translated(again):
    assert (
        GERMAN.say(again(counted("%(num)s waits for a lead.", "%(num)s wait for a lead.", 2)))
        == "2 warten auf die Leitung."
    )


def test_values_are_written_as_the_region_writes_them():
    winter = dt.datetime(2026, 1, 31, 14, 2, tzinfo=dt.UTC)
    assert [language(tag).write(1234.5) for tag in ("en", "de", "de-CH")] == ["1,234.5", "1.234,5", "1’234.5"]
    assert ENGLISH.write(winter).endswith("UTC")
    assert GERMAN.write(winter) == "31.01.2026, 14:02:00 UTC"
    assert [GERMAN.write(value) for value in (True, None, float("nan"), "1,234")] == ["ja", "–", "–", "1,234"]
    assert GERMAN.percent(0.0251) == "2,5\xa0%"


@pytest.mark.parametrize(
    ("header", "tag"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de-AT"),
        ("fr, en-GB;q=0.7, de;q=0.5", "en-GB"),
        ("fr;q=0.9, de;q=0", "en"),
        ("*", "en"),
        ("de;q=much, en;q=0.1", "en"),
        ("de-NOWHERE-x-y", "de"),
        ("../../etc/passwd, " * 1000, "en"),
    ],
)
def test_the_browsers_wish(header, tag):
    assert preferred(header).tag == tag


def test_a_language_without_a_catalogue_is_refused_with_those_there_are():
    assert find("fr") is None
    assert [*available()] == ["de", "en"]
    with pytest.raises(InvalidInputError, match="no language fr; there are: de, en"):
        Settings().changed({"language": "fr"})
