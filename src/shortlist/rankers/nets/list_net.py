"""ListNet: a small neural network that learns which row of a list comes first."""

from __future__ import annotations

from typing import Literal

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Lists
from shortlist.objectives.base import ListWeight
from shortlist.rankers.batch import Batch
from shortlist.rankers.nets.base import Floats, NetRanker, Task


class ListNet(NetRanker):
    """A network of one hidden layer whose softmax over a list comes close to where the impact is.

    The loss of a list is the cross entropy -sum q_j log p_j between the chance p = softmax(scores) that row j
    comes first and a target q. ``target="share"`` is q_j = y_j / sum y, each row's share of the impact;
    ``target="softmax"`` is the paper's softmax(y). Lists count alike, or by ``list_weight``: ``CostSaved(k)``
    gives CR-ListNet.

    What differs from the paper: everything stays in logarithms, so its overflow at y > 709 cannot happen;
    shares are the default because softmax(y) of impacts in the thousands sees the largest row alone and depends on
    the unit of y. Columns are standardised, and Adam on all lists replaces single steps per list.

    Parameters
    ----------
    list_weight : how much each list counts: None for all alike, an objective whose weights to take, one
        number per list in order of first appearance, or a function of the y of one list
    target : ``"share"`` or ``"softmax"``
    hidden : units of the hidden layer
    n_epochs, learning_rate, l2 : of Adam; ``l2`` penalises the weights
    eval_groups : share of the lists to hold out for early stopping; None: learn from all lists, all epochs
    patience : epochs without a lower loss on the held-out lists after which to stop
    random_state : seed

    ``sample_weight`` in ``fit``: a row counts as if it were repeated.

    Attributes
    ----------
    net_ : weights and biases of the hidden layer, weights of the output

    References
    ----------
    Cao et al., "Learning to rank: from pairwise approach to listwise approach", ICML 2007. McBride, Wang, Ren
    and Li, "Cost-Sensitive Learning to Rank", AAAI 2019.

    Examples
    --------
    >>> from shortlist.objectives import CostSaved
    >>> storms = np.repeat(np.arange(30), 20)
    >>> X = np.random.default_rng(0).normal(size=(600, 3))
    >>> customers_out = np.exp(X @ [2, 0, -1])
    >>> model = ListNet(list_weight=CostSaved(k=5), random_state=0).fit(X, customers_out, groups=storms)
    >>> round(CostSaved(k=5).value(customers_out, model.decision_function(X), storms), 2)
    1.0
    """

    def __init__(
        self,
        *,
        list_weight: ListWeight = None,
        target: Literal["share", "softmax"] = "share",
        hidden: int = 10,
        n_epochs: int = 200,
        learning_rate: float = 0.02,
        l2: float = 1e-4,
        eval_groups: float | None = None,
        patience: int = 50,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.list_weight = list_weight
        self.target = target
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.l2 = l2
        self.eval_groups = eval_groups
        self.patience = patience
        self.random_state = random_state

    def _fit(self, batch: Batch, held_out: Batch | None = None) -> None:
        if self.target not in ("share", "softmax"):
            raise InvalidInputError(f"target must be 'share' or 'softmax'; got {self.target!r}.")
        super()._fit(batch, held_out)

    def _can_learn(self, y: Floats) -> bool:
        return bool(y.max() > 0)

    def _loss(self, task: Task, score: Floats, rng: np.random.Generator) -> tuple[float, Floats]:
        target = self._target(task)
        log_chance = _log_softmax(score, task.row_weight, task.lists)
        by_list = np.add.reduceat(target * log_chance, task.lists.starts[:-1])
        chance = task.row_weight * np.exp(log_chance)
        grad = (chance - target) * np.repeat(task.list_weight, task.lists.sizes)
        return float(-task.list_weight @ by_list), grad

    def _target(self, task: Task) -> Floats:
        """The chance that each row should come first; 0 throughout a list without impact."""
        if self.target == "softmax":
            return task.row_weight * np.exp(_log_softmax(task.y, task.row_weight, task.lists))
        worth = task.row_weight * task.y
        total = np.repeat(np.add.reduceat(worth, task.lists.starts[:-1]), task.lists.sizes)
        return np.divide(worth, total, out=np.zeros_like(worth), where=total > 0)


def _log_softmax(values: Floats, weight: Floats, lists: Lists) -> Floats:
    """Within each list, for rows that are there ``weight`` times."""
    starts = lists.starts[:-1]
    shifted = values - np.repeat(np.maximum.reduceat(values, starts), lists.sizes)
    total = np.add.reduceat(weight * np.exp(shifted), starts)
    # A list whose only weighed rows lie far below its largest may sum to 0.
    return shifted - np.repeat(np.log(np.maximum(total, np.finfo(float).tiny)), lists.sizes)
