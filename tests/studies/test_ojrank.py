"""The study of the OJRank paper: its arithmetic, and its figures on one set."""

from __future__ import annotations

import json

import numpy as np
import pytest

from studies.paper_sets import paper_sets
from studies.papers import ojrank
from studies.papers.ojrank_tables import BENCHMARK, CLUSTERED, EFFORT, METHODS, PRECISION

needs_data = [
    pytest.mark.real_data,
    pytest.mark.skipif(paper_sets().is_empty(), reason="the papers' sets are not here"),
]


def test_the_paper_s_ranks_are_those_of_its_tables():
    """Ties in the printed figures cost little: the paper ranked unrounded ones."""
    printed = (3.32, 3.96, 4.00, 4.43, 3.21, 2.86, 6.21)
    table = {m: {n: PRECISION[n][i] for n in BENCHMARK} for i, m in enumerate(METHODS)}
    found = ojrank.ranks(table, BENCHMARK, high=True)
    assert [found[m] for m in METHODS] == pytest.approx(printed, abs=0.35)
    printed = (2.07, 5.07, 2.57, 5.61, 3.89, 3.18, 5.61)
    table = {m: {n: EFFORT[n][i] for n in BENCHMARK} for i, m in enumerate(METHODS)}
    found = ojrank.ranks(table, BENCHMARK, high=False)
    assert [found[m] for m in METHODS] == pytest.approx(printed, abs=0.35)


def test_halves_split_the_sets():
    half = ojrank.halves((*BENCHMARK, *CLUSTERED))
    assert set(half["chosen on"]) | set(half["confirmed on"]) == set(half["all"])
    assert not set(half["chosen on"]) & set(half["confirmed on"])


def test_wilcoxon_is_one_sided():
    low = {str(i): 0.1 * i for i in range(8)}
    high = {str(i): 0.1 * i + 0.05 + 0.01 * i for i in range(8)}
    assert ojrank.p_value(high, low, high=True) < 0.01
    assert ojrank.p_value(high, low, high=False) > 0.99
    assert ojrank.p_value(low, low, high=True) == 1


class TestOnData:
    pytestmark = needs_data

    def test_ojrank_is_near_the_paper(self):
        strategies = ("OJRank", "Similarity", "Offline")
        lines = [each for seed in range(3) for each in ojrank.run("cardiotocography", seed, strategies)]
        found = {
            s: np.mean([each["precision"] for each in lines if each["strategy"] == s]) for s in strategies
        }
        assert found["OJRank"] == pytest.approx(0.64, abs=0.05)
        assert found["Offline"] == pytest.approx(0.38, abs=0.06)
        assert found["Similarity"] > found["Offline"] + 0.2

    def test_the_command_prints_tables_and_goes_on_where_it_was(self, tmp_path, capsys):
        arguments = [
            "--sets",
            "lympho",
            "clus_vehicle",
            "--forests",
            "1",
            "--results",
            str(tmp_path / "cache"),
        ]
        ojrank.main(arguments)
        text = capsys.readouterr().out
        assert "Table 3" in text
        assert "Table 6" in text
        before = (tmp_path / "cache").read_text()
        ojrank.main([*arguments, "--json"])
        assert (tmp_path / "cache").read_text() == before
        assert len(json.loads(capsys.readouterr().out)) == 2 * len(ojrank.STRATEGIES)
