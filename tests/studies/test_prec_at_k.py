import json
from itertools import combinations

import numpy as np
import pytest

from studies.frame.cells import Cell, Found
from studies.paper_sets import paper_sets
from studies.papers import prec_at_k, prec_at_k_runs, prec_at_k_theory
from studies.papers.prec_at_k_runs import Stream, play
from studies.quality import stream_schemes
from studies.quality.stream_schemes import play_sgd, rankers


@pytest.fixture
def small(monkeypatch):
    """A stream of our own in place of the sets."""

    def load(name, seed, *, rows=None):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1_200, 3))
        return Stream(X, X[:, 0] > 1.0, np.array_split(np.arange(1_200), 4))

    monkeypatch.setattr(stream_schemes, "load_stream", load)
    for module in (prec_at_k_runs, prec_at_k_theory):
        monkeypatch.setattr(module, "load_stream", load)
    return load("any", 0)


def test_every_claim_gets_a_verdict_and_its_numbers(small, capsys, tmp_path):
    runs = str(tmp_path / "runs.jsonl")
    stream_schemes.main(["--quick", "--seeds", "1", "--sets", "cod_rna", "--results", runs, "--json"])
    result = json.loads(capsys.readouterr().out)["found"]
    assert len(result["claims"]) == 12
    assert {claim["verdict"] for claim in result["claims"]} <= {"holds", "not clear", "does not hold"}
    assert all(claim["numbers"] for claim in result["claims"])
    stream_schemes.print_report(result)
    assert "cod_rna, precision@50" in capsys.readouterr().out


@pytest.mark.slow
def test_the_paper_s_claims_are_judged_on_the_same_streams(small, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("studies.frame.command.need", lambda names: None)
    monkeypatch.setattr("studies.frame.cells.checksum", lambda name: "any")
    places = ["--results", str(tmp_path / "cells"), "--figures", str(tmp_path)]
    prec_at_k.main(["--quick", "--repeats", "2", "--json", *places])
    found = json.loads(capsys.readouterr().out)
    assert len(found["claims"]) == 21
    bound = [claim for claim in found["claims"] if "O(k log n)" in claim["claim"]]
    assert {claim["verdict"] for claim in bound} == {"holds"}
    assert sorted(found["figures"]) == ["1", "2", "3", "4"]
    assert (tmp_path / "papers.prec_at_k.figure-4.png").stat().st_size > 10_000


def test_precision_and_spread_leave_the_first_window_out():
    cell = Cell.of(prec_at_k_runs.perceptron, data="cod_rna", seed=0, k=50, scheme="uniform", kernel=None)
    found = Found({cell: {"precision": [0.0, 0.5, 0.7], "labels": [60, 50, 50], "rows": 1_000}})
    assert prec_at_k.means(found, scheme="uniform") == [pytest.approx(0.6)]
    assert prec_at_k.spreads(found, scheme="uniform") == [pytest.approx(0.1)]
    assert prec_at_k.labels(found, scheme="uniform") == [160]
    assert prec_at_k.few_labels(found, k=50).verdict == "does not hold"


def test_the_few_labels_are_few(small):
    *_, (name, _, ranker) = rankers(small, 20, seed=0)
    _, labels = play(small, ranker)
    assert name.startswith("default")
    assert labels == [3] * 4


def test_sgd_is_given_all_labels(small):
    precision, labels = play_sgd(small, 20, seed=0)
    assert labels == [300] * 4
    assert precision[-1] > 0.9


@pytest.mark.real_data
def test_streams_have_their_share_of_wanted_rows():
    if not _sets_are_here():
        pytest.skip("the sets of the papers are not here")
    stream = prec_at_k_runs.load_stream("cover 1:100", 0)
    assert stream.y.mean() == pytest.approx(1 / 101, rel=0.05)
    assert len(stream.windows) == 12


def _sets_are_here():
    return not paper_sets().is_empty()


def brute(y, score, k, surrogate):
    """Eq. 1 and 2 over every shortlist of k rows, and the mean of the wanted rows left out for the averaged one."""
    values = []
    for chosen in combinations(range(y.size), k):
        on = np.isin(np.arange(y.size), chosen)
        wrong, left = int((on & ~y).sum()), np.sort(score[~on & y])
        if surrogate == "ramp":
            values.append(wrong + score[on].sum() - np.sort(score[y])[-k:].sum())
            continue
        back = left[left.size - (int(y.sum()) - k) :].sum()
        if surrogate == "average":
            back = 0.0 if not left.size else (y.sum() - k) * left.mean()
        values.append(wrong + score[on].sum() - score[y].sum() + back)
    return max(values)


@pytest.mark.parametrize("surrogate", prec_at_k_theory.SURROGATES)
def test_surrogates_are_the_largest_over_all_shortlists(surrogate):
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, score, k = rng.permutation(np.arange(8) < 4), rng.normal(size=8), int(rng.integers(1, 5))
        found = prec_at_k_theory.SURROGATES[surrogate](y, score, k)
        assert found == pytest.approx(brute(y, score, k, surrogate))
        assert found >= prec_at_k_theory.loss(y, score, k)


def test_a_surrogate_is_0_where_its_margin_is_1():
    y = np.arange(8) < 4
    apart = np.array([9.0, 8, 0, -3, 2, 2, 2, 2])  # two wanted rows are far ahead, two are behind
    margins = prec_at_k_theory.margins(y, apart, 2)
    assert margins["ramp"] >= 1 > margins["average"] > margins["maximum"]
    values = {name: each(y, apart, 2) for name, each in prec_at_k_theory.SURROGATES.items()}
    assert values["ramp"] == 0 < values["average"] < values["maximum"]
    wide = np.where(y, 4.0, 2.0)
    assert min(prec_at_k_theory.margins(y, wide, 2).values()) >= 1
    assert {each(y, wide, 2) for each in prec_at_k_theory.SURROGATES.values()} == {0}


def test_the_bound_that_is_printed_is_too_small(small):
    found = prec_at_k_theory.theorem("any", 0, 20)
    assert found["as printed"] < found["mistakes"] <= found["squared"]
    assert found["ordered"]
    judged = Found(dict.fromkeys(prec_at_k.theory(6, False), found))
    assert prec_at_k.bounded(judged, form="as printed").verdict == "does not hold"
    assert prec_at_k.bounded(judged, form="squared").verdict == "holds"
    assert prec_at_k.ordered(judged).verdict == "holds"


@pytest.mark.parametrize(("method", "setting"), [("selective sampling", 0.01), ("active perceptron", 8.0)])
def test_related_schemes_learn_from_few_labels(small, method, setting):
    found = prec_at_k_theory.related("any", 0, method, "20", setting)
    assert found["precision"]["20"][-1] > 0.9
    assert 0 < found["labels"][-1] < found["rows"]
