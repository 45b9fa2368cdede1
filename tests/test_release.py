"""What a release says of itself is so: versions, the table of the README, figures by version, what it brings."""

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import studies.kept
from release import evidence, figures, newcomer, package, results
from release.audit import advisories, problems
from release.packages import Package, closure
from release.sbom import bill
from shortlist import __version__
from shortlist.cli._app import main
from shortlist.datasets import make_claims
from shortlist.exceptions import MissingExtraError
from shortlist.metrics.displays import pyplot
from studies.running import tell

PROJECT = Path(__file__).parents[1]
#: Pages that are written as a whole, and say at their head how.
WRITTEN = {"papers", "coverage", "trial", "newcomer", "releases"}
LOCK = (PROJECT / "requirements" / "run.txt").read_text()


def test_one_version_everywhere():
    assert (PROJECT / "CHANGELOG.md").read_text().split("\n## ")[1].startswith(f"{__version__} (")
    cited = (PROJECT / "CITATION.cff").read_text()
    assert f"\nversion: {__version__}\n" in cited
    day = re.search(r"^date-released: (\S+)$", cited, re.MULTILINE)[1]
    assert f"\n## {__version__} ({day})\n" in (PROJECT / "CHANGELOG.md").read_text()


def test_the_table_of_the_readme_is_what_the_studies_found():
    text = results.README.read_text(encoding="utf-8")
    assert text == results.written(text), "python -m release results"
    assert results.table().count("\n") >= 8


def tables(text):
    """The tables of a page, each with what follows it up to the next table or heading."""
    return re.findall(r"((?:^\|[^\n]*\n)+)(.*?)(?=^\||^#|\Z)", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", evidence.PAGES, ids=lambda page: page.stem)
def test_every_table_of_evidence_says_how_it_was_made(page):
    text = page.read_text(encoding="utf-8")
    assert text == evidence.written(text), "python -m release evidence"
    if page.parent.name == "evidence" and page.stem not in WRITTEN:
        assert [table for table, after in tables(text) if not evidence.STAMP.search(after)] == []
    else:
        assert re.search(r"Python \d.*20\d\d-\d\d-\d\d|not recorded", text)


def test_a_result_says_how_it_was_made(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("studies.kept.RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["/home/ann/studies/__main__.py", "speed.start", "--json"])
    tell([1, 2], True, print)
    (tmp_path / "speed.start.json").write_text(capsys.readouterr().out)
    assert studies.kept.kept("speed.start") == [1, 2]
    told = studies.kept.how("speed.start")
    assert f"`python -m studies speed.start --json`, version {__version__}, Python " in told
    assert re.search(r" cores, a load of [\d.]+ at the end, 20\d\d-\d\d-\d\d\.$", told)
    assert "not recorded" not in told


def test_what_was_not_recorded_is_said_to_be_so(monkeypatch, tmp_path):
    monkeypatch.setattr("studies.kept.RESULTS", tmp_path)
    (tmp_path / "quality.any.part.json").write_text("[1]")
    assert studies.kept.kept("quality.any.part") == [1]
    told = studies.kept.how("quality.any.part")
    assert "by `python -m studies quality.any`, kept by 2026-11-17; options, version, Python, machine" in told
    assert told.endswith("load and date were not recorded.")
    (tmp_path / "papers.any.json").write_text('{"made by": {"date": "2026-11-17"}, "tables": {}}')
    assert "tables" in studies.kept.kept("papers.any")
    assert "2026-11-17; command, version, " in studies.kept.how("papers.any")


def test_figures_of_this_version_are_kept_and_shown():
    kept = json.loads((figures.FIGURES / f"{__version__}.json").read_text(encoding="utf-8"))
    assert kept["figures"].keys() == figures.TRACKED.keys(), "make figures"
    assert figures.PAGE.read_text(encoding="utf-8") == figures.page()
    assert round(kept["packages"][-1]["MB"]) == kept["figures"]["an install, MB (down)"]["value"]
    installing = figures.INSTALL.read_text(encoding="utf-8")
    assert installing == figures.install_page(installing), "make figures"


@pytest.mark.slow
def test_what_is_large_is_needed_to_rank(tmp_path):
    """So that it cannot be an extra, as the page about installing says."""
    make_claims(300, random_state=0, fraud_rate=0.2).write_csv(tmp_path / "h.csv")
    code = (
        "import sys; from shortlist.cli._app import main\n"
        "asked = 'rank h.csv h.csv --label fraud --id claim_id --time date --model logistic -o t.csv'\n"
        "sys.argv = ['shortlist', *asked.split()]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert stop.code == 0\n"
        "print('loaded:', *{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = done.stdout.partition("loaded: ")[2].split()
    large = [each["package"] for each in sizes_kept() if each["MB"] >= 30]
    modules = {"scikit-learn": "sklearn", "polars-runtime-32": "_polars_runtime_32"}
    assert len(large) >= 6
    assert [name for name in large if modules.get(name, name) not in loaded] == []


def sizes_kept():
    *packages, _, _ = json.loads((figures.FIGURES / f"{__version__}.json").read_text())["packages"]
    return packages


def test_every_extra_is_told_with_what_it_is_for():
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    told = dict(
        re.findall(r"^\| `shortlist\[(\w+)\]` \| (.+) \|$", figures.INSTALL.read_text(), re.MULTILINE)
    )
    assert told.keys() == extras.keys() - {"dev", "docs", "studies"}
    for extra, text in told.items():
        assert text.startswith(str(MissingExtraError.of("any", extra)).partition(" needs any")[0])


@pytest.mark.parametrize(
    ("extra", "package", "command"),
    [
        ("excel", "fastexcel", "rank book.xlsx new.csv --label wanted -o top.csv"),
        ("excel", "fastexcel", "rank history.csv new.csv --label wanted -o top.xlsx"),
        ("duckdb", "duckdb", "rank duckdb:///rows.duckdb::history new.csv --label wanted -o top.csv"),
        (
            "postgres",
            "psycopg",
            "rank postgresql://ann@127.0.0.1:1/x::history new.csv --label wanted -o top.csv",
        ),
        ("postgres", "psycopg", "serve . --port 0 --db postgresql://ann@127.0.0.1:1/x"),
        ("remote", "fsspec", "rank s3://bucket/history.csv new.csv --label wanted -o top.csv"),
        ("dask", "distributed", "train history.parquet --label wanted --dask local -o top.shortlist"),
        ("spark", "pyspark", "train history.parquet --label wanted --spark local[1] -o top.shortlist"),
        (
            "oidc",
            "authlib",
            "serve . --port 0 --public-url https://reviews.example --oidc-issuer https://login.example "
            "--oidc-client-id me",
        ),
    ],
)
def test_a_command_that_misses_an_extra_says_what_for_and_how_to_get_it(
    extra, package, command, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rows = pl.DataFrame({"a": range(40), "wanted": [0, 1] * 20})
    rows.write_csv("history.csv")
    rows.write_parquet("history.parquet")
    rows.drop("wanted").write_csv("new.csv")
    for name in ("book.xlsx", "rows.duckdb"):
        Path(name).touch()
    before = {path.name for path in tmp_path.iterdir()}
    for name in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(sys, "argv", ["shortlist", *command.split()])
    with pytest.raises(SystemExit) as stop:
        main()
    told = " ".join(capsys.readouterr().err.split())
    assert stop.value.code == 2
    assert str(MissingExtraError.of(package, extra)) in told
    assert {path.name for path in tmp_path.iterdir()} == before


def test_drawing_without_its_extra_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"^drawing curves needs matplotlib.*'shortlist\[plot\]'$"):
        pyplot()


@pytest.fixture(scope="module")
def found():
    return closure()


def test_the_bill_of_materials_names_all_that_is_needed(found):
    made = bill(found)
    refs = {each["bom-ref"] for each in made["components"]} | {made["metadata"]["component"]["bom-ref"]}
    assert len(refs) == len(found) > 40
    assert {ref for each in made["dependencies"] for ref in each["dependsOn"]} <= refs
    direct = next(each for each in made["dependencies"] if each["ref"] == f"pkg:pypi/shortlist@{__version__}")
    names = {ref.removeprefix("pkg:pypi/").partition("@")[0] for ref in direct["dependsOn"]}
    assert {"polars", "scikit-learn", "fastapi", "numba"} <= names
    assert all(each["licenses"][0]["license"]["name"] != "unknown" for each in made["components"])


def test_an_audit_tells_what_is_not_locked_not_permitted_and_does_not_fit(found):
    stray = Package("acme", "1.0", "GPL-3.0", 0.0, ())
    other = replace(found["numpy"], version="0.1")
    told = "\n".join(problems({"numpy": other}, LOCK))
    assert "numpy is 0.1, locked is" in told
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("release.audit.metadata.requires", lambda name: ["numpy<0.2", "nosuch>=1"])
        told = "\n".join(problems({"acme": stray}, LOCK))
    for words in (
        "acme is installed and not in the lock file",
        "licence 'GPL-3.0'",
        "acme needs numpy<0.2, installed is",
        "acme needs nosuch, which is not installed",
    ):
        assert words in told


@pytest.mark.parametrize(
    ("affected", "known"),
    [
        ({"versions": ["1.5"]}, True),
        ({"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.6"}]}]}, True),
        ({"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.5"}]}]}, False),
        ({"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "1.6"}]}]}, False),
        (
            {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "1"}, {"last_affected": "1.5"}]}]},
            True,
        ),
        ({"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}, False),
    ],
)
def test_advisories_are_matched_by_version(tmp_path, affected, known):
    entry = {"id": "PYSEC-1", "summary": "a hole", "affected": [{"package": {"name": "Acme"}, **affected}]}
    (tmp_path / "PYSEC-1.json").write_text(json.dumps(entry))
    told = [*advisories({"acme": Package("acme", "1.5", "MIT", 0.0, ())}, tmp_path)]
    assert told == (["acme 1.5: PYSEC-1 a hole"] if known else [])


def test_every_job_is_listed():
    done = subprocess.run(
        [sys.executable, "-m", "release"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    makefile = (PROJECT / "Makefile").read_text()
    for job in ("results", "evidence", "size", "sbom", "audit", "figures", "package", "newcomer"):
        assert f"{job} " in done.stdout
        assert job in ("results", "evidence", "size") or f"-m release {job}" in makefile


def test_the_transcript_is_of_the_readme_as_it_is_and_within_ten_minutes():
    page = newcomer.PAGE.read_text(encoding="utf-8")
    for command in newcomer.commands(results.README.read_text(encoding="utf-8")):
        assert f"| `{command}` |" in page, "make newcomer A=--page"
    assert float(re.search(r"\*\*From .*?: ([\d.]+) minutes\*\*", page)[1]) <= 10


@pytest.mark.slow
def test_both_archives_install_into_empty_environments_and_run(tmp_path):
    wheel, source = package.build(tmp_path / "dist")
    for number, archive in enumerate((wheel, source)):
        try:
            programs = package.install(sys.executable, archive, tmp_path / f"env-{number}")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"pip cannot get what the package needs here: {error.stderr.decode()[-200:]}")
        package.begin(programs, tmp_path / f"home-{number}")
