"""Which classes a model file may hold: our own, and those of the plug-in that made the model.

A file never decides what is imported: names in it are compared with classes that are there without it.
"""

from __future__ import annotations

import inspect
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from shortlist.models.moved import SCHEMA
from shortlist.objectives import Objective
from shortlist.plugins import PlugIn, package_of, subclasses
from shortlist.rankers.base import Ranker
from shortlist.rankers.boosting.tuning import Trial
from shortlist.rankers.catalogue import MODELS, make_ranker
from shortlist.stream.active_ranker import ActiveRanker
from shortlist.stream.columns import StreamColumns
from shortlist.stream.drift import DriftAlarm
from shortlist.stream.learners.base import Learner
from shortlist.stream.learners.cold_start import ColdStart
from shortlist.stream.learners.growing_array import GrowingArray
from shortlist.stream.learners.labels import LabelBuffer
from shortlist.stream.queries import QueryPlan
from shortlist.stream.window import OpenWindow

_KERNELS = (
    "ConstantKernel", "DotProduct", "Exponentiation", "ExpSineSquared", "Matern", "Product", "RBF",
    "RationalQuadratic", "Sum", "WhiteKernel",
)  # fmt: skip
#: Types of other libraries that models hold beside those skops knows; none runs code when it is built.
HARMLESS = {
    "numpy.dtype",
    "sklearn._loss.link.IdentityLink",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogLink",
    "sklearn._loss.loss.HalfTweedieLoss",
    "sklearn._loss.loss.HalfTweedieLossIdentity",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    *(f"sklearn.gaussian_process.kernels.{kernel}" for kernel in _KERNELS),
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
    "xgboost.core.Booster",
    "xgboost.sklearn.XGBClassifier",
    "xgboost.sklearn.XGBRegressor",
}
#: What rankers of ours hold that is neither a ranker nor an objective: one that was tuned, and one of a stream.
_PARTS = (Trial, ColdStart, DriftAlarm, GrowingArray, LabelBuffer, OpenWindow, QueryPlan, StreamColumns)
_OURS = "shortlist"
#: How skops names what it builds by a call, with arguments that the file chooses.
_CALLED = "ConstructorFromReduceNode"


def plug_in_facts(ranker: Ranker, name: str | None) -> dict[str, str] | None:
    """What a file says of the plug-in that a ranker comes from; None for rankers of our own.

    name : the ranker's name in the catalogue, where it is known
    """
    plug_in = MODELS.plug_in(name) if name is not None else None
    if plug_in is None:
        plug_in = MODELS.plug_in_of(package_of(type(ranker)))
    if plug_in is None:
        return None
    return {"name": plug_in.name, "package": plug_in.package, "version": plug_in.version}


def strange_types(types: Iterable[str], header: dict[str, Any], called: set[str]) -> list[str]:
    """Those of the named types that a model of this header has no business to hold.

    called : those that would be called with arguments of the file; only what a plug-in names itself may be
    """
    strange = [name for name in types if name in called or name not in HARMLESS | _ours()]
    allowed = _of_catalogue(_name(header), called) if strange else set()
    return [name for name in strange if name not in allowed]


def called_types(payload: bytes) -> set[str]:
    """Types that the payload would have built by a call; all others are filled with attributes, uncalled."""
    called: set[str] = set()

    def note(node: dict[str, Any]) -> None:
        if node.get("__loader__") == _CALLED:
            called.add(f"{node.get('__module__')}.{node.get('__class__')}")

    with zipfile.ZipFile(io.BytesIO(payload)) as stored:
        json.loads(stored.read(SCHEMA), object_hook=note)
    return called


def missing_package(header: dict[str, Any]) -> str | None:
    """The package to install before this model can be read; None where that would not help."""
    said = header.get("plug-in")
    if not isinstance(said, dict) or _name(header) in MODELS:
        return None
    package = str(said.get("package"))
    return package if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", package) else None


def _name(header: dict[str, Any]) -> str:
    """The name in the catalogue: that of the plug-in, or one that was registered in Python."""
    said = header.get("plug-in")
    return str(said.get("name") if isinstance(said, dict) else header.get("name"))


def _ours() -> set[str]:
    learners = (*subclasses(Ranker), *subclasses(Objective), *subclasses(Learner))
    return _names((*(cls for cls in learners if package_of(cls) == _OURS), ActiveRanker, *_PARTS))


def _of_catalogue(name: str, called: set[str]) -> set[str]:
    """Classes that the catalogue's model of this name may hold; a plug-in is imported here, a file's module never."""
    if name not in MODELS:
        return set()
    stores = MODELS[name].stores
    if stores is not None:
        return _names(stores)
    made = type(make_ranker(name))
    return _names([made, *_imported(_packages(made, MODELS.plug_in(name)))]) - called


def _packages(made: type, plug_in: PlugIn | None) -> set[str]:
    brought = set() if plug_in is None else {plug_in.module.partition(".")[0]}
    return (brought | {package_of(made)}) - {_OURS}


def _imported(packages: set[str]) -> Iterator[type]:
    """Classes that modules of these packages define, as far as they are imported already."""
    modules = [module for name, module in [*sys.modules.items()] if name.partition(".")[0] in packages]
    for module in modules:
        for value in [*vars(module).values()]:
            if inspect.isclass(value) and package_of(value) in packages:
                yield value


def _names(classes: Iterable[type]) -> set[str]:
    return {f"{cls.__module__}.{cls.__name__}" for cls in classes}
