"""The measures as scikit-learn scorers, so that a search can tune on any of them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Groups


class Scorer(BaseEstimator):
    """A measure as ``scorer(estimator, X, y)``, larger = better; made by ``scorer(measure, **options)``.

    scikit-learn's own ``make_scorer`` refuses rankers, which are neither classifiers nor regressors. Metadata
    routing hands ``groups`` on when a search is given them; ``set_score_request`` changes what is asked for.
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
        return self.measure(y, score_rows(estimator, X), **(self.options or {}), **given)


def scorer(measure: Callable[..., float], **options: Any) -> Scorer:
    """A scikit-learn scorer of a measure of ``(y, score)``, with its options fixed.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from shortlist.metrics import precision_at_k
    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> scorer(precision_at_k, k=2)(LogisticRegression().fit(X, y), X, y)
    1.0
    """
    unknown = sorted(set(options) - set(signature(measure).parameters))
    if unknown:
        name = getattr(measure, "__name__", "the measure")
        raise InvalidInputError(f"{name} has no option {', '.join(unknown)}; see help({name}).")
    return Scorer(measure, options)


def score_rows(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Scores by any estimator: its decision function, probability of the larger class, or prediction."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X))
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X))[:, -1]
    return np.asarray(estimator.predict(X))
