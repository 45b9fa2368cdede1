"""The row on the screen: keys, notes, what survives a later or an undo, small windows, slow lines."""

import datetime as dt
import re
import time

import polars as pl
import pytest

from tests.browser import IN_BROWSER

pytestmark = IN_BROWSER


@pytest.fixture
def ann(serve_queue, reviewer):
    return reviewer(serve_queue())


def verdicts(person):
    return list(person.server.queue.log(kinds=["verdict", "override"]))


def note(person, text):
    person.page.keyboard.press("c")
    person.page.keyboard.type(text)


def test_enter_never_decides(ann):
    row = ann.row
    note(ann, "half a note")
    ann.page.keyboard.press("Enter")
    ann.page.keyboard.press("Enter")
    ann.page.wait_for_timeout(300)
    assert (ann.row, verdicts(ann)) == (row, [])
    ann.press("y")  # Enter has left the field
    assert verdicts(ann)[0].body.note == "half a note"
    ann.page.goto(f"{ann.server.url}/q/claims/row/{ann.row}")
    ann.page.fill("input[name=note]", "just a remark")
    ann.page.keyboard.press("Enter")
    ann.page.wait_for_timeout(300)
    assert len(verdicts(ann)) == 1


def test_a_note_survives_later_and_undo(ann):
    row = ann.row
    note(ann, "ask the shop")
    ann.page.keyboard.press("Escape")
    ann.press("l")
    (kept,) = ann.server.queue.log(kinds=["note"])
    assert kept.body.note == "ask the shop"
    second = ann.row
    note(ann, "seen twice")
    ann.page.keyboard.press("Escape")
    ann.press("n")
    ann.press("z")
    assert ann.row == second
    assert ann.page.input_value("#note") == "seen twice"
    ann.page.goto(f"{ann.server.url}/q/claims/row/{row}")
    assert "ask the shop" in ann.page.inner_text("main")


@pytest.mark.slow
def test_a_row_that_was_put_off_comes_back_with_its_note(serve_queue, reviewer):
    ann = reviewer(serve_queue(settings={"park_seconds": 1}))
    row = ann.row
    note(ann, "ask the shop")
    ann.page.keyboard.press("Escape")
    ann.press("l")
    ann.page.wait_for_timeout(1100)
    ann.press("n")
    assert ann.row == row
    assert "ask the shop" in ann.page.inner_text(".remarks")


def test_keys_work_where_the_layout_has_no_latin_letters(ann):
    row = ann.row
    ann.page.evaluate("document.getElementById('main').dataset.old = 'yes'")
    cyrillic = {"key": "н", "code": "KeyY", "bubbles": True}
    ann.page.evaluate("init => document.body.dispatchEvent(new KeyboardEvent('keydown', init))", cyrillic)
    ann.page.wait_for_selector("#main:not([data-old])")
    (said,) = verdicts(ann)
    assert (ann.server.queue.rows.id(said.row), said.body.verdict) == (row, "wanted")


@pytest.mark.slow
def test_the_key_that_is_printed_wins_on_other_latin_layouts(ann):
    row = ann.row
    german_z = {"key": "z", "code": "KeyY", "bubbles": True}
    ann.page.evaluate("init => document.body.dispatchEvent(new KeyboardEvent('keydown', init))", german_z)
    ann.page.wait_for_timeout(200)
    assert (ann.row, verdicts(ann)) == (row, [])


def test_all_fields_stay_open_and_the_next_row_is_in_view(serve_queue, reviewer, data):
    wide = pl.read_csv(data)
    wide.with_columns(pl.lit(i).alias(f"extra{i}") for i in range(20)).write_csv(data)
    ann = reviewer(serve_queue())
    ann.page.set_viewport_size({"width": 390, "height": 700})
    ann.page.keyboard.press("f")
    ann.page.evaluate("scrollTo(0, 500)")
    ann.press("n")
    assert ann.page.get_attribute("#all-fields", "open") is not None
    top = ann.page.locator("#row-title").bounding_box()["y"]
    assert 0 <= top < 350
    ann.page.keyboard.press("f")
    ann.press("n")
    assert ann.page.get_attribute("#all-fields", "open") is None


@pytest.mark.slow
@pytest.mark.parametrize(("zoom", "least"), [(2, 4), (4, 2)])
def test_a_zoomed_page_shows_fields(serve_queue, reviewer, data, zoom, least):
    wide = pl.read_csv(data)
    wide.with_columns(pl.lit(i).alias(f"extra{i}") for i in range(9)).write_csv(data)
    ann = reviewer(serve_queue())
    ann.page.set_viewport_size({"width": 1280 // zoom, "height": 860 // zoom})
    ann.page.evaluate("document.querySelector('.facts').scrollIntoView()")
    seen = ann.page.evaluate(
        """() => [...document.querySelectorAll('.facts > .fields tr')].filter(row => {
          const box = row.getBoundingClientRect();
          const at = document.elementFromPoint(box.x + 5, box.y + box.height / 2);
          return box.y >= 0 && box.bottom <= innerHeight && row.contains(at);
        }).length"""
    )
    assert seen >= least
    assert ann.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_a_slow_line_shows_that_the_verdict_is_on_its_way(ann):
    def slowly(route):
        time.sleep(0.8)
        route.continue_()

    ann.page.route("**/verdict", slowly)
    sign = ann.page.locator(".sending span")
    assert not sign.is_visible()
    ann.page.evaluate("document.getElementById('main').dataset.old = 'yes'")
    ann.page.keyboard.press("y")
    sign.wait_for(state="visible")
    ann.page.wait_for_selector("#main:not([data-old])")
    assert not sign.is_visible()


@pytest.mark.slow
def test_the_legend_stays_within_its_panel(ann):
    for width in (1280, 320):
        ann.page.set_viewport_size({"width": width, "height": 800})
        panel = ann.page.locator(".panel:has(#chart)").bounding_box()
        legend = ann.page.locator(".legend").bounding_box()
        chart = ann.page.locator("#chart").bounding_box()
        assert legend["x"] + legend["width"] <= panel["x"] + panel["width"]
        assert chart["y"] + chart["height"] <= legend["y"] + 1
        assert legend["y"] + legend["height"] <= panel["y"] + panel["height"]


def test_scripts_write_numbers_as_the_page_does(ann):
    ann.server.queue.change("lead", {"language": "de"}).result()
    ann.page.reload()
    ann.page.wait_for_load_state("load")
    assert ann.page.evaluate("[navigator.language, inPageLanguage(1234.5)]") == ["en-US", "1.234,5"]


def test_times_name_their_zone(ann):
    ann.press("y")
    ann.page.goto(f"{ann.server.url}/q/claims/log")
    zone = dt.datetime.now().astimezone().strftime("%Z")
    when = ann.page.inner_text("table.lines tbody tr >> nth=0 >> td >> nth=1")
    assert re.fullmatch(rf".*\d:\d\d.* {re.escape(zone)}", when)


def test_an_unknown_address_is_a_page(ann, reviewer):
    for path in ("/nowhere", "/q/claims/nowhere", "/q/other", "/q/claims/row/nobody"):
        answer = ann.page.goto(ann.server.url + path)
        assert answer.status == 404
        assert "text/html" in answer.headers["content-type"]
        assert ann.page.inner_text("h1") == "That did not work"
    reviewer.complaints.clear()  # the browser told of each 404
