"""Blocks of Python on pages that speak of tables which the reader has: run on small ones under the same names."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, GroupKFold

import shortlist
from shortlist.datasets import make_claims
from shortlist.rankers import APBoost, LambdaMART
from tests.test_docs import PAGES, blocks, named
from tests.test_pages_run import PAGES as RUN_WHOLE

#: What is asked of a cluster or of a running server is run by tests of those.
ELSEWHERE = re.compile(
    r"tcp://scheduler|s3://bucket|spark\.read|table\[features\]|Client\.of_workspace|airflow|^# A name says",
    re.MULTILINE,
)
SLOW = {"workflow"}
ASKING = [
    pytest.param(page, id=named(page), marks=[pytest.mark.slow] if page.stem in SLOW else [])
    for page in PAGES
    if blocks(page, "python") and page not in RUN_WHOLE
]


@pytest.fixture
def given(tmp_path, monkeypatch):
    """What the pages take for granted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shortlist.rankers.boosting.ap_settings.MOST_ROUNDS", 20)
    X, y = make_classification(400, n_features=6, weights=[0.8], random_state=0)
    storm = np.repeat(np.arange(20), 20)
    impact = y * np.random.default_rng(0).integers(1, 900, 400)
    Path("transactions").mkdir()
    claims = make_claims(400, random_state=1, fraud_rate=0.2)
    days = claims.rename({"claim_id": "id"}).with_columns(day=pl.int_range(pl.len()) % 4)
    days.write_parquet("transactions/part-0.parquet")
    return {
        "shortlist": shortlist, "APBoost": APBoost, "GridSearchCV": GridSearchCV, "GroupKFold": GroupKFold,
        "X": X, "y": y, "X_new": X[:60], "X_next": X[:60], "score": X[:, 0], "storm": storm,
        "impact": impact, "customers_out": impact, "claims": claims, "new_claims": claims.drop("fraud"),
        "windows": np.array_split(X, 2), "labels_of": lambda rows: y[rows], "expert_says": lambda row: bool(y[row]),
        "ranker": LambdaMART(n_estimators=5), "grid": {"max_leaves": [4]},
    }  # fmt: skip


@pytest.mark.parametrize("page", ASKING)
def test_every_block_of_python_runs(page, given):
    names = dict(given)
    with sklearn.config_context(enable_metadata_routing=page.stem == "metrics"):
        for block in blocks(page, "python"):
            if not ELSEWHERE.search(block):
                exec(compile(block, page.name, "exec"), names)
