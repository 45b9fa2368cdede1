"""The frame of the papers' studies: cells are computed once, runs can be killed, claims follow from paired tests."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shortlist.exceptions import ShortlistError, TableError
from studies.frame import cells as frame_cells
from studies.frame.cells import Cell, Found, Kept, run, source_hash
from studies.frame.claims import Claim, all_of, more_often, paired, within
from studies.frame.command import onto
from studies.frame.figures import draw
from studies.frame.paper import Entry, Paper, entry
from studies.paper_sets import need
from tests.studies import toy_paper
from tests.studies.test_studies import PROJECT


def told(capsys, log, *arguments, wait=0.0):
    toy_paper.main(log, wait, "--json", *arguments)
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def places(tmp_path):
    return ["--results", str(tmp_path / "cells.jsonl"), "--figures", str(tmp_path)]


def test_a_cell_is_computed_once(tmp_path, places, capsys):
    log = tmp_path / "log"
    first = told(capsys, log, *places)
    assert first["tables"]["1"]["entries"][0] == {
        "row": "set", "column": "ours", "ours": 12.75, "error": pytest.approx(0.7638, abs=1e-4),
        "spread": pytest.approx(1.8708, abs=1e-4), "runs": 6, "paper": 12.0,
    }  # fmt: skip
    assert first["claims"][0]["verdict"] == "holds"
    assert "+10.000 over 6 pairs" in first["claims"][0]["statistic"]
    assert first["cells"] == {"run": 12, "wanted": 12}
    again = told(capsys, log, *places)
    first["made by"]["load"] = again["made by"]["load"]  # of the machine, not of the paper
    assert again == first
    assert len(log.read_text().splitlines()) == 12


def test_a_quick_run_is_part_of_the_full_one(tmp_path, places, capsys):
    log = tmp_path / "log"
    assert told(capsys, log, "--quick", *places)["repeats"] == 2
    told(capsys, log, *places)
    assert len(log.read_text().splitlines()) == 12


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path, capsys):
    """Killed between cells and in the middle of writing one: the table is that of a run that nobody stopped."""
    log, kept = tmp_path / "log", tmp_path / "cells.jsonl"
    places = ["--results", str(kept), "--figures", str(tmp_path)]
    start = "import sys; from tests.studies.toy_paper import main; main(*sys.argv[1:])"
    command = [sys.executable, "-c", start, str(log), "0.2", "--json", *places]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        deadline = time.monotonic() + 120
        while len(Kept(kept).lines) < 3 and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert running.poll() is None, running.communicate()
        running.send_signal(signal.SIGKILL)
        running.communicate()
    done = len(Kept(kept).lines)
    assert 3 <= done < 12
    with kept.open("a") as file:
        file.write('{"key": "cut sho')
    tables = told(capsys, log, *places, wait=0.2)["tables"]
    assert (
        tables
        == told(capsys, log, "--results", str(tmp_path / "other"), "--figures", str(tmp_path))["tables"]
    )
    # One cell may have been under way when it was killed; the uninterrupted run did all twelve.
    assert 12 <= len(log.read_text().splitlines()) - 12 <= 13


@pytest.mark.slow
def test_several_processes_give_the_same_table(tmp_path, places, capsys):
    one = told(capsys, tmp_path / "log", *places)
    other = ["--results", str(tmp_path / "two"), "--figures", str(tmp_path), "--jobs", "2"]
    assert told(capsys, tmp_path / "log", *other)["tables"] == one["tables"]


def test_the_key_changes_with_what_could_change_the_value(monkeypatch):
    def key(**settings):
        return Cell.of(toy_paper.work, **settings).key

    before = key(seed=0)
    assert key(seed=0) == before != key(seed=1)
    monkeypatch.setattr(frame_cells, "source_hash", lambda module: "other source")
    assert key(seed=0) != before
    monkeypatch.setattr(frame_cells, "checksum", lambda name: "one")
    before = key(data="pima")
    monkeypatch.setattr(frame_cells, "checksum", lambda name: "another")
    assert key(data="pima") != before


def test_sources_are_followed_through_imports(tmp_path, monkeypatch):
    """A change two imports away counts, one of a module that is not imported does not."""
    for name, text in {"a": "from studies_b import c", "b": "import studies_c", "c": "", "d": ""}.items():
        (tmp_path / f"studies_{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(frame_cells, "OURS", tuple(f"studies_{name}" for name in "abcd"))

    def now():
        source_hash.cache_clear()
        frame_cells._parsed.cache_clear()
        return source_hash("studies_a")

    before = now()
    (tmp_path / "studies_d.py").write_text("changed = 1")
    (tmp_path / "studies_b.py").write_text('"""What it is."""\nimport studies_c  # why\n')
    assert now() == before
    (tmp_path / "studies_c.py").write_text("changed = 1")
    assert now() != before
    source_hash.cache_clear()
    frame_cells._parsed.cache_clear()


def test_values_that_were_not_run_are_not_there(tmp_path):
    known = [Cell.of(toy_paper.work, seed=seed, method="ours", log=str(tmp_path / "log")) for seed in (0, 1)]
    kept, heard = Kept(None), []
    run(known[:1], kept, tell=lambda done, total, left: heard.append((done, total)))
    found = Found.among(known, kept)
    assert list(found) == known[:1]
    assert found.where(seed=0).each("figure") == [10.25]
    assert heard == [(0, 1), (1, 1)]


def test_only_what_is_asked_for_is_run(tmp_path, places, capsys):
    found = told(capsys, tmp_path / "log", "--table", "2", *places)
    assert list(found["tables"]) == ["2"]
    (claim,) = found["claims"]  # it needs no other cells
    assert claim["claim"] == "ours is above theirs"
    assert found["figures"] == {}
    found = told(capsys, tmp_path / "log", "--figure", "1", *places)
    assert found["figures"]["1"]["files"] == ["papers.toy.figure-1.svg", "papers.toy.figure-1.png"]
    assert (tmp_path / "papers.toy.figure-1.svg").read_text().lstrip().startswith("<?xml")
    assert (tmp_path / "papers.toy.figure-1.png").read_bytes().startswith(b"\x89PNG")


def test_people_are_shown_tables_claims_and_what_there_is(tmp_path, places, capsys):
    toy_paper.main(tmp_path / "log", 0, "--quick", *places)
    text = capsys.readouterr().out
    assert "10.750 ± .500 (12.000)" in text
    assert "CANNOT BE DECIDED  ours is above theirs (Section 1)" in text
    assert "too few repeats" in text
    toy_paper.main(tmp_path / "log", 0, "--list")
    text = capsys.readouterr().out
    assert "--table 1   figures" in text
    assert "left out: Nothing." in text


def test_whoever_stops_a_run_is_told_how_to_go_on(tmp_path, places, capsys, monkeypatch):
    def stopped(cells, kept, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("studies.frame.command.run", stopped)
    with pytest.raises(SystemExit, match="stopped after 0 of 12 cells; the same command goes on from there"):
        toy_paper.main(tmp_path / "log", 0, *places)


def test_the_clock_may_stop_a_run_which_then_reports_what_is_done(tmp_path, places, capsys):
    with pytest.raises(SystemExit, match="stopped after 0 of 12 cells"):
        toy_paper.main(tmp_path / "log", 0, "--json", "--minutes", "0", *places)
    assert json.loads(capsys.readouterr().out)["cells"] == {"run": 0, "wanted": 12}
    with pytest.raises(SystemExit, match="stopped after 1 of 12 cells"):
        toy_paper.main(tmp_path / "log", 0.01, "--json", "--minutes", "0.00001", *places)
    found = json.loads(capsys.readouterr().out)
    assert found["tables"]["1"]["entries"][0]["runs"] == 1
    assert found["claims"][0]["verdict"] == "cannot be decided"


def test_figures_need_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ShortlistError, match=r"pip install 'shortlist\[plot\]'"):
        draw(toy_paper.paper("").figures[0], Found({}), tmp_path, "any")


def test_missing_data_are_told_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("SHORTLIST_DATA", str(tmp_path))
    with pytest.raises(TableError, match=r"no data set 'glass', 'wine' in .*studies data get") as told_:
        need({"wine", "glass"})
    assert "\n" not in str(told_.value)
    need(set())


def test_verdicts_follow_from_paired_tests():
    high, low = [0.5 + 0.01 * i for i in range(8)], [0.4 + 0.005 * i for i in range(8)]
    assert paired(high, low).verdict == "holds"
    assert paired(low, high).verdict == "does not hold"
    assert paired(high[:2], low[:2]).verdict == "cannot be decided"
    assert paired(high, high).verdict == "cannot be decided"
    assert paired([], []).statistic == "nothing was run"
    assert paired(low, [value + 0.01 for value in low], margin=0.02).verdict == "holds"
    assert paired(low, [value + 0.03 for value in low], margin=0.02).verdict == "does not hold"
    assert all_of({"a": paired(high, low), "b": paired(high, low)}).verdict == "holds"
    assert all_of({"a": paired(high, low), "b": paired(high, high)}).verdict == "cannot be decided"
    assert all_of({"a": paired(high, low), "b": paired(low, high)}).verdict == "does not hold"
    assert within({"a": 1.0}, 0, 2).verdict == "holds"
    assert within({}, 0, 2).verdict == "cannot be decided"
    assert [more_often(*counts).verdict for counts in ((9, 1), (1, 9), (3, 2), (0, 0))] == [
        "holds", "does not hold", "cannot be decided", "cannot be decided",
    ]  # fmt: skip


def test_entries_are_written_as_pages_have_them():
    assert entry("a", "b", [0.5], 0.25).text(2) == ".50 (.25)"
    assert entry("a", "b", [], 0.25).text(2) == "- (.25)"
    assert Entry("a", "b").text(2) == ""
    assert entry("a", "b", [-0.5, -0.5]).text(2) == "-.50 ± .00"


@pytest.mark.parametrize("paper", ["ojrank", "prec_at_k"])
def test_every_part_of_a_paper_has_cells(paper):
    from importlib import import_module

    declared = import_module(f"studies.papers.{paper}").PAPER
    parts = list(declared.parts(None, None))
    assert len(parts) > 10
    assert all(part.plan(declared.quick_repeats, True) for part in parts)
    assert len({cell for part in parts for cell in part.plan(1, False)}) > 15
    assert Path(PROJECT / "studies" / "papers" / f"{paper}_runs.py").is_file()


def test_a_run_of_one_table_goes_onto_a_kept_one(tmp_path, places, capsys):
    """Cells of the kept run are gone; its tables and verdicts stay where the new one has none."""
    log, kept = tmp_path / "log", tmp_path / "kept.json"
    first = told(capsys, log, *places)
    first["tables"]["1"]["entries"][0]["ours"] = 99.0  # to be told from a new one
    kept.write_text(json.dumps(first))
    with pytest.raises(SystemExit, match="0 of 12 cells"):
        told(capsys, log, *places, "--minutes", "0", "--results", str(tmp_path / "none"), "--onto", str(kept))
    again = json.loads(capsys.readouterr().out)
    assert again["tables"]["1"]["entries"][0]["ours"] == 99.0
    assert again["claims"] == first["claims"]
    new = told(capsys, log, "--table", "1", *places, "--onto", str(kept))
    assert new["tables"]["1"]["entries"][0]["ours"] == 12.75
    assert [claim["claim"] for claim in new["claims"]] == [claim["claim"] for claim in first["claims"]]
    assert new["before"] == first["made by"]


def test_a_claim_of_which_some_parts_were_run_replaces_the_kept_one():
    paper = Paper("toy", "", "", claims=tuple(Claim(text, "", None, None) for text in ("half", "none")))
    kept = {"repeats": 1, "made by": {}, "cells": {"run": 0, "wanted": 0}, "tables": {}, "figures": {}}
    verdicts = {"half": "A +0.1 over 8 pairs, p = 0.2; B nothing was run", "none": "A nothing was run"}
    found = {**kept, "claims": [{"claim": text, "statistic": told} for text, told in verdicts.items()]}
    before = [{"claim": text, "statistic": "of before"} for text in verdicts]
    merged = onto(found, {**kept, "claims": before}, paper)
    assert [claim["statistic"] for claim in merged["claims"]] == [verdicts["half"], "of before"]
