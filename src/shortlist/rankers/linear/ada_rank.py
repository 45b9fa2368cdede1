"""AdaRank: boosting of single columns, each chosen for the lists that the others rank badly."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist.objectives import Goal, Objective
from shortlist.objectives.base import ListWeight
from shortlist.rankers.limits import COUNT
from shortlist.rankers.linear.base import LinearRanker

#: A column that ranks every list perfectly would get an infinite weight.
LARGEST_VALUE = 1 - 1e-9


class AdaRank(LinearRanker):
    """A weighted sum of single columns, found by boosting over lists.

    With E_l in [0, 1] the objective's value of list l and P a distribution over lists that starts at their
    weights w: each round takes the column, in either direction, with the largest sum P_l E_l, adds it with
    alpha = 1/2 ln( sum P (1 + E) / sum P (1 - E) ), and sets P_l to w_l exp(-E_l(ensemble)), scaled to sum 1.
    Rounds end when the ensemble has gained nothing for ``patience`` of them; the best one is kept.

    What differs from the paper: its cost-sensitive E, R@k / sum of ideals, weighs all lists alike. Here
    ``objective=CostSaved(k)`` keeps E = R@k and starts P at each list's share of the ideal, which makes
    the sum proportional to the cost saved. P is normalised in every round.

    Parameters
    ----------
    objective : what to maximise; None: ``CostSaved(k=10)``
    list_weight : how much each list counts: None for the objective's own weights, an objective whose weights
        to take, one number per list in order of first appearance, or a function of the y of one list
    n_estimators : largest number of rounds
    patience : rounds without a gain on the training lists after which to stop

    ``sample_weight`` in ``fit`` multiplies what a row is worth.

    Attributes
    ----------
    coef_ : weight of each prepared column
    value_ : the objective on the training rows

    References
    ----------
    Xu and Li, "AdaRank: a boosting algorithm for information retrieval", SIGIR 2007. McBride, Wang, Ren and
    Li, "Cost-Sensitive Learning to Rank", AAAI 2019.

    Examples
    --------
    >>> from shortlist.objectives import CostSaved
    >>> storms = np.repeat(np.arange(30), 20)
    >>> X = np.random.default_rng(0).normal(size=(600, 3))
    >>> customers_out = np.exp(X @ [2, 0, -1])
    >>> model = AdaRank(objective=CostSaved(k=5)).fit(X, customers_out, groups=storms)
    >>> round(model.value_, 2)
    0.9...
    """

    _limits: ClassVar = {"n_estimators": COUNT, "patience": COUNT}

    def __init__(
        self,
        *,
        objective: Objective | None = None,
        list_weight: ListWeight = None,
        n_estimators: int = 500,
        patience: int = 50,
    ) -> None:
        self.objective = objective
        self.list_weight = list_weight
        self.n_estimators = n_estimators
        self.patience = patience

    def _search(self, columns: NDArray[np.float64], goal: Goal) -> tuple[float, NDArray[np.float64]]:
        weak = np.array([goal.list_values(sign * x) for x in columns.T for sign in (1.0, -1.0)])
        weights, best = np.zeros(columns.shape[1]), (-np.inf, np.zeros(columns.shape[1]))
        attention, last_gain = goal.weights, 0
        for round_ in range(self.n_estimators):
            value = weak @ attention
            chosen = int(np.argmax(value))
            weights[chosen // 2] += _alpha(value[chosen]) * (1 - 2 * (chosen % 2))
            lists = goal.list_values(columns @ weights)
            reached = float(goal.weights @ lists)
            if reached > best[0]:
                best, last_gain = (reached, weights.copy()), round_
            elif round_ - last_gain >= self.patience:
                break
            attention = goal.weights * np.exp(-lists)
            attention /= attention.sum()
        return best


def _alpha(value: float) -> float:
    """The weight of a weak ranker; attention sums to 1, so sum P (1 + E) is 1 + value."""
    value = min(value, LARGEST_VALUE)
    return float(0.5 * np.log((1 + value) / (1 - value)))
