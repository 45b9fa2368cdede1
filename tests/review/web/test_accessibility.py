"""axe-core finds nothing on any page, light or dark, wide or narrow; it is vendored for these tests only."""

import hashlib
from pathlib import Path

import pytest

from tests.browser import IN_BROWSER

pytestmark = IN_BROWSER
AXE = Path(__file__).parents[2] / "vendor" / "axe-core"
TEAM = {
    "columns": ["region"],
    "reasons": {"wanted": ["staged", "inflated"]},
    "criteria": "# Fraud if\n\n- **late**\n- [guide](https://wiki.example/x)",
    "links": {"case system": "https://cases.example/claims/{claim}"},
}


WIDE, NARROW = {"width": 1280, "height": 844}, {"width": 390, "height": 844}
#: What a dark and narrow look can make worse; all else is as in the light and wide one.
LOOKS = {"runOnly": ["color-contrast", "scrollable-region-focusable"]}


def violations(page, options=None):
    found = page.evaluate("options => axe.run(options)", options or {})["violations"]
    return [(each["id"], node["html"]) for each in found for node in each["nodes"]]


def assert_well(page, where):
    """Nothing to complain of, light and wide, dark and narrow; and nothing that hangs over the edge of the window."""
    page.evaluate((AXE / "axe.min.js").read_text() + "; 0")
    assert (where, violations(page)) == (where, [])
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(NARROW)
    assert (where, violations(page, LOOKS)) == (where, [])
    over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert (where, over) == (where, 0)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)


def test_axe_is_what_it_was():
    expected, name = (AXE / "SHA256SUMS").read_text().split()
    assert hashlib.sha256((AXE / name).read_bytes()).hexdigest() == expected
    assert "Mozilla Public License" in (AXE / "LICENSE").read_text()


@pytest.fixture
def ann(serve_queue, reviewer):
    return reviewer(serve_queue(settings={**TEAM, "audit": 0.2}, value="amount"))


@pytest.mark.slow
def test_axe_finds_nothing(ann, reviewer):
    page, url = ann.page, f"{ann.server.url}/q/claims"
    page.set_viewport_size(WIDE)
    row = ann.row
    page.keyboard.press("y")
    page.keyboard.press("1")
    page.wait_for_function("row => document.getElementById('row-title').innerText !== row", arg=row)
    for key, appears in (
        ("r", "#related-title"),
        ("d", "#copies-title"),
        ("y", ".codes:visible"),
        ("?", "dialog[open]"),
    ):
        page.keyboard.press(key)
        page.wait_for_selector(appears)
        assert_well(page, key)
    queue = ann.server.queue
    queue.decide("ann", [queue.snapshot.top[9].row], "unsure", note="ask the shop").result()
    lists = ("rows", "rows?standing=all&text=zzz", "rows?column=amount&value=x")
    pages = (*lists, f"row/{row}", f"sheet/{row}", "figures", "log", "people", "settings", "nowhere")
    for where in ("/name", "/api/v1/docs", *(f"/q/claims/{each}" for each in pages)):
        page.goto(ann.server.url + where)
        assert_well(page, where)
    page.goto(f"{url}/people")
    page.click("main form button")
    page.wait_for_selector("#invitation")
    assert_well(page, "an invitation")
    queue.change("lead", {"budget": 3}).result()
    page.goto(url)
    ann.press("n")
    page.wait_for_selector("text=The budget is spent")
    assert_well(page, "the budget is spent")
    queue.train = lambda: Path("model.shortlist")
    page.click("text=Train a model")
    page.wait_for_selector("text=The model is trained")
    assert_well(page, "trained")
    ann.server.app.state.queues["others"] = queue
    page.goto(ann.server.url)
    assert_well(page, "queues")
    reviewer.complaints[:] = [each for each in reviewer.complaints if "404" not in each]
