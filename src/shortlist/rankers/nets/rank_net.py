"""RankNet: a small neural network that learns which of two rows comes first."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shortlist.kernels.row_pairs import pair_loss
from shortlist.objectives.base import ListWeight
from shortlist.rankers.limits import COUNT
from shortlist.rankers.nets.base import Floats, NetRanker, Task

#: Pairs are drawn by rotating a list against itself; no rotation is longer than this.
LONGEST_LIST = 2**40


class RankNet(NetRanker):
    """A network of one hidden layer that puts each pair of rows in order.

    The loss of a list is the mean of log(1 + exp(s_v - s_w)) over its pairs with y_w > y_v: only the order of
    impacts matters, not their size. Lists count alike, or by ``list_weight``: ``CostSaved(k)`` gives
    CR-RankNet, which attends to the lists in which there is most to save.

    What differs from the paper (which ran RankLib): columns are standardised, Adam on all lists replaces
    single steps per list, and long lists are learned from a fresh random sample of pairs in each epoch.

    Parameters
    ----------
    list_weight : how much each list counts: None for all alike, an objective whose weights to take, one
        number per list in order of first appearance, or a function of the y of one list
    hidden : units of the hidden layer
    n_epochs, learning_rate, l2 : of Adam; ``l2`` penalises the weights
    pairs_per_row : pairs that each row of a long list takes part in, per epoch
    eval_groups : share of the lists to hold out for early stopping; None: learn from all lists, all epochs
    patience : epochs without a lower loss on the held-out lists after which to stop
    random_state : seed

    ``sample_weight`` in ``fit``: a pair counts the product of its rows' weights, as if rows were repeated.

    Attributes
    ----------
    net_ : weights and biases of the hidden layer, weights of the output

    References
    ----------
    Burges et al., "Learning to rank using gradient descent", ICML 2005. McBride, Wang, Ren and Li,
    "Cost-Sensitive Learning to Rank", AAAI 2019.

    Examples
    --------
    >>> from shortlist.objectives import CostSaved
    >>> storms = np.repeat(np.arange(30), 20)
    >>> X = np.random.default_rng(0).normal(size=(600, 3))
    >>> customers_out = np.exp(X @ [2, 0, -1])
    >>> model = RankNet(list_weight=CostSaved(k=5), random_state=0).fit(X, customers_out, groups=storms)
    >>> round(CostSaved(k=5).value(customers_out, model.decision_function(X), storms), 2)
    1.0
    """

    _limits: ClassVar = {**NetRanker._limits, "pairs_per_row": COUNT}

    def __init__(
        self,
        *,
        list_weight: ListWeight = None,
        hidden: int = 10,
        n_epochs: int = 200,
        learning_rate: float = 0.02,
        l2: float = 1e-4,
        pairs_per_row: int = 20,
        eval_groups: float | None = None,
        patience: int = 50,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.list_weight = list_weight
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.l2 = l2
        self.pairs_per_row = pairs_per_row
        self.eval_groups = eval_groups
        self.patience = patience
        self.random_state = random_state

    def _can_learn(self, y: Floats) -> bool:
        return bool(y.min() < y.max())

    def _loss(self, task: Task, score: Floats, rng: np.random.Generator) -> tuple[float, Floats]:
        shifts = rng.integers(LONGEST_LIST, size=self.pairs_per_row)
        return pair_loss(score, task.y, task.row_weight, task.lists.starts, task.list_weight, shifts)
