"""The pages in a real browser: charts are drawn, nothing is asked of the network, nothing overflows."""

import shutil

import polars as pl
import pytest

from shortlist import backtest, compare
from shortlist.datasets import make_claims

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    claims = make_claims(1_200, random_state=0, fraud_rate=0.1)
    claims = claims.with_columns(region=pl.col("region").replace("north", "<i>north & south</i>"))
    options = {
        "label": "fraud",
        "id": "claim_id",
        "budget": 20,
        "models": ["logistic"],
        "baselines": ["amount desc"],
    }
    past = backtest(claims, **options, impact="amount", impact_known=True, time="date", every="quarter")
    past.to_html(folder / "backtest.html")
    compare(claims.drop("date"), **options, n_folds=3).to_html(folder / "compare.html")
    return folder


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["backtest", "compare"])
def test_page_is_drawn_and_readable(browser, pages, name, scheme, width):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(120_000)
    problems, requests = [], []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto((pages / f"{name}.html").as_uri())
    page.wait_for_function("document.querySelectorAll('[data-chart]:not([data-drawn])').length === 0")
    assert problems == []
    assert requests == [(pages / f"{name}.html").as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".answer").is_visible()
    assert page.evaluate(INKED).count(0) == 0
    assert contrast(*page.evaluate(COLOURS)) > 7
    page.close()


#: How many pixels of each chart are not blank.
INKED = """
[...document.querySelectorAll("[data-chart] canvas")].map((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let inked = 0;
  for (let i = 3; i < data.length; i += 4) inked += data[i] > 0;
  return inked;
})
"""
COLOURS = """
[getComputedStyle(document.querySelector(".answer")).color, getComputedStyle(document.body).backgroundColor]
"""


def contrast(*colours):
    """The contrast ratio of two colours, as WCAG defines it."""
    light, dark = sorted(map(_luminance, colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour):
    channels = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_print_is_dark_ink_on_white_paper_even_in_dark_mode(browser, pages):
    page = browser.new_page(color_scheme="dark")
    page.goto((pages / "backtest.html").as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    ink, paper = page.evaluate(COLOURS)
    assert (ink, paper) == ("rgb(0, 0, 0)", "rgb(255, 255, 255)")
    assert len(page.pdf()) > 20_000
    page.close()


def test_without_scripts_the_figures_are_still_there(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((pages / "compare.html").as_uri())
    assert "logistic" in page.locator("table").first.inner_text()
    context.close()
