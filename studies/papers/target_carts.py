"""CART of the TARGET paper where columns are categories: it splits them by sets, as rpart does."""

from __future__ import annotations

import numpy as np
import polars as pl
from sklearn.metrics import matthews_corrcoef

from shortlist.metrics import average_precision, roc_auc
from studies.papers.target_runs import _coded, cart_of_sets, splits


def by_sets(experiment: str, ranker: str, draw: int, seed: int, data: str) -> dict[str, float]:
    """The columns of Table 1 of CART-A or CART-B on one of the fraud years."""
    X, y, X_test, y_test = splits(experiment, draw)
    categorical = [place for place, kind in enumerate(X.dtypes) if kind == pl.String]
    search = cart_of_sets(seed, categorical)
    if ranker.startswith("CART-B"):
        search.estimator.set_params(class_weight="balanced")
    search.fit(_coded(X, X), y)
    coded = _coded(X, X_test)
    score, called = search.predict_proba(coded)[:, 1], search.predict(coded).astype(bool)
    wanted = y_test.astype(bool)
    return {
        "AP": average_precision(y_test, score),
        "AUC": roc_auc(y_test, score),
        "MCC": float(matthews_corrcoef(wanted, called)),
        "specificity": float(np.mean(~called[~wanted])),
        "sensitivity": float(np.mean(called[wanted])),
        "error": float(np.mean(called != wanted)),
        "leaves": float(search.best_estimator_._predictors[0][0].get_n_leaf_nodes()),
    }
