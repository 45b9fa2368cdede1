"""Nobody gets in who was not let in: passwords, sessions, tokens, forms, and what a proxy says."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from shortlist.review.errors import (
    BadRequestError,
    ForbiddenError,
    NotSignedInError,
    ReviewError,
    TooOftenError,
)
from shortlist.review.log.database import Remote
from shortlist.review.log.postgres import Postgres
from shortlist.review.log.sqlite import Sqlite
from shortlist.review.server import accounts as people
from shortlist.review.server.accounts import Accounts
from shortlist.review.server.oidc.identities import Identities, Identity
from shortlist.review.server.passwords import MOST_WRONG, Throttle
from shortlist.review.web.access import Role
from tests.review.conftest import Clock
from tests.review.server.conftest import ORIGIN, PASSWORD, Team, csrf_of


@pytest.fixture(params=["sqlite", "postgres"])
def accounts(request, tmp_path, clock):
    if request.param == "sqlite":
        database = Sqlite(tmp_path / "people.sqlite", tmp_path)
    else:
        database = Postgres(Remote(request.getfixturevalue("postgres"), "", tmp_path))
    with closing(Accounts(database, clock)) as accounts:
        yield accounts


def test_accounts_are_the_same_in_both_databases(accounts, clock):
    token = accounts.invite(Role.ADMIN)
    ann = accounts.join(token, "  Ann Smith ", PASSWORD)
    assert (ann.name, ann.role, accounts.has_admin()) == ("Ann Smith", Role.ADMIN, True)
    with pytest.raises(NotSignedInError, match="used already"):
        accounts.join(token, "Bob", PASSWORD)
    for taken in ("ann smith", "ANN  SMITH"):
        with pytest.raises(BadRequestError, match="somebody else has this name"):
            accounts.join(accounts.invite(Role.VIEWER), taken, PASSWORD)
    session = accounts.sign_in("ann smith", PASSWORD, "10.0.0.1")
    assert accounts.of_session(session) == (ann, Role.ADMIN)
    program = accounts.make_token(ann, "nightly", Role.VIEWER)
    assert accounts.of_token(program) == (ann, Role.VIEWER)
    assert accounts.of_session(program) is accounts.of_token(session) is None
    clock.now += people.SESSION_SECONDS + 1
    assert accounts.of_session(session) is None
    assert accounts.of_token(program) is not None
    clock.now += people.TOKEN_SECONDS
    assert accounts.of_token(program) is None
    late = accounts.invite(Role.LEAD)
    clock.now += people.INVITATION_SECONDS + 1
    with pytest.raises(NotSignedInError, match="too old"):
        accounts.invited_as(late)


def test_whoever_leaves_is_out_at_once_and_the_last_admin_cannot(accounts):
    ann = accounts.join(accounts.invite(Role.ADMIN), "ann", PASSWORD)
    bob = accounts.join(accounts.invite(Role.LEAD), "bob", PASSWORD)
    session, token = accounts.open_session(bob.id), accounts.make_token(bob, "", Role.LEAD)
    accounts.change(bob.id, role=Role.VIEWER, active=True)
    assert accounts.of_session(session)[1] is accounts.of_token(token)[1] is Role.VIEWER
    accounts.change(bob.id, role=Role.VIEWER, active=False)
    assert accounts.of_session(session) is accounts.of_token(token) is None
    with pytest.raises(NotSignedInError):
        accounts.sign_in("bob", PASSWORD, "")
    accounts.change(bob.id, role=Role.VIEWER, active=True)
    assert accounts.of_session(session) is None  # what was closed stays closed
    for change in ({"role": Role.LEAD, "active": True}, {"role": Role.ADMIN, "active": False}):
        with pytest.raises(BadRequestError, match="has to be the admin"):
            accounts.change(ann.id, **change)
    assert accounts.people()[0] == ann


def test_a_new_password_signs_everybody_else_out(accounts):
    ann = accounts.join(accounts.invite(Role.ADMIN), "ann", PASSWORD)
    thief = accounts.open_session(ann.id)
    with pytest.raises(BadRequestError, match="not the password you have now"):
        accounts.change_password(ann, "something else", "another password", "")
    accounts.change_password(ann, PASSWORD, "another password", "")
    assert accounts.of_session(thief) is None
    with pytest.raises(NotSignedInError):
        accounts.sign_in("ann", PASSWORD, "")
    assert accounts.sign_in("ann", "another password", "")


@pytest.mark.slow
def test_identities_are_the_same_in_both_databases(accounts, clock):
    identities, ann = Identities(accounts), Identity("https://login.example", "u-1", "Ann", "ann@example.org")
    with pytest.raises(ForbiddenError, match="no account here yet"):
        identities.sign_in(ann, None)
    accounts.invite(Role.VIEWER, "Ann@example.org")
    accounts.invite(Role.LEAD, "ann@example.org ")
    person = identities.sign_in(ann, None)
    assert (person.name, person.role) == ("Ann", Role.LEAD)  # the highest of what was offered
    assert identities.sign_in(replace(ann, name="Anna", email=""), Role.VIEWER) == person
    elsewhere = replace(
        ann, issuer="https://other.example"
    )  # the same subject of another provider is somebody else
    with pytest.raises(ReviewError, match="somebody here is called Ann already"):
        identities.sign_in(elsewhere, Role.VIEWER)
    bob = identities.join(elsewhere, accounts.invite(Role.REVIEWER), "Bob")
    assert identities.has(bob, "https://other.example")
    assert not identities.has(bob, "https://login.example")
    with pytest.raises(ReviewError, match="already: Ann"):
        identities.connect(ann, bob)
    identities.connect(ann, person)  # again, which changes nothing
    accounts.invite(Role.ADMIN, "cy@example.org")
    clock.now += people.INVITATION_SECONDS + 1
    with pytest.raises(ForbiddenError):
        identities.sign_in(Identity("https://login.example", "u-3", "Cy", "cy@example.org"), None)
    with pytest.raises(NotSignedInError):
        accounts.sign_in("Ann", "", "10.0.0.1")  # no password is theirs


@pytest.mark.parametrize(
    "password", ["short", "x" * 201, "aaaaaaaaaaaa", "I am ANN SMITH!", "ababababababab"]
)
def test_passwords_that_are_easily_guessed_are_refused(accounts, password):
    with pytest.raises(BadRequestError):
        accounts.join(accounts.invite(Role.VIEWER), "ann smith", password)
    assert accounts.people() == []


def test_no_secret_is_stored(tmp_path):
    with closing(Accounts(Sqlite(tmp_path / "people.sqlite", tmp_path))) as accounts:
        invitations = [accounts.invite(Role.ADMIN), accounts.invite(Role.ADMIN)]
        ann = accounts.join(invitations[0], "ann", PASSWORD)
        secrets = [
            *invitations,
            PASSWORD,
            accounts.open_session(ann.id),
            accounts.make_token(ann, "", Role.LEAD),
        ]
        with closing(sqlite3.connect(tmp_path / "people.sqlite")) as tool:
            kept = "\n".join(tool.iterdump())
    assert "argon2id" in kept
    assert not any(secret in kept for secret in secrets)


def test_guessing_is_slowed_down_by_name_by_address_and_by_both():
    clock = Clock()

    def tries(throttle, who):
        for n in range(1000):
            try:
                throttle.check(*who(n))
            except TooOftenError:
                return n
            throttle.wrong(*who(n))
        raise AssertionError("never")

    assert tries(Throttle(clock), lambda n: ("ann", "10.0.0.1")) == MOST_WRONG["name and address"]
    assert tries(Throttle(clock), lambda n: (f"person {n}", "10.0.0.1")) == MOST_WRONG["address"]  # spraying
    assert tries(Throttle(clock), lambda n: ("ann", f"10.0.0.{n}")) == MOST_WRONG["name"]
    throttle = Throttle(clock)
    tries(throttle, lambda n: ("ann", "10.0.0.1"))
    throttle.check("ann", "10.0.0.2")  # who works elsewhere is not kept out by a stranger's guesses
    clock.now += 901
    throttle.check("ann", "10.0.0.1")


# -- over the wire


def sign_in(http, who, password=PASSWORD, **options):
    return http.post("/base/login", data={"who": who, "password": password}, **options)


def test_a_session_is_new_at_every_sign_in_and_can_be_closed_from_elsewhere(team):
    keys = team.server.app.state.keys
    http = team.browser()
    http.cookies.set(keys.cookie_name, "a session that a stranger has chosen", path="/base/")
    sign_in(http, "viewer")
    (secret,) = {
        cookie.value for cookie in http.cookies.jar if cookie.value != "a session that a stranger has chosen"
    }
    assert keys.accounts.of_session("a session that a stranger has chosen") is None
    other = team.browser()
    other.headers["x-csrf-token"] = csrf_of(sign_in(other, "viewer").text)
    listed = other.get("/base/account").text
    assert keys.name_of(secret) in listed
    assert secret not in listed
    other.post("/base/account/end", data={"digest": keys.name_of(secret)})
    replay = team.browser(cookie=f"{keys.cookie_name}={secret}")
    assert replay.get("/base/api/v1/queues").status_code == 401
    other.post("/base/logout")
    assert other.get("/base/api/v1/queues").status_code == 401


@pytest.mark.parametrize("cookie", ["", "x", "x" * 5000, "\x7f", "shortlist"])
def test_a_forged_cookie_is_a_strangers(team, cookie):
    http = team.browser(cookie=f"{team.server.app.state.keys.cookie_name}={cookie}")
    assert http.get("/base/api/v1/queues").status_code == 401


def test_a_form_from_elsewhere_changes_nothing(team):
    admin = team.people[Role.ADMIN]
    assert admin.post("/base/people/invite", headers={"x-csrf-token": "0" * 64}).status_code == 403
    assert admin.post("/base/people/invite", headers={"origin": "https://evil.example"}).status_code == 403
    assert admin.post("/base/people/invite", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    http = team.browser(origin="https://evil.example")
    assert sign_in(http, "viewer").status_code == 403


def test_a_token_does_no_more_than_its_scope_and_no_more_than_its_person(team):
    assert team.program("admin", Role.VIEWER).get("/base/api/v1/me").json() == {
        "name": "admin",
        "role": "viewer",
    }
    assert team.program("viewer", Role.ADMIN).get("/base/api/v1/me").json()["role"] == "viewer"
    narrow = team.program("admin", Role.VIEWER)
    assert narrow.post("/base/api/v1/queues/claims/turn").status_code == 403
    assert narrow.get("/base/people").status_code == 401  # pages are for browsers
    named = team.program("reviewer", Role.REVIEWER).post(
        "/base/api/v1/queues/claims/turn", headers={"x-reviewer": "lead"}
    )
    assert named.status_code == 200
    shown = team.program("lead", Role.LEAD).get("/base/api/v1/queues/claims/log?kind=shown").json()
    assert "lead" not in {event["who"] for event in shown}


def test_a_token_is_made_shown_once_and_withdrawn_on_the_page(team):
    http = team.people[Role.REVIEWER]
    page = http.post("/base/account/tokens", data={"label": "nightly <b>", "scope": "admin"}).text
    token = page.partition('<code id="token">')[2].partition("<")[0]
    program = team.browser(authorization=f"Bearer {token}")
    assert program.get("/base/api/v1/me").json()["role"] == "reviewer"
    listed = http.get("/base/account").text
    assert "nightly &lt;b&gt;" in listed
    assert token not in listed
    http.post("/base/account/end", data={"digest": team.server.app.state.keys.name_of(token)})
    assert program.get("/base/api/v1/me").status_code == 401


@pytest.mark.slow
def test_wrong_passwords_are_counted_by_the_address_that_a_named_proxy_tells(tmp_path):
    """From a peer that is not named the header is a lie, and counts for the peer."""
    for proxies, most in (([], MOST_WRONG["name and address"]), (["127.0.0.1"], 30)):
        with Team(tmp_path, url=ORIGIN, proxies=proxies).running() as team:
            answers = [
                team.browser(**{"x-forwarded-for": f"10.0.0.{n}"}).post(
                    "/login", data={"who": "x", "password": "y"}
                )
                for n in range(most + 1)
            ][-1:]
            assert [answer.status_code for answer in answers] == [401 if proxies else 429]
            assert "too many wrong passwords" in answers[0].text or proxies


@pytest.mark.slow
def test_one_password_for_many_names_has_an_end_over_the_wire(tmp_path):
    with Team(tmp_path, url=ORIGIN).running() as team:
        http = team.browser()
        tries = [
            http.post("/login", data={"who": f"person {n}", "password": "correct horse"}).status_code
            for n in range(MOST_WRONG["address"] + 1)
        ]
        assert tries == [401] * MOST_WRONG["address"] + [429]


def test_cookies_are_for_tls_where_the_public_address_is(tmp_path):
    with Team(tmp_path, url="https://reviews.example/base").running() as team:
        http, token = team.browser(), team.server.accounts.invite(Role.ADMIN)
        form = {"token": token, "who": "ann", "password": PASSWORD}
        cookie = http.post("/base/join", data=form, follow_redirects=False).headers["set-cookie"]
    assert all(part in cookie for part in ("; Secure", "; HttpOnly", "; Path=/base/", "; SameSite=lax"))
