"""What goes wrong on the server's side is an answer with a sentence: no page breaks, and nothing is half done."""

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

from shortlist.exceptions import TableError
from shortlist.languages.catalogues import language
from shortlist.review.client import Client
from shortlist.review.errors import StoreError
from shortlist.review.web import rendering
from shortlist.review.web.rendering import Words
from shortlist.review.workspace import Workspace
from tests.review.conftest import make_rows
from tests.review.web.conftest import signed_in


@pytest.fixture(scope="module")
def server(shared_server):
    return shared_server


@pytest.fixture(scope="module")
def browser(server):
    with signed_in(server) as http:
        yield http


def test_a_sum_that_overflows_is_shown_and_does_not_break_the_page(server, browser, monkeypatch):
    client = server.client()
    client.record(client.turn().shown, "wanted")
    monkeypatch.setattr(server.queue.rows, "value", lambda rows: float("inf"))
    client.record(client.turn().shown, "wanted")
    assert server.queue.snapshot.value_found == float("inf")
    page = browser.get("/q/claims")
    assert page.status_code == 200
    assert "<strong>–</strong>" in page.text
    assert client.queue().value_found is None


def test_values_that_are_infinite_are_refused_where_they_come_in(data, table, make_queue):
    table.drop("truth").with_columns(worth=1.0).write_csv(data)
    queue = make_queue(value="worth", ignore=["worth"])
    new = make_rows(3, n_wanted=1, seed=5).drop("truth")
    new = new.with_columns(claim="N-" + pl.col("claim"), worth=pl.Series([1.0, float("inf"), 2.0]))
    with pytest.raises(TableError, match=r"'worth' is infinite in 1 of 3 rows, the first of them row 2"):
        queue.append("ann", new).result()


def test_a_queue_whose_values_are_infinite_is_not_made(data, table, make_queue):
    table.drop("truth").with_columns(worth=pl.lit("1e999")).write_csv(data)
    with pytest.raises(TableError, match=r"'worth' is infinite in 200 of 200 rows.*leave them empty"):
        make_queue(value="worth", ignore=["worth"])


def test_a_verdict_that_nobody_knows_is_refused(server, browser):
    before = server.queue.snapshot.reviewed
    shown = browser.get("/q/claims").text.split('name="shown" value="')[1].split('"')[0]
    assert browser.post("/q/claims/verdict", data={"shown": shown, "verdict": "perhaps"}).status_code == 422
    assert browser.post("/q/claims/row/C-0001", data={"verdict": "perhaps", "note": "x"}).status_code == 422
    assert server.queue.snapshot.reviewed == before
    assert not list(server.queue.log(kinds=["note", "override"]))


def test_the_log_may_be_filtered_by_all_kinds(browser):
    assert browser.get("/q/claims/log", params={"kind": "", "who": ""}).status_code == 200
    assert browser.get("/q/claims/log", params={"kind": "shown"}).status_code == 200
    assert browser.get("/q/claims/log", params={"kind": "nonsense"}).status_code == 422


def _no_more_files(*_, **__):
    raise OSError(24, "Too many open files")


def test_verdicts_are_handed_out_when_there_are_no_more_files(server, browser, monkeypatch):
    client = server.client()
    client.record(client.turn().shown, "wanted", note="=1+1")
    monkeypatch.setattr("tempfile.mkdtemp", _no_more_files)
    monkeypatch.setattr("os.open", _no_more_files)
    csv, parquet = (browser.get(f"/q/claims/verdicts.{kind}") for kind in ("csv", "parquet"))
    monkeypatch.undo()
    assert (csv.status_code, parquet.status_code) == (200, 200)
    assert "'=1+1" in csv.text
    assert client.verdicts()["note"].to_list()[-1] == "=1+1"


def test_what_needs_a_file_says_that_there_is_none(server, browser, monkeypatch):
    monkeypatch.setattr("tempfile.mkdtemp", _no_more_files)
    with pytest.raises(StoreError, match=r"Too many open files.*nothing has changed"):
        server.client().append(make_rows(3, n_wanted=1).drop("truth"))
    assert server.queue.snapshot.n_rows == 200


def test_pages_of_a_server_that_was_just_started_need_no_files(serve_queue, monkeypatch):
    rendering.pages_in.cache_clear()
    rendering._templates.cache_clear()
    server = serve_queue()
    with signed_in(server, language="de") as browser:
        rendering.pages_in("de").cache.clear()  # no page was asked for
        for name in ("builtins.open", "io.open", "os.open", "os.scandir", "os.listdir"):
            monkeypatch.setattr(name, _no_more_files)
        pages = [browser.get(f"/q/claims{page}") for page in ("", "/log", "/people", "/figures", "/rows")]
        monkeypatch.setattr("shortlist.review.web.api.table_bytes", _no_more_files)
        refused = browser.get("/q/claims/verdicts.csv")
        nowhere = browser.get("/nowhere")
        monkeypatch.setattr("shortlist.review.web.pages.render", _no_more_files)
        bare = browser.get("/nowhere")
        monkeypatch.undo()
    assert [page.status_code for page in pages] == [200] * 5
    assert (refused.status_code, nowhere.status_code, bare.status_code) == (503, 404, 404)
    assert "Der Server kann das gerade nicht (Too many open files)" in refused.text
    assert bare.text == "There is no page at this address."


@pytest.mark.slow
def test_a_server_without_any_descriptor_left_says_so(data, make_workspace):
    place = Workspace.beside(str(data))
    make_workspace(data, place)
    call = [sys.executable, "-m", "tests.review.web.out_of_files", str(place.folder)]
    done = subprocess.run(call, capture_output=True, text=True, check=True, timeout=300)
    answers = json.loads(done.stdout)
    assert len(answers) == 13
    for path, (status, text) in answers.items():
        assert status == (404 if path == "/nowhere" else 200) or (status == 503 and "verdicts." in path), path
        assert status != 503 or "Too many open files" in text, path
    assert answers["/q/claims/verdicts.xlsx"][0] == 503  # which is made in a file


def test_a_request_in_flight_when_the_server_stops_is_told_so(serve_queue):
    server = serve_queue()
    client, append = server.client(), server.queue._store.append
    turn, begun = client.turn(), threading.Event()

    def slow(*arguments):
        begun.set()
        time.sleep(1.5)
        return append(*arguments)

    server.queue._store.append = slow
    server._server.config.timeout_graceful_shutdown = 0.2
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(client.record, turn.shown, "wanted")
        begun.wait()
        server._server.should_exit = True
        with pytest.raises(StoreError, match="Send this again"):
            answer.result()
    server.stop()


def test_a_server_that_takes_over_says_where_it_is(serve_queue, monkeypatch):
    """Programs that look for the server of a queue find the one that owns it now."""
    monkeypatch.setattr("shortlist.review.web.server.LOOK_AFTER_SECONDS", 0.05)
    first = serve_queue()
    second = serve_queue()
    assert (first.queue.read_only, second.queue.read_only) == (False, True)
    place = second.queue.workspace
    assert place.running()["url"] == first.url
    first.stop()
    until = time.monotonic() + 30
    while (place.running() or {}).get("url") != second.url and time.monotonic() < until:
        time.sleep(0.05)
    with Client.of_workspace(place.folder, who="ann") as client:
        assert client.record(client.turn().shown, "wanted").state == "row"
    assert second.queue.snapshot.reviewed == 1


@pytest.mark.parametrize("each", [1e308, 1e26])
def test_values_however_large_are_shown_on_every_page(serve_queue, data, table, each):
    """Babel has digits for 28 places only: a sum, what is expected of a row, and a cell may have more."""
    table.drop("truth").with_columns(worth=each).write_csv(data)
    settings = {"budget": None, "unit": "$", "formats": {"worth": "money EUR"}}
    server = serve_queue(value="worth", ignore=["worth"], settings=settings)
    client = server.client()
    turn = client.turn()
    for number in range(12):
        turn = client.record(turn.shown, "wanted" if number % 3 else "not wanted")
    with signed_in(server) as browser:
        for page in (
            "q/claims",
            "",
            "q/claims/figures",
            "q/claims/rows",
            "q/claims/log",
            f"q/claims/row/{turn.id}",
        ):
            answer = browser.get(f"/{page}")
            assert (page, answer.status_code) == (page, 200)
        shown = f"${each * 8:.0e}".replace("+", "") if each == 1e26 else "<strong>–</strong>"
        assert shown in browser.get("/q/claims").text


@pytest.mark.parametrize("value", [1e15, -1e15, 1e28, -1e308])
def test_what_has_too_many_places_is_written_with_an_exponent(value):
    german = Words(language("de"))
    said = german.language.write(value)
    assert german.money(value, "€") == german.about_money(value, "€") == f"{said}\xa0€"
    assert german.score(value) == said
    assert "e" in said
