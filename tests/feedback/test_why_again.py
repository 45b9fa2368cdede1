"""Why a row is where it is, asked again and again: what all rows share is worked out once for each state."""

import numpy as np
import pytest

from shortlist.feedback import FeedbackRanker, ScoreSpace, base
from shortlist.feedback.compared import Compared
from shortlist.feedback.strategies.catalogue import STRATEGIES, make_strategy
from shortlist.feedback.why import Explainer


def latest(ranker, most):
    """The verdicts that rows are compared with, looked for one by one."""
    told = ranker.reviewed
    if len(told) <= most:
        return told
    kept = {
        row for kind in (True, False) for row, wanted in [each for each in told if each[1] is kind][-most:]
    }
    return [each for each in told if each[0] in kept]


def check(ranker, most=4):
    compared = Compared(ranker.space, 1000)
    compared.add(latest(ranker, most))
    for row in (0, 7, 63):
        fresh = Explainer(ranker.space, ranker._contribution(), compared)
        assert ranker.why(row) == fresh.why(row, 3, 5)
        assert ranker.why(row) == ranker.why(row)


@pytest.mark.parametrize("strategy", sorted(STRATEGIES.working()))
def test_what_is_told_is_of_the_state_it_is_asked_in(strategy, monkeypatch, tmp_path):
    monkeypatch.setattr(base, "MOST_COMPARED", 4)
    X = np.random.default_rng(0).normal(size=(64, 3))
    space = ScoreSpace.from_isolation_forest(X, n_trees=8, random_state=0)
    ranker = make_strategy(strategy, space, 0)
    check(ranker)
    for row in range(10, 24):
        ranker.tell(row, row % 3 == 0)
        check(ranker)
    ranker.untell(20)
    check(ranker)
    ranker.tell(30, True)
    ranker.untell(12)
    check(ranker)
    ranker.ask()
    check(ranker)
    ranker.save(tmp_path / "ranker")
    check(FeedbackRanker.load(tmp_path / "ranker", space))
    space.append(X[:3] + 4)
    check(ranker)
