"""The measures as scikit-learn scorers, so that a search can tune on any of them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_outlier_detector
from sklearn.utils.metadata_routing import UNUSED

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Groups


class Scorer(BaseEstimator):
    """A measure as ``scorer(estimator, X, y)``, larger = better; made by ``scorer(measure, **options)``.

    scikit-learn's own ``make_scorer`` knows no impacts and refuses rankers of them, which are neither classifiers nor
    regressors. Metadata routing hands ``groups`` on when a search is given them; ``set_score_request`` changes what is
    asked for.
    """

    # A ranking judged without its lists is another ranking, so groups are asked for wherever they are given.
    __metadata_request__score = {"estimator": UNUSED, "groups": True}  # noqa: RUF012

    def __init__(self, measure: Callable[..., float], options: dict[str, Any] | None = None) -> None:
        self.measure = measure
        self.options = options

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, **metadata: Any) -> float:
        """Call ``score``, as scikit-learn calls a scorer."""
        return self.score(estimator, X, y, **metadata)

    def score(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        groups: Groups | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Measure the estimator's scores of X."""
        metadata = {"groups": groups, "sample_weight": sample_weight}
        given = {name: value for name, value in metadata.items() if value is not None}
        return self.measure(as_flags(estimator, y), score_rows(estimator, X), **(self.options or {}), **given)


def scorer(measure: Callable[..., float], **options: Any) -> Scorer:
    """A scikit-learn scorer of a measure of ``(y, score)``, with its options fixed.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from shortlist.metrics import precision_at_k
    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> scorer(precision_at_k, k=2)(LogisticRegression().fit(X, y), X, y)
    1.0
    """
    name, known = getattr(measure, "__name__", "the measure"), signature(measure).parameters
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InvalidInputError(f"{name} has no option {', '.join(unknown)}; see help({name}).")
    plain = [each for each in known.values() if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    needed = [each.name for each in plain[2:] if each.default is each.empty and each.name not in options]
    if needed:
        raise InvalidInputError(
            f"{name} needs {', '.join(needed)}: give it here, as in scorer({name}, {needed[0]}=...)."
        )
    return Scorer(measure, options)


def as_flags(estimator: Any, y: ArrayLike) -> ArrayLike:
    """Labels as True where they are the classifier's larger class, if it learned words or -1 and 1; else as they are.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> as_flags(GaussianNB().fit([[0], [1]], [-1, 1]), [1, -1]).tolist()
    [True, False]
    """
    classes = getattr(estimator, "classes_", None)
    if classes is None or np.size(classes) != 2:
        return y
    # Other numbers may be impacts, which no measure takes below 0.
    return np.asarray(y) == classes[1] if isinstance(classes[1], str) or classes[0] < 0 else y


def score_rows(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Scores by any estimator: its decision function, probability of the larger class, or prediction.

    Outlier detectors score what is usual higher, so theirs are turned round.
    """
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X))
        return -scores if is_outlier_detector(estimator) else scores
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X))[:, -1]
    return np.asarray(estimator.predict(X))
