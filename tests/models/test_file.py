import json
import pickle

import numpy as np
import pytest
import skops.io
from sklearn.exceptions import NotFittedError

import shortlist
from shortlist.datasets import make_claims
from shortlist.models.file import ModelFileError, load, read_header, save
from shortlist.rankers import Baseline
from shortlist.rankers.catalogue import MODELS, make_ranker


@pytest.fixture(scope="module")
def claims():
    return make_claims(500, random_state=0, fraud_rate=0.1)


@pytest.fixture(scope="module")
def ranker(claims):
    return Baseline().fit(claims.drop("fraud", "claim_id"), claims["fraud"])


@pytest.fixture
def path(ranker, tmp_path):
    save(ranker, tmp_path / "risk.shortlist", budget=50)
    return tmp_path / "risk.shortlist"


def test_a_loaded_model_scores_alike(ranker, claims, path):
    new = claims.drop("fraud", "claim_id")
    np.testing.assert_array_equal(load(path).decision_function(new), ranker.decision_function(new))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_of_the_catalogue_can_be_saved(claims, tmp_path, name):
    new = claims.drop("fraud", "claim_id")
    y = claims["fraud"] * (claims["amount"] if MODELS[name].learns_from == "impact" else 1)
    fitted = make_ranker(name, budget=20, n_jobs=1).fit(new, y)
    save(fitted, tmp_path / "model")
    np.testing.assert_array_equal(
        load(tmp_path / "model").decision_function(new), fitted.decision_function(new)
    )


def test_header_is_readable_without_the_library(path):
    first, header, *_ = path.read_bytes().split(b"\n")
    assert first == b"shortlist model 2"
    assert json.loads(header) == read_header(path)


def test_header_holds_what_a_reader_needs(path):
    header = read_header(path)
    assert header["model"] == "Baseline"
    assert header["shortlist"] == shortlist.__version__
    assert header["budget"] == 50
    assert "amount" in [feature["name"] for feature in header["schema"]["features"]]


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.7, 0.999])
def test_a_flipped_byte_is_noticed(path, share):
    data = bytearray(path.read_bytes())
    data[int(share * len(data))] ^= 0x10
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=r"damaged|not a Shortlist model"):
        load(path)


@pytest.mark.parametrize("kept", [0, 10, 17, 1000, -1])
def test_a_truncated_file_is_called_damaged_and_says_what_to_do(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ModelFileError, match=r"is damaged: .* Copy the file anew .* or train"):
        load(path)


def test_a_newer_format_asks_for_an_upgrade(path):
    path.write_bytes(path.read_bytes().replace(b"model 2", b"model 3", 1))
    with pytest.raises(ModelFileError, match="newer Shortlist"):
        load(path)


def test_a_pickle_in_disguise_is_refused(path, tmp_path):
    path.write_bytes(pickle.dumps({"harmless": True}))
    with pytest.raises(ModelFileError, match="not a Shortlist model"):
        load(path)


class Foreign:
    """A class that no model of ours needs."""


def test_foreign_classes_are_refused_even_with_a_good_checksum(path, monkeypatch):
    dumps = skops.io.dumps
    monkeypatch.setattr(skops.io, "dumps", lambda ranker, **_: dumps(Foreign()))
    save(Baseline().fit([[0.0], [1.0]], [0, 1]), path)
    with pytest.raises(ModelFileError, match="Foreign"):
        load(path)


def test_a_failed_save_keeps_the_old_file(ranker, path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr("pathlib.Path.write_bytes", _full_disk)
    with pytest.raises(shortlist.exceptions.TableError, match="unchanged"):
        save(ranker, path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def _full_disk(*_):
    raise OSError(28, "No space left on device")


def test_a_ranker_that_has_learned_nothing_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        save(Baseline(), tmp_path / "risk.shortlist")
    assert list(tmp_path.iterdir()) == []


def test_missing_file(tmp_path):
    with pytest.raises(ModelFileError, match="no file"):
        load(tmp_path / "none.shortlist")
