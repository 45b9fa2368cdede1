"""What a case worker does all day, by keyboard alone and by mouse alone."""

import re

import numpy as np
import polars as pl
import pytest

from shortlist.review.casework.related import related
from tests.browser import IN_BROWSER

pytestmark = IN_BROWSER
TEAM = {
    "columns": ["region"],
    "words": {"wanted": "fraud", "not wanted": "clean"},
    "reasons": {"wanted": ["staged", "inflated"], "unsure": ["ask the shop"]},
    "criteria": "# Fraud if\n\n- **late**\n- [guide](https://wiki.example/x)\n\n<script>window.hit = 1</script>",
    "links": {"case system": "https://cases.example/claims/{claim}"},
}


@pytest.fixture
def ann(serve_queue, reviewer):
    return reviewer(serve_queue(settings=TEAM, value="amount"))


def said(person):
    return [event.body for event in person.server.queue.log(kinds=["verdict"])]


def act(person, *, key, click):
    """The same by key or by mouse."""
    person.page.wait_for_load_state("load")
    if person.by == "keyboard":
        person.page.keyboard.press(key)
    else:
        person.page.click(click)


def reach(page, selector):
    """Go to an element with the tabulator key alone."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached by keyboard")


def use(person, selector):
    """A button, a box or a link, by key or by mouse."""
    person.page.wait_for_load_state("load")
    if person.by == "mouse":
        person.page.click(selector)
        return
    reach(person.page, selector)
    person.page.keyboard.press(
        "Enter" if person.page.evaluate("document.activeElement.matches('a')") else "Space"
    )


def write(person, selector, text):
    """Into a field, instead of what it holds."""
    if person.by == "mouse":
        person.page.click(selector)
    else:
        reach(person.page, selector)
    person.page.keyboard.press("Control+a")
    person.page.keyboard.type(text)


def choose(person, selector, value):
    """One of a list; the browser's own list opens outside the page, where a mouse cannot be led."""
    if person.by == "mouse":
        person.page.select_option(selector, value)
        return
    reach(person.page, selector)
    for _ in range(30):
        if person.page.evaluate("document.activeElement.value") == value:
            return
        person.page.keyboard.press("ArrowDown")
    raise AssertionError(f"{value} is not in {selector}")


#: The same work twice; the second way takes as long as the first.
WAYS = ["keyboard", pytest.param("mouse", marks=pytest.mark.slow)]


@pytest.fixture(params=WAYS)
def worker(ann, request):
    ann.by = request.param
    return ann


def fresh(person):
    person.page.evaluate("document.getElementById('main').dataset.old = 'yes'")


def wait_for_next(person):
    person.page.wait_for_selector("#main:not([data-old])")


def test_a_verdict_with_a_reason(worker):
    page, row = worker.page, worker.row
    fresh(worker)
    act(worker, key="y", click="button[value=wanted]")
    page.wait_for_selector('.codes[data-verdict="wanted"]:visible')
    act(worker, key="2", click=".codes >> text=inflated")
    wait_for_next(worker)
    assert worker.row != row
    assert [(body.verdict, body.reason) for body in said(worker)] == [("wanted", "inflated")]


def test_a_reason_may_be_left_out_or_the_verdict_changed(worker):
    page = worker.page
    act(worker, key="y", click="button[value=wanted]")
    act(worker, key="u", click="button[value=unsure]")
    page.wait_for_selector('.codes[data-verdict="unsure"]:visible')
    assert page.is_hidden('.codes[data-verdict="wanted"]')
    page.keyboard.press("Escape")
    assert page.is_hidden(".codes")
    assert said(worker) == []
    fresh(worker)
    act(worker, key="u", click="button[value=unsure]")
    act(worker, key="u", click=".codes:visible >> text=no reason")
    wait_for_next(worker)
    fresh(worker)
    act(worker, key="n", click='button[value="not wanted"]')  # has no reasons
    wait_for_next(worker)
    assert [(body.verdict, body.reason) for body in said(worker)] == [("unsure", ""), ("not wanted", "")]


def test_a_required_reason_cannot_be_left_out(worker):
    queue, page, row = worker.server.queue, worker.page, worker.row
    queue.change("lead", {"reasons_required": True}).result()
    page.reload()
    page.wait_for_load_state("load")
    act(worker, key="y", click="button[value=wanted]")
    act(worker, key="y", click="button[value=wanted]")
    page.wait_for_timeout(300)
    assert (worker.row, said(worker)) == (row, [])
    fresh(worker)
    act(worker, key="1", click=".codes >> text=staged")
    wait_for_next(worker)
    assert said(worker)[0].reason == "staged"


@pytest.mark.slow
def test_related_rows_are_counted(worker):
    page, rows = worker.page, worker.server.queue.rows
    (told,) = related(rows, {}, rows.position(worker.row), ["region"])
    line = page.inner_text(".shared li")
    assert line == f"same region: {told.others} other rows, {told.worth:,.2f}"
    act(worker, key="r", click="text=related rows")
    page.wait_for_selector("#related-title")
    act(worker, key="r", click="text=related rows")
    page.wait_for_selector("#related-title", state="detached")
    use(worker, ".shared a")
    page.wait_for_selector("#total")
    assert page.inner_text("#total") == f"{told.others + 1} rows"


@pytest.mark.slow
def test_search_jumps_to_a_row_or_lists_what_holds_it(worker):
    page = worker.page
    for text, title in [("C-0042", "C-0042"), ("C-01", "Rows")]:
        act(worker, key="/", click="#find")
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        page.wait_for_selector(f"h1:has-text('{title}')")
    assert page.inner_text("#total") == "100 rows"


def test_the_queue_as_a_list(worker):
    page, queue = worker.page, worker.server.queue
    act(worker, key="q", click="nav >> text=rows")
    page.wait_for_selector("#total")
    ids = page.locator("table.list tbody th").all_inner_texts()
    ranking = [queue.rows.id(row) for row in queue.ranked(np.arange(200), 50).result()]
    assert ids == ranking
    use(worker, "thead a[href*='sort=amount']")
    page.wait_for_selector("th[aria-sort=ascending]")
    use(worker, "thead a[href*='sort=amount']")
    page.wait_for_selector("th[aria-sort=descending]")
    act(worker, key=".", click="text=next")
    page.wait_for_selector("text=page 2 of 4")
    shown = [queue.rows.position(id) for id in page.locator("table.list tbody th").all_inner_texts()]
    assert shown == queue.rows.table["amount"].arg_sort(descending=True)[50:100].to_list()
    choose(worker, "select[name=column]", "days late")
    choose(worker, "select[name=test]", "from")
    write(worker, "input[name=value]", "twenty")
    page.keyboard.press("Enter")
    page.wait_for_url("**value=twenty*")
    assert "days late holds numbers" in page.inner_text("main [role=alert]")
    write(worker, "input[name=value]", "20")
    use(worker, ".filters button")
    late = queue.rows.table.filter(queue.rows.table["days late"] >= 20).height
    page.wait_for_selector(f"#total:has-text('{late} rows')")


@pytest.mark.slow
def test_rows_put_off_and_my_own_verdicts_are_found_in_the_list(worker):
    page, parked = worker.page, worker.row
    for key, click in (("l", "button[value=later]"), ("n", 'button[value="not wanted"]')):
        judged = worker.row
        fresh(worker)
        act(worker, key=key, click=click)
        wait_for_next(worker)
    act(worker, key="q", click="nav >> text=rows")
    page.wait_for_selector("#total")
    choose(worker, "select[name=standing]", "later")
    use(worker, ".filters button")
    page.wait_for_url(re.compile("standing=later"))
    assert page.locator("table.list tbody th").all_inner_texts() == [parked]
    choose(worker, "select[name=standing]", "mine today")
    use(worker, ".filters button")
    page.wait_for_url(re.compile("standing=mine"))
    assert page.locator("table.list tbody th").all_inner_texts() == [judged]


@pytest.mark.slow
def test_criteria_and_links_stand_beside_the_case(worker):
    page = worker.page
    assert page.inner_text(".criteria h3") == "Fraud if"
    assert page.evaluate("window.hit") is None
    act(worker, key="g", click="#criteria summary")
    assert page.is_hidden(".criteria")
    link = page.get_attribute("text=case system", "href")
    assert link == f"https://cases.example/claims/{worker.row}"


@pytest.mark.slow
def test_a_case_sheet_says_it_all(worker, tmp_path):
    page, queue, row = worker.page, worker.server.queue, worker.row
    worker.page.keyboard.press("c")
    worker.page.keyboard.type("photos do not match")
    worker.page.keyboard.press("Escape")
    fresh(worker)
    act(worker, key="y", click="button[value=wanted]")
    act(worker, key="1", click=".codes >> text=staged")
    wait_for_next(worker)
    page.goto(f"{worker.server.url}/q/claims/row/{row}")
    act(worker, key="s", click="text=case sheet")
    page.wait_for_selector("#digest")
    assert page.inner_text("#digest") == queue.digest().result()
    with page.expect_download() as got:
        page.click("text=Save as a file")
    got.value.save_as(tmp_path / "sheet.html")
    for text in (page.inner_text("main"), (tmp_path / "sheet.html").read_text()):
        for part in (row, "fraud", "staged", "photos do not match", "ann", "days late", "shown"):
            assert part in text
    assert "/static/" not in (tmp_path / "sheet.html").read_text()


@pytest.mark.slow
def test_a_team_sets_its_own_words(worker, truth):
    page, queue = worker.page, worker.server.queue
    use(worker, "nav a[href$=settings]")
    page.wait_for_selector("#team")
    write(worker, "textarea[name=columns]", "amount\nregion")
    write(worker, "fieldset:nth-of-type(1) input[name=word]", "hit")
    write(worker, "fieldset:nth-of-type(2) textarea[name=reasons]", "typo\nduplicate")
    write(worker, "textarea[name=links]", "wiki = https://wiki.example/?q={region}")
    write(worker, "textarea[name=criteria]", "*new*")
    use(worker, "form[action$=team] button.yes")
    page.wait_for_selector("#row-title")
    now = queue.snapshot.settings
    assert (now.columns, now.words) == (("amount", "region"), {"wanted": "hit", "not wanted": "clean"})
    assert now.reasons["not wanted"] == ["typo", "duplicate"]
    assert now.links == {"wiki": "https://wiki.example/?q={region}"}
    assert now.criteria == "*new*"
    assert "hit" in page.inner_text("#verdict")
    use(worker, "nav a[href$=settings]")
    page.wait_for_selector("#formats")
    choose(worker, "select[aria-label='what amount is']", "money")
    write(worker, "input[aria-label='currency of amount']", "eur")
    use(worker, "form[action$=formats] button.yes")
    page.wait_for_selector("td:has-text('€')")
    assert queue.snapshot.settings.formats == {"amount": "money EUR"}


def test_rows_are_decided_together_and_taken_back_together(worker):
    page, queue = worker.page, worker.server.queue
    act(worker, key="q", click="nav >> text=rows")
    page.wait_for_selector("#bulk")
    page.wait_for_load_state("load")
    assert page.is_disabled("#bulk button[value=wanted]")
    ids = page.locator("table.list tbody th").all_inner_texts()[:3]
    for id in ids:
        use(worker, f"input[name=id][value={id}]")
    assert page.inner_text("#selected") == "3 rows selected"
    act(worker, key="n", click='#bulk button[value="not wanted"]')
    page.wait_for_selector("text=197 rows")
    assert {queue.rows.id(body.row) for body in said(worker)} == {*ids}
    act(worker, key="z", click="#undo >> text=take my last verdict back")
    page.wait_for_selector("text=200 rows")
    assert queue.snapshot.reviewed == 0
    assert len(list(queue.log(kinds=["undo"]))) == 3


def test_a_row_of_the_list_is_reviewed_at_once_and_a_verdict_corrected(worker):
    page = worker.page
    page.goto(f"{worker.server.url}/q/claims/row/C-0042")
    act(worker, key="v", click="text=review now")
    page.wait_for_selector("#row-title:has-text('C-0042')")
    assert "from the list" in page.inner_text(".place")
    fresh(worker)
    act(worker, key="n", click='button[value="not wanted"]')
    wait_for_next(worker)
    page.goto(f"{worker.server.url}/q/claims/rows?standing=mine+today")
    use(worker, "[aria-label='take back the verdict on C-0042']")
    page.wait_for_selector("#row-title:has-text('C-0042')")
    assert worker.server.queue.snapshot.reviewed == 0


def test_a_key_that_comes_with_the_new_row_is_not_lost(ann):
    ann.page.evaluate(
        "document.addEventListener('htmx:afterSwap', () => setTimeout(() =>"
        " document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'd', bubbles: true }))), { once: true })"
    )
    ann.page.keyboard.press("l")
    ann.page.wait_for_selector("#copies-title")


@pytest.mark.slow
@pytest.mark.parametrize("by", WAYS)
def test_near_copies_are_decided_together(serve_queue, reviewer, data, truth, by):
    table = pl.read_csv(data)
    pl.concat([table, table.head(60).with_columns(claim="D" + pl.col("claim"))]).write_csv(data)
    truth.update({f"D{id}": wanted for id, wanted in truth.items()})
    ann = reviewer(serve_queue())
    ann.by, queue, page = by, ann.server.queue, ann.page
    ann.page.goto(f"{ann.server.url}/q/claims/row/C-0005")
    act(ann, key="v", click="text=review now")
    page.wait_for_selector("#row-title:has-text('C-0005')")
    act(ann, key="d", click="text=near copies")
    page.wait_for_selector("#copies-title")
    assert page.locator(".copies input").get_attribute("value") == "DC-0005"
    fresh(ann)
    act(ann, key="n", click='button[value="not wanted"]')
    wait_for_next(ann)
    assert {queue.rows.id(body.row) for body in said(ann)} == {"C-0005", "DC-0005"}
    fresh(ann)
    act(ann, key="z", click="#undo button")
    wait_for_next(ann)
    assert ann.row == "C-0005"
    assert queue.snapshot.reviewed == 0
    act(ann, key="d", click="text=near copies")
    page.wait_for_selector("#copies-title")
    use(ann, ".copies input")  # not for this one
    fresh(ann)
    act(ann, key="n", click='button[value="not wanted"]')
    wait_for_next(ann)
    assert [queue.rows.id(event.row) for event in queue.snapshot.verdicts] == ["C-0005"]


def test_another_answer_in_a_second_tab_is_refused_with_both_shown(ann):
    other, row = ann.page.context.new_page(), ann.row
    other.goto(f"{ann.server.url}/q/claims")
    other.wait_for_load_state("load")
    ann.press("n")
    other.keyboard.press("u")
    other.keyboard.press("u")
    other.wait_for_selector(".banner[role=status]")
    told = other.inner_text(".banner[role=status]")
    assert f"you said “clean” of {row} already; “unsure” was not recorded" in told
    assert [body.verdict for body in said(ann)] == ["not wanted"]
