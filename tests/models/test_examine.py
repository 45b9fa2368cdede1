"""Files that were made to do harm: each is refused with a sentence, and the process that opens them lives on."""

import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import skops.io
import xgboost
from sklearn.ensemble import RandomForestClassifier

from shortlist.models import examine
from shortlist.models.file import ModelFileError, load, read_header, save
from shortlist.models.trained import TrainedModel
from shortlist.rankers import APBoost, Baseline
from shortlist.rankers.boosting.trees.sound import UnsoundTreesError
from studies.quality.damage import flipped, with_trees, write_model

X = np.random.default_rng(0).normal(size=(200, 4))
Y = X[:, 0] > 1


@pytest.fixture(scope="module")
def boosted():
    return APBoost(n_estimators=5, n_jobs=1, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def header(boosted, tmp_path_factory):
    path = tmp_path_factory.mktemp("honest") / "model"
    save(boosted, path)
    return read_header(path)


@pytest.fixture(autouse=True)
def _nobody_is_known(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(examine, "_KNOWN", set())


def test_a_file_of_a_stranger_is_opened_in_a_child_once(boosted, header, tmp_path, monkeypatch):
    path = write_model(tmp_path / "model", header, skops.io.dumps(boosted))
    np.testing.assert_array_equal(load(path).decision_function(X), boosted.decision_function(X))
    monkeypatch.setattr(subprocess, "run", None)
    load(path)  # known by now, in this process
    monkeypatch.setattr(examine, "_KNOWN", set())
    load(path)  # and in the next


def test_a_file_that_was_saved_here_needs_no_child(boosted, tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)
    save(boosted, tmp_path / "model")
    load(tmp_path / "model")


def test_without_a_folder_to_remember_in_files_are_known_as_long_as_the_process_lives(
    boosted, tmp_path, monkeypatch
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(subprocess, "run", None)
    save(boosted, tmp_path / "model")
    load(tmp_path / "model")


def test_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(examine, "MOST_KNOWN", 4)
    for number in range(8):
        examine.remember(f"{number}")
    assert len([*examine._cache().iterdir()]) <= 4
    assert (examine._cache() / examine._mark("7")).exists()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2])
def test_no_trees_crash_the_process(boosted, header, tmp_path, seed):
    assert hold(boosted, header, tmp_path / "model", seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(64))
def test_no_trees_of_many_crash_the_process(boosted, header, tmp_path, seed):
    assert hold(boosted, header, tmp_path / "model", seed)


def hold(boosted, header, path, seed):
    """Damaged trees are refused, or score rows: the process that opened them is still there to say so."""
    data = flipped(bytes(boosted.booster_.save_raw("ubj")), seed)
    try:
        load(write_model(path, header, with_trees(boosted, data))).decision_function(X)
    except ModelFileError as error:
        return "o not use this file" in str(error)
    return True


@pytest.mark.slow
def test_a_file_that_unpacks_to_much_more_is_refused(boosted, header, tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as stored:
        stored.writestr("schema.json", b" " * (400 * 2**20))
    assert packed.tell() < 2**20
    with pytest.raises(ModelFileError, match="unpacks to 419,430,400 bytes"):
        load(write_model(tmp_path / "model", header, packed.getvalue()))


def test_time_is_limited(header, tmp_path, monkeypatch):
    monkeypatch.setattr(examine, "MOST_SECONDS", 0.01)
    with pytest.raises(ModelFileError, match="takes more than"):
        load(write_model(tmp_path / "slow", header, skops.io.dumps(Baseline().fit(X, Y))))


#: What takes seconds to load, and whether any of it was loaded while limits were set.
WATCHED = """
import sys
from shortlist.later import load_learners
load_learners()
from shortlist.models import examine
limited, found = True, []
class Watch:
    def find_spec(self, name, path=None, target=None):
        if limited and name in ("numba", "skops", "dask"):
            found.append(name)
def limit(more):
    global limited
    limited = more is not None
examine._limit, examine._Limits.more = limit, 1
sys.meta_path.insert(0, Watch())
with open(sys.argv[1], "rb") as file:
    examine.look_at(sys.argv[1], file.read())
print(found)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "ranker", [APBoost(n_estimators=2, folds=0), Baseline()], ids=["boosted", "by skops"]
)
def test_what_our_own_imports_take_is_not_held_against_a_file(ranker, tmp_path):
    save(ranker.fit(X, Y), tmp_path / "model")
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, tmp_path / "model"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_trees_of_honest_models_pass(boosted):
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    examine.check_trees({"a": [boosted, forest], "b": (xgboost.XGBClassifier(n_estimators=3).fit(X, Y),)})


def test_a_forest_whose_nodes_lead_out_is_refused(header, tmp_path):
    forest = RandomForestClassifier(2, random_state=0).fit(X, Y)
    state = forest.estimators_[0].tree_.__getstate__()
    state["nodes"]["left_child"][0] = 10**6
    forest.estimators_[0].tree_.__setstate__(state)
    with pytest.raises(UnsoundTreesError, match="lead out"):
        examine.check_trees(forest)


HEADERS = {
    "a list": b"[1, 2]",
    "deep": b"[" * 100_000,
    "no JSON": b"{",
    "not UTF-8": b'{"a": "\xff"}',
    "empty": b"{}",
}


@pytest.mark.parametrize("kind", HEADERS)
def test_no_header_is_more_than_refused(boosted, tmp_path, kind):
    path = write_model(tmp_path / "model", HEADERS[kind], b"")
    with pytest.raises(ModelFileError):
        TrainedModel.load(path)


FACTS = [
    {"schema": 5},
    {"schema": {"version": 1}},
    {"schema": {"version": 1, "features": [1]}},
    {"libraries": 1},
    {"budget": "x"},
    {"measures": [1]},
    {"profile": {"columns": 3}},
    {"notes": 5},
    {"created": None, "version": 1},
]


@pytest.mark.parametrize("facts", FACTS)
def test_facts_of_another_kind_are_refused(header, boosted, tmp_path, monkeypatch, facts):
    monkeypatch.setattr(examine, "is_known", lambda checksum: True)
    monkeypatch.setattr("shortlist.models.file.is_known", lambda checksum: True)
    path = write_model(tmp_path / "model", {**header, **facts}, skops.io.dumps(boosted))
    with pytest.raises(ModelFileError, match=r"do not use this file|trained on an array"):
        TrainedModel.load(path)


@pytest.mark.parametrize("payload", [b"", b"PK", b"x" * 1000, b"PK\x05\x06" + b"\0" * 18])
def test_no_payload_is_more_than_refused(header, tmp_path, monkeypatch, payload):
    monkeypatch.setattr("shortlist.models.file.is_known", lambda checksum: True)
    with pytest.raises(ModelFileError, match="do not use this file"):
        load(write_model(tmp_path / "model", header, payload))


@pytest.mark.slow
def test_inspect_of_a_hostile_file_is_a_sentence(boosted, header, tmp_path):
    data = flipped(bytes(boosted.booster_.save_raw("ubj")), 2)
    path = write_model(tmp_path / "model", header, with_trees(boosted, data))
    ended = subprocess.run(
        [sys.executable, "-m", "shortlist", "inspect", path], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("error:")
    assert "Traceback" not in ended.stderr
