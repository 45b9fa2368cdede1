"""What rankers with a small neural network share: one hidden layer, Adam, lists held out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist.lists import Lists
from shortlist.objectives.base import ListWeight, given_weights
from shortlist.rankers.batch import Batch
from shortlist.rankers.held_out import HeldOutRanker, hold_out
from shortlist.rankers.limits import COUNT, NOT_NEGATIVE, PART_OR_NONE, POSITIVE
from shortlist.rankers.preparation import complete_numbers, fit_columns
from shortlist.validation import draw_seed

Floats = NDArray[np.float64]

#: Adam's decay of the mean gradient and of the mean square, and the floor under its root.
DECAY, SQUARE_DECAY, FLOOR = 0.9, 0.999, 1e-8


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to score and what to make of their scores, list after list."""

    X: Floats
    y: Floats
    lists: Lists
    list_weight: Floats  # sums to 1
    row_weight: Floats


class NetRanker(HeldOutRanker):
    """A ranker whose score is v . tanh(X W + b), found by Adam on the whole training set at once.

    Subclasses give the loss of scores and its gradient. Columns are standardised first, missing numbers become
    the median and categories one column each.
    """

    list_weight: ListWeight
    hidden: int
    n_epochs: int
    learning_rate: float
    l2: float
    eval_groups: float | None
    patience: int
    random_state: int | np.random.RandomState | None
    _takes_missing = True
    _limits: ClassVar = {
        "hidden": COUNT,
        "n_epochs": COUNT,
        "learning_rate": POSITIVE,
        "l2": NOT_NEGATIVE,
        "eval_groups": PART_OR_NONE,
        "patience": COUNT,
    }

    @property
    def _takes_impact(self) -> bool:
        return True

    @abstractmethod
    def _loss(self, task: Task, score: Floats, rng: np.random.Generator) -> tuple[float, Floats]:
        """The weighted mean loss of the lists, and its gradient by score."""

    @abstractmethod
    def _can_learn(self, y: Floats) -> bool:
        """Whether one list says anything about the order of its rows."""

    def _fit(self, batch: Batch, held_out: Batch | None = None) -> None:
        rng = np.random.default_rng(draw_seed(self.random_state))
        self.preparation_ = complete_numbers(batch.categorical)
        fit_columns(self.preparation_, batch.X, batch.sample_weight)
        task = self._task(batch)
        judged = None if held_out is None else self._task(held_out)
        if judged is None and self.eval_groups is not None:
            learn, judge = hold_out(task.list_weight, self.eval_groups, rng)
            task, judged = _take(task, learn), _take(task, judge)
        self._descend(task, judged, rng)

    def _task(self, batch: Batch) -> Task:
        """The rows list after list; lists that say nothing weigh nothing."""
        rows, lists = batch.lists.take(np.arange(len(batch.lists)))
        y = batch.y[rows]
        useful = np.array([self._can_learn(y[list_]) for list_ in lists], dtype=np.float64)
        given = given_weights(self.list_weight, y, lists)
        weight = useful if given is None else useful * given
        row_weight = np.ones(y.size) if batch.sample_weight is None else batch.sample_weight[rows]
        X = np.asarray(self.preparation_.transform(batch.X), dtype=np.float64)[rows]
        return Task(X, y, lists, weight / max(weight.sum(), np.finfo(float).tiny), row_weight)

    def _descend(self, task: Task, judged: Task | None, rng: np.random.Generator) -> None:
        """Adam from small random weights; with lists held out, back to the epoch that they liked best."""
        net = _first_net(task.X.shape[1], self.hidden, rng)
        mean, square = [np.zeros_like(w) for w in net], [np.zeros_like(w) for w in net]
        best, self.net_, last_gain = np.inf, net, 0
        for epoch in range(1, self.n_epochs + 1):
            score, layer = _forward(net, task.X)
            _, by_score = self._loss(task, score, rng)
            slopes = _backward(net, task.X, layer, by_score, self.l2)
            mean = [DECAY * m + (1 - DECAY) * s for m, s in zip(mean, slopes, strict=True)]
            square = [
                SQUARE_DECAY * v + (1 - SQUARE_DECAY) * s**2 for v, s in zip(square, slopes, strict=True)
            ]
            rate = self.learning_rate * np.sqrt(1 - SQUARE_DECAY**epoch) / (1 - DECAY**epoch)
            net = [w - rate * m / (np.sqrt(v) + FLOOR) for w, m, v in zip(net, mean, square, strict=True)]
            if judged is None:
                self.net_ = net
                continue
            # The same seed in each epoch: a loss over sampled pairs must not move by chance.
            loss, _ = self._loss(judged, _forward(net, judged.X)[0], np.random.default_rng(0))
            if loss < best:
                best, self.net_, last_gain = loss, net, epoch
            elif epoch - last_gain >= self.patience:
                break

    def _score(self, X: Any) -> NDArray:
        return _forward(self.net_, np.asarray(self.preparation_.transform(X), dtype=np.float64))[0]


def _first_net(n_columns: int, hidden: int, rng: np.random.Generator) -> list[Floats]:
    """Weights and biases of the hidden layer, weights of the output."""
    spread = 1 / np.sqrt(n_columns), 1 / np.sqrt(hidden)
    return [
        spread[0] * rng.normal(size=(n_columns, hidden)),
        np.zeros(hidden),
        spread[1] * rng.normal(size=hidden),
    ]


def _forward(net: list[Floats], X: Floats) -> tuple[Floats, Floats]:
    """Scores, and the hidden layer they came from."""
    layer = np.tanh(X @ net[0] + net[1])
    return layer @ net[2], layer


def _backward(net: list[Floats], X: Floats, layer: Floats, by_score: Floats, l2: float) -> list[Floats]:
    """The gradient of the loss by each array of the net."""
    into_layer = np.outer(by_score, net[2]) * (1 - layer**2)
    return [X.T @ into_layer + l2 * net[0], into_layer.sum(axis=0), layer.T @ by_score + l2 * net[2]]


def _take(task: Task, numbers: NDArray[np.int64]) -> Task:
    rows, lists = task.lists.take(numbers)
    weight = task.list_weight[numbers]
    return Task(task.X[rows], task.y[rows], lists, weight / weight.sum(), task.row_weight[rows])
