import json
import random
import zipfile

import numpy as np
import pytest

from shortlist.datasets import make_claims
from shortlist.stream import ActiveRanker
from shortlist.stream.saving import FORMAT, READ, StateFileError, pack, read_state, unpack, write_state

SETTINGS = [
    {},
    {"kernel": "rbf"},
    {"scheme": "exponential", "decay": 1.0},
    {"learner": "perceptron"},
    {"learner": "perceptron", "scheme": "inverse", "average": True},
    {"learner": "perceptron", "scheme": "uniform", "kernel": "rbf"},
]


def play(ranker, X, y, parts, folder, *, interrupt):
    """Ask and tell with one window of delay; with ``interrupt``, save and load between all steps."""
    asked, late = [], None
    for part in parts:
        rows = ranker.ask(X[part])
        asked.append(rows)
        while late is not None and late.size:
            ranker.tell(late, y[late])
            if interrupt:
                ranker.save(folder / "state")
                ranker = ActiveRanker.load(folder / "state")
            late = ranker.ask()
            asked.append(late)
        late = rows
        if interrupt:
            ranker.save(folder / "state")
            ranker = ActiveRanker.load(folder / "state")
    return ranker, np.concatenate(asked)


@pytest.mark.bits
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_resumed_equals_uninterrupted(settings, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_200, 3))
    y = X[:, 0] > 1.2
    parts = np.split(np.arange(1_200), 8)
    whole, asked = play(ActiveRanker(10, random_state=1, **settings), X, y, parts, tmp_path, interrupt=False)
    cut, asked_too = play(ActiveRanker(10, random_state=1, **settings), X, y, parts, tmp_path, interrupt=True)
    np.testing.assert_array_equal(asked, asked_too)
    np.testing.assert_array_equal(whole.decision_function(X), cut.decision_function(X))
    assert whole.precisions_ == cut.precisions_
    whole.save(tmp_path / "whole")
    cut.save(tmp_path / "cut")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "cut").read_bytes()


def test_a_stream_of_before_goes_on_beginning_as_it_did(tmp_path):
    X = np.random.default_rng(0).normal(size=(900, 3))
    ranker = ActiveRanker(10, random_state=1)
    for part in np.split(X, 3)[:2]:
        rows = ranker.ask(part)
        ranker.tell(rows, np.zeros(rows.size))
    state = ranker.to_state()
    assert state.pop("doubts")  # older versions had none
    old = ActiveRanker.from_state(unpack(pack(state)))
    old.save(tmp_path / "state")
    for each in (old, ActiveRanker.load(tmp_path / "state")):
        rows = each.ask(X[600:]) - 600
        by_score = np.argsort(-each._score(X[600:]), kind="stable")
        assert rows[:15].tolist() == by_score[:15].tolist()
    assert (ranker.ask(X[600:])[:15] - 600).tolist() != by_score[:15].tolist()


def test_a_stream_of_frames_resumes(tmp_path):
    claims = make_claims(900, random_state=0)
    frame, y = claims.drop("fraud", "claim_id"), claims["fraud"].to_numpy()
    ranker = ActiveRanker(20, random_state=0)
    rows = ranker.ask(frame[:450])
    ranker.save(tmp_path / "state")
    again = ActiveRanker.load(tmp_path / "state").tell(rows, y[rows])
    ranker.tell(rows, y[rows])
    np.testing.assert_array_equal(again.decision_function(frame), ranker.decision_function(frame))


def test_a_ranker_can_be_kept_before_its_first_window(tmp_path):
    ActiveRanker(7, random_state=3).save(tmp_path / "state")
    assert ActiveRanker.load(tmp_path / "state").get_params() == ActiveRanker(7, random_state=3).get_params()


def test_trees_come_back_bit_for_bit():
    tree = {"a": [np.array([0.1, np.nan]), {"b": 1e-300}], "c": None, "d": "x", "n": 2**100}
    back = unpack(pack(tree))
    np.testing.assert_array_equal(back["a"][0], tree["a"][0])
    assert (back["a"][1], back["c"], back["d"], back["n"]) == ({"b": 1e-300}, None, "x", 2**100)


def test_a_state_of_another_version_is_not_gone_on_with(tmp_path, monkeypatch):
    path = tmp_path / "state"
    with monkeypatch.context() as earlier:
        earlier.setattr("shortlist.stream.saving.FORMAT", READ[0] - 1)
        ActiveRanker(7, random_state=3).save(path)
    with pytest.raises(StateFileError, match=r"another version .* begin a new stream with another --state"):
        ActiveRanker.load(path)


def test_damaged_and_foreign_files(tmp_path):
    path = tmp_path / "state"
    path.write_bytes(b"not a state")
    with pytest.raises(StateFileError, match="not the state of a stream"):
        ActiveRanker.load(path)
    good = pack({"x": np.arange(1000.0)})
    path.write_bytes(good[: len(good) // 2])
    with pytest.raises(StateFileError, match="damaged"):
        ActiveRanker.load(path)
    with pytest.raises(StateFileError, match="no state"):
        ActiveRanker.load(tmp_path / "absent")
    path.write_bytes(pack({"x": 1}))
    with pytest.raises(StateFileError, match="lacks"):
        ActiveRanker.load(path)


def test_flipped_bits_are_told_as_damage_or_change_nothing():
    ranker = ActiveRanker(3, random_state=0)
    ranker.ask(np.random.default_rng(0).normal(size=(20, 2)))
    whole, chance, refused = pack(ranker.to_state()), random.Random(0), 0
    for _ in range(500):
        flipped = bytearray(whole)
        flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        try:
            assert pack(unpack(bytes(flipped))) == whole  # such as a flip in the date of an entry
        except StateFileError as error:
            assert "is damaged" in str(error)  # noqa: PT017
            refused += 1
    assert refused > 300


@pytest.mark.parametrize("tree", [[1], "x", {"format": FORMAT}, {"format": FORMAT, "state": {"array": "no"}}])
def test_an_archive_of_something_else_is_no_state(tmp_path, tree):
    with zipfile.ZipFile(tmp_path / "state", "w") as archive:
        archive.writestr("state.json", json.dumps(tree))
    with pytest.raises(StateFileError, match=r"not the state of a stream.*begin a new stream"):
        read_state(tmp_path / "state")


def test_nothing_is_executed_on_load(tmp_path):
    with pytest.raises(ValueError, match="pickle"):
        pack({"evil": np.array([print], dtype=object)})


def test_writing_replaces_whole_files(tmp_path):
    path = tmp_path / "file"
    write_state(path, {"x": 1})
    write_state(path, {"x": 2})
    assert read_state(path) == {"x": 2}
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
