"""What anybody on the machine may send without a token: every door is shut, and nothing makes the server fail."""

import json
import socket

import httpx
import psutil
import pytest

from shortlist.review.create import create
from shortlist.review.web.security import MOST_BYTES, MOST_UPLOAD_BYTES, SAFE_METHODS
from shortlist.review.workspace import Workspace
from tests.review.conftest import Served, make_rows


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strangers")
    make_rows(60).drop("truth").write_csv(folder / "claims.csv")
    place = Workspace(folder / "claims.review")
    create(str(folder / "claims.csv"), place, id="claim", settings={"budget": None})
    server = Served(place.folder)
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def _nothing_has_changed(server):
    before = server.queue.snapshot.seq
    yield
    assert server.queue.snapshot.seq == before


def routes(server):
    """Every path of the description, and every page."""
    described = server._server.config.app.openapi()["paths"]
    return {
        *((method.upper(), path) for path, methods in described.items() for method in methods),
        *(("GET", path) for path in ("/", "/name", "/q/{name}", "/q/{name}/log", "/q/{name}/people")),
        *(("GET", path) for path in ("/q/{name}/settings", "/q/{name}/row/x", "/q/{name}/verdicts.csv")),
        *(
            ("POST", f"/q/{{name}}/{what}")
            for what in ("verdict", "undo", "more", "alive", "invite", "train")
        ),
        *(("POST", path) for path in ("/name", "/q/{name}/settings", "/q/{name}/row/C-0001")),
    }


def raw(server, request):
    """The status of an answer to bytes as they are; 0 where the connection is closed without one."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as sock:
        sock.sendall(request)
        try:
            answer = sock.recv(65_536)
        except OSError:  # closed while we were still sending
            return 0
    return int(answer.split(b" ", 2)[1]) if answer else 0


def head(server, line, *headers, host=True):
    named = [f"Host: 127.0.0.1:{server.port}"] * host
    return "\r\n".join([line, *named, *headers, "", ""]).encode("latin-1")


def test_every_route_asks_for_a_token(server):
    with httpx.Client(base_url=server.url, trust_env=False) as http:
        for method, path in routes(server):
            address = path.replace("{name}", "claims").replace("{id}", "C-0001").replace("{format}", "csv")
            for headers in ({}, {"content-type": "application/json"}):
                answer = http.request(method, address, headers=headers, content=b"{}" if headers else b"")
                assert answer.status_code == 401, (method, path, answer.text)
                assert "invitation" in answer.text or "shortlist review" in answer.text


@pytest.mark.parametrize(
    "method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO"]
)
@pytest.mark.parametrize(
    "target", ["/", "/q/claims/verdict", "/q/nobody", "/api/v1/queues/claims/turn", "/nowhere"]
)
def test_every_method_is_turned_away(server, method, target):
    assert 300 <= raw(server, head(server, f"{method} {target} HTTP/1.1", "Content-Length: 0")) < 500


HEADERS = [
    "Origin: http://[::1",
    "Origin: http://[",
    "Origin: \xff\xfe",
    "Origin: http://127.0.0.1:99999999",
    "Cookie: " + "a=b; " * 300,
    "Cookie: =;;;=\xff; shortlist_=",
    "Authorization: Bearer",
    "Authorization: Bearer \xff\xfe",
    "Authorization: Basic OjpAOg==",
    "Authorization: \x80",
    "Content-Length: -1",
    "Content-Length: \xb2",
    "Content-Length: 1e3",
    "Content-Length: 99999999999999999999999999",
    "Content-Type: multipart/form-data",
    "Content-Type: multipart/form-data; boundary=",
    "Content-Type: application/json; charset=nonsense",
    "Content-Type: \xff",
    "X-Csrf-Token: \xff",
    "X-Reviewer: %ff%00%0a",
    "Sec-Fetch-Site: nonsense",
    "Transfer-Encoding: nonsense",
    "Range: bytes=-5",
    "If-Modified-Since: nonsense",
    "Accept-Encoding: \xff",
    "Hx-Request: true",
]


@pytest.mark.parametrize("header", HEADERS)
def test_no_header_makes_the_server_fail(server, header):
    for line in (
        "POST /q/claims/verdict",
        "POST /api/v1/queues/claims/rows",
        "GET /",
        "GET /static/review.css",
    ):
        status = raw(server, head(server, f"{line} HTTP/1.1", header))
        assert status < 500, (line, header, status)
        assert status != 200 or line == "GET /static/review.css"


STRANGE = [
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01",
    b"GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET " + b"/a" * 50_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(5000)) + b"\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


@pytest.mark.parametrize("number", range(len(STRANGE)))
def test_bytes_that_are_no_request_of_a_browser(server, number):
    assert raw(server, STRANGE[number]) in {0, *range(400, 500)}


@pytest.mark.parametrize(
    "path", ["/static/../server.json", "/static/%2e%2e/server.json", "/static/..%5csecret", "/static//etc/passwd",
             "/static/charts/../../../../etc/passwd", "/q/..%2f..%2fsecret", "/q/claims%00", "/login?token=%00"]
)  # fmt: skip
def test_no_path_leads_out(server, path):
    assert 400 <= raw(server, head(server, f"GET {path} HTTP/1.1")) < 500


def test_the_body_of_a_stranger_is_not_read(server):
    """64 MB to each of the large doors, with a length and in chunks: the memory of the server stays as it was."""
    process, most = psutil.Process(), 0
    before = process.memory_info().rss
    megabyte = b"x" * 2**20
    for how, chunk in ((f"Content-Length: {64 * 2**20}", megabyte),
                       ("Transfer-Encoding: chunked", b"100000\r\n" + megabyte + b"\r\n")):  # fmt: skip
        for door in ("rows", "imports"):
            with socket.create_connection(("127.0.0.1", server.port), timeout=120) as sock:
                sock.sendall(head(server, f"POST /api/v1/queues/claims/{door} HTTP/1.1", how))
                try:
                    for _ in range(64):
                        sock.sendall(chunk)
                        most = max(most, process.memory_info().rss - before)
                except OSError:
                    continue  # the door was shut before all was said
    assert most < 30 * 2**20


def test_what_is_too_large_is_refused_by_its_length_alone(server):
    for door, most in (("rows", MOST_UPLOAD_BYTES), ("turn", MOST_BYTES)):
        asked = head(server, f"POST /api/v1/queues/claims/{door} HTTP/1.1", f"Content-Length: {most + 1}")
        assert raw(server, asked) == 413


def test_an_address_opens_one_session_and_no_guess_does(server):
    with httpx.Client(base_url=server.url, trust_env=False) as http:
        for guess in ("", "a", "../", "\x00", "x" * 199, "ü"):
            assert http.get("/login", params={"token": guess}).status_code == 401
        assert http.get("/login", params={"token": "x" * 201}).status_code == 422
        assert http.get("/login?token=a&token=b").status_code == 401


def test_answers_to_strangers_tell_nothing_of_the_rows(server):
    with httpx.Client(base_url=server.url, trust_env=False) as http:
        for method, path in routes(server):
            if method in SAFE_METHODS:
                text = http.get(path.replace("{name}", "claims").replace("{id}", "C-0001")).text
                assert "amount" not in text
                assert server.keys.access_token not in text
        assert "claims" not in json.dumps(http.get("/api/v1/queues").json())
