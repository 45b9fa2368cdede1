"""What every strategy promises: ask, tell, take back, replay, arrivals, files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.exceptions import InvalidInputError
from shortlist.feedback import FeedbackRanker, LeafSimilarity, Offline, OJRank, ScoreSpace
from shortlist.feedback.rows import part
from shortlist.feedback.spaces.index import LeafIndex
from tests.feedback.conftest import STRATEGIES, make_rows, make_space, play, same

few = settings(max_examples=12)
#: What a reviewer may do next, with a number that says to which row.
events = st.lists(
    st.tuples(
        st.sampled_from(["yes", "no", "top", "top", "unsure", "back", "arrive"]), st.integers(0, 10**6)
    ),
    max_size=24,
)


def follow(ranker, wanted, script):
    """Play a script; returns the events that are in force at the end, in order."""
    log = []
    for what, number in script:
        told = [row for kind, row in log if kind != "arrive"]
        is_open = np.setdiff1d(np.arange(ranker.space.n_rows), told)
        if what == "arrive":
            rows = make_rows(20, seed=number)[0]
            ranker.space.append(rows)
            log.append(("arrive", rows))
        elif what == "back" and told:
            row = told[number % len(told)]
            ranker.untell(row)
            log = [event for event in log if event[0] == "arrive" or event[1] != row]
        elif what != "back":
            row = ranker.ask() if what == "top" else int(is_open[number % is_open.size])
            verdict = {"yes": True, "no": False, "unsure": None}.get(what, bool(wanted[row % wanted.size]))
            ranker.tell(row, verdict)
            log.append((verdict, row))
    return log


def replay(make, space, log):
    ranker = make(space)
    for verdict, subject in log:
        if verdict == "arrive":
            space.append(subject)
        else:
            ranker.tell(subject, verdict)
    return ranker


def test_rankers_and_spaces_say_how_large_they_are():
    ranker = STRATEGIES["leaf"](make_space())
    for _ in range(2):
        ranker.tell(ranker.ask(), True)
    n_rows = ranker.space.n_rows
    assert repr(ranker) == f"LeafSimilarity(2 verdicts on {n_rows} rows)"
    assert repr(ranker.space) == f"ScoreSpace({n_rows} rows, {ranker.space.n_members} members)"


@pytest.mark.bits
@pytest.mark.parametrize("name", STRATEGIES)
@few
@given(script=events)
def test_any_history_equals_a_replay_of_what_is_in_force(name, script):
    """The index on one side, dense scoring on the other; undo, unsure and arrivals in between."""
    make, wanted = STRATEGIES[name], make_rows(120)[1]
    live = make(make_space(120, n_trees=8).build_index())
    log = follow(live, wanted, script)
    assert same(live, replay(make, make_space(120, n_trees=8), log))


@pytest.mark.parametrize("name", STRATEGIES)
def test_index_and_dense_agree_after_every_verdict(name, monkeypatch, wanted):
    used = []
    through_index = LeafIndex.add_changes
    monkeypatch.setattr(part, "DENSE_SHARE", 1.0)
    monkeypatch.setattr(LeafIndex, "add_changes", lambda *args: used.append(1) or through_index(*args))
    indexed, dense = STRATEGIES[name](make_space().build_index()), STRATEGIES[name](make_space())
    for _ in range(25):
        row = indexed.ask()
        assert row == dense.ask()
        indexed.tell(row, bool(wanted[row]))
        dense.tell(row, bool(wanted[row]))
        assert same(indexed, dense)
    assert used or name in ("offline", "ancestor", "ancestor, settling")


@pytest.mark.parametrize("name", ["ojrank", "aad", "leaf"])
def test_index_and_dense_agree_when_weights_run_far_apart(name):
    """A long run of wanted verdicts draws OJRank's weights together until sums need another unit."""
    indexed, dense = STRATEGIES[name](make_space(600).build_index()), STRATEGIES[name](make_space(600))
    for row in np.flatnonzero(make_rows(600)[1]).tolist() + indexed.ask(40):
        if row not in dict(indexed.reviewed):
            indexed.tell(row, True)
            dense.tell(row, True)
    assert same(indexed, dense)
    row = indexed.reviewed[5][0]
    indexed.untell(row)
    fresh = STRATEGIES[name](make_space(600))
    for told, verdict in indexed.reviewed:
        fresh.tell(told, verdict)
    assert same(indexed, fresh)


def test_scores_are_sums_over_leaves(space, wanted):
    for name in ("ojrank", "aad", "omd", "leaf", "offline"):
        ranker = STRATEGIES[name](space)
        play(ranker, wanted, 10)
        leaves = space.leaves(np.arange(space.n_rows))
        dense = ranker._contribution()[leaves].sum(axis=1)
        assert np.corrcoef(dense, ranker.scores())[0, 1] > 1 - 1e-9
        if name in ("omd", "offline"):
            assert ranker.scores() == pytest.approx(dense, rel=1e-10)


@pytest.mark.bits
def test_a_saved_ranker_goes_on_as_if_never_stopped(make, space, wanted, tmp_path):
    ranker = make(space)
    play(ranker, wanted, 15)
    ranker.tell(ranker.ask(), None)
    ranker.save(tmp_path / "ranker.npz")
    space.save(tmp_path / "space")
    loaded = FeedbackRanker.load(tmp_path / "ranker.npz", ScoreSpace.load(tmp_path / "space"))
    assert type(loaded) is type(ranker)
    assert loaded.unsure == ranker.unsure
    for _ in range(10):
        assert same(ranker, loaded)
        play(ranker, wanted, 1)
        play(loaded, wanted, 1)
    first = ranker.reviewed[2][0]
    ranker.untell(first)
    loaded.untell(first)
    assert same(ranker, loaded)


def test_undo_beyond_checkpoints(make, space, wanted):
    ranker = make(space)
    play(ranker, wanted, 70)
    for row, _ in [ranker.reviewed[0], ranker.reviewed[40], ranker.reviewed[-1]]:
        ranker.untell(row)
    fresh = make(make_space())
    for row, verdict in ranker.reviewed:
        fresh.tell(row, verdict)
    assert same(ranker, fresh)
    assert ranker.version == 67


@pytest.mark.parametrize("name", ["ojrank", "omd", "omd-llh", "omd-logistic", "leaf", "ancestor"])
def test_learning_finds_more_than_the_forest_alone(name, space, wanted):
    ranker, alone = STRATEGIES[name](space), Offline(space, random_state=3)
    play(ranker, wanted, 15)
    play(alone, wanted, 15)
    assert ranker.hits >= alone.hits + 3


def test_ask_gives_the_top_of_the_ranking(make, space, wanted):
    ranker = make(space)
    play(ranker, wanted, 5)
    ranking = ranker.ranking()
    assert ranker.ask() == ranking[0]
    assert ranker.ask(5) == ranking[:5].tolist()
    assert ranker.ranking(7).tolist() == ranking[:7].tolist()
    assert ranker.ask(skip=ranking[:2]) == ranking[2]
    assert ranking.size == space.n_rows - 5
    assert np.all(np.diff(ranker.scores(ranking)) <= 0)
    assert [ranker.rank_of(row) for row in ranking[:4].tolist()] == [1, 2, 3, 4]


def test_unsure_is_set_aside_and_never_learned_from(make, space):
    ranker, before = make(space), make(space).scores()
    row = ranker.ask()
    ranker.tell(row, None)
    assert ranker.unsure == [row]
    assert ranker.version == 0
    assert row not in ranker.ranking()
    assert np.array_equal(ranker.scores(), before)
    ranker.untell(row)
    assert ranker.ask() == row
    ranker.tell(row, None)
    ranker.tell(row, True)  # somebody decided after all
    assert ranker.unsure == []
    assert ranker.reviewed == [(row, True)]


def test_arrivals_are_ranked_at_once(make, space, wanted):
    ranker = make(space)
    play(ranker, wanted, 8)
    arrived = space.append(make_rows(40, seed=9)[0])
    assert set(arrived) <= set(ranker.ranking().tolist())
    assert ranker.scores().size == space.n_rows
    together = make_space()
    together.append(make_rows(40, seed=9)[0])
    assert np.array_equal(together.leaves(np.arange(340)), space.leaves(np.arange(340)))
    ranker.tell(arrived[0], True)
    assert ranker.reviewed[-1] == (arrived[0], True)


@pytest.mark.bits
def test_ties_are_broken_by_the_seed(space):
    twice = ScoreSpace.from_isolation_forest(
        np.repeat(make_rows(60)[0], 20, axis=0), n_trees=5, random_state=0
    )
    first = [Offline(twice, random_state=seed).ask() for seed in range(20)]
    assert len(set(first)) > 5
    assert Offline(space, random_state=1).ask() == Offline(space, random_state=1).ask()


def test_effort_is_that_of_the_reviewed_rows(space):
    ranker = Offline(space)
    leaves = space.leaves(np.arange(space.n_rows))
    for row in (4, 9, 4 + 13):
        ranker.tell(row, False)
    S = np.zeros((3, space.n_leaves))
    for i, row in enumerate((4, 9, 17)):
        S[i, leaves[row]] = space.values[leaves[row]]
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    expected = 2 - S[0] @ S[1] - S[1] @ S[2]
    assert ranker.effort(normalize=None) == pytest.approx(expected)
    assert ranker.effort() == pytest.approx((expected + 1) / 2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: r.tell(300, True), "no row 300"),
        (lambda r: r.tell(-1, True), "no row -1"),
        (lambda r: r.tell(1.5, True), "whole number"),
        (lambda r: r.tell("a", True), "whole number"),
        (lambda r: r.tell(7, "yes"), "True .wanted."),
        (lambda r: r.tell(7, 2), "True .wanted."),
        (lambda r: r.tell(r.reviewed[0][0], False), "untell"),
        (lambda r: r.untell(8), "no verdict"),
        (lambda r: r.ask(0), "at least 1"),
        (lambda r: r.ask(500), "rows left to ask for"),
        (lambda r: r.ranking(0), "at least 1"),
        (lambda r: r.why(999), "no row 999"),
        (lambda r: r.space.append(np.full((1, 3), np.inf)), "infinite"),
        (lambda r: r.space.append(np.ones((1, 4))), "4 columns"),
    ],
)
def test_a_refused_call_changes_nothing(make, call, words):
    ranker = make(make_space())
    ranker.tell(5, True)
    ranker.tell(6, None)
    before = ranker.ranking(), ranker.scores(), ranker.reviewed, ranker.unsure, ranker.space.n_rows
    with pytest.raises(InvalidInputError, match=words):
        call(ranker)
    after = ranker.ranking(), ranker.scores(), ranker.reviewed, ranker.unsure, ranker.space.n_rows
    for one, other in zip(before, after, strict=True):
        assert np.array_equal(one, other)


def test_asking_when_all_are_reviewed():
    space = make_space(40)
    ranker = LeafSimilarity(space)
    play(ranker, make_rows(40)[1], 40)
    with pytest.raises(InvalidInputError, match="0 rows left to ask for"):
        ranker.ask()
    assert ranker.ranking().size == 0
    ranker.untell(ranker.reviewed[3][0])
    assert ranker.ask() not in [row for row, _ in ranker.reviewed]


def test_a_file_of_another_strategy_or_space_is_refused(space, tmp_path):
    OJRank(space).save(tmp_path / "a")
    with pytest.raises(InvalidInputError, match=r"OJRank\.load"):
        LeafSimilarity.load(tmp_path / "a", space)
    with pytest.raises(InvalidInputError, match="another score space"):
        OJRank.load(tmp_path / "a", make_space(200))
    with pytest.raises(InvalidInputError, match="no file"):
        OJRank.load(tmp_path / "b", space)
    (tmp_path / "c").write_bytes(b"PK\x03\x04 and nothing")
    with pytest.raises(InvalidInputError, match="damaged"):
        OJRank.load(tmp_path / "c", space)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "a"])
def test_a_bad_seed_is_refused(space, seed):
    with pytest.raises(InvalidInputError, match="random_state"):
        Offline(space, random_state=seed)
