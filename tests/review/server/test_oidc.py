"""Signing in with an OpenID provider that runs beside the tests: whose account it opens, and how one comes and goes."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from shortlist.exceptions import InvalidInputError, MissingExtraError
from shortlist.review.server.oidc import settings as oidc_settings
from shortlist.review.server.oidc.settings import OidcSettings
from shortlist.review.web.access import Role
from tests.browser import IN_BROWSER
from tests.review.server.conftest import ORIGIN, PASSWORD
from tests.review.server.openid import CLIENT, at_provider, begin, names, sign_in

pytestmark = pytest.mark.slow


def test_an_invitation_is_accepted_without_a_password_and_from_then_on_the_identity_opens_the_account(
    open_team, provider
):
    team = open_team()
    token = team.server.accounts.invite(Role.LEAD)
    http = team.browser()
    form = http.get(f"/base/join?token={token}").text
    assert "Join with Example &lt;b&gt;, without a password" in form
    home = sign_in(http, "/base/oidc/join", token=token, who="Annie")
    assert (home.status_code, str(home.url.path)) == (200, "/base/")
    assert names(team) == {"Annie": Role.LEAD}
    provider.user["name"] = "Somebody Else"  # names may change, the subject does not
    again = team.browser()
    assert "Annie" in sign_in(again).text
    assert again.get("/base/new").status_code == 200
    assert again.get("/base/people").status_code == 403
    assert names(team) == {"Annie": Role.LEAD}
    second = sign_in(
        team.browser(), "/base/oidc/join", token=team.server.accounts.invite(Role.ADMIN), who="B"
    )
    assert (second.status_code, "account here already: Annie" in second.text) == (409, True)


def test_the_flow_is_the_one_with_pkce_state_and_nonce(open_team, provider):
    http = open_team(new_role=Role.VIEWER).browser()
    asked = {name: value[0] for name, value in parse_qs(urlsplit(begin(http)).query).items()}
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == f"{ORIGIN}/base/oidc/callback"
    assert all(len(asked[name]) >= 43 for name in ("state", "nonce", "code_challenge"))
    assert "openid" in asked["scope"].split()
    cookie = http.get("/base/oidc/login", follow_redirects=False).headers["set-cookie"]
    assert all(part in cookie for part in ("; HttpOnly", "; Path=/base/oidc/callback", "; SameSite=lax"))
    other = {name: value[0] for name, value in parse_qs(urlsplit(begin(http)).query).items()}
    assert not {asked[name] for name in ("state", "nonce", "code_challenge")} & {*other.values()}


def test_who_was_not_invited_gets_no_account(open_team):
    team = open_team()
    answer = sign_in(team.browser())
    assert (answer.status_code, "Ask an admin of this server for an invitation" in answer.text) == (403, True)
    assert names(team) == {}


def test_who_is_new_gets_the_role_that_was_said(open_team, provider):
    team = open_team(new_role=Role.REVIEWER)
    http = team.browser()
    assert sign_in(http).status_code == 200
    assert names(team) == {"Ann Smith": Role.REVIEWER}
    assert http.get("/base/api/v1/me").json() == {"name": "Ann Smith", "role": "reviewer"}
    provider.user = {"sub": "u-2", "name": "ann  smith"}  # another person of the same name
    answer = sign_in(team.browser())
    assert (answer.status_code, "is called ann  smith already" in answer.text) == (409, True)
    provider.user = {"sub": "u-3"}
    answer = sign_in(team.browser())
    assert (answer.status_code, "does not tell your name" in answer.text) == (403, True)
    provider.user = {"sub": "u-4", "name": "x" * 61}
    assert sign_in(team.browser()).status_code == 422
    assert names(team) == {"Ann Smith": Role.REVIEWER}


@pytest.mark.parametrize(
    ("verified", "is_let_in"), [(True, True), ("true", True), (False, False), (None, False)]
)
def test_an_invitation_by_mail_is_for_an_address_that_the_provider_has_seen_to_be_theirs(
    open_team, provider, verified, is_let_in
):
    team = open_team()
    admin = team.join("Root", Role.ADMIN)
    refused = admin.post("/base/people/invite", data={"role": "lead", "email": "no address"})
    assert (refused.status_code, "no e-mail address" in refused.text) == (422, True)
    assert (
        "/join?token="
        in admin.post("/base/people/invite", data={"role": "lead", "email": " Ann@Example.ORG"}).text
    )
    provider.user["email_verified"] = verified
    assert sign_in(team.browser()).status_code == (200 if is_let_in else 403)
    assert names(team) == {"Root": Role.ADMIN, **({"Ann Smith": Role.LEAD} if is_let_in else {})}
    provider.user["sub"] = (
        "u-2"  # the invitation is used up: another with the same address gets nothing by it
    )
    assert sign_in(team.browser()).status_code == (403)


def test_an_account_with_a_password_is_connected_by_whoever_is_signed_in_to_it(open_team, provider):
    team = open_team()
    ann, bob = team.join("Ann Smith", Role.LEAD), team.join("Bob", Role.VIEWER)
    assert sign_in(team.browser()).status_code == 403  # the same name is no proof
    page = sign_in(ann, "/base/oidc/connect")
    assert (page.url.path, "You can sign in with Example &lt;b&gt;." in page.text) == ("/base/account", True)
    http = team.browser()
    assert "Ann Smith" in sign_in(http).text
    taken = sign_in(bob, "/base/oidc/connect")
    assert (taken.status_code, "account here already: Ann Smith" in taken.text) == (409, True)
    assert (
        team.browser().post("/base/login", data={"who": "Ann Smith", "password": PASSWORD}).status_code == 200
    )
    assert ann.post("/base/oidc/connect", headers={"x-csrf-token": "0" * 64}).status_code == 403
    assert team.browser().post("/base/oidc/connect").status_code == 401


def test_who_has_signed_out_meanwhile_connects_nothing(open_team):
    team = open_team()
    ann, bob = team.join("Ann Smith", Role.LEAD), team.join("Bob", Role.VIEWER)
    back = at_provider(begin(ann, "/base/oidc/connect"))
    name = team.server.app.state.keys.cookie_name
    ann.cookies.set(name, bob.cookies[name], path="/base/", domain="127.0.0.1")
    answer = ann.get(back)
    assert (answer.status_code, "signed out meanwhile" in answer.text) == (401, True)
    assert sign_in(team.browser()).status_code == 403


def test_who_was_shut_out_stays_out_and_a_new_role_counts_at_once(open_team):
    team = open_team(new_role=Role.VIEWER)
    team.join("Root", Role.ADMIN)
    http = team.browser()
    sign_in(http)
    ann = next(each for each in team.server.accounts.people() if each.name == "Ann Smith")
    team.server.accounts.change(ann.id, role=Role.LEAD, active=True)
    again = team.browser()
    sign_in(again)
    assert again.get("/base/new").status_code == 200  # what an admin has said counts, not --oidc-new-role
    team.server.accounts.change(ann.id, role=Role.LEAD, active=False)
    team.server.app.state.keys.forget()
    assert "/base/login" in str(http.get("/base/").url)
    refused = sign_in(team.browser())
    assert (refused.status_code, "may not sign in any more" in refused.text) == (403, True)


def test_signing_out_closes_the_session_and_offers_to_sign_out_there_too(open_team, provider):
    team = open_team(new_role=Role.VIEWER)
    http = team.browser()
    sign_in(http)
    secret = http.cookies[team.server.app.state.keys.cookie_name]
    page = http.post("/base/logout")
    leave = re.search(rf'href="({provider.url}/leave[^"]+)"', page.text)[1].replace("&amp;", "&")
    asked = parse_qs(urlsplit(leave).query)
    assert asked == {"client_id": [CLIENT], "post_logout_redirect_uri": [f"{ORIGIN}/base/login"]}
    replay = team.browser(cookie=f"{team.server.app.state.keys.cookie_name}={secret}")
    assert replay.get("/base/api/v1/me").status_code == 401
    other = team.join("Bob", Role.VIEWER)  # has never been there
    assert "/leave" not in other.post("/base/logout").text


def test_names_and_addresses_are_asked_for_where_the_id_token_is_short(open_team, provider):
    team = open_team(new_role=Role.VIEWER)
    provider.claims = dict.fromkeys(("name", "email", "email_verified"))
    assert sign_in(team.browser()).status_code == 200
    assert "/userinfo" in provider.asked
    assert names(team) == {"Ann Smith": Role.VIEWER}
    provider.claims["sub"], provider.userinfo = "u-9", {"sub": "u-1", "name": "Mallory"}
    assert sign_in(team.browser()).status_code == 424  # of somebody else
    assert names(team) == {"Ann Smith": Role.VIEWER}


def test_keys_of_the_provider_may_change_at_any_time(open_team, provider):
    from joserfc.jwk import RSAKey

    team = open_team(new_role=Role.VIEWER)
    assert sign_in(team.browser()).status_code == 200
    provider.key = RSAKey.generate_key(2048, {"kid": "second", "use": "sig"})
    assert sign_in(team.browser()).status_code == 200


def test_clients_without_a_secret_and_providers_that_want_it_in_the_form(open_team, provider):
    provider.secret = ""
    assert sign_in(open_team(new_role=Role.VIEWER, secret="").browser()).status_code == 200


def test_providers_that_want_the_secret_in_the_form(open_team, provider):
    provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert sign_in(open_team(new_role=Role.VIEWER).browser()).status_code == 200


def test_identities_are_kept_in_backups(open_team, provider, tmp_path):
    from shortlist.review.archive.portable import copy_people
    from shortlist.review.log.sqlite import Sqlite
    from shortlist.review.server.accounts import Accounts
    from shortlist.review.server.oidc.identities import Identities, Identity

    team = open_team(new_role=Role.VIEWER)
    sign_in(team.browser())
    copy_people(Sqlite(tmp_path / "people.sqlite", tmp_path, read_only=True), tmp_path / "copy.sqlite")
    accounts = Accounts(Sqlite(tmp_path / "copy.sqlite", tmp_path))
    person = Identities(accounts).sign_in(Identity(provider.url, "u-1"), None)
    accounts.close()
    assert person.name == "Ann Smith"


def test_people_of_before_are_backed_up_and_restored(tmp_path):
    """A file of people that an earlier version made has no identities yet."""
    import sqlite3

    from shortlist.review.archive.portable import copy_people
    from shortlist.review.log.sqlite import Sqlite
    from shortlist.review.server.accounts import Accounts

    accounts = Accounts(Sqlite(tmp_path / "people.sqlite", tmp_path))
    accounts.join(accounts.invite(Role.ADMIN), "Root", PASSWORD)
    accounts.close()
    with sqlite3.connect(tmp_path / "people.sqlite") as tool:
        tool.execute("DROP TABLE identities")
        tool.execute("ALTER TABLE invitations DROP COLUMN email")
        tool.execute("UPDATE shortlist_people SET version_num = 'people 0002'")
    tool.close()
    copy_people(Sqlite(tmp_path / "people.sqlite", tmp_path, read_only=True), tmp_path / "copy.sqlite")
    for name in ("people.sqlite", "copy.sqlite"):
        opened = Accounts(Sqlite(tmp_path / name, tmp_path))
        assert [person.name for person in opened.people()] == ["Root"]
        assert opened.invite(Role.VIEWER, "ann@example.org")
        opened.close()


# -- settings


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (("http://login.example", "x"), "must begin with https"),
        (("https://login.example/?x=1", "x"), "without"),
        (("https://u:p@login.example", "x"), "must begin"),
        (("https://login.example", ""), "what the provider gave you"),
        (("https://login.example", "x", "sécret"), "plain letters"),
        (("https://login.example", "x", "", "n" * 61), "60 characters"),
        (("https://login.example", "x", "", "", Role.ADMIN), "everybody an admin"),
    ],
)
def test_settings_that_cannot_work_are_refused(told, words):
    with pytest.raises(InvalidInputError, match=words):
        OidcSettings(*told)


def test_settings_of_the_environment(monkeypatch):
    assert OidcSettings.of_environment(None, None) is None
    with pytest.raises(InvalidInputError, match="--oidc-client-id"):
        OidcSettings.of_environment("https://login.example", None)
    monkeypatch.setenv(oidc_settings.SECRET, "s")
    told = OidcSettings.of_environment("https://login.example", "x", None, "lead")
    assert (told.client_secret, told.new_role, told.title) == ("s", Role.LEAD, "login.example")
    monkeypatch.setattr(oidc_settings, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'shortlist\[oidc\]'"):
        OidcSettings("https://login.example", "x")


@IN_BROWSER[0]
@IN_BROWSER[1]
def test_in_a_browser_with_its_policies(open_team, provider, chromium):
    """Chromium holds us to our own policy: a form may lead to no other site, also by way of the answer to it."""
    team = open_team(url=None)
    link = f"{team.url}/join?token={team.server.accounts.invite(Role.LEAD)}"
    complaints = []
    context = chromium.new_context(locale="en")
    page = context.new_page()
    page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    page.goto(link)
    page.get_by_label("Your name").fill("Annie")
    page.get_by_role("button", name="Join with Example").click()
    page.wait_for_selector("text=There is no queue yet.")
    page.click("text=Annie")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_selector("text=You are signed out here.")
    page.get_by_role("link", name="Sign in with Example").click()
    page.wait_for_selector("text=There is no queue yet.")
    context.close()
    assert complaints == []
    assert names(team) == {"Annie": Role.LEAD}
