"""Any scikit-learn classifier or regressor, as a ranker."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_outlier_detector, is_regressor
from sklearn.ensemble import BaseEnsemble
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from shortlist.exceptions import InvalidInputError
from shortlist.rankers.base import Ranker
from shortlist.rankers.batch import Batch
from shortlist.rankers.explanation import can_explain, prediction_parts
from shortlist.rankers.preparation import complete_numbers, fit_columns


def _can_explain(ranker: Baseline) -> bool:
    return hasattr(ranker, "model_") and can_explain(ranker.model_[-1])


class Baseline(Ranker):
    """Ranks by what an ordinary model predicts: the way most shortlists are made today.

    A classifier's score is its decision function or the probability of "wanted"; a regressor's score is the
    impact it predicts. Categories become one column each; numbers are filled and standardised unless the
    model takes missing values itself. The model does not know about lists: they do not change what it learns.

    Parameters
    ----------
    estimator : scikit-learn classifier (y says which rows are wanted) or regressor (y is an impact);
        None: logistic regression

    Examples
    --------
    >>> from shortlist.datasets import make_claims
    >>> from shortlist.metrics import average_precision
    >>> old, new = make_claims(4_000, random_state=0), make_claims(1_000, random_state=1)
    >>> features = [c for c in old.columns if c not in ("claim_id", "fraud")]
    >>> ranker = Baseline().fit(old[features], old["fraud"])
    >>> score = ranker.decision_function(new[features])
    >>> average_precision(new["fraud"], score) > 3 * new["fraud"].mean()  # three times chance, on new rows
    True
    """

    def __init__(self, *, estimator: Any = None) -> None:
        self.estimator = estimator

    @property
    def _takes_impact(self) -> bool:
        return self.estimator is not None and is_regressor(self.estimator)

    _takes_missing = True

    def _check_limits(self) -> None:
        super()._check_limits()
        if self.estimator is not None:
            _check_estimator(self.estimator)

    def _fit(self, batch: Batch) -> None:
        model = LogisticRegression(max_iter=1000) if self.estimator is None else clone(self.estimator)
        weights = {}
        if batch.sample_weight is not None:
            if not has_fit_parameter(model, "sample_weight"):
                raise InvalidInputError(f"{type(model).__name__} does not take sample_weight; leave it out.")
            weights = {"sample_weight": batch.sample_weight}
        columns = complete_numbers(batch.categorical, keep_missing=get_tags(model).input_tags.allow_nan)
        y = batch.y if self._takes_impact else batch.y.astype(np.int8)
        model.fit(fit_columns(columns, batch.X, batch.sample_weight), y, **weights)
        if not (self._takes_impact or hasattr(model, "decision_function") or hasattr(model, "predict_proba")):
            raise InvalidInputError(
                f"{type(model).__name__} tells classes alone, which put no row before another. Give a classifier with "
                "decision_function or predict_proba; one that votes has it with voting='soft'."
            )
        self.model_ = make_pipeline(columns, model)
        if isinstance(model, BaseEnsemble) and hasattr(model, "n_jobs"):
            # Threads would add the members' votes up in any order, and the last bits of scores would differ.
            model.n_jobs = 1

    def _score(self, X: Any) -> NDArray:
        if self._takes_impact:
            return self.model_.predict(X)
        if hasattr(self.model_, "decision_function"):
            return self.model_.decision_function(X)
        return self.model_.predict_proba(X)[:, 1]

    def _chances(self, X: Any) -> NDArray[np.float64]:
        if not hasattr(self.model_, "predict_proba"):
            return super()._chances(X)
        return np.asarray(
            self.model_.predict_proba(self._check_features(X, reset=False))[:, 1], dtype=np.float64
        )

    def _calibrate(self, batch: Batch, held_out: Batch | None = None) -> None:
        """A model that gives probabilities is taken at its word."""
        if not hasattr(self.model_, "predict_proba"):
            super()._calibrate(batch, held_out)

    @available_if(_can_explain)
    def contributions(self, X: Any) -> NDArray[np.float64]:
        """How much each column moves each row's prediction; the last column is the base.

        For linear models and XGBoost only; rows sum to the margin that the prediction is made from.
        """
        X = self._check_features(X, reset=False)
        columns, model = self.model_
        return prediction_parts(columns, model, X)


def _check_estimator(estimator: Any) -> None:
    """Refuse what cannot be fitted to labels or impacts."""
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise InvalidInputError(
            f"estimator must be a classifier or regressor of scikit-learn's kind, such as LogisticRegression(); got "
            f"{estimator!r}."
        )
    if is_outlier_detector(estimator):
        raise InvalidInputError(
            f"{type(estimator).__name__} learns nothing from y, and scores what is usual higher. To rank what is "
            "unusual first, use a score space: shortlist.feedback.ScoreSpace.from_isolation_forest(X).base_scores()."
        )
