"""What a case worker does, through the REST API; and what columns are, as people say it."""

import html
import json
import re

import polars as pl
import pytest

from shortlist.review.casework.related import related
from shortlist.review.create import create
from shortlist.review.errors import BadRequestError, LeaseLostError, NoQueueError
from shortlist.review.workspace import Workspace
from tests.review.conftest import Served, make_rows
from tests.review.web.conftest import signed_in

#: True, false or nothing, in turn.
POLICE = pl.Series([True, False, None] * 40)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("case")
    rows = make_rows(120).drop("truth").with_columns(zip=pl.int_range(10_000, 10_120), police=POLICE)
    copies = rows.head(2).with_columns(
        claim="N-" + pl.col("claim"), amount=(pl.col("amount") + 0.01).round(2)
    )
    pl.concat([rows, copies]).write_csv(folder / "claims.csv")
    place = Workspace(folder / "claims.review")
    settings = {"budget": None, "formats": {"days late": "year"}}
    create(str(folder / "claims.csv"), place, id="claim", value="amount", settings=settings)
    server = Served(place.folder)
    yield server
    server.stop()


@pytest.fixture
def client(server):
    client = server.client("zoë")
    yield client
    for listed in client.rows(standing="mine today").rows:
        if client.row(listed.id).verdict:
            client.undo(listed.seq)


def test_the_list_is_filtered_sorted_and_paged(server, client):
    table = server.queue.rows.table
    first = client.rows(sort="amount", down=True)
    assert (first.total, first.pages, len(first.rows)) == (122, 3, 50)
    ids = [row.id for page in (1, 2, 3) for row in client.rows(sort="amount", down=True, page=page).rows]
    assert ids == table.sort("amount", descending=True)["claim"].to_list()
    north = client.rows(standing="all", column="region", value="north")
    assert north.total == table.filter(pl.col("region") == "north").height
    assert [row.id for row in client.rows(standing="all", text="C-0042").rows] == ["C-0042"]
    assert client.rows().rows[0].row == server.queue.ranked(range(122), 1).result()[0]
    with pytest.raises(BadRequestError, match="amount holds numbers"):
        client.rows(column="amount", test="from", value="much")
    with pytest.raises(BadRequestError, match=r"test: must be one of: .*'contains'"):
        client.rows(test="like")


def test_rows_put_off_and_my_own_verdicts_are_listed(client):
    parked = client.turn()
    client.park(parked.shown, note="ask")
    (row,) = client.rows(standing="later").rows
    assert (row.id, row.verdict) == (parked.id, None)
    assert row.put_off_until > 0
    judged = client.turn()
    client.record(judged.shown, "not wanted", note="fine", reason="typo")
    (mine,) = client.rows(standing="mine today").rows
    assert (mine.id, mine.verdict, mine.who, mine.note, mine.reason) == (
        judged.id,
        "not wanted",
        "zoë",
        "fine",
        "typo",
    )
    assert client.undo(mine.seq).id == judged.id


def test_related_rows_and_near_copies(server, client):
    told = {each.column: each for each in client.related("C-0000")}
    (same,) = related(server.queue.rows, {}, 0, ["region"])
    assert (told["region"].others, told["region"].worth) == (same.others, same.worth)
    assert told["region"].value in ("north", "south")
    (copy,) = client.copies("C-0000")
    assert copy.id == "N-C-0000"
    assert [*copy.differences] == ["amount"]
    with pytest.raises(NoQueueError):
        client.related("nobody")


def test_yes_and_no_are_written_by_the_api_and_on_every_page(server, client):
    listed = {row.id: row.fields["police"] for row in client.rows(standing="all", sort="claim").rows}
    told = [client.row(id).fields["police"] for id in ("C-0000", "C-0001", "C-0002")]
    assert [listed[id] for id in ("C-0000", "C-0001", "C-0002")] == told == ["yes", "no", "–"]
    shared = [each for id in ("C-0000", "C-0001") for each in client.related(id) if each.column == "police"]
    assert [each.value for each in shared] == ["yes", "no"]
    assert client.rows(standing="all", column="police", value="yes").total == 41  # one of the copies, too
    with signed_in(server) as browser:
        for language, words in (("en", ("yes", "no")), ("de", ("ja", "nein"))):
            for id, word in zip(("C-0000", "C-0001"), words, strict=True):
                for path in ("rows?standing=all", f"row/{id}", f"sheet/{id}"):
                    page = browser.get(f"/q/claims/{path}", headers={"accept-language": language})
                    assert re.search(rf"\b{word}\b", page.text), path
        beside = browser.get("/q/claims/related/C-0001").text
        (link,) = re.findall(r'href="([^"]*column=police[^"]*)"', beside)
        assert "41 rows" in browser.get(html.unescape(link)).text
        assert browser.get("/q/claims/copies/C-0001").status_code == 200


def test_rows_are_decided_together_and_taken_back_together(server, client):
    queue = client.decide(["C-0003", "C-0004", "C-0005"], "wanted", note="a ring")
    assert queue.reviewed == 3
    with pytest.raises(LeaseLostError, match="nothing was recorded: C-0005"):
        client.decide(["C-0006", "C-0005"], "wanted")
    client.undo()
    assert server.queue.snapshot.reviewed == 0
    turn = client.take("C-0000")
    assert (turn.id, turn.drawn) == ("C-0000", "chosen")
    client.record(turn.shown, "not wanted", also=[copy.id for copy in client.copies("C-0000")])
    assert {client.row(id).verdict for id in ("C-0000", "N-C-0000")} == {"not wanted"}
    assert client.figures().whole.reviewed == 2
    assert client.undo().id == "C-0000"
    assert server.queue.snapshot.reviewed == 0
    with pytest.raises(BadRequestError, match="ids: holds at least 1"):
        client.decide([], "wanted")


def test_all_of_it_is_documented(server):
    with signed_in(server) as browser:
        paths = browser.get("/api/v1/openapi.json").json()["paths"]
    for path in ("rows", "related/{id}", "copies/{id}", "decisions", "take", "figures", "settings"):
        assert all(each["description"] for each in paths[f"/api/v1/queues/{{name}}/{path}"].values())


def test_people_say_what_a_column_is(server, client):
    place = server.queue.rows.position("C-0000")
    amount, zip_code = server.queue.rows.fields(place)["amount"], "10000"
    assert client.queue().settings["formats"] == {"days late": "year"}  # as the queue was made
    assert client.row("C-0000").fields["zip"] == zip_code  # a code, by its name
    client.change(formats={"zip": "count", "amount": "money EUR"})
    fields = client.row("C-0000").fields
    assert (fields["zip"], fields["amount"]) == ("10,000", f"€{amount:,.2f}")
    assert server.queue.rows.usual.columns["zip"].usual  # a count has usual values
    with signed_in(server) as browser:
        sent = {
            "column": ["amount", "zip", "region"],
            "format": ["money", "code", "code"],
            "currency": ["usd", "", ""],
        }
        page = browser.post("/q/claims/formats", data=sent).text
        assert f"${amount:,.2f}" in page
        german = browser.get("/q/claims/settings", headers={"accept-language": "de"}).text
        assert "wie es aussieht: Code" in german
        row = browser.get("/q/claims/row/C-0000").text
        wrong = browser.post("/q/claims/formats", data={"column": ["x"], "format": ["money"]})
        assert (wrong.status_code, "these columns are not in the table: x" in wrong.text) == (422, True)
        german = {"accept-language": "de"}
        wrong = browser.post(
            "/q/claims/formats", data={"column": ["zip"], "format": ["colour"]}, headers=german
        )
        assert "Es gibt kein Format „colour“" in wrong.text
    assert server.queue.snapshot.settings.formats == {"amount": "money USD", "zip": "code", "region": "code"}
    assert ">10000<" in row.replace("\n", "")
    assert "north – south" not in row  # names have no usual values
    for names in (("zip", "region"), ("amount",)):
        for name in names:
            column = server.queue.rows.usual.columns[name]
            assert column.format.names == (names != ("amount",))
            assert bool(column.spreads) == (names == ("amount",))
    with pytest.raises(BadRequestError, match="there is no format 'money EURO'"):
        client.change(formats={"amount": "money EURO"})
    client.change(formats={})
    assert client.row("C-0000").fields["amount"] == f"{amount:,.2f}"


def test_formats_survive_a_start_and_name_columns_that_are_there(make_queue, data, tmp_path):
    queue = make_queue(settings={"formats": {"amount": "money EUR"}})
    assert str(queue.rows.usual.columns["amount"].format) == "money EUR"
    queue.change("lead", {"formats": {"amount": "count"}}).result()
    queue.close()
    again = make_queue(again=True)
    assert again.rows.usual.columns["amount"].format.kind == "count"
    with pytest.raises(BadRequestError, match="these columns are not in the table: amounts"):
        create(
            str(data),
            Workspace(tmp_path / "other.review"),
            id="claim",
            settings={"formats": {"amounts": "id"}},
        )
    assert json.dumps(again.snapshot.settings.to_dict())
