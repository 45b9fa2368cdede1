"""Rankers by name: what ``--model`` offers. A new one is one entry here, or a plug-in of another package."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier
from xgboost import XGBClassifier, XGBRegressor

from shortlist.exceptions import InvalidInputError, PlugInError
from shortlist.objectives import NDCG, CostSaved
from shortlist.plugins import Catalogue
from shortlist.rankers.base import Ranker
from shortlist.rankers.baseline import Baseline
from shortlist.rankers.boosting.ap_boost import APBoost
from shortlist.rankers.boosting.lambda_mart import LambdaMART
from shortlist.rankers.linear.ada_rank import AdaRank
from shortlist.rankers.linear.coordinate_ascent import CoordinateAscent
from shortlist.rankers.linear.rank_boost import RankBoost
from shortlist.rankers.nets.list_net import ListNet
from shortlist.rankers.nets.rank_net import RankNet
from shortlist.rankers.target.target_tree import TargetTree
from shortlist.validation import check_jobs

#: Boosted trees as people use them who do not tune.
_PLAIN_BOOSTING: dict[str, Any] = {"n_estimators": 150, "max_depth": 4, "learning_rate": 0.1}
#: Trees of the scorecard that is asked for by name.
SCORECARD_TREES = 4
#: What a model learns from: wanted or not, or how much a row matters.
Kind = Literal["label", "impact"]


@dataclass(frozen=True)
class RankerOptions:
    """What was asked for, as far as it shapes a ranker."""

    budget: int = 50
    random_state: int = 0
    n_jobs: int | None = None  # None: all threads
    tune: bool = False
    value_power: float = 1.0
    least_chance: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_jobs", check_jobs(self.n_jobs))

    @property
    def weighs(self) -> bool:
        """Whether chance and value were to count otherwise than as their product."""
        return (self.value_power, self.least_chance) != (1.0, 0.0)


@dataclass(frozen=True)
class Model:
    """A ranker that can be asked for by name."""

    make: Callable[[RankerOptions], Ranker]
    learns_from: Kind
    summary: str
    tunes: bool = False  # whether it can be tuned
    #: Classes that a trained ranker of a plug-in holds, its own among them; None: those of the plug-in's package.
    stores: tuple[type, ...] | None = None


def _cost(options: RankerOptions) -> CostSaved:
    return CostSaved(k=options.budget)


def _ndcg(options: RankerOptions) -> NDCG:
    """Impacts are amounts, not grades, so they are the gain."""
    return NDCG(k=options.budget, gain="linear")


def _seeded(options: RankerOptions) -> dict[str, Any]:
    return {"random_state": options.random_state, "n_jobs": options.n_jobs}


_OWN: dict[str, Model] = {
    "ap-boost": Model(
        lambda options: APBoost(tune=options.tune, **_seeded(options)),
        "label",
        "boosted trees trained for average precision",
        tunes=True,
    ),
    "rank-boost": Model(
        lambda options: RankBoost(), "label", "RankBoost: one step function per column, trained on pairs"
    ),
    "logistic": Model(lambda options: Baseline(), "label", "logistic regression"),
    "random-forest": Model(
        lambda options: Baseline(
            estimator=RandomForestClassifier(
                n_estimators=300,
                min_samples_leaf=2,
                random_state=options.random_state,
                n_jobs=options.n_jobs or -1,
            )
        ),
        "label",
        "random forest of 300 trees",
    ),
    "xgboost": Model(
        lambda options: Baseline(estimator=XGBClassifier(**_PLAIN_BOOSTING, **_seeded(options))),
        "label",
        "XGBoost trained for log loss",
    ),
    "target": Model(
        lambda options: TargetTree(**_seeded(options)),
        "label",
        "one small tree you can read, evolved for average precision",
    ),
    "scorecard": Model(
        lambda options: TargetTree(scorecard=SCORECARD_TREES, **_seeded(options)),
        "label",
        "four small trees you can read, whose points are added up",
    ),
    "log-regression": Model(
        lambda options: Baseline(
            estimator=TransformedTargetRegressor(
                regressor=XGBRegressor(**_PLAIN_BOOSTING, **_seeded(options)),
                func=np.log1p,
                inverse_func=np.expm1,
            )
        ),
        "impact",
        "XGBoost regression on log(1 + impact)",
    ),
    "cs-mart": Model(
        lambda options: LambdaMART(objective=_cost(options), **_seeded(options)),
        "impact",
        "boosted trees for cost saved",
    ),
    "cr-mart": Model(
        lambda options: LambdaMART(objective=_ndcg(options), list_weight=_cost(options), **_seeded(options)),
        "impact",
        "boosted trees for NDCG, lists weighed by what they could save",
    ),
    "lambda-mart": Model(
        lambda options: LambdaMART(objective=_ndcg(options), **_seeded(options)),
        "impact",
        "boosted trees for NDCG",
    ),
    "cs-coordinate-ascent": Model(
        lambda options: CoordinateAscent(objective=_cost(options), random_state=options.random_state),
        "impact",
        "linear score for cost saved",
    ),
    "cr-coordinate-ascent": Model(
        lambda options: CoordinateAscent(
            objective=_ndcg(options), list_weight=_cost(options), random_state=options.random_state
        ),
        "impact",
        "linear score for NDCG, lists weighed by what they could save",
    ),
    "coordinate-ascent": Model(
        lambda options: CoordinateAscent(objective=_ndcg(options), random_state=options.random_state),
        "impact",
        "linear score for NDCG",
    ),
    "cs-ada-rank": Model(
        lambda options: AdaRank(objective=_cost(options)), "impact", "boosted single columns for cost saved"
    ),
    "ada-rank": Model(
        lambda options: AdaRank(objective=_ndcg(options)), "impact", "boosted single columns for NDCG"
    ),
    "rank-net": Model(
        lambda options: RankNet(random_state=options.random_state),
        "impact",
        "neural network for pairs in order",
    ),
    "cr-rank-net": Model(
        lambda options: RankNet(list_weight=_cost(options), random_state=options.random_state),
        "impact",
        "neural network for pairs in order, lists weighed by what they could save",
    ),
    "list-net": Model(
        lambda options: ListNet(random_state=options.random_state),
        "impact",
        "neural network for shares of the impact",
    ),
    "cr-list-net": Model(
        lambda options: ListNet(list_weight=_cost(options), random_state=options.random_state),
        "impact",
        "neural network for shares of the impact, lists weighed by what they could save",
    ),
}

#: Ours first, then those of the entry points in the group ``shortlist.rankers``.
MODELS: Catalogue[Model] = Catalogue("shortlist.rankers", Model, _OWN, reserved=("all", "list"))


def default_model(learns_from: Kind, *, lists: bool) -> str:
    """What to train where the user names no model.

    Cost saved is better optimised directly where rows come in many lists; in one undivided list a plain regression has
    as much to go by, and more of it.

    >>> default_model("label", lists=False)
    'ap-boost'
    """
    if learns_from == "label":
        return "ap-boost"
    return "cs-mart" if lists else "log-regression"


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


def ranker_for(name: str, options: RankerOptions, entry: Model | None = None) -> Ranker:
    """A fresh, unfitted ranker of this name (or entry) with these options; what a plug-in makes is checked."""
    ranker: Any = (entry or find_model(name)).make(options)
    if not isinstance(ranker, Ranker):
        raise PlugInError(
            f"the model {name!r} makes a {type(ranker).__name__}, which is no Ranker: derive its class from "
            "shortlist.rankers.Ranker, or make a shortlist.rankers.Baseline(estimator=...) of it."
        )
    return ranker


def make_ranker(name: str, *, budget: int = 50, random_state: int = 0, n_jobs: int | None = None) -> Ranker:
    """A fresh, unfitted ranker of this name.

    >>> make_ranker("logistic")
    Baseline()
    """
    return ranker_for(name, RankerOptions(budget, random_state, n_jobs))
