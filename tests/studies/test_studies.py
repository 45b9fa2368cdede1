"""Every study can be listed, asked and run by its name, and what the pages say of them is true."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from studies.__main__ import find, main, studies
from studies.measure import apart, best_in_turn, held_mb, peak_mb, spent
from studies.running import append_runs, read_runs

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").rglob("*.md"))]
COMMAND = re.compile(r"python -m studies ([a-z_.]+)([^`\n]*)")


def commands():
    latest = (PROJECT / "CHANGELOG.md").read_text().split("\n## ")[1]
    texts = [page.read_text() for page in PAGES if "_build" not in page.parts]
    return [(name, options) for text in (*texts, latest) for name, options in COMMAND.findall(text)]


def test_they_are_listed_with_a_line_each(capsys):
    main([])
    listed = capsys.readouterr().out
    assert all(f"{name} " in listed and about.endswith((".", "?")) for name, about in studies().items())
    assert {name.partition(".")[0] for name in studies()} == {"papers", "speed", "quality"}


@pytest.mark.parametrize("name", studies())
def test_every_study_can_be_quick_and_give_json(name, capsys):
    with pytest.raises(SystemExit) as stopped:
        import_module(f"studies.{name}").main(["--help"])
    assert stopped.value.code == 0
    told = capsys.readouterr().out
    assert f"python -m studies {name}" in told
    assert "--quick" in told
    assert "--json" in told


def test_the_room_may_be_left_out_where_the_name_is_clear():
    assert find("sgbap") == "papers.sgbap"
    assert find("speed.ap_boost") == "speed.ap_boost"
    with pytest.raises(SystemExit, match=r"speed\.ap_boost, quality\.ap_boost"):
        find("ap_boost")
    with pytest.raises(SystemExit, match=r"No study is called 'nothing'; choose: papers\.cost_sensitive"):
        find("nothing")


def test_a_tool_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "studies.quality.house", raising=False)
    monkeypatch.setitem(sys.modules, "grimp", None)
    with pytest.raises(SystemExit, match=r"quality\.house needs grimp; make test installs"):
        main(["quality.house"])


def test_without_the_data_a_study_says_where_it_looks(monkeypatch, tmp_path):
    monkeypatch.setenv("SHORTLIST_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"no data set 'glass' in .* Set SHORTLIST_DATA"):
        main(["quality.ap_boost", "--quick"])


@pytest.mark.slow
def test_every_command_of_the_pages_exists(capsys):
    assert len(commands()) > 15
    known = {}
    for name, options in commands():
        if name not in known:
            with pytest.raises(SystemExit):
                import_module(f"studies.{find(name)}").main(["--help"])
            known[name] = capsys.readouterr().out
        assert all(option in known[name] for option in re.findall(r"--[a-z-]+", options)), (name, options)


def test_no_page_names_a_place_of_before():
    gone = re.compile(r"benchmarks/|shortlist\.papers|shortlist/papers")
    assert [page.name for page in PAGES if gone.search(page.read_text())] == []


def taken(megabytes):
    """Hold some memory for a moment; the peak of this process, in a process of its own."""
    assert b"x" * (megabytes * 2**20)
    return peak_mb()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is what Linux says in /proc")
def test_a_process_of_its_own_does_not_count_the_memory_of_its_parent():
    ballast = bytearray(300 * 2**20)
    ballast[::4096] = b"x" * len(ballast[::4096])
    small, large = apart(taken, 1), apart(taken, 200)
    assert held_mb() > 300
    assert small < 250 < held_mb()
    assert large > small + 150


def test_times_are_taken_in_turns():
    order = []
    first, second = best_in_turn(lambda: order.append("a"), lambda: order.append("b"), repeats=2)
    assert order == ["a", "b", "a", "b"]
    assert first.wall >= 0 <= second.cpu
    assert spent(lambda: sum(range(10**6))).cpu > 0


def test_runs_are_gone_on_with(tmp_path):
    path = tmp_path / "runs.jsonl"
    assert read_runs(path) == []
    append_runs(path, [{"set": "a"}])
    append_runs(path, [{"set": "b"}])
    assert read_runs(path) == [{"set": "a"}, {"set": "b"}]
