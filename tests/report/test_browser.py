"""The pages in a real browser: charts are drawn, nothing is asked of the network, nothing overflows."""

import itertools

import polars as pl
import pytest

from shortlist import backtest, compare
from shortlist.datasets import make_claims
from shortlist.report import Chart, Line, Page
from shortlist.report.write import render
from tests.browser import IN_BROWSER

pytestmark = IN_BROWSER


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
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["backtest", "compare"])
def test_page_is_drawn_and_readable(chromium, pages, name, scheme, width):
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
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


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1100])
def test_names_below_charts_are_whole_and_apart(chromium, tmp_path, width):
    """The last period, which rows do not fill, has a long name at the right edge."""
    periods = ["2024-07", "2024-10", "2025-01", "2025-04", "2025-07 (partial)"]
    labels = {"x_label": "period", "y_label": "frauds"}
    charts = [
        Chart("Few periods", periods, [Line("found", [3.0, 5.0, 4.0, 6.0, 1.0])], **labels),
        Chart("Many", [f"2025-W{i:02}" for i in range(52)], [Line("found", [1.0] * 52)], **labels),
        Chart("Bars", ["a column with a long name", *"bcd"], [Line("x", [1.0] * 4)], kind="bars", **labels),
        Chart(
            "Shares",
            ["total_claim_amount_of_all_parties desc", *"bcd"],
            [Line("x", [1.0] * 4)],
            x_label="ranking",
            y_label="share of total_claim_amount_of_all_parties found",
            kind="bars",
        ),
    ]
    (tmp_path / "page.html").write_text(render(Page("Names", "All whole.", charts, [], {})), encoding="utf-8")
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.add_init_script(WRITTEN)
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_function("document.querySelectorAll('[data-chart]:not([data-drawn])').length === 0")
    written = page.evaluate("window.written")
    assert any("(partial)" in each["text"] for each in written)
    cut = [each for each in written if each["left"] < -1 or each["right"] > each["room"] + 1]
    assert cut == []
    assert [each for each in written if each["top"] < -1 or each["bottom"] > each["height"] + 1] == []
    level = sorted(
        (each for each in written if each["level"]), key=lambda e: (e["canvas"], e["y"], e["left"])
    )
    pairs = [(a, b) for a, b in itertools.pairwise(level) if (a["canvas"], a["y"]) == (b["canvas"], b["y"])]
    assert [
        (a["text"], b["text"]) for a, b in pairs if a["text"] != b["text"] and a["right"] > b["left"]
    ] == []
    page.close()


#: Notes what is written on charts, and from where to where.
WRITTEN = """
window.written = [];
const canvases = new Map();
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
  const at = this.getTransform(), wide = this.measureText(text).width;
  const from = x - wide * ({ center: 0.5, right: 1, end: 1 }[this.textAlign] ?? 0);
  const ends = [from, from + wide].map((each) => at.transformPoint({ x: each, y }).x);
  const sides = [from, from + wide].map((each) => at.transformPoint({ x: each, y }).y);
  if (!canvases.has(this.canvas)) canvases.set(this.canvas, canvases.size);
  window.written.push({
    text, left: Math.min(...ends), right: Math.max(...ends), y: Math.round(at.transformPoint({ x, y }).y),
    top: Math.min(...sides), bottom: Math.max(...sides), height: this.canvas.height,
    room: this.canvas.width, level: Math.abs(at.b) < 1e-6, canvas: canvases.get(this.canvas),
  });
  return write.call(this, text, x, y, ...more);
};
"""
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


def test_print_is_dark_ink_on_white_paper_even_in_dark_mode(chromium, pages):
    page = chromium.new_page(color_scheme="dark")
    page.goto((pages / "backtest.html").as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    ink, paper = page.evaluate(COLOURS)
    assert (ink, paper) == ("rgb(0, 0, 0)", "rgb(255, 255, 255)")
    assert len(page.pdf()) > 20_000
    page.close()


def test_without_scripts_the_figures_are_still_there(chromium, pages):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((pages / "compare.html").as_uri())
    assert "logistic" in page.locator("table").first.inner_text()
    context.close()
