"""The study of the TARGET paper: its simulations, its splits, its columns and its claims."""

import json

import numpy as np
import pytest

from studies.frame.cells import Found
from studies.paper_sets import paper_sets
from studies.papers import target, target_runs
from studies.papers.target_tables import TABLE_1

needs_sets = pytest.mark.skipif(paper_sets().is_empty(), reason="the papers' data sets are not here")


def test_simulations_have_the_paper_s_shares_of_wanted_rows():
    for name, share in (("Simulation 1", 0.15), ("Simulation 2", 0.20)):
        X, y, X_test, y_test = target_runs.splits(name, 0)
        assert len(X) == len(X_test) == 2_500
        assert np.mean([*y, *y_test]) == pytest.approx(share, abs=0.02)


def test_every_column_is_measured():
    found = target_runs.table_1("Simulation 1", "CART-A", 0, 0)
    assert set(found) == set(target.COLUMNS)
    balanced = target_runs.table_1("Simulation 1", "CART-B", 0, 0)
    assert balanced["sensitivity"] > found["sensitivity"]
    assert balanced["specificity"] < found["specificity"]
    grown = target_runs.table_1("Simulation 1", "TARGET, ours", 0, 0)
    assert grown["leaves"] >= 2
    assert grown["AP"] > 0.2
    assert all(len(row) == len(target.COLUMNS) for rows in TABLE_1.values() for row in rows.values())


def test_wanted_rows_are_taken_away_and_no_others():
    y = np.repeat([0, 1], [960, 240])
    kept = target_runs._thin(y, 0.04, np.random.default_rng(0))
    assert (y[kept] == 0).sum() == 960
    assert np.mean(y[kept]) == pytest.approx(0.04, abs=0.001)
    assert target_runs._thin(y, 0.5, np.random.default_rng(0)).size == y.size


def test_the_paper_s_settings_draw_new_split_sets():
    theirs, ours = (target_runs.papers_rankers(0)[name] for name in target.TARGETS)
    assert (theirs.generations, theirs.n_restarts, theirs.grown, theirs.p_nudge) == (500, 1, 0, 0)
    assert ours.p_nudge == 0.5


def runs(figure):
    """Cells of Table 1 with figures of a function of ranker, draw and seed."""
    return Found({cell: figure(cell) for cell in target.plan(6, False)})


def test_claims_follow_the_figures():
    def found(lead, unequal):
        values = {target.TARGETS[0]: 0.5 + lead, "TARGET, ours": 0.5 + lead, "CART-A": 0.5, "RF-A": 0.6}
        values |= {"CART-B": 0.5 + unequal, "RF-B": 0.6 + unequal}
        values |= {f"{name}, sets": values[name] for name in ("CART-A", "CART-B")}
        return runs(lambda cell: {"AP": values[cell["ranker"]] + 0.01 * cell["seed"]})

    assert target.above_cart(found(0.1, 0.0)).verdict == "holds"
    assert target.above_cart(found(0.1, 0.0), target.TARGETS[0]).verdict == "holds"
    assert target.above_cart(found(-0.1, 0.0)).verdict == "does not hold"
    assert target.costs_are_useless(found(0.1, -0.1)).verdict == "holds"
    assert target.costs_are_useless(found(0.1, 0.1)).verdict == "does not hold"
    assert target.costs_are_useless(Found({})).verdict == "cannot be decided"
    assert target.above_columns(found(0.1, 0.0)).verdict == "holds"
    assert target.above_columns(found(-0.1, 0.0)).verdict == "does not hold"


def test_small_trees_and_stability_are_judged():
    def figures(cell):
        return {"leaves": 5.0 if cell["ranker"] in target.TARGETS else 8.0, "AP": 0.5 + 0.05 * cell["seed"]}

    assert target.smaller_trees(runs(figures)).verdict == "holds"
    assert target.stable(runs(figures)).verdict == "does not hold"
    assert target.stable(runs(lambda cell: {"AP": 0.5 + 0.004 * cell["seed"]})).verdict == "holds"
    spread = target.spreads(runs(figures), "Simulation 1", target.TARGETS[0], "AP")
    assert spread == pytest.approx([np.std([0, 0.05, 0.1, 0.15, 0.2], ddof=1)] * 6)


def test_an_advantage_that_grows_is_told_from_one_that_does_not():
    def found(growth):
        def figure(cell):
            rarer = growth * (0.15 - cell["share"]) * (cell["ranker"] in target.TARGETS)
            return {"AP": 0.4 + 0.001 * cell["draw"] + rarer}

        return Found({cell: figure(cell) for cell in target.imbalance(3, False)})

    assert target.grows_with_imbalance(found(1.0)).verdict == "holds"
    assert target.grows_with_imbalance(found(-1.0)).verdict == "does not hold"


@pytest.mark.slow
@pytest.mark.real_data
@needs_sets
def test_the_command_prints_table_1(tmp_path, capsys):
    _, y, _, y_test = target_runs.splits("Fraud 1994", 0)
    assert (y.size, y_test.size) == (6_142, 9_278)
    assert (
        target_runs.splits("Breast cancer", 7)[1].size + target_runs.splits("Breast cancer", 7)[3].size == 683
    )
    target.main(["--quick", "--json", "--results", str(tmp_path / "cells"), "--figures", str(tmp_path)])
    entries = json.loads(capsys.readouterr().out)["tables"]["1"]["entries"]
    shown = {(each["row"], each["column"]): each for each in entries}
    assert shown["Breast cancer, TARGET, ours", "AP"]["ours"] > 0.85
    assert shown["Breast cancer, CART-B", "AP"]["paper"] == 0.923
