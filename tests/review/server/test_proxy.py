"""Behind a real nginx and a real Caddy, with the lines of the documentation: base path, hosts, who is asking."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from shortlist.review.server.app import listen
from shortlist.review.web.access import Role
from tests.review.server.conftest import PASSWORD, Team

NGINX = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
CADDY = shutil.which("caddy")
pytestmark = pytest.mark.slow
PROJECT = Path(__file__).parents[3]
PAGE = PROJECT / "docs" / "how-to" / "nginx.md"


def free_port():
    with listen("127.0.0.1", 0) as sock:
        return sock.getsockname()[1]


@contextmanager
def nginx(folder, port, behind):
    """nginx on a port, with the location of the documentation, for a server on another."""
    (lines,) = re.findall(r"```nginx\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert "127.0.0.1:8765" in lines
    files = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}} http {{ access_log off; {files} "
        f"server {{ listen 127.0.0.1:{port}; {lines.replace('8765', str(behind))} }} }}"
    )
    folder.chmod(0o755)
    with running([NGINX, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")], port):
        yield


@contextmanager
def caddy(folder, port, behind):
    """Caddy on a port, with the file that is shipped, for a server on another; what its certificate is trusted by."""
    text = (PROJECT / "deploy" / "Caddyfile").read_text()
    assert f"```text\n{text}```" in PAGE.read_text()
    options = "{\n admin off\n skip_install_trust\n auto_https disable_redirects\n}\n"
    text = text.replace("reviews.example {", f"https://localhost:{port} {{").replace("8765", str(behind))
    (folder / "Caddyfile").write_text(options + text)
    places = {name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    command = [CADDY, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with running(command, port, {**os.environ, **places}):
        root = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        wait_for(root.exists)
        yield ssl.create_default_context(cafile=str(root))


@contextmanager
def running(command, port, environment=None):
    """A proxy that listens, until the end."""
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: is_listening(port) or process.poll() is not None)
        assert process.poll() is None
        yield
    finally:
        process.terminate()
        process.wait(120)


def is_listening(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_a_team_behind_nginx(tmp_path):
    with behind(tmp_path, nginx, "http://127.0.0.1:{port}") as (team, address):
        check_a_day(team, address)


@pytest.mark.skipif(CADDY is None, reason="Caddy is not installed")
def test_a_team_behind_caddy_with_tls(tmp_path):
    with behind(tmp_path, caddy, "https://localhost:{port}") as (team, address):
        answer = check_a_day(team, address)
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
        with team.client() as http:
            form = {"token": team.server.accounts.invite(Role.VIEWER), "who": "bea", "password": PASSWORD}
            cookie = http.post(f"{address}/join", data=form, follow_redirects=False).headers["set-cookie"]
            assert "; Secure" in cookie
            assert http.get(address, follow_redirects=False).status_code == 303
            assert http.get(f"{address}x").text == ""  # nothing of Caddy's, nothing of ours


@contextmanager
def behind(folder, proxy, address):
    """A server behind a proxy, and its address."""
    port = free_port()
    address, places = f"{address.format(port=port)}/claims", [folder / "reviews", folder / "proxy"]
    for place in places:
        place.mkdir()
    with (
        Team(places[0], url=address, proxies=["127.0.0.1"]).running() as team,
        proxy(places[1], port, team.port) as trusted,
    ):
        options = {"trust_env": False, "timeout": 60, "follow_redirects": True}
        team.client = lambda: httpx.Client(verify=trusted or True, **options)
        yield team, address


def check_a_day(team, address):
    """What must hold behind any proxy; the home page."""
    with team.client() as http:
        form = {"token": team.server.accounts.invite(Role.ADMIN), "who": "ann", "password": PASSWORD}
        home = http.post(f"{address}/join", data=form)
        assert (home.status_code, home.url) == (200, f"{address}/")
        assert 'href="/claims/account"' in home.text
        assert http.get(f"{address}/static/review.css").status_code == 200
        assert http.get(f"{address}/").status_code == 200
        assert http.get(f"{address}").status_code in (200, 301)
        assert http.post(f"{address}/logout", headers={"origin": "http://evil.example"}).status_code == 403
        foreign = http.get(f"{address}/", headers={"host": "evil.example"})
        assert foreign.status_code == 421 or foreign.content == b""  # Caddy knows no such site
        # What a browser says of itself is replaced by what the proxy sees: changing it wins no further guesses.
        tries = [
            http.post(
                f"{address}/login",
                data={"who": "ann", "password": "wrong"},
                headers={"x-forwarded-for": f"10.0.0.{n}"},
            ).status_code
            for n in range(6)
        ]
        assert tries == [401] * 5 + [429]
        return home
