"""The figures of a review: on the page, for programs, and as files."""

import io
import re

import httpx
import polars as pl
import pytest

from shortlist.verdicts import Verdict
from tests.review.conftest import make_rows
from tests.review.web.conftest import signed_in


@pytest.fixture
def server(serve_queue):
    return serve_queue(value="amount", settings={"unit": "€", "budget": 60})


@pytest.fixture
def browser(server):
    """A browser, signed in as ann."""
    with signed_in(server) as http:
        yield http


@pytest.fixture
def told(server):
    """The figures as a program reads them."""
    headers = {"authorization": f"Bearer {server.keys.access_token}"}

    def read(path="figures"):
        return httpx.get(f"{server.url}/api/v1/queues/claims/{path}", headers=headers, trust_env=False)

    return read


def judge(queue, who, answers, reason=""):
    turn, rows = queue.turn(who).result(), []
    for said in answers:
        rows.append(turn)
        turn = queue.record(who, turn.shown, said, reason=reason).result()
    return rows


def test_nothing_is_claimed_where_nobody_looked(server, browser, told):
    assert "Figures come with the first verdicts." in browser.get("/q/claims/figures").text
    judge(server.queue, "ann", [Verdict.NOT_WANTED] * 3)
    whole = told().json()["whole"]
    assert whole["agreement"] is None
    assert whole["precision"]["value"] == 0
    assert whole["precision"]["high"] > 0.5  # of three rows
    assert told().json()["drift"] is None
    page = browser.get("/q/claims/figures").text
    assert "nobody has looked twice yet" in page
    assert "100%" not in page.split("</dl>")[0].split("agreement where two looked")[1]


def test_agreement_counts_rows_on_which_two_decided(server, told):
    queue = server.queue
    rows = judge(queue, "ann", [Verdict.WANTED, Verdict.NOT_WANTED, Verdict.UNSURE, Verdict.WANTED], "shell")
    for turn, said in zip(rows[:3], [Verdict.WANTED, Verdict.WANTED, Verdict.WANTED], strict=True):
        queue.override("lead", turn.row, said).result()
    queue.override("ann", rows[3].row, Verdict.NOT_WANTED).result()  # her own second thoughts
    figures = told().json()
    agreement = figures["whole"]["agreement"]
    assert (agreement["part"], agreement["whole"]) == (1, 2)
    assert figures["whole"]["found"] == 3
    (ann,) = figures["reviewers"]
    assert (ann["name"], ann["reviewed"], ann["found"]) == ("ann", 4, 3)
    (shell,) = figures["reasons"]
    assert (shell["name"], shell["precision"]["part"], shell["precision"]["whole"]) == ("shell", 3, 4)
    worth = sum(queue.rows.value([turn.row]) for turn in rows[:3])
    assert figures["whole"]["value"] == pytest.approx(worth)


def test_rows_that_wait_for_a_lead_are_told_with_what_is_known_of_them(server, browser):
    (turn,) = judge(server.queue, "ann", [Verdict.UNSURE], "ask the shop")
    page = browser.get("/q/claims/people").text
    (line,) = re.findall(r"<tr><th scope=\"row\">.*?</tr>", page, re.DOTALL)
    values = server.queue.rows.fields(turn.row)
    for part in (turn.id, "ann", "ask the shop", f"{values['amount']:,.2f}", values["region"]):
        assert part in line


def test_files_hold_the_figures_and_the_columns_of_the_data(server, browser, told):
    rows = judge(server.queue, "=cmd()", [Verdict.WANTED, Verdict.NOT_WANTED])
    table = pl.read_csv(told("figures.csv").content)
    assert table["part"].to_list() == ["all", "week", "reviewer"]
    assert table["reviewed"].to_list() == [2, 2, 2]
    assert table["precision of"].to_list() == [2, 2, 2]
    assert table["name"][2] == "'=cmd()"  # a spreadsheet does not run it
    with_data = pl.read_csv(told("verdicts.csv?data=true").content)
    assert with_data["id"].to_list() == [turn.id for turn in rows]
    assert with_data["amount"].to_list() == pytest.approx(
        [server.queue.rows.fields(t.row)["amount"] for t in rows]
    )
    assert "amount" not in pl.read_csv(browser.get("/q/claims/verdicts.csv").content).columns
    book = browser.get("/q/claims/figures.xlsx").content
    sheets = pl.read_excel(io.BytesIO(book), sheet_id=0)
    assert [*sheets] == ["figures", "verdicts"]
    assert sheets["verdicts"]["id"].to_list() == with_data["id"].to_list()
    assert sheets["figures"]["name"][2] == "=cmd()"  # a text in a workbook is no formula
    assert pl.read_excel(io.BytesIO(told("verdicts.xlsx").content))["verdict"].to_list() == [
        "wanted",
        "not wanted",
    ]


def test_rows_that_were_added_are_compared_with_the_first(server, browser, told):
    more = make_rows(200, seed=5).drop("truth")
    more = more.with_columns(claim=pl.lit("N-") + pl.col("claim"), amount=pl.col("amount") * 10)
    server.queue.append("lead", more).result()
    judge(server.queue, "ann", [Verdict.WANTED])
    drift = {shift["column"]: shift for shift in told().json()["drift"]}
    assert [name for name, shift in drift.items() if shift["marked"]] == ["amount"]
    assert "The values of 1 column have shifted by more than chance." in browser.get("/q/claims/figures").text
    assert browser.get("/q/claims").status_code == 200  # what is usual now reaches as far as the new rows


def test_the_day_of_a_reviewer_and_their_goal(server, browser):
    queue = server.queue
    found = judge(queue, "ann", [Verdict.WANTED, Verdict.NOT_WANTED])[0]
    judge(queue, "bob", [Verdict.WANTED])
    worth = queue.rows.value([found.row])
    assert f"you: 2 today, 1 found, €{worth:,.2f}" in browser.get("/q/claims").text
    queue.change("lead", {"goal": 2}).result()
    page = browser.get("/q/claims").text
    assert "you: 2 of 2 today, 1 found" in page
    assert "goal reached" in page
    queue.undo("ann").result()
    assert "you: 1 of 2 today, 1 found" in browser.get("/q/claims").text
    german = browser.get("/q/claims", headers={"accept-language": "de"}).text
    assert "heute geprüft: 1 von 2, 1 gefunden" in german
    assert queue.turn("ann").result().today.reviewed == 1


def test_the_page_shows_what_rows_are_ranked_by(server, browser, told):
    page = browser.get("/q/claims").text
    assert "by expected value" not in page  # verdicts of both kinds are needed to know chances
    judge(server.queue, "ann", [Verdict.WANTED, Verdict.NOT_WANTED] * 3)
    page, top = browser.get("/q/claims").text, told("ranking").json()
    assert "by expected value" in page
    listed = re.findall(r'<span class="score">€([\d,.]+)</span>', page)
    shown = [float(each.replace(",", "")) for each in listed]
    assert shown == sorted(shown, reverse=True)
    assert shown == pytest.approx([each["expected_value"] for each in top[:6]], abs=0.5)
    assert f"expected value €{round(server.queue.turn('ann').result().expected_value):,}" in page
