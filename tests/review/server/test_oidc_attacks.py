"""A provider that lies or is away, and strangers who forge what it says: nobody gets in, nothing breaks."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from shortlist.review.server.oidc import provider as asking
from shortlist.review.server.oidc.flows import SECONDS, Begun, Flows
from shortlist.review.web.access import Role
from tests.review.conftest import Clock
from tests.review.server.conftest import ORIGIN, registered
from tests.review.server.openid import CLIENT, at_provider, begin, drip, hang_up, names, never, sign_in

pytestmark = pytest.mark.slow

WELL_KNOWN = "/.well-known/openid-configuration"


@pytest.fixture(scope="module")
def server(openid, tmp_path_factory):
    """A server that would make everybody a lead."""
    with registered(tmp_path_factory.mktemp("attacked"), openid.url, Role.LEAD) as team:
        yield team


@pytest.fixture
def team(server, provider):
    server.server.app.state.sign_on.provider.forget()
    server.before = names(server)
    return server


def check_nobody_got_in(team, answer, status=424):
    assert answer.status_code == status, answer.text
    assert 'role="alert"' in answer.text  # a sentence
    assert names(team) == team.before
    assert team.server.app.state.keys.cookie_name not in answer.cookies


# -- tokens that lie

NOW = time.time()
LIES = {
    "the nonce of another sign-in": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "for another client": {"aud": "another"},
    "for several, us among them, and not made for us": {"aud": [CLIENT, "another"], "azp": "another"},
    "for several, and it is not said for whom": {"aud": [CLIENT, "another"]},
    "no audience": {"aud": None},
    "of another issuer": {"iss": "https://login.example"},
    "of no issuer": {"iss": None},
    "expired": {"exp": int(NOW) - 120},
    "without an end": {"exp": None},
    "an end that is no time": {"exp": "tomorrow"},
    "not yet": {"nbf": int(NOW) + 3600},
    "made in the future": {"iat": int(NOW) + 3600},
    "for another access token": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
    "of nobody": {"sub": None},
    "of an empty name": {"sub": ""},
    "of a number": {"sub": 7},
    "of too long a name": {"sub": "x" * 256},
    "of a name with a zero": {"sub": "u\0"},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_token_that_lies_opens_nothing(team, provider, lie):
    provider.claims = lie
    check_nobody_got_in(team, sign_in(team.browser()))


WAYS = {
    "unsigned": lambda provider: provider.unsigned,
    "with HMAC and the public key": lambda provider: provider.signed_with_what_everybody_knows,
    "with a key of somebody else": lambda provider: provider.signed_by_another,
    "changed after it was signed": lambda provider: lambda claims: provider.signed(claims)[:-8] + "AAAAAAAA",
    "no token": lambda provider: lambda claims: "x",
    "many dots": lambda provider: lambda claims: "." * 100_000,
    "not a text": lambda provider: lambda claims: {"a": 1},
    "nothing": lambda provider: lambda claims: None,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_token_that_the_provider_has_not_signed_opens_nothing(team, provider, way):
    provider.make_token = way(provider)
    check_nobody_got_in(team, sign_in(team.browser()))


# -- addresses that strangers make


def test_a_state_is_of_one_browser_and_works_once(team):
    http, other = team.browser(), team.browser()
    back = at_provider(begin(http))
    check_nobody_got_in(team, other.get(back), 401)  # who has no cookie: forged, or sent to a victim
    begin(other)
    check_nobody_got_in(team, other.get(back), 401)  # who has the cookie of another sign-in
    cookie = http.cookies[f"{team.server.app.state.keys.cookie_name}_oidc"]
    assert http.get(back).status_code == 200
    replay = team.browser(cookie=f"{team.server.app.state.keys.cookie_name}_oidc={cookie}")
    again = replay.get(back)
    assert (again.status_code, "Begin again" in again.text) == (401, True)


@pytest.mark.parametrize("state", ["", "x", "x" * 4096, "\u00e9\U0001f600"])
def test_a_state_that_was_guessed_is_refused(team, state):
    http = team.browser()
    begin(http)
    check_nobody_got_in(team, http.get("/base/oidc/callback", params={"state": state, "code": "code-0"}), 401)


def test_a_cookie_that_was_forged_is_refused(team):
    begun = Begun()
    name = f"{team.server.app.state.keys.cookie_name}_oidc"
    for cookie in (Flows("another secret").cookie(begun), "x", ""):
        http = team.browser(cookie=f"{name}={cookie}")
        answer = http.get("/base/oidc/callback", params={"state": begun.state, "code": "code-0"})
        check_nobody_got_in(team, answer, 401)


def test_a_sign_in_that_took_too_long_is_refused(monkeypatch):
    clock = Clock()
    flows = Flows("secret", clock)
    begun = Begun()
    cookie = flows.cookie(begun)
    later = time.time() + SECONDS + 2
    monkeypatch.setattr(time, "time", lambda: later)
    assert flows.end(cookie, begun.state) is None


def test_a_code_works_once_also_in_a_sign_in_of_its_own(team):
    """Who has seen a code begins a sign-in, and brings the code of the other."""
    http, thief = team.browser(), team.browser()
    back = at_provider(begin(http))
    code = parse_qs(urlsplit(back).query)["code"][0]
    state = parse_qs(urlsplit(begin(thief)).query)["state"][0]
    stolen = thief.get("/base/oidc/callback", params={"state": state, "code": code})
    check_nobody_got_in(team, stolen)  # PKCE: the code is of another verifier
    check_nobody_got_in(team, http.get(back))  # and the provider has taken it back


@pytest.mark.parametrize("iss", ["https://login.example", "", "\u00e9"])
def test_an_answer_of_another_provider_is_refused(team, provider, iss):
    provider.redirect = {"iss": iss}
    check_nobody_got_in(team, sign_in(team.browser()))


def test_the_provider_may_name_itself_in_its_answer(team, provider):
    provider.redirect = {"iss": provider.url}
    assert sign_in(team.browser()).status_code == 200


@pytest.mark.parametrize("error", ["access_denied", "<script>alert(1)</script>", "x" * 4096])
def test_an_error_of_the_provider_is_told_and_not_repeated_as_markup(team, provider, error):
    provider.redirect = {"error": error}
    answer = sign_in(team.browser())
    check_nobody_got_in(team, answer, 401)
    assert "<script>alert" not in answer.text
    assert ("access_denied" in answer.text) == (error == "access_denied")


def test_nobody_is_led_elsewhere_after_signing_in(team, provider):
    """Nothing in an address, of ours or of the provider's, says where one goes afterwards."""
    evil = "https://evil.example/"
    http = team.browser()
    asked = dict.fromkeys(
        ("next", "return_to", "redirect_uri", "url", "target", "continue", "RelayState"), evil
    )
    start = http.get("/base/oidc/login", params=asked, follow_redirects=False).headers["location"]
    assert start.startswith(f"{provider.url}/authorize?")
    assert parse_qs(urlsplit(start).query)["redirect_uri"] == [f"{ORIGIN}/base/oidc/callback"]
    provider.redirect = asked
    done = http.get(at_provider(start), follow_redirects=False)
    assert (done.status_code, done.headers["location"]) == (303, "/base/")


def test_a_session_that_the_browser_had_before_is_not_taken_up(team):
    name, http = team.server.app.state.keys.cookie_name, team.browser()
    http.cookies.set(name, "a session that a stranger has chosen", path="/base/", domain="127.0.0.1")
    sign_in(http)
    assert http.cookies.get(name, path="/base/", domain="127.0.0.1") != "a session that a stranger has chosen"
    assert team.server.accounts.of_session("a session that a stranger has chosen") is None


def test_an_invitation_is_used_up_by_one_of_two_who_have_it(open_team, provider):
    team = open_team()
    token = team.server.accounts.invite(Role.LEAD)
    ann, eve = team.browser(), team.browser()
    back = at_provider(begin(ann, "/base/oidc/join", token=token, who="Ann"))
    provider.user = {"sub": "u-2"}
    assert sign_in(eve, "/base/oidc/join", token=token, who="Eve").status_code == 200
    provider.user = {"sub": "u-1"}
    late = ann.get(back)
    assert (late.status_code, "used already" in late.text) == (401, True)
    assert names(team) == {"Eve": Role.LEAD}
    for form in ({"token": "x", "who": "Bob"}, {"token": "", "who": ""}):
        assert team.browser().post("/base/oidc/join", data=form).status_code == 401
    fresh = team.server.accounts.invite(Role.LEAD)
    for who in ("", "Eve", "x" * 61):
        assert team.browser().post("/base/oidc/join", data={"token": fresh, "who": who}).status_code == 422


# -- a provider that is away, or talks nonsense

ANSWERS = {
    "an error": Response("broken", 500),
    "not JSON": PlainTextResponse("hello"),
    "a list": PlainTextResponse("[]"),
    "very deep": PlainTextResponse("[" * 100_000),
    "too much": PlainTextResponse('{"a": "' + "x" * 300_000 + '"}'),
    "led elsewhere": RedirectResponse("http://169.254.169.254/latest"),
    "compressed though nobody asked": Response(b"\x1f\x8b\x08\x00", headers={"content-encoding": "gzip"}),
    "cut off": hang_up,
}


@pytest.mark.parametrize("path", [WELL_KNOWN, "/jwks", "/token"])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_whatever_the_provider_answers_is_told_in_a_sentence(team, provider, path, answer):
    provider.answers = {path: answer}
    http = team.browser()
    if path == WELL_KNOWN:
        check_nobody_got_in(team, http.get("/base/oidc/login"))
        provider.answers = {}  # and it is asked again
        assert sign_in(http).status_code == 200
    else:
        check_nobody_got_in(team, sign_in(http))


@pytest.mark.parametrize(
    "lie",
    [
        {"issuer": "https://login.example"},
        {"issuer": None},
        {"token_endpoint": "http://10.0.0.1/token"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "http://127.0.0.1:99999/"},
        {"authorization_endpoint": None},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": ["https://login.example"]},
        {"userinfo_endpoint": "ftp://login.example"},
        {"end_session_endpoint": "javascript:alert(1)"},
    ],
    ids=str,
)
def test_a_provider_that_calls_itself_otherwise_or_names_unsafe_addresses_is_not_asked(team, provider, lie):
    provider.metadata = lie
    check_nobody_got_in(team, team.browser().get("/base/oidc/login"))


@pytest.mark.parametrize(
    "keys",
    ["{}", '{"keys": 7}', '{"keys": [7, {}, {"kty": "RSA"}, {"kty": "RSA", "n": "AQ", "e": "AQ"}, {"kty": "EC"}]}',
     '{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}'],
)  # fmt: skip
def test_keys_that_are_none_sign_nothing(team, provider, keys):
    provider.answers = {"/jwks": PlainTextResponse(keys)}
    check_nobody_got_in(team, sign_in(team.browser()))


@pytest.mark.parametrize("answer", [never, drip])
def test_a_provider_that_is_silent_or_slow_keeps_nobody_from_the_rest(
    open_team, provider, monkeypatch, answer
):
    monkeypatch.setattr(asking, "TIMEOUT", 0.5)
    team = open_team(new_role=Role.LEAD)
    ann = team.join("Ann", Role.LEAD)
    provider.answers = {WELL_KNOWN: answer}
    assert team.browser().get("/base/oidc/login").status_code == 424
    assert ann.post("/base/logout").status_code == 200


def test_a_provider_that_is_away_is_told(tmp_path):
    with registered(tmp_path, "http://127.0.0.1:9", Role.LEAD) as team:
        away = team.browser().get("/base/oidc/login")
        assert (away.status_code, "does not answer" in away.text) == (424, True)
        assert "Sign in with Example" in away.text  # try again, or with a password


def test_a_server_without_a_provider_says_so(tmp_path):
    from tests.review.server.conftest import Team

    with Team(tmp_path).running() as team:
        for answer in (
            team.browser().get("/base/oidc/login"),
            team.browser().get("/base/oidc/callback?state=x&code=y"),
            team.browser().post("/base/oidc/join", data={"token": "x"}),
        ):
            assert (answer.status_code, "no provider" in answer.text) == (404, True)
        assert "oidc" not in team.browser().get("/base/login").text
