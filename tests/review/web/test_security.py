"""Who may talk to the server: forged, foreign, expired and oversized requests are turned away."""

import asyncio
import contextlib
import socket
from functools import partial
from types import SimpleNamespace

import httpx
import pytest

from shortlist.exceptions import InvalidInputError, TableError
from shortlist.review import workspace as workspaces
from shortlist.review.create import check_same, check_unchanged
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import (
    ChangedDataError,
    QueueExistsError,
    ReadOnlyError,
    ReviewError,
    StoreError,
)
from shortlist.review.server.app import listen as listen_for_a_team
from shortlist.review.web.rendering import is_link
from shortlist.review.web.security import MOST_BYTES, TOKEN_SECONDS, Keys
from shortlist.review.web.server import bound, listen
from shortlist.review.workspace import Workspace
from tests.review.web.conftest import csrf_of


@pytest.fixture(scope="module")
def server(shared_server):
    return shared_server


@pytest.fixture(scope="module")
def browser(server):
    """A browser that has signed in as ann."""
    with httpx.Client(base_url=server.url, follow_redirects=True, trust_env=False) as http:
        http.get(server.login())
        http.post("/name", data={"who": "ann", "csrf": csrf_of(http, server)})
        yield http


def shown_on(page):
    return page.text.split('name="shown" value="')[1].split('"')[0]


def verdict(http, server, *, headers=None, csrf=True, shown=None):
    shown = shown or shown_on(http.get("/q/claims"))
    data = {"shown": shown, "verdict": "wanted"}
    headers = {**({"x-csrf-token": csrf_of(http, server)} if csrf else {}), **(headers or {})}
    return http.post("/q/claims/verdict", data=data, headers=headers)


def test_a_page_of_ours_may_send_a_verdict_with_and_without_a_script(browser, server):
    before = server.queue.snapshot.reviewed
    assert verdict(browser, server, headers={"hx-request": "true"}).status_code == 200
    page = browser.get("/q/claims")
    plain = browser.post(
        "/q/claims/verdict",
        data={"shown": shown_on(page), "verdict": "not wanted", "csrf": csrf_of(browser, server)},
    )
    assert plain.status_code == 200
    assert server.queue.snapshot.reviewed == before + 2


@pytest.mark.parametrize(
    ("headers", "csrf", "status"),
    [
        ({}, False, 403),
        ({"x-csrf-token": "forged"}, False, 403),
        ({"origin": "http://evil.example"}, True, 403),
        ({"origin": "null"}, True, 403),
        ({"origin": "http://[::1"}, True, 403),
        ({"origin": "http://127.0.0.1"}, True, 403),
        ({"sec-fetch-site": "cross-site"}, True, 403),
        ({"host": "evil.example"}, True, 421),
        ({"host": "127.0.0.1:1"}, True, 421),
    ],
)
def test_what_no_page_of_ours_sends_is_refused(browser, server, headers, csrf, status):
    shown, before = shown_on(browser.get("/q/claims")), server.queue.snapshot.reviewed
    assert verdict(browser, server, headers=headers, csrf=csrf, shown=shown).status_code == status
    assert server.queue.snapshot.reviewed == before


def test_another_host_reads_nothing(browser):
    assert browser.get("/q/claims", headers={"host": "evil.example"}).status_code == 421
    assert browser.get("/static/review.css", headers={"host": "evil.example"}).status_code == 421


def test_a_token_opens_one_session_once_and_soon():
    now = [0.0]
    keys = Keys("secret", clock=lambda: now[0])
    token = keys.issue()
    assert keys.redeem("forged") is None
    assert keys.redeem(token) is not None
    assert keys.redeem(token) is None
    late = keys.issue()
    now[0] += TOKEN_SECONDS + 1
    assert keys.redeem(late) is None


def test_forged_and_foreign_cookies_are_refused(server):
    strange = Keys("another secret")
    for cookie in ("nonsense", strange.cookie(strange.redeem(strange.issue()))):
        with httpx.Client(
            base_url=server.url, cookies={server.keys.cookie_name: cookie}, trust_env=False
        ) as http:
            assert http.get("/q/claims").status_code == 401
            assert http.get("/api/v1/queues").status_code == 401


def test_an_expired_cookie_is_refused(server, monkeypatch):
    monkeypatch.setattr("shortlist.review.web.security.SESSION_SECONDS", -1)
    cookie = server.keys.cookie(server.keys.redeem(server.keys.issue()))
    assert server.keys.session(cookie) is None


def test_a_forged_access_token_is_refused(server):
    answer = httpx.get(
        f"{server.url}/api/v1/queues", headers={"authorization": "Bearer forged"}, trust_env=False
    )
    assert answer.status_code == 401


def test_a_page_cannot_use_the_api_without_its_csrf_token(browser, server):
    assert browser.get("/api/v1/queues").status_code == 200
    assert browser.post("/api/v1/queues/claims/turn").status_code == 403
    allowed = browser.post("/api/v1/queues/claims/turn", headers={"x-csrf-token": csrf_of(browser, server)})
    assert allowed.status_code == 200


def test_headers_hold_on_every_page(browser):
    for path in ("/q/claims", "/static/review.js", "/api/v1/queues", "/nowhere"):
        headers = browser.get(path).headers
        assert "'unsafe-inline'" not in headers["content-security-policy"]
        assert "script-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "server" not in headers
    assert browser.get("/q/claims").headers["cache-control"] == "no-store"
    cookie = browser.post("/name", follow_redirects=False).headers
    assert "set-cookie" not in cookie  # without the token of a form nothing is set


def test_no_page_holds_inline_script_or_style(browser):
    for path in ("/q/claims", "/q/claims/log", "/q/claims/people", "/q/claims/settings", "/name"):
        text = browser.get(path).text
        assert " style=" not in text
        assert "<style" not in text
        assert all(part.startswith(' src="/static/') for part in text.split("<script")[1:])
        assert " onclick" not in text


def test_the_cookie_is_for_this_site_and_not_for_scripts(server):
    with httpx.Client(trust_env=False) as http:
        header = http.get(server.login()).headers["set-cookie"].lower()
    assert "httponly" in header
    assert "samesite=strict" in header


def test_large_requests_are_refused_with_and_without_a_length(browser, server):
    headers = {"x-csrf-token": csrf_of(browser, server)}
    large = "x" * (MOST_BYTES + 1)
    assert browser.post("/q/claims/verdict", content=large, headers=headers).status_code == 413

    def drip():
        for _ in range(20):
            yield large.encode()

    try:
        status = browser.post("/q/claims/verdict", content=drip(), headers=headers).status_code
    except httpx.HTTPError:
        status = 400
    assert 400 <= status < 500
    assert browser.get("/q/claims").status_code == 200


def test_notes_are_escaped_and_long_ones_refused(browser, server):
    client = server.client("<b>eve</b>")
    turn = client.turn()
    client.record(turn.shown, "wanted", note="<script>alert(1)</script>")
    page = browser.get("/q/claims/log").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<b>eve" not in page


def test_export_is_safe_for_spreadsheets(browser, server):
    client = server.client("=cmd()")
    client.record(client.turn().shown, "wanted", note="=HYPERLINK(1)")
    text = browser.get("/q/claims/verdicts.csv").text
    assert "'=HYPERLINK(1)" in text
    assert "'=cmd()" in text
    assert client.verdicts().filter(who="=cmd()")["note"].to_list() == ["=HYPERLINK(1)"]


def test_the_token_is_in_no_log(serve_queue, caplog, capfd):
    with caplog.at_level("DEBUG"):
        server = serve_queue()
        link = server.login()
        httpx.get(link, trust_env=False)
    token = link.split("token=")[1]
    logged = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert not any(token in record.getMessage() for record in logged)
    said = capfd.readouterr()
    assert token not in said.out + said.err


def test_secrets_are_for_their_owner_only(server):
    folder = server.queue.workspace.folder
    assert (folder / "secret").stat().st_mode & 0o077 == 0
    assert (folder / "server.json").stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0


def test_a_second_server_is_for_reading_only_and_follows(server, browser):
    second = Queue.open(server.queue.workspace.folder)
    try:
        assert second.read_only
        with pytest.raises(ReadOnlyError, match="reading only"):
            second.record("bob", 1, "wanted")
        assert second.turn("bob").result().state == "read-only"
        client, before = server.client(), second.snapshot.reviewed
        client.record(client.turn().shown, "wanted")
        assert second.digest().result() == client.digest()["digest"]
        assert second.snapshot.reviewed == before + 1
    finally:
        second.close()


def test_a_changed_data_file_is_refused_with_the_difference(make_queue, data, table):
    queue = make_queue()
    check_unchanged(str(data), queue.fixed)
    table.drop("truth").head(150).with_columns(extra=1).write_csv(data)
    with pytest.raises(ChangedDataError, match=r"200 rows and has 150; new columns: extra.*shortlist append"):
        check_unchanged(str(data), queue.fixed)


def test_fixed_options_cannot_change(make_queue):
    fixed = make_queue().fixed
    check_same(fixed, {"id": "claim", "seed": None})
    with pytest.raises(QueueExistsError, match="made with seed 0"):
        check_same(fixed, {"seed": 3})


def test_a_folder_that_cannot_be_made(data):
    with pytest.raises(ReadOnlyError, match="--workspace"):
        Workspace(data / "inside-a-file").make()


def test_two_servers_that_start_together_do_not_bind_one_port(monkeypatch):
    with bound("127.0.0.1", 0) as taken:
        monkeypatch.setattr("shortlist.review.web.server.PORT", taken.getsockname()[1])
        with listen(None) as other:
            assert other.getsockname()[1] != taken.getsockname()[1]


@pytest.mark.parametrize("listening", [listen, partial(listen_for_a_team, "127.0.0.1")])
def test_an_answer_does_not_wait_for_its_head_to_be_acknowledged(listening):
    async def sends_at_once():
        told = asyncio.get_running_loop().create_future()

        class Server(asyncio.Protocol):
            def connection_made(self, transport):
                sock = transport.get_extra_info("socket")
                told.set_result(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
                transport.close()

        with listening(0) as sock:
            server = await asyncio.get_running_loop().create_server(Server, sock=sock)
            _, writer = await asyncio.open_connection(*sock.getsockname())
            writer.close()
            async with server:
                return await told

    assert asyncio.run(sends_at_once())


def test_two_reviews_in_one_browser_leave_each_other_signed_in(serve_queue, tmp_path):
    first, second = serve_queue(), serve_queue(tmp_path / "second.review")
    with httpx.Client(follow_redirects=True, trust_env=False) as http:
        for each in (first, second):
            http.get(each.login())
        assert [http.get(f"{each.url}/name").status_code for each in (first, second)] == [200, 200]


@pytest.mark.parametrize(
    "content",
    ["", "abc", "ab" * 21, "\0" * 43, " " * 43, "x" * 43, "ab" * 21 + "\0", "ä" * 43],
    ids=["empty", "short", "nearly", "zeros", "spaces", "letters", "flipped", "foreign"],
)
def test_a_secret_that_is_cut_off_or_damaged_is_refused(make_queue, content):
    workspace = make_queue().workspace
    (workspace.folder / "secret").write_text(content)
    with pytest.raises(ReviewError, match=r"secret is cut off or damaged.*Remove that file"):
        workspace.secret()


def test_a_disk_that_fills_up_leaves_no_secret_rather_than_a_short_one(make_queue, monkeypatch):
    workspace = make_queue().workspace
    private = workspaces._private

    @contextlib.contextmanager
    def with_room_for_20(path):
        with private(path) as file:

            def write(text):
                file.buffer.write(text[:20].encode())
                file.buffer.flush()
                assert path.stat().st_size == 20
                raise OSError(28, "No space left on device")

            yield SimpleNamespace(write=write)

    monkeypatch.setattr(workspaces, "_private", with_room_for_20)
    with pytest.raises(TableError, match="No space left"):
        workspace.secret()
    monkeypatch.undo()
    assert not [*workspace.folder.glob("*secret*")]
    assert len(workspace.secret()) == 43


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.com\\@wiki.example/x",
        "https://evil.com/\\@wiki.example",
        "https://ann@wiki.example/x",
        "https://wiki.example:80@evil.com/",
        "https://wiki.example\\.evil.com/",
        "https://wiki.example/a b",
        "https://wiki.example.evil.com/",
        "https:/wiki.example/",
        "//wiki.example/x",
        "javascript://wiki.example/%0aalert(1)",
        "https://[wiki.example]/x",
        "https://[::1/x",
        "",
    ],
)
def test_an_address_that_browsers_read_otherwise_is_no_link(address):
    assert not is_link(address, ("wiki.example",))


@pytest.mark.parametrize(
    "address",
    [
        "https://wiki.example",
        "HTTP://Wiki.Example:8080/a?b=c@d#e",
        " https://wiki.example/x ",
        "https://[::1]/x",
    ],
)
def test_an_address_of_an_allowed_host_is_a_link(address):
    assert is_link(address, ("wiki.example", "::1"))


def test_a_port_in_use(server):
    with pytest.raises(InvalidInputError, match="--port"):
        listen(server.port)


def test_a_full_disk_loses_nothing_and_says_so(make_queue, review):
    queue = make_queue()
    turn = review(queue, 3)[-1]
    before = queue.digest().result()
    append = queue._store.append

    def full(*_):
        raise StoreError("database or disk is full")

    queue._store.append = full
    with pytest.raises(StoreError, match="full"):
        queue.record("ann", turn.shown, "wanted").result()
    queue._store.append = append
    assert queue.digest().result() == before
    assert queue.snapshot.reviewed == 3
    review(queue, 1)
    assert queue.snapshot.reviewed == 4
