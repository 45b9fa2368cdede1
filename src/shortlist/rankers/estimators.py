"""Estimators of other libraries to compare with: LightGBM and CatBoost by name, others by dotted name or themselves."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sklearn.base import clone, is_classifier, is_regressor

from shortlist.exceptions import InvalidInputError
from shortlist.rankers.base import Ranker
from shortlist.rankers.baseline import Baseline
from shortlist.rankers.catalogue import MODELS, Kind, Model, RankerOptions, find_model

#: What people compare with most.
KNOWN = {"lightgbm": "lightgbm.LGBMClassifier", "catboost": "catboost.CatBoostClassifier"}
#: By library: what keeps it from printing amid our answer, and from files of its own beside the user's.
SILENT: dict[str, dict[str, Any]] = {
    "lightgbm": {"verbose": -1},
    "catboost": {"verbose": 0, "allow_writing_files": False},
}


def model_of(asked: Any) -> tuple[str, Model]:
    """The name and the entry of a model that is asked for by name, or as an estimator.

    A dotted name is imported, which runs that module: names come from whoever asks, never from a file.

    >>> model_of("sklearn.naive_bayes.GaussianNB")[1].make(RankerOptions())
    Baseline(estimator=GaussianNB())
    >>> from sklearn.linear_model import Ridge
    >>> name, model = model_of(Ridge(alpha=2))
    >>> name, model.learns_from
    ('Ridge', 'impact')
    """
    if isinstance(asked, type):
        raise InvalidInputError(f"give an estimator, {asked.__name__}(), not its class.")
    if not isinstance(asked, str):
        return type(asked).__name__, _model(asked, type(asked).__name__)
    if asked in MODELS:
        return asked, find_model(asked)
    if asked in KNOWN:
        return asked, _model(_made(KNOWN[asked]), asked)
    if "." in asked:
        return asked, _model(_made(asked), asked)
    return asked, find_model(asked)  # which says what there is


def _made(dotted: str) -> Any:
    """An estimator of the class of this name, with its defaults but silent."""
    module, _, name = dotted.rpartition(".")
    if not all(part.isidentifier() for part in dotted.split(".")):
        raise InvalidInputError(f"{dotted!r} is no name of a class, such as sklearn.svm.LinearSVC.")
    try:
        made = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise InvalidInputError(
            f"{dotted} cannot be had: there is no module {error.name!r}. Install its package, or mend the name."
        ) from None
    except AttributeError:
        raise InvalidInputError(f"the module {module!r} has no class {name!r}; mend the name.") from None
    if not isinstance(made, type):
        raise InvalidInputError(f"{dotted} is no class, so no estimator can be made of it; mend the name.")
    try:
        return made(**SILENT.get(dotted.partition(".")[0], {}))
    except TypeError as error:
        raise InvalidInputError(
            f"{dotted} cannot be made without arguments ({error}); in Python, give the estimator itself."
        ) from None


def _model(estimator: Any, name: str) -> Model:
    if isinstance(estimator, Ranker):
        learns_from: Kind = "impact" if estimator._takes_impact else "label"
        return Model(lambda options: _seeded(estimator, options), learns_from, f"{name}, as given")
    if not hasattr(estimator, "get_params") or not (is_classifier(estimator) or is_regressor(estimator)):
        raise InvalidInputError(
            f"{name} is neither a classifier nor a regressor of scikit-learn's kind, so it cannot rank; give one, or a "
            "ranker."
        )
    return Model(
        lambda options: Baseline(estimator=_seeded(estimator, options)),
        "label" if is_classifier(estimator) else "impact",
        f"{name}, as its library makes it",
    )


def _seeded(estimator: Any, options: RankerOptions) -> Any:
    """A copy with the seed and the threads that were asked for, where it has none of its own."""
    asked = {"random_state": options.random_state, "n_jobs": options.n_jobs}
    own = estimator.get_params(deep=False)
    return clone(estimator).set_params(
        **{name: value for name, value in asked.items() if name in own and own[name] is None}
    )
