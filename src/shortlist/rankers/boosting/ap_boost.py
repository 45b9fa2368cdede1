"""APBoost: gradient boosting that optimises the top of the list, at the speed of ordinary boosting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from shortlist.exceptions import InvalidInputError, NoUnwantedRowsError, NoWantedRowsError
from shortlist.rankers.base import unchanged_if_refused
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.ap_settings import APSettings, Trained, check_settings
from shortlist.rankers.chances import calibration
from shortlist.rankers.classes import is_wanted
from shortlist.rankers.held_out import eval_parts
from shortlist.tables import Roles, Schema
from shortlist.tables.batches import in_one_order
from shortlist.tables.table import RowFacts
from shortlist.validation import check_groups, check_score


class APBoost(APSettings):
    """Boosted trees trained for average precision.

    The default loss adds to the logistic gradient that of a smooth average precision, AP_sig, in which the
    step "row j ranks above row i" is a sigmoid of the difference of their margins: ::

        g = (p - y) + c s        h = p(1 - p) + c |s|        s ∝ ∂(1 - AP_sig)/∂f, Σ_wanted |s| = P

    with p = 1/(1 + e^-f), c = ``mix``, P wanted rows, and a sigmoid of steepness ``alpha`` / std(f) in each round.
    s costs linear time (see ``shortlist.kernels.ap_surrogates``). By default, models on four folds and of several
    depths are averaged (see ``shortlist.rankers.boosting.fold_ensemble``), and below 15,000 rows extra trees of other
    folds join them (see ``shortlist.rankers.boosting.committee``); above 300,000 rows it is one model.

    Differs from the paper (SGBAP), whose exponential surrogate lets the richest wanted rows take all weight: it is
    here as ``loss="ap_exp"`` with Newton leaves, and as ``"ap_exp_faithful"`` with the paper's line search.

    Parameters
    ----------
    loss : "mix", "logistic", "ap_sigmoid", "ap_exp", "ap_exp_faithful" (the paper's), "rankboost" (its pairwise rival)
    mix : c, how much the average precision counts beside the logistic loss (loss "mix" only)
    alpha : steepness of the sigmoid, in units of 1 / standard deviation of the margins
    n_estimators : the most rounds of boosting; None: 1,000 where the AP of held-out rows ends them, else 150
    max_depth : depth of the trees, or several depths to average; None: 3 and 6, from 15,000 rows on also 10; for one
        model 6
    learning_rate, subsample, colsample_bynode, min_child_weight, reg_lambda, max_bin : as in XGBoost
    max_cat_threshold : as in XGBoost: a split parts fewer than so many categories from the others. Where any of them
        may go together, rare rows are learned by heart
    monotone_constraints : 1 where a column may only raise the score, -1 only lower it, 0 otherwise; one per
        column, or a mapping from column names
    folds : "auto" (4, or none above 300,000 rows or with a given validation set), a number from 2, or 0 for one model
    committee : whether extra trees join the boosted ones of each fold; "auto": below 15,000 rows, without constraints
    early_stopping_rounds : stop after so many rounds without a better AP of the rows held out (with folds: of all rows,
        each by the model that did not see it, looked at every ten rounds). None: use all rounds
    validation_fraction : one model: the share of rows (whole lists) held out when none are given to ``fit``
    tune : True searches a few settings by cross-validated AP; an objective, such as ``CostSaved(k=50)``, by that
    warm_start : one model: keep the trees of the last ``fit`` and add rounds up to ``n_estimators``; X has the same
        columns, and categories that the first ``fit`` did not see count as unknown
    callback : called as ``callback(done, total, value)`` after each round (with folds: every ten; when
        tuning: each setting). Not kept when a trained model is saved
    n_jobs : threads; None: all. It does not change the model
    random_state : seed, or a ``RandomState``

    Attributes
    ----------
    booster_ : the model, one ``xgboost.Booster`` (of an ensemble, the weighted sum of its members)
    oof_score_ : of a fold ensemble: each training row's score by models that did not see it
    rounds_ : rounds used, one number per depth
    chance_curve_ : scores and the chance that a row is wanted
    chance_error_ : at these scores, what one standard deviation of each of seven errors of the curve adds to log-odds
    calibrated_on_ : "held-out rows", or "training rows" where none were held out: the curve is then too sure of itself,
        and ``chance``, ``expected_precision`` and ``expected_found`` refuse to use it
    tuning_ : with ``tune``: each setting tried and its cross-validated value

    Reference: Frery, Habrard, Sebban, Caelen and He-Guelton, Efficient top rank optimization with gradient boosting
    for supervised anomaly detection, ECML PKDD 2017.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 5))
    >>> y = X[:, 0] + X[:, 1] > 2.5
    >>> ranker = APBoost(n_estimators=30, random_state=0).fit(X, y)
    >>> from shortlist.metrics import average_precision
    >>> average_precision(y, ranker.oof_score_) > 0.25  # chance gives 0.025; measured on rows left out
    True
    """

    oof_score_: NDArray[np.float64] | None
    rounds_: tuple[int, ...]
    tuning_: list[Any]
    chance_error_: NDArray[np.float64]

    def fit_table(self, source: Any, roles: Roles, *, wanted: Any = None, batch_rows: int = 100_000) -> Self:
        """Learn from a table larger than memory: the same model as of rows in memory.

        Where rows are few enough for folds, they are held as numbers, and only as numbers; the bins of more of them
        lie on disk.

        Parameters
        ----------
        source : a folder or glob of Parquet files, a CSV file, a lazy frame, ... (see ``shortlist.tables.scan_table``)
        roles : which columns hold the label (or impact) and the list, and which are no features
        wanted : the label of wanted rows, where it is not plain
        batch_rows : rows read at a time

        Examples
        --------
        >>> from shortlist.datasets import make_claims
        >>> from shortlist.tables import Roles
        >>> claims = make_claims(2_000, random_state=0)
        >>> ranker = APBoost(folds=0, n_estimators=10, random_state=0)
        >>> ranker.fit_table(claims.lazy(), Roles(id="claim_id", label="fraud"), batch_rows=500).rounds_
        (10,)
        """
        # Whoever scores by a trained model does not wait for the kernels that train one.
        from shortlist.rankers.boosting.external import numbers_of, read_outcomes  # noqa: PLC0415

        if self.folds == 0:  # of folds it depends on the rows
            self._check_one_model("a table on disk")
        with in_one_order(source, batch_rows) as rows:
            facts, schema = read_outcomes(rows, roles, wanted, batch_rows=batch_rows)
            if not self._learns_whole(facts.wanted.size):
                return self._fit_outcomes(rows, facts, schema, batch_rows)
            features = numbers_of(rows, schema, facts.wanted.size, batch_rows)
        return self.fit(features, facts.wanted, **facts.for_fit)

    def _learns_whole(self, n_rows: int) -> bool:
        from shortlist.rankers.boosting.ap_training import are_few  # noqa: PLC0415

        return self.folds != 0 and are_few(n_rows)

    def _fit_outcomes(
        self,
        source: Any,
        facts: RowFacts,
        schema: Schema,
        batch_rows: int,
        on_rows: Callable[[int], object] = lambda n_rows: None,
    ) -> Self:
        """Learn one model from a table of which all is known but the features."""
        from shortlist.rankers.boosting.ap_training import train_external  # noqa: PLC0415

        with unchanged_if_refused(self):
            self._check_one_model(f"a table of {facts.wanted.size:,} rows on disk")
            self.schema_, self.sparse_ = schema, False
            self.classes_ = np.array([False, True])
            no_features = np.empty((facts.wanted.size, 0), dtype=np.float32)
            batch = self._checked(no_features, facts.wanted, **facts.for_fit)
            check_settings(self, batch)
            self.feature_names_in_ = np.array([feature.name for feature in schema.features], dtype=object)
            self.n_features_in_ = self.feature_names_in_.size
            self._keep(train_external(self, source, batch, batch_rows, on_rows))
        return self

    def _check_one_model(self, what: str) -> None:
        several = self.folds not in ("auto", 0) or self.committee not in ("auto", False)
        if self.loss == "ap_exp_faithful" or self.tune or self.warm_start or several:
            raise InvalidInputError(
                f"{what} trains one model: use folds=0 and leave out tune, committee, warm_start and "
                "'ap_exp_faithful'."
            )

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        """Rows as numbers; with ``warm_start`` as the trees that are kept have learned to read them."""
        goes_on = reset and self.warm_start and hasattr(self, "booster_")
        rows = super()._check_features(X, reset=reset and not goes_on)
        if goes_on and self._learned_sparse() not in (None, issparse(rows)):
            raise InvalidInputError(
                "warm_start goes on with trees that read zeros otherwise: give X as a sparse matrix if the fit before "
                "had one, and else as an array or a table."
            )
        return rows

    def _fit(self, batch: Batch, held_out: Batch | None = None) -> None:
        from shortlist.rankers.boosting.ap_training import count_folds, train_folds, train_one  # noqa: PLC0415
        from shortlist.rankers.boosting.tuning import search  # noqa: PLC0415

        check_settings(self, batch)
        if batch.lists.place is not None:
            self._check_one_model("a table on several machines")
        n_folds = count_folds(self, batch, held_out)
        if self.tune:
            trained, self.tuning_ = search(self, batch, held_out, n_folds)
        else:
            trained = train_folds(self, batch, n_folds) if n_folds else train_one(self, batch, held_out)
        self._keep(trained)

    def _keep(self, trained: Trained) -> None:
        self.booster_, self.rounds_, self.oof_score_ = trained.booster, trained.rounds, trained.oof_score
        known = trained.held_out or trained.seen
        assert known is not None
        self.calibrated_on_ = "training rows" if trained.held_out is None else "held-out rows"
        self.chance_curve_, self.chance_error_ = calibration.chance_curve(*known, kappa=trained.kappa)

    def _calibrate(self, batch: Batch, held_out: Batch | None = None) -> None:
        """Training has held rows out already, and ``_keep`` has learned from them what a score means."""

    def chance(self, scores: ArrayLike) -> NDArray[np.float64]:
        """The chance that a row with such a score is wanted, by a monotone curve fitted to held-out rows."""
        return calibration.read_chance(self._curve(), scores)

    def expected_precision(self, scores: ArrayLike) -> NDArray[np.float64]:
        """What each rank means: the share of wanted rows to expect among the rows that score no lower.

        ``scores`` are those of one list, from ``decision_function``.
        """
        return calibration.expected_precision(self._curve(), scores)

    def expected_found(
        self, scores: ArrayLike = (), *, chances: ArrayLike | None = None
    ) -> calibration.Found:
        """How many of these rows will be wanted, with bounds that hold in nine of ten cases.

        They heed both which rows turn out to be wanted and the error of the curve itself.

        Parameters
        ----------
        scores : those of the rows that will be looked at, from ``decision_function``; of one list or several together
        chances : those of the rows, from ``chance``, where they are known already

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 5))
        >>> ranker = APBoost(n_estimators=30, random_state=0).fit(X, X[:, 0] + X[:, 1] > 1.5)
        >>> new = np.sort(ranker.decision_function(rng.normal(size=(400, 5))))[::-1]
        >>> found = ranker.expected_found(new[:50])
        >>> 0 < found.low < found.expected < found.high <= 50
        True
        """
        curve, error = self._curve(), getattr(self, "chance_error_", None)
        if error is None:
            raise InvalidInputError(
                "this ranker was saved by a version that kept nothing about how sure its chances are; train it anew, "
                "or use expected_precision."
            )
        chance = self.chance(scores) if chances is None else check_score(chances)
        return calibration.expected_found(calibration.ChanceCurve(curve, error), chance)

    def _curve(self) -> NDArray[np.float64]:
        check_is_fitted(self)
        # Of models saved before training rows had a curve too, one with a curve has it from held-out rows.
        known = getattr(self, "calibrated_on_", "held-out rows") == "held-out rows"
        if self.chance_curve_ is None or not known:
            raise InvalidInputError(
                "no rows were held out in training, so nothing is known of how often a score is right. Train "
                "with folds, or give fit a validation set; one model holds rows out by itself only if it stops "
                "early and there are wanted rows enough."
            )
        return self.chance_curve_

    def _check_eval_set(self, eval_set: tuple[Any, ...]) -> Batch:
        X, y, groups = eval_parts(eval_set)
        X = self._all_as_fitted(self._check_features(X, reset=False))
        y = is_wanted(y, self.classes_, X.shape[0])
        for kind, rows, error in (("wanted", y, NoWantedRowsError), ("unwanted", ~y, NoUnwantedRowsError)):
            if not rows.any():
                raise error(
                    f"the validation set marks none of its {y.size} rows as {kind}, so no number of rounds is better "
                    "than another. Add such a row to it, or leave it out: rows are then held out of the training set."
                )
        return Batch(X, y, check_groups(groups, y.size), None, self._categorical(X))
