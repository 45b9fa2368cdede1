"""People whom an authenticating proxy names: only a proxy that was named is believed, and nobody gets more by it."""

import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.review.server.app import check_exposure
from shortlist.review.web.access import Role
from tests.review.server.conftest import ORIGIN, Team, csrf_of

pytestmark = pytest.mark.slow

HEADER = "X-Forwarded-User"


@pytest.fixture(scope="module")
def behind(tmp_path_factory):
    """A server whose proxy is this very machine."""
    folder = tmp_path_factory.mktemp("behind")
    with Team(folder, proxies=["127.0.0.0/8"], user_header=HEADER).running() as team:
        team.join("Ann Smith", Role.LEAD)
        yield team


def test_who_is_known_comes_in_with_their_role(behind):
    http = behind.browser(**{HEADER: "ann  SMITH"})
    page = http.get("/base/account")
    assert (page.status_code, "Ann Smith" in page.text) == (200, True)
    assert http.get("/base/new").status_code == 200
    assert http.get("/base/people").status_code == 403
    assert http.post("/base/new", data={}).status_code == 403  # a form needs the token of its page, as ever
    http.headers["x-csrf-token"] = csrf_of(page.text)
    assert http.post("/base/new", data={}).status_code == 422
    assert (
        behind.browser(**{HEADER: "ann smith", "origin": "http://evil.example"}).post("/base/new").status_code
        == 403
    )


def test_who_is_new_may_look_until_an_admin_says_more(behind):
    http = behind.browser(**{HEADER: "bea@example.org"})
    assert http.get("/base/").status_code == 200
    assert http.get("/base/new").status_code == 403
    (bea,) = (each for each in behind.server.accounts.people() if each.name == "bea@example.org")
    assert (bea.role, bea.active) == (Role.VIEWER, True)
    behind.server.accounts.join(behind.server.accounts.invite(Role.ADMIN), "Root", "correct horse battery")
    behind.server.accounts.change(bea.id, role=Role.LEAD, active=True)
    behind.server.app.state.keys.forget()
    assert http.get("/base/new").status_code == 200
    behind.server.accounts.change(bea.id, role=Role.LEAD, active=False)
    behind.server.app.state.keys.forget()
    assert "/base/login" in str(http.get("/base/").url)  # who was shut out stays out


@pytest.mark.parametrize("name", ["", "x" * 61, "x" * 5000])
def test_names_that_nobody_can_have_are_strangers(behind, name):
    before = len(behind.server.accounts.people())
    assert "/base/login" in str(behind.browser(**{HEADER: name}).get("/base/").url)
    assert len(behind.server.accounts.people()) == before


def test_short_names_are_names(behind):
    """No password is theirs, so none can hold the name."""
    for name in "ABCDEFGH":
        assert behind.browser(**{HEADER: name}).get("/base/").status_code == 200


def test_two_names_are_nobody(behind):
    http = behind.browser()
    both = [*http.headers.items(), (HEADER, "Ann Smith"), (HEADER, "bea@example.org")]
    assert http.request("GET", "/base/account", headers=both, follow_redirects=False).status_code == 303


def test_a_token_still_opens_the_server_to_programs(behind):
    http = behind.program("Ann Smith", Role.VIEWER)
    http.headers[HEADER] = "Root"
    assert http.get("/base/api/v1/me").json() == {"name": "Ann Smith", "role": "viewer"}


@pytest.mark.parametrize(("proxies", "header"), [((), None), (("10.9.8.7",), HEADER), (("127.0.0.1",), None)])
def test_the_header_of_anybody_else_is_not_heeded(tmp_path, proxies, header):
    """No proxy is named, another one is, or the header is not: whoever sends it is a stranger."""
    with Team(tmp_path, proxies=proxies, user_header=header).running() as team:
        team.join("Ann Smith", Role.ADMIN)
        for name in (HEADER, HEADER.lower(), HEADER.upper()):
            answer = team.browser(**{name: "Ann Smith"}).get("/base/people", follow_redirects=False)
            assert (answer.status_code, answer.headers["location"]) == (303, "/base/login")
        assert [each.name for each in team.server.accounts.people()] == ["Ann Smith"]


@pytest.mark.parametrize(
    ("proxies", "header", "words"),
    [
        ((), HEADER, "with --proxy"),
        (("10.0.0.1",), "X User", "no name of a header"),
        (("10.0.0.1",), "", "no name"),
    ],
)
def test_a_header_without_a_proxy_is_refused(proxies, header, words):
    with pytest.raises(InvalidInputError, match=words):
        check_exposure("127.0.0.1", ORIGIN, proxies, header)
