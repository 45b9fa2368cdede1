"""What the cost-sensitive paper runs: one method on lists that are dealt into folds, or on outage-like data.

Real sets: the lists are dealt into five, three parts to learn from, one for validation, one to test on, as in LETOR.
On the validation part boosted rankers and nets stop, and other methods choose between two settings. Everything is
measured by the cost saved at k (R_CS, linear probability of acting), ties in expectation. Outage-like data: the first
three fifths of the storms to learn from, one for validation, the others to test on, every method on the same storms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.datasets import make_outages
from shortlist.exceptions import NoWantedRowsError
from shortlist.metrics import cost_saved_at_k
from shortlist.rankers import Ranker
from shortlist.rankers.held_out import HeldOutRanker
from studies.paper_sets import load_paper_set
from studies.papers.cost_sensitive_methods import METHODS, SETTINGS, WITHOUT_K

#: What a storm is like as a whole, among the columns of outage-like data.
STORM_WEATHER = ("wind", "gust", "rain", "humidity", "soil_moisture", "temperature")


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with their impacts, in lists."""

    X: pl.DataFrame
    y: NDArray[np.float64]
    groups: NDArray

    def take(self, rows: NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        return Rows(self.X.filter(rows), self.y[rows], self.groups[rows])


def real_lists(name: str) -> Rows:
    """One of the public sets, with the columns that the paper could use."""
    data = load_paper_set(name)
    X = data.X.drop([column for column in data.X.columns if column.startswith("post_")])
    # RankLib takes no missing values, so the paper dropped those columns.
    if name == "communities_crime_count":
        X = X.drop([column for column in X.columns if X[column].null_count()])
    # Names of hurricanes are too rare for a category that the tables would find by themselves.
    X = X.with_columns(pl.col(pl.String).exclude("start_date").cast(pl.Categorical))
    return Rows(X, data.y.astype(np.float64), np.asarray(data.groups))


def deals(lists: Rows, seed: int) -> Iterator[tuple[Rows, Rows, Rows]]:
    """Lists dealt into five: three parts to learn from, one for validation, one to test on."""
    names = np.random.default_rng(seed).permutation(np.unique(lists.groups))
    part = np.array([np.flatnonzero(names == name)[0] % 5 for name in lists.groups])
    for test in range(5):
        valid = (test + 1) % 5
        yield (
            lists.take((part != test) & (part != valid)),
            lists.take(part == valid),
            lists.take(part == test),
        )


def saved(score: NDArray, rows: Rows, k: int) -> float:
    """R_CS in %; NaN where the rows hold no impact at all."""
    try:
        return 100 * cost_saved_at_k(rows.y, score, k, groups=rows.groups)
    except NoWantedRowsError:
        return float("nan")


def trained(ranker: Ranker, learn: Rows, valid: Rows) -> Ranker:
    """The ranker, stopped by the validation part if it can be and there is impact to stop by."""
    stops = isinstance(ranker, HeldOutRanker) and len({*valid.y}) > 1 and valid.y.max() > 0
    held_out: dict[str, Any] = {"eval_set": (valid.X, valid.y, valid.groups)} if stops else {}
    return ranker.fit(learn.X, learn.y, groups=learn.groups, **held_out)


def measure(
    method: str, budgets: Sequence[int], seed: int, learn: Rows, valid: Rows, test: Rows
) -> list[float]:
    """R_CS in % on the test lists, by budget, of the setting that is best on the validation part."""
    settings = SETTINGS.get(method, ({},))
    fits: dict[Any, Ranker | None] = {}
    found = []
    for k in budgets:
        scores = []
        for place, setting in enumerate(settings):
            key = (place, None if method in WITHOUT_K else k)
            if key not in fits:
                ranker = METHODS[method](k, seed)
                fits[key] = None if ranker is None else trained(ranker.set_params(**setting), learn, valid)
            scores.append([_score(fits[key], rows) for rows in (valid, test)])
        worth = [np.nan_to_num(saved(each[0], valid, k)) for each in scores]
        found.append(saved(scores[int(np.argmax(worth))][1], test, k))
    return found


def _score(ranker: Ranker | None, rows: Rows) -> NDArray[np.float64]:
    return np.zeros(rows.y.size) if ranker is None else ranker.decision_function(rows.X)


def folds(data: str, method: str, seed: int, budgets: str) -> list[list[float]]:
    """R_CS in % by budget, on each fifth of the lists of one deal that holds impact."""
    by_fold = [measure(method, _numbers(budgets), seed, *parts) for parts in deals(real_lists(data), seed)]
    return [[value for value in values if not np.isnan(value)] for values in zip(*by_fold, strict=True)]


def outages(method: str, seed: int, storms: int, budgets: str) -> list[float]:
    """R_CS in % by budget on the last fifth of the storms of one set of outage-like data."""
    return measure(method, _numbers(budgets), seed, *_storm_parts(storms, seed))


def _numbers(budgets: str) -> list[int]:
    return [int(k) for k in budgets.split()]


def _storm_parts(storms: int, seed: int) -> tuple[Rows, Rows, Rows]:
    lists = outage_lists(storms, seed)
    edges = [f"storm-{storms * fifths // 5:04d}" for fifths in (3, 4)]
    part = np.searchsorted(edges, lists.groups.astype(str), side="right")
    learn, valid, test = (lists.take(part == number) for number in range(3))
    return learn, valid, test


def attributes(method: str, seed: int, storms: int) -> dict[str, float]:
    """How much of a model's gain each column has, in %; of outage-like data, k = 10."""
    learn, valid, _ = _storm_parts(storms, seed)
    ranker = METHODS[method](10, seed)
    assert ranker is not None
    trained(ranker, learn, valid)
    model: Any = ranker.model_[-1] if hasattr(ranker, "model_") else ranker
    gain = np.asarray(model.feature_importances_, dtype=np.float64)
    return dict(zip(learn.X.columns, map(float, 100 * gain / gain.sum()), strict=True))


def outage_lists(n_storms: int, seed: int) -> Rows:
    """Outage-like data as lists."""
    outages = make_outages(n_storms, random_state=seed)
    X = outages.drop("storm", "network", "customers_out")
    return Rows(X, outages["customers_out"].to_numpy().astype(np.float64), outages["storm"].to_numpy())
