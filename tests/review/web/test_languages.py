"""Every page in German: by the browser's wish, by the setting, and what has been said by others too."""

import html
import json
import re

import pytest

from shortlist.languages.catalogues import language
from shortlist.review.web.rendering import SCRIPT, Words
from shortlist.verdicts import Verdict
from tests.review.web.conftest import signed_in


@pytest.fixture
def server(serve_queue):
    return serve_queue(settings={"lease_seconds": 1})


@pytest.fixture
def browser(server):
    """A browser that asks for German, signed in as ann."""
    with signed_in(server, language="de-DE,de;q=0.9,en;q=0.5") as http:
        yield http


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.text))


def test_pages_speak_the_language_of_the_browser(browser, server):
    page = browser.get("/q/claims")
    assert '<html lang="de-DE">' in page.text
    assert "Warum hier" in page.text
    assert 'value="not wanted"' in page.text  # what is sent and stored is the same in every language
    assert "kein Treffer" in text_of(page)
    assert "Das ging nicht" in browser.get("/q/nowhere").text
    assert "In dieser Liste gibt es keine Zeile „X“." in browser.get("/q/claims/row/X").text
    for where, word in {"log": "Protokoll", "people": "Team", "settings": "Speichern"}.items():
        assert word in text_of(browser.get(f"/q/claims/{where}"))
    assert "REST-Schnittstelle" in browser.get("/api/v1/docs").text
    english = browser.get("/q/claims", headers={"accept-language": "en-GB"})
    assert "Why here" in english.text


def test_the_setting_of_the_queue_comes_before_the_browser(browser, server):
    server.queue.change("lead", {"language": "en"}).result()
    assert "Why here" in browser.get("/q/claims").text
    assert "Who is reviewing?" in browser.get("/name").text
    assert "That did not work" in browser.get("/q/nowhere").text
    sent = {"budget": "30", "audit": "0", "lease_minutes": "10", "park_minutes": "60", "language": "de"}
    assert "Warum hier" in browser.post("/q/claims/settings", data=sent).text
    refused = browser.post("/q/claims/settings", data={**sent, "language": "fr"})
    assert refused.status_code == 422
    assert "Die Sprache fr gibt es nicht; es gibt: de, en." in refused.text


def test_a_mistake_in_a_form_is_told_in_german(browser):
    sent = {"budget": "0", "audit": "viel", "lease_minutes": "10", "goal": "x"}
    refused = browser.post("/q/claims/settings", data=sent)
    assert refused.status_code == 422
    for said in (
        "budget: muss mindestens 1 sein",
        "audit: muss eine Zahl sein",
        "park_minutes: fehlt",
        "goal: hat nicht die verlangte Form",
    ):
        assert said in refused.text
    both = browser.post("/q/claims/team", data={"word": ["a", "a"], "links": "wiki = nowhere"})
    assert "zwei Urteile können nicht dasselbe Wort haben. der Verweis" in both.text


def test_what_happened_elsewhere_is_told_in_the_readers_language(browser, server):
    shown = browser.get("/q/claims").text.split('name="shown" value="')[1].split('"')[0]
    row = server.queue.snapshot.shown[int(shown)].row
    server.queue.override("bob", row, Verdict.WANTED).result()
    answer = browser.post(
        "/q/claims/verdict", data={"shown": shown, "verdict": "wanted"}, headers={"hx-request": "true"}
    )
    assert re.search(r"bob hat \S+ um \d\d:\d\d \S+ geprüft\. Hier ist die nächste Zeile\.", text_of(answer))
    log = text_of(browser.get("/q/claims/log"))
    assert "Entscheidung" in log
    assert "Urteil Treffer" in log


def test_a_score_that_is_written_as_zero_has_no_sign():
    english, german = Words(language("en")), Words(language("de"))
    assert [english.score(score) for score in (-0.0001, 0.0, -0.0006)] == ["0.000", "0.000", "-0.001"]
    assert german.score(-0.0001) == "0,000"


def test_a_message_in_a_page_cannot_carry_markup(browser, server):
    assert "<b>x" not in browser.get("/q/claims/row/%3Cb%3Ex").text
    assert "&lt;b&gt;x" in browser.get("/q/claims/row/%3Cb%3Ex").text


def test_the_script_gets_its_words_from_the_page(browser, tmp_path):
    script = tmp_path / "script.js"
    script.write_text('say(_("found")); say(_("not wanted"));')
    words = Words(language("de")).script_words(script)
    assert words == {"found": "gefunden", "not wanted": "kein Treffer"}
    handed = browser.get("/q/claims").text.split('data-words="')[1].split('"')[0]
    assert json.loads(html.unescape(handed)) == Words(language("de")).script_words(SCRIPT)
