"""Every method of the cost-sensitive paper, and what of each is tuned on the validation fold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from xgboost import XGBRegressor

from shortlist.objectives import NDCG, CostSaved
from shortlist.objectives.base import ListWeight
from shortlist.rankers import AdaRank, Baseline, CoordinateAscent, LambdaMART, ListNet, Ranker, RankNet
from shortlist.rankers.boosting.pair_gradient import PairGradient
from shortlist.rankers.catalogue import make_ranker
from shortlist.rankers.nets.base import Floats, NetRanker, Task

Make = Callable[[int, int], Ranker | None]


class LambdaRank(NetRanker):
    """RankNet's net with LambdaRank's gradient: pairs count what their swap would change NDCG@k by."""

    def __init__(
        self,
        *,
        k: int = 10,
        list_weight: ListWeight = None,
        hidden: int = 10,
        n_epochs: int = 200,
        learning_rate: float = 0.02,
        l2: float = 1e-4,
        eval_groups: float | None = None,
        patience: int = 50,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.k = k
        self.list_weight = list_weight
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.l2 = l2
        self.eval_groups = eval_groups
        self.patience = patience
        self.random_state = random_state

    def _can_learn(self, y: Floats) -> bool:
        return bool(y.min() < y.max())

    def _loss(self, task: Task, score: Floats, rng: np.random.Generator) -> tuple[float, Floats]:
        goal = NDCG(k=self.k).bind(task.y, task.lists, list_weight=task.list_weight)
        by_score = PairGradient(goal, task.row_weight, pairs_per_row=20, seed=int(rng.integers(2**31)))(
            score
        )[0]
        return -goal.value(score), by_score.astype(np.float64) / max(score.size, 1)


def _forest(seed: int) -> Ranker:
    # A third of the columns at each split is what R's forests have for regressions.
    forest = RandomForestRegressor(n_estimators=100, max_features=1 / 3, random_state=seed, n_jobs=1)
    return Baseline(estimator=forest)


def _mart(seed: int) -> Ranker:
    mart = XGBRegressor(n_estimators=150, max_depth=4, learning_rate=0.1, random_state=seed, n_jobs=1)
    return Baseline(estimator=mart)


def _lambda_mart(seed: int, **settings: Any) -> Ranker:
    return LambdaMART(random_state=seed, n_jobs=1, **settings)


#: Every method: (k, seed) -> ranker; None ranks at random.
METHODS: dict[str, Make] = {
    "random order": lambda k, seed: None,
    "CS-MART": lambda k, seed: _lambda_mart(seed, objective=CostSaved(k=k)),
    "CR-MART": lambda k, seed: _lambda_mart(seed, objective=NDCG(k=k), list_weight=CostSaved(k=k)),
    "LambdaMART": lambda k, seed: _lambda_mart(seed, objective=NDCG(k=k)),
    "LambdaMART, linear gain": lambda k, seed: _lambda_mart(seed, objective=NDCG(k=k, gain="linear")),
    "CS-C. Ascent": lambda k, seed: CoordinateAscent(objective=CostSaved(k=k), random_state=seed),
    "CR-C. Ascent": lambda k, seed: CoordinateAscent(
        objective=NDCG(k=k), list_weight=CostSaved(k=k), random_state=seed
    ),
    "C. Ascent": lambda k, seed: CoordinateAscent(objective=NDCG(k=k), random_state=seed),
    "CS-AdaRank": lambda k, seed: AdaRank(objective=CostSaved(k=k)),
    "AdaRank": lambda k, seed: AdaRank(objective=NDCG(k=k)),
    "CR-RankNet": lambda k, seed: RankNet(list_weight=CostSaved(k=k), random_state=seed),
    "RankNet": lambda k, seed: RankNet(random_state=seed),
    "CR-ListNet": lambda k, seed: ListNet(list_weight=CostSaved(k=k), random_state=seed),
    "ListNet": lambda k, seed: ListNet(random_state=seed),
    "ListNet, softmax(y)": lambda k, seed: ListNet(target="softmax", random_state=seed),
    "CR-LambdaRank": lambda k, seed: LambdaRank(k=k, list_weight=CostSaved(k=k), random_state=seed),
    "LambdaRank": lambda k, seed: LambdaRank(k=k, random_state=seed),
    "Linear Regression": lambda k, seed: Baseline(estimator=LinearRegression()),
    "Random Forests": lambda k, seed: _forest(seed),
    "MART": lambda k, seed: _mart(seed),
    "MART on log(1 + y)": lambda k, seed: make_ranker("log-regression", random_state=seed, n_jobs=1),
}
#: What these learn does not depend on k, so one fit serves both budgets.
WITHOUT_K = (
    "random order",
    "RankNet",
    "ListNet",
    "ListNet, softmax(y)",
    "Linear Regression",
    "Random Forests",
    "MART",
    "MART on log(1 + y)",
)
#: Settings of which the validation fold takes the best; boosted rankers and nets stop by it instead.
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    **dict.fromkeys(("CS-C. Ascent", "CR-C. Ascent", "C. Ascent"), ({"max_passes": 50}, {"max_passes": 1})),
    **dict.fromkeys(("CS-AdaRank", "AdaRank"), ({"n_estimators": 500}, {"n_estimators": 10})),
    "Random Forests": ({"estimator__min_samples_leaf": 1}, {"estimator__min_samples_leaf": 5}),
    "MART": ({"estimator__n_estimators": 150}, {"estimator__n_estimators": 40}),
}
