"""Agreement beyond chance: known values, scikit-learn as a peer, and what second opinions make of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from shortlist.review.lead.agreement import agreement, cohens_kappa, krippendorffs_alpha
from shortlist.review.log.events import Event, Judged, Second
from shortlist.review.log.opinions import Given
from shortlist.verdicts import Verdict

#: Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", C: four observers, twelve units, gaps.
OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
labels = st.sampled_from("abc")


def test_alpha_of_krippendorffs_own_examples():
    units = [[said for said in of_unit if said != "."] for of_unit in zip(*OBSERVERS, strict=True)]
    assert krippendorffs_alpha(units).value == pytest.approx(0.743, abs=5e-4)
    two = zip("0100000010", "1110010000", strict=True)  # A: two observers, two values, no gap
    assert krippendorffs_alpha([*two]).value == pytest.approx(0.095, abs=5e-4)


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=40))
def test_kappa_is_that_of_scikit_learn(said):
    ours, (one, other) = cohens_kappa(said), zip(*said, strict=True)
    if len({*one, *other}) == 1:
        assert ours is None  # all is as by chance
    else:
        assert ours.value == pytest.approx(cohen_kappa_score(one, other), abs=1e-12)


def plain_alpha(units):
    """The definition, value by value: disagreement within units over that among all values."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    within = sum(
        (a != b) / (len(unit) - 1)
        for unit in units
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    )
    among = sum(a != b for a in values for b in values)
    return 1 - (len(values) - 1) * within / among if among else None


@given(st.lists(st.lists(labels, max_size=4), max_size=15))
def test_alpha_is_that_of_its_definition(units):
    ours, plain = krippendorffs_alpha(units), plain_alpha(units)
    assert (ours is None) == (plain is None)
    assert ours is None or ours.value == pytest.approx(plain)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Two people who see the truth nine times in ten; the figure of very many rows is within nine of ten intervals."""
    rng = np.random.default_rng(0)

    def draw(n):
        truth = rng.random(n) < 0.4
        return [*zip(truth ^ (rng.random(n) < 0.1), truth ^ (rng.random(n) < 0.1), strict=True)]

    truth, found = cohens_kappa(draw(200_000)).value, [cohens_kappa(draw(80)) for _ in range(200)]
    held = sum(each.low <= truth <= each.high for each in found)
    assert 160 <= held <= 196


def test_so_few_rows_that_nothing_can_be_said():
    assert krippendorffs_alpha([]) is None
    assert krippendorffs_alpha([["a"], ["b"]]) is None
    lone = krippendorffs_alpha([["a", "b"]])
    assert lone.low <= lone.value <= 0.5 < lone.high


def test_who_never_differed_in_ten_rows_may_differ_in_the_next():
    ten, hundred = (cohens_kappa([("a", "a"), ("b", "b")] * n) for n in (5, 50))
    assert ten.value == hundred.value == 1.0
    assert ten.low < 0.95 < hundred.low < 1.0


def opinions(*said):
    """Opinions as (who, verdict, who, verdict)."""
    words = {"y": Verdict.WANTED, "n": Verdict.NOT_WANTED, "u": Verdict.UNSURE}
    return [
        Given(
            Event(2 * row + 1, 0.0, one, Judged(row, words[a], 0, True)),
            Event(2 * row + 2, 0.0, other, Second(row, words[b], 0)),
        )
        for row, (one, a, other, b) in enumerate(said)
    ]


def test_two_people_are_a_pair_whoever_came_first_and_unsure_is_no_opinion():
    told = agreement(
        opinions(
            ("ann", "y", "bob", "y"), ("bob", "n", "ann", "y"), ("ann", "n", "bob", "n"), ("ann", "y", "bob", "u"),
            ("ann", "n", "cy", "n"),
        )
    )  # fmt: skip
    assert (told.rows, told.same, told.unsure) == (4, 3, 1)
    assert [(pair.one, pair.other, pair.rows, pair.same) for pair in told.pairs] == [
        ("ann", "bob", 3, 2), ("ann", "cy", 1, 1),
    ]  # fmt: skip
    assert told.pairs[0].kappa.value == pytest.approx(cohen_kappa_score([*"yyn"], [*"ynn"]))
    assert told.pairs[1].kappa is None
    assert told.alpha.value == pytest.approx(plain_alpha(["yy", "ny", "nn", "nn"]))
