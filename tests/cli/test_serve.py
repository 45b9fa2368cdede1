"""``shortlist serve`` as it is started: the first admin, a queue that is killed with it, and what is refused."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import ExitStack

import httpx
import pytest

from tests.review.conftest import make_rows


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "there is no folder nowhere"),
        ([".", "--host", "0.0.0.0"], "say under which address"),
        ([".", "--public-url", "reviews"], "no address of a server"),
        ([".", "--db", "mysql://x"], "postgresql://USER@HOST/NAME"),
        ([".", "--proxy", "nginx"], "no IP address"),
        ([".", "--rows-from", "exports"], "there is no folder exports"),
        ([".", "--webhook", "https://cases.example"], "export SHORTLIST_WEBHOOK_SECRET=whsec_"),
    ],
)
def test_what_cannot_be_served_is_said(tmp_path, monkeypatch, capsys, arguments, words):
    from shortlist.cli._app import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["shortlist", "serve", "--port", "0", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert (stopped.value.code, words in " ".join(capsys.readouterr().err.split())) == (2, True)


@pytest.fixture
def stop():
    """Servers end with the test, whatever happens."""
    with ExitStack() as stack:
        yield stack


@pytest.mark.slow
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_a_server_that_is_killed_goes_on_with_all_that_was_acknowledged(tmp_path, store, request, stop):
    """The first admin joins, makes a queue and reviews; killed and started again, nothing is lost and all replays."""
    database = [] if store == "sqlite" else ["--db", request.getfixturevalue("postgres")]
    command = [sys.executable, "-m", "shortlist", "serve", ".", "--port", "0", "--json", *database]
    acknowledged, token = {}, ""
    for start in range(3):
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        stop.callback(process.kill)
        told = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        with httpx.Client(base_url=told["url"], trust_env=False, timeout=60, follow_redirects=True) as http:
            if start == 0:
                form = {
                    "token": told["first"].partition("token=")[2],
                    "who": "root",
                    "password": "correct horse",
                }
                page = http.post("/join", data=form).text
                csrf = re.search(r'"X-CSRF-Token":"([0-9a-f]+)"', page)[1]
                made = http.post("/account/tokens", data={"csrf": csrf, "label": "x", "scope": "admin"}).text
                token = made.partition('<code id="token">')[2].partition("<")[0]
            else:
                assert told["first"] is None
                assert told["queues"] == ["claims"]
            http.headers["authorization"] = f"Bearer {token}"
            if start == 0:
                rows = make_rows(100, 8).drop("truth").write_csv().encode()
                made = http.post("/api/v1/queues?name=claims&format=csv&id=claim", content=rows)
                assert made.status_code == 200, made.text
            for _ in range(8):
                turn = http.post("/api/v1/queues/claims/turn").json()
                body = {"shown": turn["shown"], "verdict": "wanted"}
                assert http.post("/api/v1/queues/claims/verdicts", json=body).status_code == 200
                acknowledged[turn["shown"]] = turn["id"]
            said = http.get("/api/v1/queues/claims/log?kind=verdict&limit=1000").json()
        assert len(said) == len(acknowledged) == 8 * (start + 1)
        process.send_signal(signal.SIGTERM if start == 2 else signal.SIGKILL)
        process.wait(60)
        process.stdout.close()
    replay = [sys.executable, "-m", "shortlist", "replay", "claims.review"]
    environment = {"SHORTLIST_DB": database[1]} if database else {}
    done = subprocess.run(
        replay, cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
