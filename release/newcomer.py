"""The README as a new user: an empty environment, every command as printed, then a file of their own; with a stopwatch.

In place of somebody at the keyboard a program reviews thirty rows over the HTTP API, by the outcomes that the demo has.
``--page`` writes the transcript to ``docs/evidence/newcomer.md``.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from release.package import browser, build, clean, install
from release.results import README, ROOT
from studies.kept import in_words, made_by

PAGE = ROOT / "docs" / "evidence" / "newcomer.md"
#: What a user does with a file of their own: malignant cases first, of cases that are public.
OWN_FILE = """\
from sklearn.datasets import load_breast_cancer
import polars as pl
data = load_breast_cancer()
rows = pl.DataFrame(data.data, schema=[name.replace(" ", "_") for name in data.feature_names])
rows = rows.with_columns(malignant=pl.Series(1 - data.target), case=pl.int_range(pl.len()))
rows[:400].write_csv("cases.csv")
rows[400:].drop("malignant").write_csv("new_cases.csv")
"""
OWN = "shortlist rank cases.csv new_cases.csv --label malignant --id case --budget 20 -o mine.csv"
#: Reviews by the program's own client, in the environment that was installed.
REVIEWER = """\
import csv, sys
from shortlist.review import Client
truth = {row["claim_id"]: row["fraud"] for row in csv.DictReader(open("demo/outcomes.csv"))}
with Client.of_workspace("demo/new.review", who="ann") as client:
    turn = client.turn()
    for _ in range(30):
        turn = client.record(turn.shown, "wanted" if truth[turn.id] == "1" else "not wanted")
"""


def commands(page: str) -> list[str]:
    """The commands of the README, in order."""
    blocks = re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return [
        line[2:] for line in re.sub(r" *\\\n *", " ", "\n".join(blocks)).splitlines() if line.startswith("$ ")
    ]


def walk(programs: Path, home: Path) -> Iterator[tuple[str, float, str]]:
    """Each command with its seconds and the last line that it said; the file of their own after the start."""
    env = {
        **clean(),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "BROWSER": "true",
        "SHORTLIST_PORT": "0",
    }
    printed = commands(README.read_text(encoding="utf-8"))
    begin = next(at for at, command in enumerate(printed) if command.startswith("shortlist review")) + 1
    subprocess.run([programs / "python", "-c", OWN_FILE], cwd=home, env=env, check=True)
    for command in (*printed[:begin], OWN, *printed[begin:]):
        if command.startswith("pip "):
            continue
        start = time.monotonic()
        if command.split()[1] in ("review", "serve"):
            said = _serve(command, programs, home, env)
        else:
            said = _run(shlex.split(command), home, env)
        yield command, time.monotonic() - start, said
    assert len((home / "mine.csv").read_text(encoding="utf-8").splitlines()) == 21


def _run(words: list[str], home: Path, env: dict[str, str]) -> str:
    done = subprocess.run(words, cwd=home, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(words)}: {done.stderr}"
    said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return said[-1] if said else ""


def _serve(command: str, programs: Path, home: Path, env: dict[str, str]) -> str:
    """Start a server, have rows reviewed where it is a review, and stop it as Ctrl-C does."""
    with subprocess.Popen(
        shlex.split(command), cwd=home, env=env, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        try:
            told = next(line for line in iter(server.stderr.readline, "") if "stop with Ctrl-C" in line)
            if " review " in command:
                subprocess.run([programs / "python", "-c", REVIEWER], cwd=home, env=env, check=True)
            else:
                # Once it answers, it heeds signals, too.
                address = re.search(r"http://[\w.:]+\d", told)
                assert address is not None, told
                browser().open(f"{address[0]}/healthz", timeout=300).close()
            server.send_signal(signal.SIGINT)
            server.stderr.read()
        finally:
            server.kill()
    return re.sub(r"http://\S+", "http://127.0.0.1/…", told.strip())


def transcript(steps: list[tuple[str, float, str]]) -> str:
    """The page."""
    first = next(at for at, (command, *_) in enumerate(steps) if command == OWN) + 1
    until, whole = (sum(seconds for _, seconds, _ in part) / 60 for part in (steps[:first], steps))
    lines = [
        "# A new user, with a stopwatch",
        "",
        "Written by `python -m release newcomer --page`: an empty environment, every command of the README as printed, "
        "and after its first part a file of their own. A program gives thirty verdicts in each review, so what people "
        "take to read and to decide is not in these times; that kernels are compiled when they are first used is.",
        "",
        f"**From `pip install` to a shortlist of their own file: {until:.1f} minutes**; the aim is 10. With all three "
        f"stories: {whole:.1f} minutes.",
        "",
        f"*Made: {in_words(made_by())}.*",
        "",
        "| seconds | command | last line that it said |",
        "|---|---|---|",
        *(
            f"| {seconds:.0f} | `{command}` | {said.replace('|', '¦')[:160]} |"
            for command, seconds, said in steps
        ),
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] = ()) -> None:
    """Walk through it, and print or keep the transcript."""
    parser = argparse.ArgumentParser(prog="python -m release newcomer", description=__doc__)
    parser.add_argument("--page", action="store_true", help="write docs/evidence/newcomer.md")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        wheel, _ = build(Path(place, "dist"))
        start = time.monotonic()
        programs = install(sys.executable, wheel, Path(place, "env"))
        steps = [("pip install shortlist", time.monotonic() - start, "")]
        home = Path(place, "home")
        home.mkdir()
        for step in walk(programs, home):
            steps.append(step)
            print(f"{step[1]:6.0f} s  {step[0]}", flush=True)
    text = transcript(steps)
    print(text) if not options.page else PAGE.write_text(text, encoding="utf-8")
