"""What a team does with its server: sign in, review in several queues, make new ones; each as their role allows."""

import logging

import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.review.change import erase_rows
from shortlist.review.create import create
from shortlist.review.errors import ForbiddenError, ReadOnlyError
from shortlist.review.server.app import check_exposure, listen
from shortlist.review.web.access import NEEDS, Role
from shortlist.review.web.site import Site
from shortlist.review.workspace import Workspace
from tests.review.conftest import make_rows
from tests.review.server.conftest import ORIGIN, PASSWORD, Team, csrf_of

#: Addresses that need no role: what a stranger must reach, and what tells nothing.
OPEN = {"login", "login_form", "join", "join_form", "docs", "healthz", "readyz", "openapi",
        "oidc_login", "oidc_join", "oidc_callback"}  # fmt: skip
ROLES = [None, *Role]


def routes(app):
    """Every address with a method: (method, path, name of the function)."""
    found = []
    for prefix, route in _flat(app.routes):
        endpoint = getattr(route, "endpoint", None)
        if endpoint is not None:
            methods = sorted(route.methods - {"HEAD"})
            found += [(method, prefix + route.path, endpoint.__name__) for method in methods]
    return found


def _flat(some):
    """Newer releases of FastAPI keep included routers as they are, older ones copy their routes."""
    for route in some:
        router = getattr(route, "original_router", None)
        if router is None:
            yield "", route
        else:
            yield from ((route.include_context.prefix, each) for each in router.routes)


def test_every_address_says_which_role_it_needs(team):
    named = {name for _, _, name in routes(team.server.app)}
    assert len(named) > 50
    assert named - OPEN - NEEDS.keys() == set()
    assert NEEDS.keys() - named == {"ask_name", "set_name", "invite"}  # of servers without accounts


@pytest.mark.parametrize(
    "role",
    [pytest.param(role, marks=() if role in {None, Role.REVIEWER} else pytest.mark.slow) for role in ROLES],
    ids=lambda role: role.word if role else "stranger",
)
def test_every_address_lets_in_whom_its_role_allows_and_nobody_else(team, role):
    """Allowed: whatever it says of an empty request, but not that it is refused. Shut out: 401 or 403, no word more."""
    http = team.people[role] if role else team.browser()
    for method, path, name in routes(team.server.app):
        if name in OPEN or name in ("logout", "change_password"):
            continue
        address = "/base" + path.replace("{name}", "claims").replace("{id:path}", "C-0001").replace(
            "{id}", "999"
        )
        address = address.replace("{format}", "csv").replace("{verdict}", "1")
        answer = http.request(method, address, follow_redirects=False)
        allowed = role is not None and role >= NEEDS[name]
        refused = answer.status_code in (401, 403) or (
            answer.status_code == 303 and answer.headers["location"] == "/base/login"
        )
        assert refused != allowed, (method, path, role, answer.status_code, answer.text[:300])
        assert answer.status_code < 500, (method, path, answer.text[:300])
        if refused:
            assert "C-0001" not in answer.text


def test_a_day_of_a_team(team):
    ann, lead = team.people[Role.REVIEWER], team.people[Role.LEAD]
    home = ann.get("/base/").text
    assert '<a href="/base/q/claims">' in home
    assert '<a href="/base/q/invoices">' in home
    page = ann.get("/base/q/claims")
    assert 'id="row-title"' in page.text
    assert 'src="/base/static/review.js"' in page.text
    assert ann.get("/base/static/review.js").status_code == 200
    program = team.program("reviewer", Role.REVIEWER)
    turn = program.post("/base/api/v1/queues/claims/turn").json()
    done = program.post(
        "/base/api/v1/queues/claims/verdicts", json={"shown": turn["shown"], "verdict": "unsure"}
    )
    assert done.status_code == 200, done.text
    answer = lead.post(f"/base/q/claims/row/{turn['id']}", data={"verdict": "wanted"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/base/q/claims/row/{turn['id']}")
    log = lead.get("/base/api/v1/queues/claims/log?kind=override").json()
    assert [event["who"] for event in log] == ["lead"]
    refused = ann.post(f"/base/q/claims/row/{turn['id']}", data={"verdict": "wanted"})
    assert refused.status_code == 403
    assert ann.post(f"/base/q/claims/row/{turn['id']}", data={"note": "seen"}).status_code == 200


def test_the_page_of_people_asks_nobody_for_what_their_role_does_not_allow(tmp_path):
    data = tmp_path / "claims.csv"
    make_rows(40, 4).drop("truth").write_csv(data)
    create(str(data), Workspace.beside(str(data)), id="claim", settings={"second_opinions": 1.0})
    with Team(tmp_path).running() as team:
        queue = team.server.queues["claims"]
        for who, said in (("ann", "wanted"), ("bob", "not wanted")):
            queue.record(who, queue.turn(who).result().shown, said).result()
        reviewer, lead = (
            team.join(role.word, role).get("/base/q/claims/people").text
            for role in (Role.REVIEWER, Role.LEAD)
        )
    assert "Two people differ on these rows. A lead decides." in reviewer
    assert "Open one to decide." not in reviewer
    assert "/q/claims/figures" not in reviewer
    assert "Two people differ on these rows. Open one to decide." in lead
    assert "/q/claims/figures" in lead


def test_a_reviewer_takes_back_their_own_verdicts_and_a_lead_any(team):
    ann = team.program("reviewer", Role.REVIEWER)
    other = team.program("lead", Role.REVIEWER)
    turn = other.post("/base/api/v1/queues/invoices/turn").json()
    other.post("/base/api/v1/queues/invoices/verdicts", json={"shown": turn["shown"], "verdict": "wanted"})
    said = other.get("/base/api/v1/queues/invoices/log?kind=verdict").json()[-1]["seq"]
    assert ann.post("/base/api/v1/queues/invoices/undo", json={"verdict": said}).status_code == 403
    assert team.people[Role.REVIEWER].post("/base/q/invoices/undo", data={"verdict": said}).status_code == 403
    assert team.people[Role.REVIEWER].post("/base/q/invoices/back", data={"verdict": said}).status_code == 403
    lead = team.program("lead", Role.LEAD)
    assert lead.post("/base/api/v1/queues/invoices/undo", json={"verdict": said}).status_code == 200


def test_a_lead_makes_a_queue_from_a_file(team, folder):
    lead, content = team.people[Role.LEAD], make_rows(40, 4, seed=3).drop("truth").write_csv().encode()
    form = {"name": "south", "id": "claim", "budget": "10", "audit": "5"}
    page = lead.post("/base/new", data=form, files={"rows": ("rows.csv", content)})
    assert 'id="row-title"' in page.text, page.text
    assert team.server.queues["south"].fixed.id == "claim"
    again = lead.post("/base/new", data=form, files={"rows": ("rows.csv", content)})
    assert (again.status_code, "already" in again.text) == (422, True)
    for name in ("../out", "a/b", "", ".hidden", "x" * 61, "a\0b"):
        refused = team.program("lead", Role.LEAD).post(
            "/base/api/v1/queues", params={"name": name, "format": "csv"}, content=content
        )
        assert refused.status_code == 422, name
    broken = lead.post(
        "/base/new", data={**form, "name": "broken"}, files={"rows": ("rows.csv", b"\xff\x00")}
    )
    assert broken.status_code == 422
    assert not [*folder.glob("broken*")]
    assert not [*folder.parent.glob("out*")]


def test_a_queue_that_was_made_beside_the_server_is_found_and_a_damaged_one_keeps_nobody_away(team, folder):
    from shortlist.review.create import create
    from shortlist.review.workspace import Workspace

    data = folder / "later.csv"
    make_rows(40, 4).drop("truth").write_csv(data)
    place = Workspace.beside(str(data))
    create(str(data), place, id="claim")
    rows = place.rows.read_bytes()
    place.rows.write_bytes(rows[:-1] + b"x")
    team.server.queues.refresh()
    assert "later" in team.server.queues.problems
    home = team.people[Role.ADMIN].get("/base/").text
    assert "The queue later cannot be opened." in home
    assert "damaged or was changed by hand" in home
    assert "damaged" not in team.people[Role.VIEWER].get("/base/").text
    assert team.browser().get("/base/readyz").status_code == 503
    place.rows.write_bytes(rows)
    team.server.queues.refresh()
    assert "later" in team.server.queues
    assert team.browser().get("/base/readyz").json() == {"ready": True, "problems": []}


def test_a_stranger_learns_nothing_but_that_the_server_is_alive(team):
    http = team.browser()
    assert http.get("/base/healthz", headers={"host": "10.1.2.3:8765"}).text == "ok"
    assert http.get("/base/", headers={"host": "evil.example"}).status_code == 421
    assert http.get("/elsewhere").status_code == 404
    assert http.get("/based").status_code == 404
    assert http.get("/base", follow_redirects=False).headers["location"] == "/base/login"
    page = http.get("/base/q/claims")
    assert (page.url.path, "password" in page.text) == ("/base/login", True)
    assert http.get("/base/api/v1/queues").status_code == 401
    wrong = http.get("/base/api/v1/queues", headers={"authorization": "Bearer shortlist_x"})
    assert (wrong.status_code, wrong.json()["kind"]) == (401, "NotSignedInError")


def test_figures_for_prometheus_and_lines_of_requests_name_no_row_and_nobody(team, caplog):
    with caplog.at_level(logging.INFO, logger="shortlist.requests"):
        team.people[Role.REVIEWER].get("/base/q/claims/row/C-0002")
        text = team.program("viewer", Role.VIEWER).get("/base/metrics").text
    assert 'shortlist_queue_rows{queue="claims"} 60.0' in text
    assert 'route="/q/{name}/row/{id:path}",status="200"' in text
    said = "\n".join(record.getMessage() for record in caplog.records if record.name == "shortlist.requests")
    assert '"route": "/q/{name}/row/{id:path}", "status": 200' in said
    assert not any(word in said + text for word in ("C-0002", "reviewer", "127.0.0.1"))


# -- where it is seen


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("https://h.example", {"h.example"}),
        ("http://h.example:8080/a/b/", {"h.example:8080"}),
        ("https://[2001:db8::1]/x", {"[2001:db8::1]"}),
    ],
)
def test_hosts_and_base_are_those_of_the_public_address(url, hosts):
    site = Site.of(url)
    assert (site.hosts, site.url) == (hosts, url.rstrip("/"))


@pytest.mark.parametrize(
    "url", ["reviews", "ftp://h", "https://", "https://h/?x=1", "https://h:99999", "https://u:p@h"]
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(InvalidInputError, match="no address of a server"):
        Site.of(url)


def test_a_server_that_others_can_reach_must_say_under_which_address():
    check_exposure("127.0.0.1", None, ["10.0.0.0/8", "::1"])
    with pytest.raises(InvalidInputError, match=r"--public-url\. --proxy nginx is no IP"):
        check_exposure("0.0.0.0", None, ["nginx"])


def test_the_first_admin_is_invited_where_there_is_none(tmp_path):
    with Team(tmp_path, url=ORIGIN).running() as team:
        address = team.server.first_address()
        http = team.browser()
        form = http.get(address.removeprefix(ORIGIN)).text
        assert "Your role will be: admin." in form
        token = address.partition("token=")[2]
        short = http.post("/join", data={"token": token, "who": "Root", "password": "short"})
        assert (short.status_code, "10 to 200" in short.text) == (422, True)
        home = http.post("/join", data={"token": token, "who": "Root", "password": PASSWORD})
        assert "There is no queue yet." in home.text
        assert team.server.first_address() is None
        http.headers["x-csrf-token"] = csrf_of(home.text)
        link = http.post("/people/invite", data={"role": "lead"}).text
        assert f"{ORIGIN}/join?token=" in link
        again = team.browser().post("/join", data={"token": token, "who": "Eve", "password": PASSWORD})
        assert (again.status_code, "used already" in again.text) == (401, True)


def test_an_admin_erases_a_claimant_by_the_command(tmp_path):
    """Nobody but the server of the team owns the queue: the command asks it, under an admin's token."""
    data = tmp_path / "claims.csv"
    make_rows(60, 6).drop("truth").write_csv(data)
    place = Workspace.beside(str(data))
    create(str(data), place, id="claim")
    sock, tokens = listen("127.0.0.1", 0), {}
    here = f"http://127.0.0.1:{sock.getsockname()[1]}"
    with Team(tmp_path, here).running(sock) as team:
        for role in (Role.LEAD, Role.ADMIN):
            team.server.accounts.join(team.server.accounts.invite(role), role.word, PASSWORD)
            person = next(each for each in team.server.accounts.people() if each.name == role.word)
            tokens[role] = team.server.accounts.make_token(person, "test", role)
        with pytest.raises(ReadOnlyError, match="in use"):
            erase_rows(place.folder, ["C-0003"])
        with pytest.raises(ForbiddenError, match="needs the role admin"):
            erase_rows(place.folder, ["C-0003"], server=here, token=tokens[Role.LEAD])
        assert erase_rows(place.folder, ["C-0003"], server=here, token=tokens[Role.ADMIN]).rows == 1
        assert next(iter(team.server.queues["claims"].log(kinds=["erased"]))).who == "admin"
