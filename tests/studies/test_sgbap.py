"""The SGBAP experiment runs and drops the rows it says it drops."""

import json

import numpy as np
import pytest

from studies.paper_sets import paper_sets
from studies.papers import sgbap
from studies.papers.sgbap_tables import TABLE_3

needs_sets = pytest.mark.skipif(paper_sets().is_empty(), reason="no data sets beside the project")


def test_the_easiest_wanted_rows_are_dropped():
    rows = sgbap.Rows(None, np.array([1, 1, 0, 1, 0, 0, 0, 0, 0, 0], bool))
    ranks = np.array([5.0, 1.0, 0.0, 3.0, 2, 4, 6, 7, 8, 9])
    assert sgbap._without_easiest(rows, ranks, share=0.1).tolist() == [0, 2, 4, 5, 6, 7, 8, 9]


def test_ties_count_at_their_worst():
    auc, ap, top, at_p = sgbap.measures(np.array([True, False]), np.zeros(2))
    assert (auc, ap, top, at_p) == (0.5, 0.5, 0.0, 0.0)


def test_every_dash_of_the_paper_has_a_method():
    dashes = {method for figures in TABLE_3.values() for method, row in figures.items() if row is None}
    assert dashes <= {*sgbap.METHODS, "LambdaMART-AP"}


@pytest.mark.real_data
@needs_sets
def test_table_on_the_smallest_set(capsys):
    sgbap.main(
        ["--sets", "breast_ljubljana", "--methods", "RankBoost", "APBoost", "--repeats", "1", "--json"]
    )
    rows = json.loads(capsys.readouterr().out)["table 3"]
    assert [row["method"] for row in rows] == ["RankBoost", "APBoost"]
    assert all(row["ours"]["AP"] > 0.3 for row in rows)
    assert rows[0]["paper"][1] == 0.4838


@pytest.mark.real_data
@needs_sets
def test_figure_gets_harder():
    first, last = list(sgbap.figure_rows("LambdaMART-AP", repeats=2, shares=(0.05,)))
    assert last["wanted"] < 0.08 < first["wanted"]
    assert last["AP"] < first["AP"]
