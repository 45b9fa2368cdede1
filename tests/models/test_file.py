import io
import json
import pickle
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, TweedieRegressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shortlist
from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError
from shortlist.models.file import ModelFileError, foreign, load, read_header, save
from shortlist.objectives import CostSaved
from shortlist.rankers import APBoost, Baseline, LambdaMART
from shortlist.rankers.catalogue import MODELS, Model, make_ranker
from shortlist.stream import ActiveRanker


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
    monkeypatch.setattr("shortlist.models.by_skops.write", lambda *_: skops.io.dumps(Foreign()))
    save(Baseline().fit([[0.0], [1.0]], [0, 1]), path)
    with pytest.raises(ModelFileError, match="Foreign"):
        load(path)


@pytest.fixture
def forged(path, monkeypatch):
    """Write a file that names another class where the ranker's stands."""

    def write(module, name, node=None, /, **facts):
        def forge(ranker, _):
            return _rewritten(
                skops.io.dumps(ranker), {"__module__": module, "__class__": name, **(node or {})}
            )

        monkeypatch.setattr("shortlist.models.by_skops.write", forge)
        save(Baseline().fit([[0.0], [1.0]], [0, 1]), path, **facts)
        return path

    return write


def _rewritten(payload, node):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(payload)) as old, zipfile.ZipFile(out, "w") as new:
        for each in old.namelist():
            content = old.read(each)
            if each == "schema.json":
                content = json.dumps(json.loads(content) | node)
            new.writestr(each, content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("shortlist.__main__", "main"),
        ("shortlist.cli.demo", "command"),
        ("shortlist.review.workspace", "Workspace"),
        ("shortlist.models.trained", "TrainedModel"),
        ("this", "Ranker"),
    ],
)
def test_a_file_cannot_have_a_module_imported(forged, module, name):
    path, before = forged(module, name), {*sys.modules}
    with pytest.raises(ModelFileError, match=rf"{module}.{name}, which neither our models"):
        load(path)
    assert not {"this", "shortlist.__main__", "shortlist.cli.demo"} & ({*sys.modules} - before)


def test_a_plug_in_that_is_not_installed_is_named(forged):
    said = {"name": "acme-sum", "package": "acme-shortlist", "version": "1.2"}
    with pytest.raises(ModelFileError, match=r"If you trust it: pip install acme-shortlist$"):
        load(forged("acme", "Ranker", **{"plug-in": said}))


def test_a_package_to_install_is_a_name_and_nothing_else(forged):
    said = {"name": "acme-sum", "package": "acme; rm -rf /", "version": "1.2"}
    with pytest.raises(ModelFileError, match="do not use this file"):
        load(forged("acme", "Ranker", **{"plug-in": said}))


class Mine(Baseline):
    """A ranker that a script registers."""


def test_a_library_that_lacks_a_part_is_no_fault_of_the_file(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.linear_model._logistic", None)
    with pytest.raises(
        ModelFileError, match=r"needs sklearn\.linear_model\._logistic, which cannot be imported here"
    ):
        load(path)


@pytest.mark.parametrize("name", ["strange", "strange.sklearn", None])
def test_nobody_is_told_to_install_what_only_a_file_names(name):
    with pytest.raises(ModelFileError, match="do not use this file"), foreign("m.shortlist"):
        raise ModuleNotFoundError("no module", name=name)


def test_a_ranker_registered_in_python_can_be_loaded(path, monkeypatch):
    fitted, before = Mine().fit([[0.0], [1.0]], [0, 1]), path.read_bytes()
    with pytest.raises(InvalidInputError, match=r"Mine\. A model file may not.*register the ranker"):
        save(fitted, path, name="mine")
    assert path.read_bytes() == before
    with monkeypatch.context() as registered:
        registered.setitem(MODELS, "mine", Model(lambda options: Mine(), "label", "my own"))
        save(fitted, path, name="mine")
        assert isinstance(load(path), Mine)
    with pytest.raises(ModelFileError, match="Mine, which neither"):
        load(path)


def test_a_plug_in_may_name_what_its_models_hold(path, monkeypatch):
    monkeypatch.setitem(MODELS, "mine", Model(lambda options: Mine(), "label", "my own", stores=(Foreign,)))
    with pytest.raises(InvalidInputError, match=r"holds .*Mine"):
        save(Mine().fit([[0.0], [1.0]], [0, 1]), path, name="mine")


@pytest.mark.parametrize("learner", ["refit", "perceptron"])
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_the_ranker_of_a_stream_can_be_loaded_in_the_middle_of_a_window(path, learner, kernel):
    X = np.random.default_rng(0).normal(size=(60, 2))
    ranker = ActiveRanker(5, learner=learner, kernel=kernel, random_state=0).fit(X, X[:, 0] > 1)
    asked = ranker.ask(X)
    save(ranker, path)
    again = load(path)
    assert again.pending_.tolist() == asked.tolist()
    np.testing.assert_array_equal(again.decision_function(X), ranker.decision_function(X))


class Runs:
    """What a plug-in may have beside its ranker: to make one does something."""

    def __init__(self, command):
        self.command = command


def test_a_file_cannot_have_a_class_of_a_plug_in_called(forged, monkeypatch):
    model = Model(lambda options: Mine(), "label", "my own")
    monkeypatch.setitem(MODELS, "mine", model)
    text = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "is_json": True}
    call = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode"}
    call["content"] = [{**text, "content": '"rm"'}]
    path = forged(__name__, "Runs", {"__loader__": "ConstructorFromReduceNode", "content": call}, name="mine")
    with pytest.raises(ModelFileError, match="Runs, which neither"):
        load(path)
    monkeypatch.setitem(MODELS, "mine", replace(model, stores=(Runs,)))  # the plug-in says that this is meant
    with pytest.raises(
        ModelFileError, match="holds Runs, which is no ranker"
    ):  # it was made, as the root of the file
        load(path)


def test_a_tuned_model_can_be_loaded(claims, path):
    new = claims.drop("fraud", "claim_id")
    tuned = APBoost(n_estimators=3, tune=True, folds=2, n_jobs=1).fit(new, claims["fraud"])
    save(tuned, path)
    assert load(path).tuning_ == tuned.tuning_


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


FEW = np.random.default_rng(0).normal(size=(60, 2))


@pytest.mark.parametrize(
    "estimator",
    [
        MLPClassifier((2,), max_iter=2),
        GaussianProcessClassifier(),
        CalibratedClassifierCV(LogisticRegression(), cv=2),
        StackingClassifier([("a", LogisticRegression())], cv=2),
        TweedieRegressor(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_estimators_that_run_no_code_can_be_loaded(tmp_path, estimator):
    fitted = Baseline(estimator=estimator).fit(FEW, FEW[:, 0] > 0)
    save(fitted, tmp_path / "model")
    np.testing.assert_array_equal(
        load(tmp_path / "model").decision_function(FEW), fitted.decision_function(FEW)
    )


@pytest.mark.parametrize(
    ("ranker", "held"),
    [
        (Baseline(estimator=HistGradientBoostingClassifier(max_iter=2)), "TreePredictor"),
        (Baseline(estimator=KNeighborsClassifier()), "KDTree"),
        (LambdaMART(objective=CostSaved(5, act=lambda rank: 1 / rank), n_estimators=2), "lambda"),
        (LambdaMART(list_weight=np.sum, n_estimators=2), "numpy.sum"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(tmp_path, ranker, held):
    with pytest.raises(InvalidInputError, match=f"holds .*{held}.* Nothing was written"):
        save(ranker.fit(FEW, FEW[:, 0] > 0), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_ranker_is_not_saved(tmp_path):
    pipeline = make_pipeline(StandardScaler(), Baseline()).fit(FEW, FEW[:, 0] > 0)
    with pytest.raises(InvalidInputError, match=r"Pipeline is no ranker.*Baseline\(estimator"):
        save(pipeline, tmp_path / "model")
