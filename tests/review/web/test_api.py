"""The REST API through its client, and everything a stranger may send to it."""

import sys

import httpx
import polars as pl
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shortlist.cli._app import main
from shortlist.review.client import Client
from shortlist.review.create import create
from shortlist.review.desk.keeper import Keeper
from shortlist.review.errors import (
    BadRequestError,
    LeaseLostError,
    NoQueueError,
    NothingToUndoError,
    NotShownError,
    NotSignedInError,
    ReviewError,
    StoreError,
)
from shortlist.review.reading import prove_folder
from shortlist.review.web.security import Keys
from shortlist.review.web.server import create_app
from shortlist.review.web.site import Site
from shortlist.review.workspace import Workspace
from studies.quality.review_world import failing
from tests.review.conftest import Served, make_rows

QUIET = settings(max_examples=15, suppress_health_check=list(HealthCheck), derandomize=True, database=None)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    make_rows(120).drop("truth").write_csv(folder / "claims.csv")
    place = Workspace(folder / "claims.review")
    create(
        str(folder / "claims.csv"), place, id="claim", value="amount", settings={"budget": None, "audit": 0.2}
    )
    server = Served(place.folder)
    yield server
    server.stop()


@pytest.fixture
def run_command(monkeypatch, capsys):
    """Run the program; gives what it prints."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["shortlist", *map(str, arguments)])
        with pytest.raises(SystemExit, match="0"):
            main()
        return capsys.readouterr().out

    return run


@pytest.fixture(scope="module")
def client(server):
    return server.client("zoë")


def test_a_review_through_the_client(client):
    turn = client.turn()
    assert set(turn.fields) == {"amount", "days late", "region"}
    rows = []
    for _ in range(6):
        rows.append(turn.id)
        turn = client.record(turn.shown, "wanted" if len(rows) % 2 else "not wanted", note="n", reason="r1")
    assert (turn.reviewed, turn.found) == (6, 3)
    queue = client.queue()
    assert (queue.reviewed, queue.found, queue.reviewers) == (6, 3, ["zoë"])
    assert queue.value_found > 0
    assert client.undo().id == rows[-1]
    assert client.queue().reviewed == 5
    assert client.row(rows[0]).verdict == "wanted"
    assert [event.kind for event in client.row(rows[0]).history][:2] == ["shown", "verdict"]
    verdicts = client.verdicts()
    assert verdicts["id"].to_list() == rows[:5]
    assert set(verdicts.columns) >= {"verdict", "who", "when", "rank", "score", "note", "model version"}
    assert client.override(rows[0], "not wanted").found == 2
    client.note(rows[1], "called the shop")
    assert client.log(kind="note")[0].payload["note"] == "called the shop"
    parked = client.turn()
    assert client.park(parked.shown).id != parked.id
    assert len(client.ranking()) == 50
    assert client.digest()["version"] >= 3
    assert client.change(budget=500, unit="€").settings["budget"] == 500


def test_rows_arrive_while_the_review_runs(client):
    arrivals = make_rows(20, seed=5).drop("truth").with_columns(claim="N-" + pl.col("claim"))
    before = client.queue().rows
    assert client.append(arrivals).rows == before + 20
    assert client.row("N-C-0003").verdict is None
    with pytest.raises(ReviewError, match="in the queue already"):
        client.append(arrivals)
    with pytest.raises(ReviewError, match="lack the columns amount"):
        client.append(arrivals.drop("amount"))
    assert client.import_verdicts([("N-C-0001", "wanted", ""), ("N-C-0002", "not wanted", "old case")]) == 2
    assert client.import_verdicts([("N-C-0001", "not wanted", "")]) == 0
    assert client.row("N-C-0001").verdict == "wanted"


def test_ids_may_hold_anything_that_paths_are_made_of(client):
    odd = ["2024/0017", "a b?c#d%2F", "x/override", "ümläut"]
    client.append(make_rows(4, n_wanted=1, seed=6).drop("truth").with_columns(claim=pl.Series(odd)))
    for name in odd:
        assert client.row(name).id == name
        client.note(name, "seen")
        client.override(name, "wanted")
        assert client.row(name).verdict == "wanted"
        assert [event.kind for event in client.row(name).history] == ["note", "override"]


def test_verdicts_of_a_large_table_are_sent_in_parts(client):
    known = [("C-0018", "wanted", "")] * 2_500 + [("C-0019", "not wanted", "")]
    assert client.import_verdicts(known) == 2
    assert client.row("C-0019").verdict == "not wanted"


def test_a_model_from_the_verdicts(client):
    client.override("C-0001", "wanted")
    client.override("C-0002", "not wanted")
    path = client.train()
    assert path.exists()


def test_what_cannot_be_done_says_why(client, server):
    with pytest.raises(NotShownError):
        client.record(10**6, "wanted")
    with pytest.raises(NothingToUndoError):
        client.undo(10**6)
    with pytest.raises(NoQueueError, match="no row 'nobody'"):
        client.row("nobody")
    with pytest.raises(BadRequestError, match="verdict"):
        client.record(1, "perhaps")
    with pytest.raises(NoQueueError), Client(server.url, server.keys.access_token, "other") as other:
        other.turn()
    with pytest.raises(NotSignedInError), Client(server.url, "forged", "claims") as forged:
        forged.queue()
    assert issubclass(LeaseLostError, ReviewError)


def test_an_answer_sent_twice_is_one_and_another_to_the_same_row_is_a_conflict(server):
    client = server.client("yve")
    first, again = client.turn(), {"authorization": f"Bearer {server.keys.access_token}", "x-reviewer": "yve"}

    def send(path, **body):
        address = f"{server.url}/api/v1/queues/claims/{path}"
        return httpx.post(address, json={"shown": first.shown, **body}, headers=again, trust_env=False)

    answers = [send("verdicts", verdict="unsure", note="seen") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert len({answer.json()["shown"] for answer in answers}) == 1
    others = {"verdicts": {"verdict": "wanted"}, "park": {"note": "seen"}}
    for path, body in others.items():
        refused = send(path, **body)
        assert (refused.status_code, refused.json()["kind"]) == (409, "AnsweredError")
        assert f"you said “unsure (seen)” of {first.id} already" in refused.json()["detail"]
    assert [event.kind for event in client.row(first.id).history] == ["shown", "verdict"]
    client.undo()


def test_a_claimant_is_erased_while_the_review_runs(serve_queue, run_command):
    """Through the API, and by the command, which finds the server."""
    server = serve_queue()
    client = server.client("zoë")
    turn = client.turn()
    client.record(turn.shown, "wanted", note="Ottokar Garage")
    ranking = client.digest()["digest"]
    done = client.erase([turn.id])
    assert (done.rows, done.files) == (1, ["rows.parquet"])
    assert client.row(f"erased {turn.row}").history[1].payload["note"] == ""
    assert [event.kind for event in client.row(f"erased {turn.row}").history] == [
        "shown",
        "verdict",
        "erased",
    ]
    assert client.digest()["digest"] == ranking
    with pytest.raises(NoQueueError, match="no row"):
        client.row(turn.id)
    with pytest.raises(BadRequestError):
        client.erase([])
    other = client.turn().id
    assert "1 row erased" in run_command("erase", server.folder, "--row", other)
    assert client.turn().id not in (other, turn.id)
    assert not any(b"Ottokar" in path.read_bytes() for path in server.folder.rglob("*") if path.is_file())
    server.stop()
    assert prove_folder(server.folder).holds


def test_a_name_is_erased_while_the_server_runs(serve_queue, run_command):
    """Through the API, and by the command, which finds the server; an open page does not bring it back."""
    server = serve_queue()
    for who in ("Annabel Leigh", "zoë"):
        client = server.client(who)
        client.record(client.turn().shown, "wanted")
    done = server.client("bob").erase_name("Annabel Leigh")
    assert (done.queues, done.account, done.unread) == (["claims"], False, [])
    assert "'zoë' is erased; a number stands in its place in claims." in run_command(
        "erase", server.folder, "zoë"
    )
    with pytest.raises(BadRequestError, match="this name was erased"):
        client.turn()
    with pytest.raises(NoQueueError, match="there is nobody called 'zoë' here"):
        client.erase_name("zoë")
    log = server.client("eve").log(kind="name erased")
    assert [(event.who, event.payload["person"]) for event in log] == [
        ("bob", "erased 1"), ("command line", "erased 2"),
    ]  # fmt: skip
    assert server.client("eve").queue().reviewers == ["erased 1", "erased 2"]
    server.stop()
    assert prove_folder(server.folder).holds


def test_a_client_finds_the_server_of_a_workspace(server):
    with Client.of_workspace(server.folder, who="bob") as found:
        assert found.queue().name == "claims"


@QUIET
@given(
    st.sampled_from(
        ["/turn", "/verdicts", "/undo", "/park", "/settings", "/imports", "/rows", "/rows/x/override"]
    ),
    st.one_of(
        st.binary(max_size=200),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(["shown", "verdict", "note", "budget", "seconds", "audit"]), inner
                )
            ),
            max_leaves=8,
        ),
    ),
    st.sampled_from(["POST", "PATCH", "PUT", "DELETE"]),
)
def test_no_body_makes_the_server_fail(server, path, body, method):
    import json

    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {server.keys.access_token}", "content-type": "application/json"}
    answer = httpx.request(
        method, f"{server.url}/api/v1/queues/claims{path}", content=content, headers=headers, trust_env=False
    )
    assert answer.status_code < 500, answer.text


DESCRIPTION = schemathesis.openapi.from_dict(create_app({}, Keys("secret"), Site.local(1)).openapi())
OPERATIONS = [found.ok() for found in DESCRIPTION.get_all_operations()]
# Training reads nothing of its request, and takes its time.
OPERATIONS = [operation for operation in OPERATIONS if not operation.path.endswith("/model")]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_request_of_the_description_makes_the_server_fail(operation, server):
    assert _asked(operation, server, QUIET) > 0


@pytest.mark.slow
def test_no_request_of_thousands_makes_the_server_fail(server):
    many = settings(QUIET, max_examples=-(-2500 // len(OPERATIONS)))
    assert sum(_asked(operation, server, many) for operation in OPERATIONS) >= 2000


def _asked(operation, server, how):
    """How many requests of one operation were sent; none of them may make the server fail."""
    sent = []

    @how
    @given(operation.as_strategy())
    def no_failure(case):
        sent.append(case)
        parameters = {**(case.path_parameters or {}), "name": "claims"}
        case.path_parameters = parameters
        response = case.call(
            base_url=server.url, headers={"authorization": f"Bearer {server.keys.access_token}"}
        )
        assert response.status_code < 500, response.text

    no_failure()
    return len(sent)


def test_undo_that_is_called_again_after_an_error_takes_one_verdict_back(serve_queue):
    server = serve_queue()
    client = server.client()
    for _ in range(3):
        client.record(client.turn().shown, "wanted")
    lost = failing(Keeper, "_publish", lambda: ZeroDivisionError("a mistake"), afterwards=False, calls=1)
    with lost, pytest.raises(StoreError, match="counts once"):
        client.undo()
    with pytest.raises(NothingToUndoError, match="taken back"):
        client.undo()
    assert server.queue.snapshot.reviewed == 2
    client.turn()  # which tells what is the last one now
    client.undo()
    assert server.queue.snapshot.reviewed == 1
