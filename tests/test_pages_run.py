"""What pages print runs as printed: the README, the tutorials and the guides, command by command, in order.

The files are those of ``shortlist demo``, in small; pages that speak of files of their readers find small ones of
these names. Where a command would serve a page, somebody who knows the truth
reviews in its place; ``python -m release newcomer`` does all of the README with real servers.
"""

import io
import re
import shlex
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path

import polars as pl
import pytest
import xgboost
from PIL import Image, ImageChops, ImageStat
from PIL.PngImagePlugin import PngInfo

import shortlist
from shortlist import datasets
from shortlist.cli._app import main
from shortlist.datasets import make_claims, make_outages
from shortlist.review.server.app import TeamServer
from shortlist.review.web.site import Site
from tests.browser import CHROMIUM
from tests.review.web.conftest import SHOTS
from tests.test_docs import PAGES as ALL_PAGES
from tests.test_docs import commands_of, up_to_the_shell

PROJECT = Path(__file__).parents[1]
PICTURE = PROJECT / "docs" / "images" / "report.png"
GUIDES = ["leave-a-column-out", "verdicts-to-a-model", "auditor", "spark"]
PAGES = [
    PROJECT / "README.md",
    *sorted((PROJECT / "docs" / "tutorials").glob("*.md")),
    *(PROJECT / "docs" / "how-to" / f"{name}.md" for name in GUIDES),
]
#: Train evolved trees, or boosted ones several times; review row by row.
SLOW = {
    "README", "auditor", "cost-sensitive", "feedback", "first-shortlist", "no-labels", "verdicts-to-a-model",
    "workflow",
}  # fmt: skip
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def small_claims(n, random_state):
    return make_claims(n, random_state=random_state).gather_every(25)


def run(*words):
    """Call the program; what it prints. ``> FILE`` is heeded, as a shell does."""
    words, target = (words[: words.index(">")], words[-1]) if ">" in words else (words, None)
    told = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(told):
        patch.setattr(sys, "argv", ["shortlist", *words])
        with pytest.raises(SystemExit) as stop:
            main()
    assert stop.value.code == 0, words
    if target:
        Path(target).write_text(told.getvalue())
    return told.getvalue()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """What ``shortlist demo`` writes, and the folder of payments of the guide to Spark."""
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(datasets, "make_claims", small_claims)
        run("demo", "--model", "logistic")
    (folder / "payments" / "day=2026-11-17").mkdir(parents=True)
    payments = make_claims(400, random_state=3, fraud_rate=0.1).rename({"claim_id": "payment_id"})
    payments.write_parquet(folder / "payments" / "day=2026-11-17" / "part-0.parquet")
    return folder


def review_in_its_place(truth):
    """In place of the page: thirty verdicts by somebody who knows."""

    def serve(queue, sock, **_):
        with sock:
            turn = queue.turn("Ann Smith").result()
            for _ in range(30):
                if turn.state != "row":
                    break
                verdict = "wanted" if truth[turn.id] else "not wanted"
                turn = queue.record("Ann Smith", turn.shown, verdict).result()
            queue.close()

    return serve


def serve_in_its_place(folder, **_):
    server = TeamServer.open(Path(folder), Site("http://127.0.0.1:1", is_team=True))
    assert server.queues
    server.close()


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    outcomes = pl.concat(
        [pl.read_csv("demo/outcomes.csv"), pl.read_csv("demo/history.csv").select("claim_id", "fraud")]
    )
    truth = dict(outcomes.iter_rows())
    # Few rounds: that a model is good is for other tests to say.
    monkeypatch.setattr("shortlist.rankers.boosting.ap_settings.MOST_ROUNDS", 20)
    monkeypatch.setattr("shortlist.review.web.server.serve", review_in_its_place(truth))
    monkeypatch.setattr("shortlist.review.server.app.serve_team", serve_in_its_place)
    return tmp_path


def lines(block):
    """The commands of a block: lines that begin with a prompt, with what follows a backslash."""
    whole = re.sub(r"\\\n", " ", block)
    return [shlex.split(line[2:], comments=True) for line in whole.splitlines() if line.startswith("$ ")]


def slow_ones(page):
    return pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.stem in SLOW else [])


@pytest.mark.parametrize("page", [slow_ones(page) for page in PAGES])
def test_everything_on_the_page_runs_as_printed(page, folder):
    names, ran = {}, 0
    for language, block in BLOCK.findall(page.read_text()):
        if language == "python":
            exec(compile(block, page.name, "exec"), names)
            ran += 1
            continue
        for words in lines(block):
            if words[:2] in (["shortlist", "demo"], ["pip", "install"]):
                continue  # the files are there, and what is installed is tested
            assert words[0] == "shortlist"
            run(*words[1:])
            ran += 1
    assert ran >= 2
    if page.stem == "spark":
        frame = pl.read_parquet("payments").to_pandas()
        (best,) = names["first_rows"]([frame[:150], frame[150:]], budget=7)
        whole = pl.read_csv("shortlist.csv")
        assert set(best["payment_id"]) == set(whole["payment_id"].head(7))


def given_storms():
    make_outages(30, random_state=0).write_csv("storms.csv")
    make_outages(2, random_state=1).drop("customers_out").write_csv("next_storm.csv")


def given_claims():
    """Claims with what became of them, and what comes later: verdicts from elsewhere, and rows of tomorrow."""
    claims = pl.read_csv("demo/history.csv")
    claims[:300].write_csv("claims.csv")
    known = claims[:300].tail(3).select("claim_id", verdict=pl.lit("wanted"))
    known.write_csv("known.csv")
    claims[300:320].write_csv("tomorrow.csv")


def given_windows():
    for name in ("incoming", "answered"):
        Path(name).mkdir()
    for number, window in enumerate(pl.read_csv("demo/history.csv").drop("fraud").iter_slices(400)):
        window.write_csv(f"incoming/{number}.csv")


def given_queue():
    given_claims()
    run("review", "claims.csv", "--id", "claim_id", "--workspace", "reviews/claims.review", "--no-browser")


def given_months():
    """Shortlists that were acted on, their outcomes, and a history of which only some rows were looked at."""
    Path("shortlists").mkdir()
    for day, part in enumerate(pl.read_csv("demo/shortlist.csv").iter_slices(5), 1):
        part.write_csv(f"shortlists/shortlist-2025-08-{day:02}.csv")
    shutil.copy("demo/outcomes.csv", "outcomes.csv")
    number = pl.int_range(pl.len())
    looked = (number % 3 == 0) | (number % 4 == 0)
    pl.read_csv("demo/history.csv").with_columns(
        chance=pl.when(number % 4 == 0).then(0.25), fraud=pl.when(looked).then("fraud")
    ).write_csv("reviews.csv")


def given_payments():
    shortlist.train("payments", label="fraud", id="payment_id", model="logistic").save("fraud.shortlist")


#: What a reader has who comes to these pages.
GIVEN = {
    "cost-sensitive": given_storms,
    "feedback": given_claims,
    "stream": given_windows,
    "review": given_claims,
    "server": given_queue,
    "nginx": given_queue,
    "workflow": given_months,
    "scale": given_payments,
}
#: What is asked of a cluster, a database, a provider or another machine is run by the tests of those.
ELSEWHERE = {"--dask", "--spark", "--db", "--oidc-issuer", "--server", "--webhook"}
OTHERS = [
    page for page in ALL_PAGES if page not in PAGES and page.name != "CHANGELOG.md" and any(commands_of(page))
]


@pytest.mark.parametrize("page", [slow_ones(page) for page in OTHERS])
def test_every_other_command_of_the_pages_runs_on_files_of_these_names(page, folder):
    GIVEN[page.stem]()
    ran = 0
    for words in commands_of(page):
        if ELSEWHERE.isdisjoint(words):
            # A stream waits for its next window, and the folder of Prometheus is somewhere else.
            once = ["--once"] if words[0] == "stream" else []
            run(*(word.replace("/var/lib/node_exporter/", "") for word in up_to_the_shell(words)), *once)
            ran += 1
    assert ran >= 1


def readme_blocks():
    """What the README prints of the demo, and of the backtest."""
    return re.findall(r"```text\n(.*?)```", PAGES[0].read_text(), re.DOTALL)


def plain(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def as_printed(tmp_path_factory):
    """What the demo and the backtest of the README say of all their rows, and the folder where they ran."""
    if xgboost.__version__ != "3.2.0":
        pytest.skip("the figures are of XGBoost 3.2.0; later ones draw rows otherwise")
    folder = tmp_path_factory.mktemp("printed")
    (backtest,) = [
        words
        for language, block in BLOCK.findall(PAGES[0].read_text())
        if language == "console"
        for words in lines(block)
        if words[1] == "backtest"
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "120")
        return run("demo"), run(*backtest[1:]), folder


@pytest.mark.slow
def test_the_readme_prints_what_the_demo_and_the_backtest_say(as_printed):
    demo, backtest, _ = as_printed
    table, answer = readme_blocks()
    for line in table.splitlines():
        assert line in demo
    assert plain(answer) in plain(backtest)


def test_the_picture_of_the_report_is_of_the_answer_that_the_readme_prints():
    _, answer = readme_blocks()
    with Image.open(PICTURE) as picture:
        assert picture.text["Description"] == plain(answer)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
def test_the_report_can_be_pictured_as_it_was(as_printed, chromium, tmp_path):
    """Nearly the same dots, for fonts differ by machine. With SHORTLIST_SCREENSHOTS it becomes the picture."""
    _, _, folder = as_printed
    with Image.open(PICTURE) as picture:
        before = picture.convert("L")
    page = chromium.new_page(viewport={"width": before.width, "height": before.height})
    page.goto((folder / "backtest.html").as_uri())
    page.wait_for_function("document.querySelectorAll('[data-chart]:not([data-drawn])').length === 0")
    says = plain(page.locator(".answer").inner_text())
    page.screenshot(path=tmp_path / "report.png")
    page.close()
    with Image.open(tmp_path / "report.png") as now:
        if SHOTS:
            facts = PngInfo()
            facts.add_text("Description", says)
            now.convert("P", palette=Image.Palette.ADAPTIVE).save(PICTURE, pnginfo=facts, optimize=True)
        change = ImageStat.Stat(ImageChops.difference(before, now.convert("L"))).mean[0]
    assert says == plain(readme_blocks()[1])
    assert SHOTS or change < 12  # of 255
