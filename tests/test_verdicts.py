"""One verdict for all rooms: every class of it has words, a code and a button, and reads back as itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shortlist.exceptions import InvalidInputError, TableError
from shortlist.review.log.events import Event, Judged
from shortlist.review.log.tally import ALL, Tally
from shortlist.review.web.rendering import BUTTONS
from shortlist.tables.columns.values import FLAG_WORDS
from shortlist.verdicts import LABEL_WORDS, WORDS, WRITTEN, Verdict, verdict_codes


@pytest.mark.parametrize("verdict", Verdict)
def test_every_word_of_a_verdict_reads_back_as_it(verdict):
    for word in verdict.words:
        assert Verdict.read(word) is Verdict.read(f" {word.upper()} ") is verdict


def test_no_two_verdicts_share_a_word_a_code_or_a_key():
    assert len(WORDS) == sum(len(verdict.words) for verdict in Verdict)
    assert len({verdict.code for verdict in Verdict}) == len(Verdict)
    assert len({button.key for button in BUTTONS.values()}) == len(BUTTONS)


def test_every_verdict_can_be_given_on_the_page():
    assert [*BUTTONS] == [*Verdict]


def test_a_flag_a_label_and_a_verdict_mean_the_same_by_yes_and_no():
    assert {word: LABEL_WORDS[word] for word in FLAG_WORDS} == FLAG_WORDS


def test_state_files_hold_these_codes():
    assert [Verdict.NOT_WANTED.code, Verdict.WANTED.code, Verdict.UNSURE.code] == [0, 1, 2]


@pytest.mark.parametrize(
    "told",
    [
        [True, None, False],
        [1, None, 0],
        [1.0, np.nan, 0.0],
        np.array([True, np.nan, np.False_], dtype=object),
        [Verdict.WANTED, Verdict.UNSURE, Verdict.NOT_WANTED],
        pd.Series([True, pd.NA, False], dtype="boolean"),
    ],
)
def test_verdicts_come_as_numbers_objects_and_words(told):
    assert verdict_codes(told, 3).tolist() == [1, 2, 0]


@pytest.mark.parametrize("told", [2, 0.5, float("nan"), [True], "yes"])
def test_what_is_no_verdict_is_refused(told):
    with pytest.raises(InvalidInputError, match=r"True \(wanted\), False \(not wanted\).* None \(unsure\)"):
        Verdict.of(told)


@pytest.mark.parametrize("told", [[0, 2], [0.5, np.nan]])
def test_numbers_that_are_no_verdict_are_refused(told):
    with pytest.raises(InvalidInputError, match=r"a verdict is True \(wanted\).* got (2|0\.5)"):
        verdict_codes(told, 2)


def test_a_word_that_is_no_verdict_is_refused_with_those_that_are():
    with pytest.raises(TableError, match=r"'perhaps' is no verdict; write wanted, not wanted.* unsure"):
        Verdict.read("perhaps")


@pytest.mark.parametrize("verdict", Verdict)
def test_what_people_are_told_to_write_names_every_verdict(verdict):
    assert verdict in WRITTEN
    with pytest.raises(InvalidInputError, match=rf"\W{verdict}\W"):
        Verdict.of("perhaps")


@pytest.mark.parametrize("verdict", Verdict)
def test_a_lead_sees_how_often_each_verdict_was_given(verdict):
    log = [Event(seq, float(seq), "ann", Judged(seq, verdict, seq, True)) for seq in range(3)]
    tally = Tally(shown=dict(enumerate(log)), out={})
    for event in log:
        tally.apply(event)
    count = tally.counts[ALL]
    said = {Verdict.WANTED: len(count.wanted), Verdict.UNSURE: count.unsure}
    assert count.reviewed == 3
    assert said == {each: 3 * (verdict is each) for each in said}  # what is not wanted is the rest
