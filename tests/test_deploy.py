"""What is shipped to run a server: units, an image, a compose file; each names only what there is."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from shortlist.cli import serve
from shortlist.cli._app import program

PROJECT = Path(__file__).parents[1]
DEPLOY = PROJECT / "deploy"
#: Variables that other programs read.
OF_OTHERS = {"PGPASSWORD", "POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"}


def known_variables():
    """What ``shortlist serve`` reads from the environment."""
    text = Path(serve.__file__).read_text() + Path(serve.__file__).with_name("_options.py").read_text()
    secret = (PROJECT / "src/shortlist/review/server/webhooks.py").read_text()
    return {*re.findall(r'envvar="(\w+)"', text), *re.findall(r'^SECRET = "(\w+)"', secret, re.MULTILINE)}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_units(tmp_path):
    for unit in DEPLOY.glob("shortlist*.*"):
        # The program need not be there, all else must be right.
        (tmp_path / unit.name).write_text(
            unit.read_text().replace("/opt/shortlist/bin/shortlist", "/bin/true")
        )
    units = sorted(tmp_path.iterdir())
    assert [unit.name for unit in units] == [
        "shortlist-backup.service", "shortlist-backup.timer", "shortlist.service",
    ]  # fmt: skip
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    ours = [line for line in done.stderr.splitlines() if "shortlist" in line]
    assert (done.returncode, ours) == (0, [])


def test_commands_and_variables_of_the_files_are_ours():
    for name in ("shortlist.service", "shortlist-backup.service", "Dockerfile", "compose.yaml"):
        text = (DEPLOY / name).read_text()
        named = {*re.findall(r"\b((?:SHORTLIST|PG|POSTGRES)_?[A-Z_]+)\b", text)} - OF_OTHERS
        assert named <= known_variables() | {"POSTGRES"}, name
    for line in re.findall(
        r"^ExecStart=.*$", "".join(p.read_text() for p in DEPLOY.glob("*.service")), re.MULTILINE
    ):
        check_command(re.split(r"\s+", line.partition("bin/shortlist ")[2].replace("'", "").replace('"', "")))


def check_command(words):
    """Whether there is such a command with such options."""
    commands = typer.main.get_command(program()).commands
    known = {name for option in commands[words[0]].params for name in option.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_the_image_runs_as_nobody_important_and_pins_what_it_starts_from():
    lines = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text()).splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    verbs = [verb for verb, _ in steps]
    assert {*verbs} <= {
        "FROM",
        "WORKDIR",
        "COPY",
        "RUN",
        "ENV",
        "USER",
        "VOLUME",
        "EXPOSE",
        "HEALTHCHECK",
        "CMD",
    }
    assert all(re.match(r"python:\d+\.\d+-slim-\w+", what) for verb, what in steps if verb == "FROM")
    assert verbs.index("USER") > max(n for n, verb in enumerate(verbs) if verb == "RUN")
    assert dict(steps)["USER"] == "shortlist"
    words = json.loads(dict(steps)["CMD"])
    assert words[0] == "shortlist"
    check_command(words[1:])
    check = dict(steps)["HEALTHCHECK"]
    assert "/healthz" in check
    compile(json.loads(check[check.index("[") :])[-1], "healthcheck", "exec")
    extras = re.search(r"'\.\[([\w,]+)\]'", (DEPLOY / "Dockerfile").read_text())[1].split(",")
    told = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert {*extras} <= {*told["optional-dependencies"]}


@pytest.mark.slow
def test_the_package_is_built_from_what_the_image_copies(tmp_path):
    pytest.importorskip("hatchling")
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    (tmp_path / "source").mkdir()
    for name in " ".join(copied).split():
        source = PROJECT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / "source" / name)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, "."]
    done = subprocess.run(command, cwd=tmp_path / "source", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len([*tmp_path.glob("shortlist-*.whl")]) == 1


def test_the_compose_file_says_what_must_be_said():
    yaml = pytest.importorskip("yaml")
    told = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    server, db = told["services"]["server"], told["services"]["db"]
    assert (
        DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]
    ).resolve() == DEPLOY / "Dockerfile"
    assert server["depends_on"]["db"]["condition"] == "service_healthy"
    assert server["environment"]["PGPASSWORD"] == db["environment"]["POSTGRES_PASSWORD"]
    assert "${DB_PASSWORD:?" in db["environment"]["POSTGRES_PASSWORD"]  # no password stands in the file
    assert server["environment"]["SHORTLIST_DB"] == "postgresql://shortlist@db/shortlist"
    assert all(port.startswith("127.0.0.1:") for port in server["ports"])
    volumes = {
        volume.partition(":")[0] for service in told["services"].values() for volume in service["volumes"]
    }
    assert volumes == {*told["volumes"]}
