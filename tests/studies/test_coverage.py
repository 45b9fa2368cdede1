"""The page of all items of the papers is as its study writes it, and the commands that it names exist."""

import re
from collections import Counter

import pytest

from studies.quality import coverage, papers_page
from tests.studies.test_studies import PROJECT


def test_the_page_is_as_it_is_written():
    assert (PROJECT / "docs" / "evidence" / "coverage.md").read_text(encoding="utf-8") == coverage.page()


def test_every_item_is_answered():
    items = coverage.items()
    assert len(items) > 200
    assert {item["paper"] for item in items} == set(coverage.PAPERS)
    assert {item["here"] for item in items} == {"yes", "partly", "no"}
    assert max(Counter((item["paper"], item["item"]) for item in items).values()) == 1
    assert [item for item in items if not item["command"] and not item["answer"]] == []


@pytest.mark.parametrize("name", coverage.PAPERS)
def test_what_a_command_names_is_in_the_catalogue(name):
    paper = coverage.declared(name)
    known = {
        "table": {each.number for each in paper.tables},
        "figure": {each.number for each in paper.figures},
    }
    commands = [item["command"] for item in coverage.items() if f"studies {name}" in item["command"]]
    named = [match for command in commands for match in re.findall(r"--(table|figure) (\w+)", command)]
    assert named
    assert all(number in known[kind] for kind, number in named)


def test_a_paper_without_a_run_says_so():
    assert "not made" in next(coverage._run(None))


def test_the_page_of_results_and_its_summary_are_as_they_are_written():
    assert papers_page.PAGE.read_text(encoding="utf-8") == papers_page.page()
    assert papers_page.SUMMARY.read_text(encoding="utf-8") == papers_page.summary()
    assert papers_page.summary() in papers_page.page()


def test_every_paper_has_a_headline_among_its_claims():
    for name in coverage.PAPERS:
        begins, place = papers_page.HEADLINES[name]
        assert [claim for claim in coverage.declared(name).claims if claim.text.startswith(begins)]
        found = coverage.results(name)
        if found and place:
            entries = found["tables"][place[0]]["entries"]
            assert place[1:] in {(each["row"], each["column"]) for each in entries}


def test_figures_that_the_page_shows_are_there():
    for file in re.findall(r"\]\(../../(studies/results/figures/[^)]+)\)", papers_page.page()):
        assert (PROJECT / file).is_file()


def test_what_has_a_place_in_a_table_but_no_figure_was_not_run():
    item = {"paper": "sgbap", "item": "Table3 w8a"}
    entry = {"row": "w8a_train, SGBAP", "column": "AP", "ours": None}
    tables = {"w8a": {"digits": 2, "entries": [entry]}}
    assert list(coverage._figures(item, {"tables": tables})) == ["not run yet"]
    entry["ours"] = 0.8
    assert list(coverage._figures(item, {"tables": tables})) == ["w8a_train, SGBAP, AP: .80"]
    assert list(coverage._figures({**item, "item": "AUC Eq1"}, {"tables": tables})) == []
