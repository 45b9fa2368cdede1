"""The page in a real browser: what a reviewer does, by keyboard alone."""

import pytest

from shortlist.verdicts import Verdict
from tests.browser import IN_BROWSER
from tests.review.web.conftest import SHOTS

pytestmark = IN_BROWSER


def test_a_whole_review_by_keyboard(serve_queue, reviewer):
    server = serve_queue(settings={"budget": 12, "audit": 0.2}, value="amount")
    ann = reviewer(server)
    assert ann.page.get_attribute("#verdict input[name=shown]", "value")
    ann.page.keyboard.press("?")
    ann.page.wait_for_selector("dialog[open]")
    ann.page.keyboard.press("Escape")
    ann.page.keyboard.press("c")
    ann.page.keyboard.type("seen before, y n z are letters here")
    ann.page.keyboard.press("Escape")
    rows = ann.judge(1)
    ann.press("u")
    put_off = ann.row
    ann.press("l")
    rows += ann.judge(10)
    assert "budget is spent" in ann.row
    assert put_off not in rows
    assert ann.page.inner_text("#reviewed") == "12"
    first = next(iter(server.queue.log(kinds=["verdict"]))).body
    assert first.note == "seen before, y n z are letters here"
    assert server.queue.snapshot.found == int(ann.page.inner_text("#found")) >= 3
    assert "Between 0 and" in ann.page.inner_text(".estimates")
    ann.page.click('button:has-text("Go on")')
    ann.page.wait_for_selector("#verdict")


def test_undo_of_the_last_and_of_an_early_verdict(serve_queue, reviewer):
    server = serve_queue()
    ann = reviewer(server)
    rows = ann.judge(6)
    ann.press("z")
    assert ann.row == rows[5]
    ann.press("z")
    assert ann.row == rows[4]
    ann.judge(1)
    early = next(e for e in server.queue.log(kinds=["verdict"]) if server.queue.rows.id(e.row) == rows[1])
    ann.page.goto(f"{server.url}/q/claims/log?kind=verdict")
    ann.page.click(f'[aria-label="take back verdict {early.seq}"]')
    ann.page.wait_for_selector("#row-title")
    assert ann.row == rows[1]
    assert server.queue.snapshot.reviewed == 4
    assert server.queue.snapshot.version == 4


@pytest.mark.slow
def test_two_reviewers_at_once(serve_queue, reviewer):
    server = serve_queue()
    ann, bob = reviewer(server), reviewer(server, "bob")
    seen = []
    for _ in range(5):
        assert ann.row != bob.row
        seen += ann.judge() + bob.judge()
    assert len(set(seen)) == 10
    assert {event.who for event in server.queue.log(kinds=["verdict"])} == {"ann", "bob"}


@pytest.mark.slow
def test_reload_and_restart_in_the_middle(serve_queue, reviewer):
    server = serve_queue()
    ann = reviewer(server)
    ann.judge(3)
    row = ann.row
    ann.page.reload()
    assert ann.row == row
    server.stop()
    ann.page.keyboard.press("y")
    ann.page.wait_for_selector("#away:not([hidden])")
    assert ann.row == row
    server.start()
    ann.page.wait_for_function("row => document.getElementById('row-title').innerText !== row", arg=row)
    assert ann.page.is_hidden("#away")
    verdicts = list(server.queue.log(kinds=["verdict"]))
    assert len(verdicts) == 4
    assert server.queue.rows.id(verdicts[-1].row) == row
    ann.judge(1)
    # While the server was away the browser and htmx told of the refused connection; nobody complained of more.
    others = [text for text in reviewer.complaints if "net::ERR_" not in text and "htmx:" not in text]
    assert others == []
    reviewer.complaints.clear()


@pytest.mark.slow
def test_a_lost_row_is_told_and_the_next_one_given(serve_queue, reviewer):
    server = serve_queue(settings={"lease_seconds": 1})
    ann = reviewer(server)
    row = ann.row
    ann.page.eval_on_selector("[hx-post$='/alive']", "beat => beat.remove()")  # the page falls silent
    ann.page.wait_for_timeout(1100)
    turn = server.queue.turn("bob").result()
    assert turn.id == row
    server.queue.record("bob", turn.shown, Verdict.WANTED).result()
    ann.press("y")
    assert f"bob reviewed {row}" in ann.page.inner_text(".banner[role=status]")
    assert ann.row != row
    assert server.queue.snapshot.reviewed == 1


@pytest.mark.slow
def test_an_open_page_keeps_its_row_however_short_the_lease(serve_queue, reviewer):
    server = serve_queue(settings={"lease_seconds": 1})
    ann = reviewer(server)
    row = ann.row
    ann.page.wait_for_timeout(2500)
    assert server.queue.turn("bob").result().id != row
    ann.press("y")
    (verdict,) = server.queue.log(kinds=["verdict"])
    assert (verdict.who, server.queue.rows.id(verdict.row)) == ("ann", row)


def test_every_page_opens_and_an_invitation_works_once(serve_queue, reviewer, chromium):
    server = serve_queue()
    ann = reviewer(server)
    row = ann.judge(1)[0]
    for page in ("log", "people", "settings", f"row/{row}"):
        assert ann.page.goto(f"{server.url}/q/claims/{page}").status == 200
    ann.page.fill("input[name=note]", "checked with the desk")
    ann.page.click('button:has-text("not wanted")')
    ann.page.wait_for_selector("text=override")
    assert ann.page.goto(f"{server.url}/api/v1/docs").status == 200
    ann.page.goto(f"{server.url}/q/claims/figures")
    reviewers = ann.page.locator("[role=region][aria-label='By reviewer']")
    heads, cells = (reviewers.locator(cells).all_inner_texts() for cells in ("thead th", "tbody tr > *"))
    told = dict(zip(heads, cells, strict=True))
    assert (told["reviewer"], told["reviewed"], told["unsure"], told["agreement"]) == ("ann", "1", "0", "–")
    ann.page.goto(f"{server.url}/q/claims/people")
    ann.page.click("text=Make an address")
    link = ann.page.inner_text("#invitation")
    other = chromium.new_context().new_page()
    assert other.goto(link).status == 200
    assert chromium.new_context().new_page().goto(link).status == 401


def test_values_of_a_table_cannot_run(tmp_path, chromium, reviewer, truth):
    import polars as pl

    from shortlist.review.create import create
    from shortlist.review.workspace import Workspace
    from tests.review.conftest import Served, make_rows

    evil = '<img src=x onerror="window.hit=1">'
    frame = (
        make_rows()
        .drop("truth")
        .with_columns(
            pl.lit(evil).alias("<script>window.hit=1</script>"),
            pl.lit("javascript:window.hit=1").alias("link"),
        )
    )
    frame = frame.with_columns(claim=evil + pl.col("claim"))
    frame.write_csv(tmp_path / "evil.csv")
    place = Workspace(tmp_path / "evil.review")
    create(str(tmp_path / "evil.csv"), place, id="claim", settings={"link_hosts": ["window.hit=1"]})
    server = Served(place.folder)
    try:
        ann = reviewer(server, "<b>ann</b>")
        ann.press("y")
        assert evil in ann.row
        ann.page.goto(f"{server.url}/q/evil/log")
        assert ann.page.evaluate("window.hit") is None
        assert ann.page.query_selector("img") is None
        assert ann.page.query_selector("a[href^=javascript]") is None
    finally:
        ann.page.close()
        server.stop()


#: Resolves when the page was laid out and drawn in the size that it has.
DRAWN = "() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


@pytest.mark.slow
def test_the_name_of_a_row_stays_in_one_line_where_the_page_is_zoomed(serve_queue, reviewer):
    ann = reviewer(serve_queue(value="amount"))
    ann.judge(4)
    ann.press("z")  # "taken back" stands beside the name, and takes its place
    for width in (800, 640, 577, 390):
        ann.page.set_viewport_size({"width": width, "height": 430})
        ann.page.evaluate(DRAWN)
        lines = ann.page.evaluate(
            "(title => title.offsetHeight / parseFloat(getComputedStyle(title).lineHeight))"
            "(document.getElementById('row-title'))"
        )
        over = ann.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert (width, round(lines), over) == (width, 1, 0)


@pytest.mark.skipif(SHOTS is None, reason="screenshots are taken when SHORTLIST_SCREENSHOTS names a folder")
def test_screenshots(serve_queue, reviewer, tmp_path):
    from shortlist.datasets import make_claims
    from shortlist.review.create import create
    from shortlist.review.workspace import Workspace
    from tests.review.conftest import Served

    claims = make_claims(5_000, random_state=0)
    claims.drop("fraud").write_csv(tmp_path / "claims.csv")
    create(
        str(tmp_path / "claims.csv"), Workspace(tmp_path / "shots" / "claims.review"), id="claim_id",
        value="amount", settings={"budget": 100, "audit": 0.2, "unit": "€"},
    )  # fmt: skip
    server = Served(tmp_path / "shots" / "claims.review")
    try:
        ann = reviewer(server)
        ann.truth = dict(claims.select("claim_id", "fraud").iter_rows())
        ann.judge(48)
        ann.shoot("review-light")
        ann.page.emulate_media(color_scheme="dark")
        ann.shoot("review-dark")
        ann.page.emulate_media(color_scheme="light")
        ann.page.set_viewport_size({"width": 390, "height": 844})
        ann.shoot("review-narrow")
        ann.page.set_viewport_size({"width": 640, "height": 430})  # a window of 1280 by 860, zoomed to 200 %
        ann.shoot("review-zoom")
        ann.page.set_viewport_size({"width": 1280, "height": 860})
        server.queue.change("lead", {"language": "de"}).result()
        ann.page.reload()
        ann.shoot("review-german")
    finally:
        ann.page.close()
        server.stop()
