"""The study of the OJRank paper: its arithmetic, its claims, and its figures on one set."""

from __future__ import annotations

import json

import numpy as np
import pytest

from studies.frame.cells import Cell, Found
from studies.paper_sets import paper_sets
from studies.papers import ojrank, ojrank_ensembles
from studies.papers.ojrank_ensembles_runs import ENSEMBLES, bagged_lof, on_ensemble
from studies.papers.ojrank_generated import clustered, on_generated
from studies.papers.ojrank_runs import STRATEGIES, review
from studies.papers.ojrank_tables import BENCHMARK, CLUSTERED, EFFORT, MEAN_RANKS, METHODS, PRECISION

needs_data = [
    pytest.mark.real_data,
    pytest.mark.skipif(paper_sets().is_empty(), reason="the papers' sets are not here"),
]


@pytest.mark.parametrize(("number", "paper", "high"), [("3", PRECISION, True), ("5", EFFORT, False)])
def test_the_paper_s_ranks_are_those_of_its_tables(number, paper, high):
    """Ties in the printed figures cost little: the paper ranked unrounded ones."""
    table = {m: {n: paper[n][i] for n in BENCHMARK} for i, m in enumerate(METHODS)}
    found = ojrank.ranks(table, high=high)
    assert [found[m] for m in METHODS] == pytest.approx(MEAN_RANKS[number], abs=0.35)


def made_up(precision):
    """Cells as if they had been run: what a strategy has on a set."""
    cells = {
        Cell.of(review, data=name, seed=0, strategy=s): precision(s, name)
        for name in (*BENCHMARK, *CLUSTERED)
        for s in STRATEGIES
    }
    return Found(
        {
            cell: {
                "precision": value,
                "effort": 1 - value,
                "effort in columns": 1 - value,
                "seconds": [0.1] * 5,
            }
            for cell, value in cells.items()
        }
    )


def test_claims_follow_the_figures():
    """With the paper's own figures its claims hold; with OJRank at the bottom they do not."""

    def printed(strategy, name):
        return PRECISION[name][ojrank._place(strategy)] if strategy.partition(",")[0] in METHODS else 0.0

    beats = {"figure": "precision", "rivals": ("Offline",), "sets": BENCHMARK}
    assert ojrank.beats(made_up(printed), **beats).verdict == "holds"
    worse = made_up(lambda s, n: printed(s, n) - (2.0 if s.startswith("OJRank") else 0))
    assert ojrank.beats(worse, **beats).verdict == "does not hold"
    assert ojrank.beats(worse, **beats | {"figure": "effort"}).verdict == "does not hold"
    assert ojrank.alike(made_up(printed), rivals=("OMD-Lin",), sets=BENCHMARK).verdict == "holds"
    assert ojrank.near_the_paper(made_up(printed)).verdict == "holds"
    assert ojrank.near_the_paper(made_up(lambda s, n: 0.95)).verdict == "does not hold"
    assert ojrank.fast(made_up(printed)).verdict == "holds"


def test_the_peer_is_asked_for_by_name_only():
    assert "peer" not in {getattr(part, "number", None) for part in ojrank.PAPER.parts(None, None)}
    assert [part.number for part in ojrank.PAPER.parts("peer", None)] == ["peer"]


class TestOnData:
    pytestmark = needs_data

    def test_ojrank_is_near_the_paper(self):
        found = {
            s: np.mean([review("cardiotocography", seed, s)["precision"] for seed in range(3)])
            for s in ("OJRank", "Similarity", "Offline", "OJR-ALL")
        }
        assert found["OJRank"] == pytest.approx(0.64, abs=0.05)
        assert found["OJR-ALL"] == pytest.approx(0.60, abs=0.07)
        assert found["Offline"] == pytest.approx(0.38, abs=0.06)
        assert found["Similarity"] > found["Offline"] + 0.2

    def test_other_settings_are_other_reviews(self):
        first, other = (review("ecoli", 0, "OJRank", delta=delta) for delta in (0.1, 0.9))
        assert (first["hits"], first["effort"]) != (other["hits"], other["effort"])
        assert len(first["hits"]) == 9
        assert 0 < first["effort in columns"] <= 9 / 8

    @pytest.mark.slow
    def test_the_command_prints_tables_and_draws(self, tmp_path, capsys):
        places = ["--results", str(tmp_path / "cells"), "--figures", str(tmp_path)]
        ojrank.main(["--quick", "--repeats", "1", "--table", "4", *places])
        assert "Table 4: precision@b" in capsys.readouterr().out
        ojrank.main(["--quick", "--repeats", "1", "--figure", "7", "--json", *places])
        found = json.loads(capsys.readouterr().out)
        assert found["figures"]["7"]["files"] == ["papers.ojrank.figure-7.svg", "papers.ojrank.figure-7.png"]


def test_a_clustered_set_has_two_rare_classes_and_one_of_them_is_wanted():
    classes = np.repeat(np.arange(8), 60)
    made = clustered(classes, 10, seed=3)
    taken = classes[made.rows]
    assert made.wanted.sum() == made.rare.sum() == 10
    assert not (made.wanted & made.rare).any()
    assert len({*taken[made.wanted]}) == len({*taken[made.rare]}) == 1
    nominal = {*taken[~made.wanted & ~made.rare]}
    assert len(nominal) == 3
    assert not nominal & {*taken[made.wanted], *taken[made.rare]}
    assert made.rows.size == 3 * 60 + 20
    assert np.unique(made.rows).size == made.rows.size


def test_a_review_of_a_generated_set_counts_wanted_and_rare_rows():
    found = on_generated(0, "Offline", 10)
    assert 0 <= found["precision"] + found["rare"] <= 1


def test_each_ensemble_that_the_paper_names_is_reviewed_on():
    cells = ojrank_ensembles.plan(("wine", "wbc", "glass", "ecoli", "lympho"))(3, False)
    assert {cell["ensemble"] for cell in cells} == {*ojrank_ensembles.NAMED, "LODA, rescaled"}

    def found(gap):
        return Found({cell: {"precision": 0.5 + gap * (cell["strategy"] == "OJRank")} for cell in cells})

    assert ojrank_ensembles.learns(found(0.2)).verdict == "holds"
    assert ojrank_ensembles.learns(found(-0.2)).verdict == "does not hold"
    told = {(each.row, each.column): each for each in ojrank_ensembles.entries(found(0.2))}
    assert told["bagged LOF", "OJRank"].ours == pytest.approx(0.7)
    assert told["bagged LOF", "OJRank"].runs == 5


def test_bagged_lof_has_members_that_differ_and_agree_on_a_far_row():
    X = np.concatenate([np.random.default_rng(1).normal(size=(80, 5)), np.full((1, 5), 8.0)])
    scores = bagged_lof(X, seed=0, members=4)
    assert scores.shape == (81, 4)
    assert np.unique(scores[0]).size == 4
    assert scores.argmax(axis=0).tolist() == [80] * 4
    assert ENSEMBLES["bagged LOF"](X, 0).n_members == 25
    plain, other = (ENSEMBLES[name](X, 0).base_scores() for name in ("LODA", "LODA, rescaled"))
    assert np.corrcoef(plain, other)[0, 1] == pytest.approx(1)


@pytest.mark.real_data
@pytest.mark.skipif(paper_sets().is_empty(), reason="the papers' sets are not here")
def test_a_review_on_another_ensemble():
    assert on_ensemble("wine", 0, "HS-Trees", "Similarity")["precision"] >= 0.1
