"""Fingerprints of rankers: every name of the catalogue, every class with every objective, and their files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import LinearRegression

import shortlist
from shortlist import rankers
from shortlist.objectives import CostSaved
from shortlist.rankers.catalogue import MODELS
from shortlist.tables import Roles

from .digest import learned
from .measures import OBJECTIVES, Line
from .rows import claims, numbers, outages

ROLES = {"label": "fraud", "impact": "amount", "list": "region", "id": "claim_id", "time": "date"}
LOSSES = ("mix", "logistic", "ap_sigmoid", "ap_exp", "ap_exp_faithful", "rankboost")


def lines(jobs: int) -> Iterator[Line]:
    """All rankers."""
    for name in MODELS:
        yield from _catalogue(name, jobs)
    for name, ranker in _variants(jobs).items():
        yield from _fitted(name, ranker)
    for name, ranker in _boosters(jobs).items():
        yield from _fitted(name, ranker)
    yield from _special(jobs)


def _catalogue(name: str, jobs: int) -> Iterator[Line]:
    """A model as the commands train it: what it says of new rows, of itself, and what its file holds."""
    new = claims(120, 1).drop("fraud")
    model = shortlist.train(claims(240, 0), **ROLES, budget=4, model=name, n_jobs=jobs)
    path = Path(f"{name}.shortlist")
    model.save(path)
    kept = shortlist.TrainedModel.load(path)
    found = kept.score(new, keep_all=True)
    yield f"catalogue/{name}/shortlist", [found.frame, found.notes]
    yield f"catalogue/{name}/top", model.score(new).frame
    yield f"catalogue/{name}/learned", learned(kept.ranker)
    yield f"catalogue/{name}/file", [header_of(path), model.facts()["columns"]]
    if MODELS[name].learns_from == "impact":
        storms = shortlist.train(outages(), impact="customers_out", list="storm", model=name, n_jobs=jobs)
        yield f"catalogue/{name}/storms", storms.score(outages(), budget=3).frame


def header_of(path: Path) -> dict[str, Any]:
    """What the file says of itself in its second line."""
    header = json.loads(path.read_bytes().split(b"\n", 2)[1])
    return {name: value for name, value in header.items() if name != "shortlist"}  # its version


def _variants(jobs: int) -> dict[str, Any]:
    """Classes that take an objective, with each; with lists weighed by another one."""
    made: dict[str, Any] = {}
    for name, objective in OBJECTIVES.items():
        weigh = {"list_weight": CostSaved(k=4)} if objective.takes_impact else {}
        common = {"objective": objective, "random_state": 0}
        made[f"lambda-mart/{name}"] = rankers.LambdaMART(**common, n_estimators=20, n_jobs=jobs)
        made[f"coordinate-ascent/{name}"] = rankers.CoordinateAscent(**common, n_restarts=2)
        made[f"ada-rank/{name}"] = rankers.AdaRank(objective=objective)
        made[f"target-tree/{name}"] = rankers.TargetTree(**common, n_restarts=2, generations=10, n_jobs=jobs)
        if weigh:
            made[f"lambda-mart/{name}/weighed"] = rankers.LambdaMART(
                **common, **weigh, n_estimators=20, n_jobs=jobs
            )
            made[f"coordinate-ascent/{name}/weighed"] = rankers.CoordinateAscent(
                **common, **weigh, n_restarts=2
            )
            made[f"ada-rank/{name}/weighed"] = rankers.AdaRank(objective=objective, **weigh)
    made["rank-net"] = rankers.RankNet(n_epochs=20, eval_groups=0.3, random_state=0)
    made["list-net"] = rankers.ListNet(n_epochs=20, target="softmax", random_state=0)
    made["rank-boost"] = rankers.RankBoost(n_estimators=20)
    made["baseline"] = rankers.Baseline()
    made["baseline/regression"] = rankers.Baseline(estimator=LinearRegression())
    return made


def _boosters(jobs: int) -> dict[str, Any]:
    """APBoost with each loss, alone and by folds."""
    few = {"n_estimators": 15, "random_state": 0, "n_jobs": jobs}
    made: dict[str, Any] = {f"ap-boost/{loss}": rankers.APBoost(loss=loss, folds=0, **few) for loss in LOSSES}
    made["ap-boost/folds"] = rankers.APBoost(folds=3, **few)
    made["ap-boost/tuned"] = rankers.APBoost(tune=True, folds=2, n_estimators=5, random_state=0, n_jobs=jobs)
    made["ap-boost/monotone"] = rankers.APBoost(folds=0, monotone_constraints=[1, 0, 0, 0, -1], **few)
    made["lambda-mart/held-out"] = rankers.LambdaMART(
        n_estimators=20, eval_groups=0.3, early_stopping_rounds=3, random_state=0, n_jobs=jobs
    )
    made["target-tree/forest"] = rankers.TargetTree(n_estimators=3, generations=8, alpha="cv", random_state=0)
    return made


def _fitted(name: str, ranker: Any) -> Iterator[Line]:
    X, wanted, worth, lists = numbers()
    y = worth if _takes_impact(ranker) else wanted
    ranker.fit(X, y, groups=lists)
    path = Path("ranker.shortlist")
    shortlist.save(ranker, path, budget=3)
    again = shortlist.load(path)
    yield f"ranker/{name}/scores", [ranker.decision_function(X), again.decision_function(X)]
    yield f"ranker/{name}/learned", learned(again)
    if hasattr(ranker, "contributions"):
        yield f"ranker/{name}/contributions", ranker.contributions(X)


def _takes_impact(ranker: Any) -> bool:
    if isinstance(ranker, rankers.APBoost | rankers.RankBoost):
        return False
    if isinstance(ranker, rankers.Baseline):
        return ranker.estimator is not None
    objective = getattr(ranker, "objective", None)
    if objective is None:
        return not isinstance(ranker, rankers.TargetTree)
    return objective.takes_impact


def _special(jobs: int) -> Iterator[Line]:
    """Other ways in: frames, sparse rows, weights, given validation rows, a table on disk."""
    X, wanted, worth, lists = numbers()
    filled, weight = np.nan_to_num(X), 1.0 + np.arange(wanted.size) % 3
    few = {"n_estimators": 10, "random_state": 0, "n_jobs": jobs}
    frame = claims(240, 0).drop("claim_id", "fraud", "date")
    fraud = claims(240, 0)["fraud"]
    mart = rankers.LambdaMART(**few).fit(filled, worth, groups=lists, sample_weight=weight)
    yield "ranker/special/weights", mart.decision_function(filled)
    sparse = rankers.APBoost(folds=0, **few).fit(csr_array(filled), wanted)
    yield "ranker/special/sparse", sparse.decision_function(csr_array(filled))
    given = rankers.APBoost(**few).fit(X[:160], wanted[:160], eval_set=(X[160:], wanted[160:]))
    yield "ranker/special/given", [given.decision_function(X), given.chance(given.decision_function(X))]
    for kind, data in {"polars": frame, "pandas": frame.to_pandas()}.items():
        ranker = rankers.APBoost(folds=2, **few).fit(data, fraud.to_numpy())
        scores = ranker.decision_function(data)
        yield f"ranker/special/{kind}", [scores, ranker.oof_score_, ranker.expected_precision(scores)]
    roles = Roles(id="claim_id", label="fraud", list="region", ignore=("date",))
    disk = rankers.APBoost(folds=0, **few).fit_table(claims(240, 0).lazy(), roles, batch_rows=50)
    yield "ranker/special/disk", [disk.decision_function(frame.drop("region")), learned(disk)]
    tree = rankers.TargetTree(n_restarts=1, generations=10, random_state=0, n_jobs=jobs).fit(frame, fraud)
    yield "ranker/special/tree", [view.rules() for view in tree.views]
