"""The page of the trial tells what the study kept, and every finding has its answer."""

import re

from studies.quality.trial import FINDINGS, page
from tests.studies.test_quoted_figures import kept
from tests.studies.test_studies import PROJECT


def test_the_page_is_what_the_study_kept():
    assert (PROJECT / "docs" / "evidence" / "trial.md").read_text(encoding="utf-8") == page(
        kept("quality.trial")
    )


def test_every_finding_has_an_answer_as_it_should_be():
    found = kept("quality.trial")
    asked = [finding for finding in FINDINGS if finding.table not in found["left out"]]
    assert len(asked) >= 25
    assert {finding.table for finding in asked} == {"demo", "messy", "flights"}
    for finding, row in zip(asked, found["findings"], strict=True):
        assert (row["finding"], row["command"]) == (finding.was, f"shortlist {finding.command}")
        assert (row["exit code"], row["as it should"]) == (finding.code, True), row
        assert row["answer"], row
        assert re.search(finding.says.removeprefix(".*"), row["answer"]) or finding.says.startswith('"'), row


def test_money_is_above_sorting_where_it_was_below():
    answers = {row["finding"]: row["answer"] for row in kept("quality.trial")["findings"]}
    chosen = answers["the same question to `train`"]
    found = [
        float(each.replace(",", ""))
        for each in re.findall(r"(?:found|sorting by amount) ([\d,]{5,})", chosen)
    ]
    assert found[0] > found[-1]
    assert (
        "more money than sorting by amount"
        in answers["`make demo` printed that the shortlist finds less money than sorting"]
    )
