"""Models that are read without skops are what skops reads."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
import skops.io

from shortlist.models import plain
from shortlist.models.classes import _ours
from shortlist.objectives import CostSaved
from shortlist.rankers import APBoost, Baseline, LambdaMART, RankBoost, TargetTree

X = np.random.default_rng(0).normal(size=(120, 3))
Y = X[:, 0] + X[:, 1] > 1.0
PLAIN = {
    "folds": APBoost(n_estimators=3, random_state=0),
    "one model": APBoost(n_estimators=3, folds=0, loss="ap_exp", random_state=0),
    "words": APBoost(n_estimators=3, folds=0, random_state=0),
    "objective": LambdaMART(objective=CostSaved(k=5), n_estimators=3, random_state=0),
    "stumps": RankBoost(n_estimators=3),
    "tree": TargetTree(n_restarts=1, generations=2, random_state=0),
}


def dumped(name):
    y = {"words": np.where(Y, "Y", "N"), "objective": Y * 3.0}.get(name, Y)
    return skops.io.dumps(PLAIN[name].fit(X, y))


def by_skops(payload):
    return skops.io.loads(payload, trusted=skops.io.get_untrusted_types(data=payload))


def same(ours, theirs):
    if isinstance(theirs, np.ndarray):
        return ours.dtype == theirs.dtype and np.array_equal(ours, theirs, equal_nan=theirs.dtype.kind == "f")
    if isinstance(theirs, dict):
        return [*ours] == [*theirs] and all(same(ours[name], theirs[name]) for name in theirs)
    if isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if hasattr(theirs, "__getstate__") and type(theirs).__module__.startswith("shortlist"):
        return same(ours.__getstate__(), theirs.__getstate__())
    return ours == theirs and type(ours) is type(theirs)


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_model_is_what_skops_reads(name):
    payload = dumped(name)
    ours, theirs = plain.read_plain(payload), by_skops(payload)
    assert type(ours) is type(theirs)
    assert same(ours.__getstate__(), theirs.__getstate__())
    assert ours.decision_function(X).tobytes() == theirs.decision_function(X).tobytes()
    assert pickle.loads(pickle.dumps(ours)).get_params().keys() == theirs.get_params().keys()


def test_what_scikit_learn_made_is_left_to_skops():
    assert plain.read_plain(skops.io.dumps(Baseline().fit(X, Y))) is None


def changed(payload, change):
    """The payload with its description of the model changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(payload)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(
                name, json.dumps(change(json.loads(content))).encode() if name == plain.SCHEMA else content
            )
    return out.getvalue()


@pytest.mark.parametrize(
    "named",
    [
        {"__module__": "os", "__class__": "system"},
        {"__module__": "shortlist.rankers.catalogue", "__class__": "make_ranker"},
        {"__module__": "shortlist.rankers.catalogue", "__class__": "Model"},
        {"__module__": "shortlist.objectives.base", "__class__": "Goal"},
        {"__module__": "evil", "__class__": "APBoost"},
        {"__loader__": "ConstructorFromReduceNode"},
        {"protocol": 3},
        {"content": None},
    ],
    ids=str,
)
def test_what_no_room_lists_is_left_to_skops(named):
    assert plain.read_plain(changed(dumped("one model"), lambda root: {**root, **named})) is None


def test_bytes_that_are_no_model_are_left_to_skops():
    assert plain.read_plain(b"PK nothing") is None


def test_whatever_can_be_read_here_is_ours():
    """No class that skops would be refused for is built."""
    names = {f"{cls.__module__}.{cls.__name__}" for cls in map(type, PLAIN.values())}
    assert names <= _ours()
    for name in names:
        assert f"{plain._class_of(name).__module__}.{plain._class_of(name).__name__}" == name
