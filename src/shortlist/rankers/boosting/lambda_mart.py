"""LambdaMART: boosted trees along the gradient of any objective."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from shortlist.objectives import Goal, Objective
from shortlist.objectives.base import ListWeight, gives_numbers
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.pair_gradient import PairGradient
from shortlist.rankers.boosting.trees.bins import training_matrix
from shortlist.rankers.boosting.trees.boosted import BoostedRanker
from shortlist.rankers.boosting.trees.draws import Draw
from shortlist.rankers.boosting.trees.engine import Growth, boost, newton_step
from shortlist.rankers.held_out import HeldOutRanker, hold_out
from shortlist.rankers.limits import COUNT, NOT_NEGATIVE, PART_OR_NONE, POSITIVE, SHARE, Limit
from shortlist.rankers.objective import bind_batch, takes_impact
from shortlist.validation import check_jobs, draw_seed


class LambdaMART(HeldOutRanker, BoostedRanker):
    """Boosted trees that push the rows of a list up by what the objective would gain from it.

    For two rows of a list, w worth more than v, with scores s and with D the change of the objective when they
    swap ranks: rho = 1 / (1 + exp(s_w - s_v)); w is pulled up by rho ``|D|``, v down by as much, both get the
    hessian rho (1 - rho) ``|D|``, and each leaf takes a Newton step. Any objective and any weight of lists fit:
    ``objective=CostSaved(k)`` is CS-MART, ``objective=NDCG(k), list_weight=CostSaved(k)`` is CR-MART,
    ``objective=AveragePrecision()`` is LambdaMART-AP.

    What differs from the paper: gradients are divided by the mean hessian of the round, so that the trees do
    not depend on the unit of the impacts; ties are broken at random in training; with a cut-off k only pairs
    with a row in the top k are visited.

    Parameters
    ----------
    objective : what to maximise; None: ``CostSaved(k=10)``
    list_weight : how much each list counts: None for the objective's own weights, an objective whose weights
        to take, one number per list in order of first appearance, or a function of the y of one list. Numbers
        hold for the training lists; lists of an ``eval_set`` then count as the objective says
    n_estimators, learning_rate, max_leaves, min_child_weight, reg_lambda, subsample, colsample_bytree, max_bin :
        of the trees; ``min_child_weight`` is in units of the mean row
    pairs_per_row : pairs sampled for each row when an objective without a cut-off has too many to visit
    eval_groups : share of the lists to hold out for early stopping; None: learn from all lists, all rounds
    early_stopping_rounds : rounds without a gain on the held-out lists after which to stop
    random_state, n_jobs : seed; threads of the tree engine, None: all (the model does not depend on them)

    ``sample_weight`` in ``fit``: a pair of rows counts the geometric mean of their weights.

    Attributes
    ----------
    booster_ : the trees
    eval_values_ : the objective on the held-out lists after each round (empty without them)

    References
    ----------
    Burges, "From RankNet to LambdaRank to LambdaMART: An Overview", 2010. McBride, Wang, Ren and Li,
    "Cost-Sensitive Learning to Rank", AAAI 2019.

    Examples
    --------
    >>> from shortlist.objectives import CostSaved
    >>> storms = np.repeat(np.arange(30), 20)
    >>> X = np.random.default_rng(0).normal(size=(600, 3))
    >>> customers_out = np.exp(2 * X[:, 0])
    >>> model = LambdaMART(objective=CostSaved(k=5), random_state=0).fit(X, customers_out, groups=storms)
    >>> CostSaved(k=5).value(customers_out, model.decision_function(X), storms) > 0.95
    True
    """

    _limits: ClassVar = {
        "n_estimators": COUNT,
        "learning_rate": POSITIVE,
        "max_leaves": Limit(2, whole=True),
        "min_child_weight": NOT_NEGATIVE,
        "reg_lambda": NOT_NEGATIVE,
        "subsample": SHARE,
        "colsample_bytree": SHARE,
        "max_bin": Limit(2, whole=True),
        "pairs_per_row": COUNT,
        "early_stopping_rounds": Limit(1, whole=True, optional=True),
        "eval_groups": PART_OR_NONE,
    }

    def __init__(
        self,
        *,
        objective: Objective | None = None,
        list_weight: ListWeight = None,
        n_estimators: int = 300,
        learning_rate: float = 0.1,
        max_leaves: int = 4,
        min_child_weight: float = 0.1,
        reg_lambda: float = 10.0,
        subsample: float = 0.5,
        colsample_bytree: float = 0.5,
        max_bin: int = 256,
        pairs_per_row: int = 10,
        eval_groups: float | None = None,
        early_stopping_rounds: int = 50,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.objective = objective
        self.list_weight = list_weight
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.max_bin = max_bin
        self.pairs_per_row = pairs_per_row
        self.eval_groups = eval_groups
        self.early_stopping_rounds = early_stopping_rounds
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _takes_impact(self) -> bool:
        return takes_impact(self.objective)

    def _fit(self, batch: Batch, held_out: Batch | None = None) -> None:
        rng = np.random.default_rng(draw_seed(self.random_state))
        goal = bind_batch(self.objective, batch, self.list_weight)
        rows, learn, judged = self._split(batch, goal, held_out, rng)
        matrix = training_matrix(
            batch.X[rows],
            categorical=batch.categorical,
            max_bin=self.max_bin,
            n_jobs=check_jobs(self.n_jobs),
            lists=learn.lists,
        )
        weight = None if batch.sample_weight is None else batch.sample_weight[rows]
        gradient = PairGradient(
            learn, weight, pairs_per_row=self.pairs_per_row, seed=int(rng.integers(2**31))
        )
        draw = Draw(self.subsample, int(rng.integers(2**31)), keys=learn.lists.row_keys)
        values: list[float] = []
        watched, judging = self._judge(judged, batch.categorical, matrix, values)
        growth = Growth(matrix, newton_step(gradient, draw), self._engine_params(rng), watched=watched)
        self.booster_ = boost(growth, self.n_estimators, **judging)
        self.eval_values_ = np.array(values)

    def _split(
        self, batch: Batch, goal: Goal, held_out: Batch | None, rng: np.random.Generator
    ) -> tuple[Any, Goal, tuple[Any, Goal] | None]:
        """The rows to learn from with their goal, and the features to be judged on with theirs."""
        if held_out is not None:
            weight = None if gives_numbers(self.list_weight) else self.list_weight
            judged = self._all_as_fitted(held_out.X), bind_batch(self.objective, held_out, weight)
            return slice(None), goal, judged
        if self.eval_groups is None:
            return slice(None), goal, None
        learn, judge = map(batch.lists.here, hold_out(goal.all_ideals, self.eval_groups, rng))
        (rows, learned), (judge_rows, judges) = goal.take(learn), goal.take(judge)
        return rows, learned, (batch.X[judge_rows], judges)

    def _judge(
        self, judged: tuple[Any, Goal] | None, categorical: NDArray, matrix: xgb.DMatrix, values: list[float]
    ) -> tuple[xgb.DMatrix | None, dict[str, Any]]:
        """The rows to watch, and how to stop early by them; nothing where no list is held out."""
        if judged is None:
            return None, {}
        X, goal = judged
        valid = training_matrix(
            X, categorical=categorical, max_bin=self.max_bin, n_jobs=check_jobs(self.n_jobs), ref=matrix
        )
        return valid, {
            "judge": lambda margin: goal.value(margin.astype(np.float64)),
            "patience": self.early_stopping_rounds,
            "on_round": lambda _, value: values.append(value),
        }

    def _engine_params(self, rng: np.random.Generator) -> dict[str, Any]:
        return {
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": self.max_leaves,
            "learning_rate": self.learning_rate,
            "min_child_weight": self.min_child_weight,
            "reg_lambda": self.reg_lambda,
            "colsample_bytree": self.colsample_bytree,
            "max_bin": self.max_bin,
            "nthread": check_jobs(self.n_jobs),
            "seed": int(rng.integers(2**31)),
        }
