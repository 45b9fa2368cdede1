"""Rankers by name: what ``--model`` offers. A new one is one entry here."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier
from xgboost import XGBClassifier, XGBRegressor

from shortlist.exceptions import InvalidInputError
from shortlist.rankers.base import Ranker
from shortlist.rankers.baseline import Baseline


@dataclass(frozen=True)
class Wish:
    """What the user has said, as far as it shapes a ranker."""

    budget: int = 50
    random_state: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True)
class Model:
    """A ranker that can be asked for by name."""

    make: Callable[[Wish], Ranker]
    learns_from: Literal["label", "impact"]
    summary: str


MODELS: dict[str, Model] = {
    "logistic": Model(lambda wish: Baseline(), "label", "logistic regression"),
    "random-forest": Model(
        lambda wish: Baseline(
            estimator=RandomForestClassifier(
                n_estimators=300, min_samples_leaf=2, random_state=wish.random_state, n_jobs=wish.n_jobs
            )
        ),
        "label",
        "random forest of 300 trees",
    ),
    "xgboost": Model(
        lambda wish: Baseline(
            estimator=XGBClassifier(
                n_estimators=150,
                max_depth=4,
                learning_rate=0.1,
                random_state=wish.random_state,
                n_jobs=wish.n_jobs,
            )
        ),
        "label",
        "XGBoost trained for log loss",
    ),
    "log-regression": Model(
        lambda wish: Baseline(
            estimator=TransformedTargetRegressor(
                regressor=XGBRegressor(
                    n_estimators=150,
                    max_depth=4,
                    learning_rate=0.1,
                    random_state=wish.random_state,
                    n_jobs=wish.n_jobs,
                ),
                func=np.log1p,
                inverse_func=np.expm1,
            )
        ),
        "impact",
        "XGBoost regression on log(1 + impact)",
    ),
}

#: What to train where the user names no model.
DEFAULT_MODEL = {"label": "xgboost", "impact": "log-regression"}


def find_model(name: str) -> Model:
    """The catalogue's entry of this name.

    >>> find_model("logistic").learns_from
    'label'
    """
    if name not in MODELS:
        close = difflib.get_close_matches(name, MODELS, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise InvalidInputError(f"no model {name!r}.{hint} Choose one of: {', '.join(MODELS)}.")
    return MODELS[name]


def make_ranker(name: str, *, budget: int = 50, random_state: int = 0, n_jobs: int | None = None) -> Ranker:
    """A fresh, unfitted ranker of this name.

    >>> make_ranker("logistic")
    Baseline()
    """
    return find_model(name).make(Wish(budget, random_state, n_jobs))
