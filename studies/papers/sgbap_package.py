"""The methods of the SGBAP paper as a user of the package has them: columns with categories, XGBoost's trees.

Depth and rounds of boosted models are chosen by the AP of cross-validation, those of the others on rows held out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from shortlist.metrics import average_precision
from shortlist.objectives import AveragePrecision
from shortlist.rankers import APBoost, LambdaMART, RankBoost, Ranker
from shortlist.tables import Encoded, Schema
from studies.paper_sets import load_paper_set
from studies.papers.sgbap_runs import MEASURES, measures


@dataclass(frozen=True, eq=False)
class Rows:
    """Features and labels."""

    X: Any  # an Encoded table or a CSR matrix
    y: NDArray[np.bool_]

    def take(self, rows: NDArray) -> Rows:
        """Some of the rows."""
        return Rows(self.X.take(rows) if isinstance(self.X, Encoded) else self.X[rows], self.y[rows])

    def split(self, share: float, seed: int) -> tuple[NDArray, NDArray]:
        """Positions of the rows to learn from and of the ``share`` left out."""
        positions = np.arange(self.y.size)
        return tuple(train_test_split(positions, test_size=share, stratify=self.y, random_state=seed))


Method = Callable[[Rows, int], Ranker]


def boosted(loss: str) -> Method:
    """One boosted model with this loss; depth and rounds are chosen by cross-validation."""

    def fit(rows: Rows, seed: int) -> Ranker:
        shared: dict[str, Any] = {"loss": loss, "random_state": seed, "n_jobs": 1}
        folds = min(5 if rows.y.size <= 10_000 else 3, int(rows.y.sum()))
        trials = []
        for depth in (3, 6):
            ranker = APBoost(folds=folds, max_depth=depth, **shared).fit(rows.X, rows.y)
            assert ranker.oof_score_ is not None  # folds leave them behind
            trials.append((average_precision(rows.y, ranker.oof_score_), depth, ranker.rounds_[0]))
        _, depth, rounds = max(trials)
        one = APBoost(folds=0, max_depth=depth, n_estimators=rounds, early_stopping_rounds=None, **shared)
        return one.fit(rows.X, rows.y)

    return fit


def chosen(make: Callable[..., Ranker], candidates: tuple[dict[str, Any], ...]) -> Method:
    """The candidate with the best AP on a quarter of the rows, fitted on all of them."""

    def fit(rows: Rows, seed: int) -> Ranker:
        learn, held_out = (rows.take(part) for part in rows.split(0.25, seed))
        values = [_ap(make(seed, **settings).fit(learn.X, learn.y), held_out) for settings in candidates]
        return make(seed, **candidates[int(np.argmax(values))]).fit(rows.X, rows.y)

    return fit


def _ap(ranker: Ranker, rows: Rows) -> float:
    return average_precision(rows.y, ranker.decision_function(rows.X))


METHODS: dict[str, Method] = {
    "GB-Logistic": boosted("logistic"),
    "RankBoost": chosen(
        lambda seed, **settings: RankBoost(**settings),
        ({"n_estimators": 30}, {"n_estimators": 300}, {"n_estimators": 3_000}, {"n_estimators": 10_000}),
    ),
    "LambdaMART-AP": chosen(
        lambda seed, **settings: LambdaMART(
            objective=AveragePrecision(), random_state=seed, n_jobs=1, eval_groups=None, **settings
        ),
        ({"n_estimators": 50}, {"n_estimators": 150}),
    ),
    "SGBAP": boosted("ap_exp_faithful"),
    "SGBAP, Newton leaves": boosted("ap_exp"),
    "SGBAP_sig": boosted("ap_sigmoid"),
    "APBoost": lambda rows, seed: APBoost(random_state=seed, n_jobs=1).fit(rows.X, rows.y),
}


def load(name: str) -> Rows:
    """One of the public sets."""
    data = load_paper_set(name)
    if data.frame is None:
        return Rows(data.X, data.y > 0)
    schema = Schema.learn(data.X)
    return Rows(Encoded(schema.matrix(data.X), schema), data.y > 0)


def packaged(data: str, seed: int, method: str) -> dict[str, float]:
    """The paper's four measures on the third that is left out."""
    rows = load(data)
    learn, test = rows.split(1 / 3, seed)
    score = METHODS[method](rows.take(learn), seed).decision_function(rows.take(test).X)
    return dict(zip(MEASURES, measures(rows.y[test], score), strict=True))
