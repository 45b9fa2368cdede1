"""What the SGBAP paper runs: one split of one set, one method, its settings chosen by cross-validation.

Splits are 2/3 - 1/3. Settings are drawn from the grid of step, mini-batch, leaf size and depth, the same for every
method, and rounds are read off along the way; the best mean AP over five folds of the training rows wins. Ties count at
their worst, as in the paper's Eq. 4-5. Columns are integer codes, as the paper seems to have had them.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from shortlist.metrics import average_precision, pos_at_top, precision_at_p, roc_auc
from studies.paper_sets import load_paper_set
from studies.papers.sgbap_boost import coded, path

MEASURES = ("AUC", "AP", "Pos@Top", "P@k")
ENGINE = {"GB-Logistic": "logistic", "RankBoost": "rankboost", "SGBAP": "ap_exp", "SGBAP_sig": "ap_sig"}
DEEP = 100
GRID = tuple(product((0.001, 0.01, 0.1), (0.3, 0.5, 0.7), (1, 5, 10), (1, 3, 6, DEEP)))
ROUNDS = np.array([5, 10, 20, 40, 60, 80, 100, 150, 200])
#: Larger sets are tuned on so many rows, and have fewer rounds.
LARGE, SAMPLE = 10_000, 5_000


def tuned(data: str, seed: int, method: str, settings: int = 24, folds: int = 5) -> dict[str, Any]:
    """The paper's four measures on the rows left out, and what was chosen."""
    X, y = matrix(data)
    learn, test = train_test_split(np.arange(y.size), test_size=1 / 3, stratify=y, random_state=seed)
    score, chosen, value = _tuned_scores(X, y, learn, test, method, settings, folds, seed)
    figures = dict(zip(MEASURES, measures(y[test], score), strict=True))
    return {**figures, "chosen": list(map(float, chosen)), "AP of folds": value}


def _tuned_scores(
    X: NDArray, y: NDArray, learn: NDArray, test: NDArray, method: str, settings: int, folds: int, seed: int
) -> tuple[NDArray[np.float64], tuple[Any, ...], float]:
    """Scores of the test rows by the setting that cross-validation on the others chose, that, and its value."""
    codes = coded(X, learn)
    rounds = ROUNDS[(200 if y.size <= LARGE else 100) >= ROUNDS]
    chosen, value = choose(codes, y, sample(learn, y, seed), method, rounds, settings, folds, seed)
    named = _named(method, chosen[:4])
    return path(codes, y, learn, test, **named, rounds=np.array(chosen[4:]), seed=seed)[0], chosen, value


def choose(
    codes: NDArray, y: NDArray, learn: NDArray, method: str, rounds: NDArray, n: int, folds: int, seed: int
) -> tuple[tuple[Any, ...], float]:
    """The setting and rounds with the best mean AP over folds of the rows to learn from."""
    deal = StratifiedKFold(min(folds, int(y[learn].sum())), shuffle=True, random_state=seed)
    parts = [(learn[a], learn[b]) for a, b in deal.split(learn, y[learn])]
    best: tuple[float, tuple[Any, ...]] = (-1.0, ())
    for setting in drawn(n):
        by_fold = [
            [
                average_precision(y[b], line, ties="worst")
                for line in path(codes, y, a, b, **_named(method, setting), rounds=rounds, seed=seed)
            ]
            for a, b in parts
        ]
        value = np.mean(by_fold, axis=0)
        at = int(np.argmax(value))
        best = max(best, (float(value[at]), (*setting, int(rounds[at]))))
    return best[1], best[0]


def fixed(
    data: str, seed: int, method: str, step: float, share: float, leaf: int, depth: int, rounds: int
) -> dict[str, Any]:
    """The same split with settings that nobody chose, for what one of them does."""
    X, y = matrix(data)
    learn, test = train_test_split(np.arange(y.size), test_size=1 / 3, stratify=y, random_state=seed)
    named = _named(method, (step, share, leaf, depth))
    score = path(coded(X, learn), y, learn, test, **named, rounds=np.array([rounds]), seed=seed)[0]
    return dict(zip(MEASURES, measures(y[test], score), strict=True))


def harder(
    data: str, method: str, repeats: int, settings: int, shares: tuple[float, ...]
) -> list[dict[str, float]]:
    """Figure 4: measure, drop the wanted rows that rank highest until a share of the rows is wanted, and again."""
    X, y = matrix(data)
    rows, steps = np.arange(y.size), []
    for share in (*shares, None):
        total, tests, found = np.zeros(rows.size), np.zeros(rows.size), []
        for seed in range(repeats):
            learn, test = train_test_split(
                np.arange(rows.size), test_size=1 / 3, stratify=y[rows], random_state=seed
            )
            score = _tuned_scores(X[rows], y[rows], learn, test, method, settings, 5, seed)[0]
            found.append(measures(y[rows][test], score))
            total[test] += np.argsort(np.argsort(-score))
            tests[test] += 1
        steps.append(
            {
                "wanted": float(y[rows].mean()),
                **dict(zip(MEASURES, np.mean(found, axis=0).tolist(), strict=True)),
            }
        )
        if share is not None:
            ranks = np.divide(total, tests, out=np.full(rows.size, np.inf), where=tests > 0)
            rows = rows[without_easiest(y[rows], ranks, share)]
    return steps


def without_easiest(y: NDArray[np.bool_], ranks: NDArray[np.float64], share: float) -> NDArray[np.int64]:
    """Positions that stay when the best ranked wanted rows go until (P - k) / M is the share."""
    wanted = np.flatnonzero(y)
    n_dropped = max(0, round(wanted.size - share * y.size))
    return np.delete(np.arange(y.size), wanted[np.argsort(ranks[wanted], kind="stable")[:n_dropped]])


def drawn(n: int) -> list[tuple[float, float, int, int]]:
    """So many settings of the grid, the same for everybody."""
    order = np.random.default_rng(0).permutation(len(GRID))
    return [GRID[i] for i in order[:n]]


def sample(learn: NDArray, y: NDArray, seed: int) -> NDArray:
    """The rows to tune on: all, or some of a large set."""
    if learn.size <= LARGE:
        return learn
    return train_test_split(learn, train_size=SAMPLE, stratify=y[learn], random_state=seed)[0]


def _named(method: str, setting: tuple[Any, ...]) -> dict[str, Any]:
    names = ("step", "share", "leaf", "depth")
    return {"loss": ENGINE[method], **dict(zip(names, setting, strict=True))}


def matrix(data: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Features as numbers, categories as their place among all, and labels."""
    read = load_paper_set(data)
    if read.frame is None:
        return read.X.toarray().astype(np.float64), read.y > 0
    texts = [name for name, kind in read.X.schema.items() if kind == pl.String]
    coded_texts = (pl.col(name).rank("dense") for name in texts)
    return read.X.with_columns(*coded_texts).cast(pl.Float64).to_numpy(), read.y > 0


def measures(y: NDArray[np.bool_], score: NDArray[np.float64]) -> tuple[float, ...]:
    """The paper's four, ties at their worst (AUC: one half)."""
    return (
        roc_auc(y, score),
        average_precision(y, score, ties="worst"),
        pos_at_top(y, score, ties="worst"),
        precision_at_p(y, score, ties="worst"),
    )
