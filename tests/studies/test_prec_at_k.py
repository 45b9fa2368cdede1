import json

import numpy as np
import pytest

from studies.paper_sets import paper_sets
from studies.papers import prec_at_k
from studies.papers.prec_at_k import Stream, play, play_sgd, rankers


@pytest.fixture
def small(monkeypatch):
    """A stream of our own in place of the sets."""

    def load(name, seed, *, rows=None):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1_200, 3))
        return Stream(X, X[:, 0] > 1.0, np.array_split(np.arange(1_200), 4))

    monkeypatch.setattr(prec_at_k, "load_stream", load)
    return load("any", 0)


def test_every_claim_gets_a_verdict_and_its_numbers(small, capsys, tmp_path):
    runs = str(tmp_path / "runs.jsonl")
    prec_at_k.main(["--quick", "--seeds", "1", "--sets", "cod_rna", "--results", runs, "--json"])
    result = json.loads(capsys.readouterr().out)
    assert len(result["claims"]) == 12
    assert {claim["verdict"] for claim in result["claims"]} <= {"holds", "not clear", "does not hold"}
    assert all(claim["numbers"] for claim in result["claims"])
    prec_at_k.print_report(result)
    assert "cod_rna, precision@50" in capsys.readouterr().out


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
    stream = prec_at_k.load_stream("cover 1:100", 0)
    assert stream.y.mean() == pytest.approx(1 / 101, rel=0.05)
    assert len(stream.windows) == 12


def _sets_are_here():
    return not paper_sets().is_empty()
