"""The contract every ranker keeps, and the step from scores to a shortlist."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from shortlist.lists import Groups, Lists
from shortlist.metrics import average_precision
from shortlist.objectives import AveragePrecision, CostSaved, Objective
from shortlist.rankers.limits import Limit
from shortlist.tables import Encoded, Schema
from shortlist.tables.features import read_features
from shortlist.tables.io.frames import in_memory, is_frame
from shortlist.validation import (
    check_budget,
    check_groups,
    check_sample_weight,
    check_score,
    check_some_impact,
    check_two_classes,
)

#: What rankers of impacts maximise, and are judged by, when nothing else is said.
DEFAULT_OBJECTIVE = CostSaved(k=10)


@dataclass(frozen=True, eq=False)
class Batch:
    """Labelled rows, checked: what a learner's fit works with."""

    X: Any  # float32 or float64 array, NaN = missing, categories as codes 0, 1, ...; or a CSR matrix
    y: NDArray  # bool for rankers of wanted rows, float64 >= 0 for rankers of impacts
    lists: Lists
    sample_weight: NDArray[np.float64] | None
    categorical: NDArray[np.bool_]  # which columns of X are category codes


class Ranker(BaseEstimator, metaclass=ABCMeta):
    """Base of all rankers: scores rows so that those worth looking at come first.

    Subclasses store their arguments in ``__init__`` (keyword-only), learn in ``_fit`` and score in ``_score``;
    this class checks what comes in. X is an array (NaN = missing), a sparse matrix where the ranker takes
    one, or a data frame (pandas, polars, ...) whose text, boolean and date columns are encoded on the way.
    """

    _takes_missing: bool = False
    _takes_sparse: bool = False
    _limits: ClassVar[Mapping[str, Limit]] = {}  # of the parameters that are numbers
    # A ranking without its lists is another ranking, so metadata routing hands groups on wherever they are given.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__score = {"groups": True}  # noqa: RUF012

    schema_: Schema | None

    @property
    def _takes_impact(self) -> bool:
        """True: y is an impact >= 0; False: y has two values and the larger one marks the wanted rows."""
        return False

    @abstractmethod
    def _fit(self, batch: Batch) -> None:
        """Learn from checked rows."""

    @abstractmethod
    def _score(self, X: Any) -> NDArray:
        """Score checked rows; larger = look sooner."""

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        groups: Groups | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn to rank the rows of X by y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (rows, features)
        y : what is known of each row: wanted or not, or its impact
        groups : the list of each row; rows are ranked within their list. None: all rows are one list
        sample_weight : how much each row counts; None: all alike
        """
        with unchanged_if_refused(self):
            self._fit(self._check_batch(X, y, groups, sample_weight))
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score rows: float64, finite, larger = look sooner."""
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        return np.asarray(self._score(X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The same scores, under the name without which ``cross_val_predict`` takes no estimator.

        >>> from sklearn.model_selection import cross_val_predict
        >>> from shortlist.rankers import RankBoost
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> wanted = X.sum(axis=1) > 2
        >>> round(average_precision(wanted, cross_val_predict(RankBoost(), X, wanted, cv=3)), 1)
        0.8
        """
        return self.decision_function(X)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        *,
        groups: Groups | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """How good the ranking of X is, between 0 and 1: what scikit-learn's searches maximise unless told otherwise.

        It is the value of the ranker's ``objective``; for rankers without one, average precision where y is a label
        and ``CostSaved(k=10)`` where it is an impact. With ``groups``, rows are ranked within their list. With
        ``sample_weight``, what a row is worth is multiplied by its weight; for average precision (and then without
        groups) a row of weight w counts as w rows. A search hands its groups on only where scikit-learn's metadata
        routing is enabled, and it cuts rankers' folds in row order: where wanted rows are few or come in runs, give
        it ``cv=StratifiedKFold(5, shuffle=True)``.

        >>> from sklearn.model_selection import GridSearchCV
        >>> from shortlist.rankers import RankBoost
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> search = GridSearchCV(RankBoost(), {"n_estimators": [1, 20]}, cv=3).fit(X, X.sum(axis=1) > 2)
        >>> search.best_params_, round(float(search.best_score_), 1)
        ({'n_estimators': 20}, 0.8)
        """
        score, objective = self.decision_function(X), self._judge_by()
        weight = check_sample_weight(sample_weight, score.size)
        if weight is not None and isinstance(objective, AveragePrecision):
            # Ranks are sums of weights there: worth alone would let wanted rows count against unweighted others.
            wanted = check_two_classes(y, score.size)
            return average_precision(wanted, score, sample_weight=weight, groups=groups)
        return objective.bind(y, groups, sample_weight=weight).value(score)

    def _judge_by(self) -> Objective:
        given: Objective | None = getattr(self, "objective", None)
        return given or (DEFAULT_OBJECTIVE if self._takes_impact else AveragePrecision())

    def _check_batch(
        self, X: Any, y: ArrayLike, groups: Groups | None, sample_weight: ArrayLike | None
    ) -> Batch:
        if y is None:
            raise ValueError("This ranker requires y to be passed, but the target y is None.")
        self._check_limits()
        return self._checked(self._check_features(X, reset=True), y, groups, sample_weight)

    def _check_limits(self) -> None:
        for name, limit in self._limits.items():
            limit.check(name, getattr(self, name))

    def _checked(
        self, X: Any, y: ArrayLike, groups: Groups | None = None, sample_weight: ArrayLike | None = None
    ) -> Batch:
        """Rows whose features are checked already, with what goes with them."""
        n_rows = X.shape[0]
        return Batch(
            X=X,
            y=check_some_impact(y, n_rows) if self._takes_impact else check_two_classes(y, n_rows),
            lists=check_groups(groups, n_rows),
            sample_weight=check_sample_weight(sample_weight, n_rows),
            categorical=self._categorical(X),
        )

    def _categorical(self, X: Any) -> NDArray[np.bool_]:
        """Which columns of checked rows are category codes; those of a plain array are all numbers."""
        return self.schema_.categorical if self.schema_ else np.zeros(X.shape[1], dtype=bool)

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        """X as numbers. A data frame is encoded by the schema learned from the one given to fit."""
        X = in_memory(X)
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)  # the names and number of columns
        rows = read_features(X, None if reset else self.schema_, learn=reset)
        if reset:
            self.schema_ = rows.schema if isinstance(rows, Encoded) else None
        if isinstance(rows, Encoded):
            if reset and rows is X:
                self.n_features_in_ = rows.shape[1]
            # Encoding lets no infinite value pass, so all that may be wrong with a value is that it is missing.
            finite = not self._takes_missing
            return check_array(rows.matrix, dtype=np.float32, ensure_all_finite=finite, estimator=self)
        return validate_data(
            self,
            rows,
            reset=reset,
            accept_sparse="csr" if self._takes_sparse else False,
            dtype=[np.float32, np.float64],
            ensure_all_finite="allow-nan" if self._takes_missing else True,
        )

    def __getstate__(self) -> dict[str, Any]:
        # Plain values only, so that a saved ranker can be read back without executing code.
        state = dict(super().__getstate__())
        if isinstance(state.get("schema_"), Schema):
            state["schema_"] = state["schema_"].to_dict()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("schema_"), dict):
            state = {**state, "schema_": Schema.from_dict(state["schema_"])}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = self._takes_impact
        if not self._takes_impact:
            tags.classifier_tags = ClassifierTags(multi_class=False)  # y has two values
        tags.input_tags.allow_nan = self._takes_missing
        tags.input_tags.sparse = self._takes_sparse
        return tags


@contextmanager
def unchanged_if_refused(ranker: Ranker) -> Iterator[None]:
    """A fit that fails leaves the ranker as it was."""
    before = ranker.__dict__.copy()
    try:
        yield
    except BaseException:
        ranker.__dict__.clear()
        ranker.__dict__.update(before)
        raise


def top_rows(scores: ArrayLike, budget: int, groups: Groups | None = None) -> NDArray[np.int64]:
    """Positions of the top rows, most wanted first; equal scores keep input order.

    With ``groups``, the top rows of each list, list after list in order of first appearance; a list shorter
    than the budget is given whole.

    >>> top_rows([0.1, 0.9, 0.4, 0.9], budget=3)
    array([1, 3, 2])
    >>> top_rows([0.1, 0.9, 0.4, 0.9], budget=1, groups=["a", "a", "b", "b"])
    array([1, 3])
    """
    score = check_score(scores)
    if groups is None:
        return np.argsort(-score, kind="stable")[: check_budget(budget, score.size)]
    budget = check_budget(budget)
    lists = check_groups(groups, score.size)
    return np.concatenate([rows[np.argsort(-score[rows], kind="stable")[:budget]] for rows in lists])
