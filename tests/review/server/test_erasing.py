"""An admin erases a person on a running server: account and name, in every queue, by page, API and command."""

import sqlite3
from contextlib import closing

import pytest

from shortlist.review.change import erase_name
from shortlist.review.create import create
from shortlist.review.errors import ForbiddenError, NoQueueError, ReadOnlyError
from shortlist.review.reading import prove_folder
from shortlist.review.web.access import Role
from shortlist.review.workspace import Workspace
from tests.review.conftest import make_rows
from tests.review.server.conftest import Team

pytestmark = pytest.mark.slow

NAME = "Annabel Leigh"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def database(request):
    return None if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture
def place(tmp_path, database):
    """A folder with two queues."""
    for name in ("claims", "invoices"):
        data = tmp_path / f"{name}.csv"
        make_rows(60, 6).drop("truth").write_csv(data)
        create(str(data), Workspace.beside(str(data)), id="claim", database=database)
    return tmp_path


@pytest.fixture
def team(place, database):
    with Team(place, database=database).running() as team:
        team.admin, team.ann = team.join("admin", Role.ADMIN), team.join(NAME, Role.REVIEWER)
        yield team


def judge(team, queue):
    program = team.program(NAME, Role.REVIEWER)
    turn = program.post(f"/base/api/v1/queues/{queue}/turn").json()
    said = {"shown": turn["shown"], "verdict": "wanted"}
    assert program.post(f"/base/api/v1/queues/{queue}/verdicts", json=said).status_code == 200
    return program


def whos(team, queue):
    return {event.who for event in team.server.queues[queue].log()}


def test_an_admin_erases_somebody_on_their_page(team, place, database):
    program = judge(team, "claims")
    judge(team, "invoices")
    person = team.server.accounts.called(NAME.upper())
    assert NAME in team.admin.get("/base/people").text
    asked = team.admin.get(f"/base/people/{person.id}/erase").text
    assert f"Erase {NAME}?" in asked

    page = team.admin.post(f"/base/people/{person.id}/erase")

    assert "Queues whose logs had it: claims, invoices." in page.text
    assert NAME not in page.text
    for queue in ("claims", "invoices"):
        assert whos(team, queue) == {"erased 1", "admin"}
        assert NAME not in team.admin.get(f"/base/q/{queue}/log").text + team.admin.get("/base/metrics").text
    assert team.ann.get("/base/account").url.path == "/base/login"
    assert program.get("/base/api/v1/me").status_code == 401
    assert team.admin.post(f"/base/people/{person.id}/erase").status_code == 404
    assert team.admin.get(f"/base/people/{person.id}/erase").status_code == 404
    if database is None:
        assert not [
            path for path in place.rglob("*") if path.is_file() and NAME.encode() in path.read_bytes()
        ]
    assert team.join(NAME, Role.VIEWER).get("/base/").status_code == 200  # somebody else may be called so


def test_the_log_of_an_erased_person_is_proved_and_who_never_reviewed_is_erased_too(team, place):
    judge(team, "claims")
    api = team.program("admin", Role.ADMIN)
    done = api.post("/base/api/v1/people/erasures", json={"name": NAME})
    assert done.json() == {"queues": ["claims"], "account": True, "unread": []}
    team.join("Viola", Role.VIEWER)
    done = api.post("/base/api/v1/people/erasures", json={"name": "viola"})
    assert done.json() == {"queues": [], "account": True, "unread": []}
    for name in ("nobody", "  ", NAME, "erased 1"):
        assert api.post("/base/api/v1/people/erasures", json={"name": name}).status_code == 404
    assert api.post("/base/api/v1/people/erasures", json={}).status_code == 422
    assert prove_folder(place / "claims.review").holds


def test_the_last_admin_stays_and_what_is_refused_changes_nothing(team):
    judge(team, "claims")
    person = team.server.accounts.called("admin")
    refused = team.admin.post(f"/base/people/{person.id}/erase")
    assert (refused.status_code, "make another one first" in refused.text) == (422, True)
    team.server.queues["claims"].read_only = True  # as where another server owns it
    api = team.program("admin", Role.ADMIN)
    refused = api.post("/base/api/v1/people/erasures", json={"name": NAME})
    assert (refused.status_code, refused.json()["kind"]) == (403, "ReadOnlyError")
    team.server.queues["claims"].read_only = False
    assert team.ann.get("/base/account").status_code == 200
    assert NAME in whos(team, "claims")


def test_what_was_cut_short_can_be_asked_for_again(team, monkeypatch):
    judge(team, "claims")
    judge(team, "invoices")
    api = team.program("admin", Role.ADMIN)
    with monkeypatch.context() as patch:
        patch.setattr("shortlist.review.server.accounts.Accounts.erase", lambda self, id: 1 / 0)
        with pytest.raises(Exception):  # noqa: B017, PT011 (whatever the server says)
            api.post("/base/api/v1/people/erasures", json={"name": NAME}).raise_for_status()
    assert whos(team, "claims") == {"erased 1", "admin"}
    assert team.ann.get("/base/account").url.path == "/base/login"
    done = api.post("/base/api/v1/people/erasures", json={"name": NAME})
    assert done.json() == {"queues": [], "account": True, "unread": []}


def test_the_command_asks_the_server_that_runs(place, database):
    if database is not None:
        pytest.skip("the same wherever the log is")
    folder = place / "claims.review"
    with Team(place, url=None).running() as team:
        accounts, tokens = team.server.accounts, {}
        for name, role in ((NAME, Role.REVIEWER), ("lead", Role.LEAD), ("admin", Role.ADMIN)):
            person = accounts.join(accounts.invite(role), name, "correct horse battery")
            tokens[role] = accounts.make_token(person, "test", role)
        team.server.queues["claims"].turn(NAME).result()
        with pytest.raises(ReadOnlyError, match="in use"):
            erase_name(folder, NAME)
        with pytest.raises(ForbiddenError, match="needs the role admin"):
            erase_name(folder, NAME, server=team.url, token=tokens[Role.LEAD])
        with pytest.raises(NoQueueError, match="nobody called 'Bob' here"):
            erase_name(folder, "Bob", server=team.url, token=tokens[Role.ADMIN])
        assert erase_name(folder, NAME, server=team.url, token=tokens[Role.ADMIN]) == ["claims"]
        assert accounts.called(NAME) is None
    with closing(sqlite3.connect(place / "people.sqlite")) as tool:
        assert tool.execute("select count(*) from tokens").fetchone() == (2,)
