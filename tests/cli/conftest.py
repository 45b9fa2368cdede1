import json
import os
import signal
import sys
from types import SimpleNamespace

import pytest

from shortlist.cli._app import main
from shortlist.datasets import make_claims
from shortlist.tables import write_table


def run_in(folder, arguments, prepare=lambda: None):
    """What a process runs: the program, as a shell starts it in a folder; its errors go to errors.txt."""
    os.chdir(folder)
    os.dup2(os.open("errors.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 2)
    os.fsync = lambda handle: None  # as in all tests
    signal.signal(signal.SIGINT, signal.default_int_handler)
    prepare()
    sys.argv = ["shortlist", *arguments]
    main()


@pytest.fixture
def shortlist(monkeypatch, capsys):
    """Call the program as a user does; gives exit code, output and errors."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["shortlist", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        text = capsys.readouterr()
        return SimpleNamespace(
            code=stop.value.code, out=text.out, err=" ".join(text.err.split()), text=text.out
        )

    return call


@pytest.fixture
def run_json(shortlist):
    """Call the program with ``--json`` and read what it prints."""

    def call(*arguments):
        done = shortlist(*arguments, "--json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    return call


@pytest.fixture
def claims(tmp_path, monkeypatch):
    """A folder with history.csv and new.csv, and the working directory in it."""
    monkeypatch.chdir(tmp_path)
    rows = make_claims(900, random_state=0, fraud_rate=0.1)
    write_table(rows.head(600), tmp_path / "history.csv")
    write_table(rows.tail(300).drop("fraud"), tmp_path / "new.csv")
    write_table(rows.tail(300).select("claim_id", "fraud"), tmp_path / "outcomes.csv")
    return tmp_path
