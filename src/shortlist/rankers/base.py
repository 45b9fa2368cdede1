"""The contract every ranker keeps, and the step from scores to a shortlist."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Groups
from shortlist.rankers.batch import Batch
from shortlist.rankers.chances.calibration import chance_curve, cross_fit, read_chance, scored
from shortlist.rankers.classes import is_wanted, read_classes
from shortlist.rankers.cluster.scoring import spark_scores, spark_top, spread_scores, spread_top
from shortlist.rankers.limits import Limit
from shortlist.tables import Encoded, Schema
from shortlist.tables.features import read_features
from shortlist.tables.io.frames import check_names, in_memory, is_frame, is_spark, is_spread
from shortlist.validation import (
    check_both_weigh,
    check_budget,
    check_groups,
    check_range,
    check_sample_weight,
    check_score,
    check_some_impact,
    check_vector,
)


def _classifies(ranker: Ranker) -> bool:
    return ranker._is_classifier


class Ranker(BaseEstimator, metaclass=ABCMeta):
    """Base of all rankers: scores rows so that those worth looking at come first.

    Rankers of labels are classifiers of two classes to scikit-learn, the larger of which is wanted. Scores come from
    ``decision_function``; ``predict_proba`` turns them into chances by a curve fitted to rows that were held out
    (``calibrated_on_`` says so, or that there were none), and ``predict`` gives the likelier class. Scores have no
    zero of their own, so that of ``decision_function`` means nothing. Rankers of impacts are neither classifiers nor
    regressors, and ``predict`` gives their scores.

    Subclasses store their arguments in ``__init__`` (keyword-only), learn in ``_fit`` and score in ``_score``;
    this class checks what comes in. X is an array (NaN = missing), a sparse matrix where the ranker takes
    one, or a data frame (pandas, polars, ...) whose text, boolean and date columns are encoded on the way.
    """

    _takes_missing: bool = False
    _takes_sparse: bool = False
    _trains_spread: ClassVar[bool] = False  # whether several machines can train it in step
    _splits_a_list: ClassVar[bool] = False  # and rows of one list may lie on several of them
    _limits: ClassVar[Mapping[str, Limit]] = {}  # of the parameters that are numbers
    _calibration_folds: ClassVar[int] = 3  # how often it is trained again to learn what its scores mean
    _free_scale: ClassVar[bool] = False  # whether each fit has scores of another scale
    # A ranking without its lists is another ranking, so metadata routing hands groups on wherever they are given.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__score = {"groups": True}  # noqa: RUF012

    schema_: Schema | None
    classes_: NDArray  # of rankers of labels: the two values of y; the last one marks the wanted rows
    chance_curve_: NDArray[np.float64] | None  # of rankers of labels: points (score, chance)
    calibrated_on_: Literal["held-out rows", "training rows"]

    def _learns_whole(self, n_rows: int) -> bool:
        """Whether it learns so few rows on one machine that holds all of them, wherever they lie."""
        return False

    @property
    def _takes_impact(self) -> bool:
        """True: y is an impact >= 0; False: y has two values and the larger one marks the wanted rows."""
        return False

    @property
    def _is_classifier(self) -> bool:
        return not self._takes_impact

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
            batch = self._check_batch(X, y, groups, sample_weight)
            self._fit(batch)
            self._calibrate(batch)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score rows: float64, finite, larger = look sooner.

        Of a data frame or array of Dask, scores are of Dask too: rows are scored where they lie, when that is computed.
        Of a data frame of Spark, it is that data frame with a column ``score``.
        """
        check_is_fitted(self)
        if is_spread(X):
            return spread_scores(self.decision_function, X)
        if is_spark(X):
            return spark_scores(self.decision_function, X, self.schema_)
        X = self._check_features(X, reset=False)
        return np.asarray(self._score(X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray:
        """The likelier class of each row, by ``predict_proba``; of rankers of impacts, the scores.

        >>> from shortlist.rankers import RankBoost
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> ranker = RankBoost().fit(X, np.where(X.sum(axis=1) > 1, "Y", "N"))
        >>> ranker.predict([[-1, -1], [2, 2]]).tolist()
        ['N', 'Y']
        """
        if not self._is_classifier:
            return self.decision_function(X)
        chance = self.predict_proba(X)[:, 1]
        return self.classes_[(chance > 0.5).astype(np.intp)]

    @available_if(_classifies)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The chances that a row is not wanted and that it is, in the order of ``classes_``.

        >>> from shortlist.rankers import RankBoost
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> ranker = RankBoost().fit(X, X.sum(axis=1) > 1)
        >>> ranker.predict_proba([[-1, -1], [2, 2]]).round(1).tolist(), ranker.calibrated_on_
        ([[1.0, 0.0], [0.0, 1.0]], 'held-out rows')
        """
        check_is_fitted(self)
        chance = self._chances(X)
        return np.column_stack([1 - chance, chance])

    @available_if(_classifies)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _chances(self, X: Any) -> NDArray[np.float64]:
        curve = getattr(self, "chance_curve_", None)
        if curve is None:
            raise InvalidInputError(
                "this ranker was saved by a version that kept nothing about how often a score is right; train it anew, "
                "or rank by decision_function."
            )
        return read_chance(curve, self.decision_function(X))

    def _calibrate(self, batch: Batch, held_out: Batch | None = None) -> None:
        """Learn which score means which chance, if possible from rows that the model of their score did not see."""
        if not self._is_classifier:
            return
        known = (
            cross_fit(self, batch, self._calibration_folds) if held_out is None else scored(self, held_out)
        )
        self.calibrated_on_ = "training rows" if known is None else "held-out rows"
        self.chance_curve_ = chance_curve(*(known or scored(self, batch))).points

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
        routing is enabled, and it cuts folds in row order: where rows come in runs, give it
        ``cv=StratifiedKFold(5, shuffle=True)``.

        >>> from sklearn.model_selection import GridSearchCV
        >>> from shortlist.rankers import RankBoost
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> search = GridSearchCV(RankBoost(), {"n_estimators": [1, 20]}, cv=3).fit(X, X.sum(axis=1) > 2)
        >>> search.best_params_, round(float(search.best_score_), 1)
        ({'n_estimators': 20}, 0.9)
        """
        from shortlist.rankers.objective import judged  # noqa: PLC0415  which loads kernels that scores do not need

        score = self.decision_function(X)
        weight = check_sample_weight(sample_weight, score.size)
        if self._takes_impact or not hasattr(self, "classes_"):
            y = check_vector(y, "y", score.size)
        else:
            y = is_wanted(y, self.classes_, score.size)
        return judged(self, y, score, groups, weight)

    def _check_batch(
        self, X: Any, y: ArrayLike, groups: Groups | None, sample_weight: ArrayLike | None
    ) -> Batch:
        if y is None:
            raise ValueError("This ranker requires y to be passed, but the target y is None.")
        self._check_limits()
        self._check_objectives()
        self._check_here(X)
        for learned in ("classes_", "chance_curve_", "calibrated_on_"):
            self.__dict__.pop(learned, None)  # an objective that takes impacts has none of them
        rows = self._check_features(X, reset=True)
        if not self._takes_impact:
            self.classes_ = read_classes(y, rows.shape[0])
        return self._checked(rows, y, groups, sample_weight)

    def _check_here(self, X: Any) -> None:
        if is_spread(X) or is_spark(X):
            engine, brought = ("Spark", "X.toPandas()") if is_spark(X) else ("Dask", "X.compute()")
            raise InvalidInputError(
                f"{type(self).__name__} trains on one machine, and X is a table of {engine}. Give it rows that fit "
                f"there, such as {brought}, or use APBoost or LambdaMART."
            )

    def _check_limits(self) -> None:
        for name, limit in self._limits.items():
            limit.check(name, getattr(self, name))

    def _check_objectives(self) -> None:
        for name in ("objective", "list_weight", "tune"):
            if getattr(getattr(self, name, None), "of_certain_rows", False) is True:
                raise InvalidInputError(
                    f"{name} has a cost for each of certain rows, but a ranker meets others, when it is validated and "
                    "when it scores. Give the costs as y, or a function of the impact as cost."
                )

    def _checked(
        self, X: Any, y: ArrayLike, groups: Groups | None = None, sample_weight: ArrayLike | None = None
    ) -> Batch:
        """Rows whose features are checked already, with what goes with them."""
        n_rows = X.shape[0]
        weight = check_sample_weight(sample_weight, n_rows)
        if self._takes_impact:
            known: NDArray = check_some_impact(y, n_rows)
        else:
            known = check_both_weigh(is_wanted(y, self.classes_, n_rows), weight)
        lists = check_groups(groups, n_rows)
        return Batch(X=X, y=known, lists=lists, sample_weight=weight, categorical=self._categorical(X))

    def _categorical(self, X: Any) -> NDArray[np.bool_]:
        """Which columns of checked rows are category codes; those of a plain array are all numbers."""
        return self.schema_.categorical if self.schema_ else np.zeros(X.shape[1], dtype=bool)

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        """X as numbers. A data frame is encoded by the schema learned from the one given to fit."""
        X = in_memory(X)
        if is_frame(X):
            check_names(X)
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
        checked = validate_data(
            self,
            rows,
            reset=reset,
            accept_sparse="csr" if self._takes_sparse else False,
            dtype=[np.float32, np.float64],
            ensure_all_finite="allow-nan" if self._takes_missing else True,
        )
        check_range(checked)
        return checked

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
        for setting in self._get_param_names():
            if not hasattr(self, setting):  # files of before do not have those that came later
                setattr(self, setting, signature(type(self)).parameters[setting].default)
        if "schema_" in state and not self._takes_impact and not hasattr(self, "classes_"):
            self.classes_ = np.array([0, 1])  # files of before do not say what their labels were

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = self._takes_impact
        if not self._takes_impact:
            tags.classifier_tags = ClassifierTags(multi_class=False)  # y has two values
        if self._is_classifier:
            tags.estimator_type = "classifier"
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

    Scores may be a collection of Dask, or a data frame of Spark with a column ``score`` and ``groups`` the name of
    another: each partition gives its first rows, and only those are brought together.
    """
    if is_spread(scores):
        return spread_top(scores, check_budget(budget), groups)
    if is_spark(scores):
        return spark_top(scores, check_budget(budget), groups)
    score = check_score(scores)
    if groups is None:
        return np.argsort(-score, kind="stable")[: check_budget(budget, score.size)]
    budget = check_budget(budget)
    lists = check_groups(groups, score.size)
    tops = (rows[np.argsort(-score[rows], kind="stable")[:budget]] for rows in lists)
    return np.concatenate([np.empty(0, dtype=np.int64), *tops])
