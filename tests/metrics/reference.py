"""Plain twins of the measures: every order of tied rows is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby, permutations, product

import numpy as np


def orders(score: np.ndarray) -> Iterator[list[int]]:
    """Every ranking of rows that the scores allow."""
    by_score = sorted(range(len(score)), key=lambda row: -score[row])
    blocks = [list(block) for _, block in groupby(by_score, key=lambda row: score[row])]
    for choice in product(*(permutations(block) for block in blocks)):
        yield [row for block in choice for row in block]


def over_orders(measure: Callable[[np.ndarray], float], y: np.ndarray, score: np.ndarray) -> float:
    """The mean of a measure of the labels in ranked order."""
    return float(np.mean([measure(np.asarray(y)[order]) for order in orders(score)]))


def worst_ranks(score: np.ndarray) -> np.ndarray:
    """The last rank of each row's block."""
    return np.array([np.sum(score >= own) for own in score])


def average_precision(hits: np.ndarray) -> float:
    """Mean precision at the hits."""
    return float(np.mean([hits[: rank + 1].mean() for rank in np.flatnonzero(hits)]))


def auc(hits: np.ndarray) -> float:
    """Share of ordered pairs."""
    pairs = [(a, b) for a in np.flatnonzero(hits) for b in np.flatnonzero(hits == 0)]
    return float(np.mean([a < b for a, b in pairs]))


def pos_at_top(hits: np.ndarray) -> float:
    """Share of hits before the first miss."""
    return float(np.cumprod(hits).sum() / hits.sum())
