"""AAD: active anomaly discovery, wanted rows above a quantile of the scores and the others below."""

from __future__ import annotations

from typing import Literal

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.base import Told
from shortlist.feedback.spaces.forest import Floats
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.strategies.leaf_weights import UnitWeightRanker, length
from shortlist.kernels.feedback.hinge import fit_hinges

Hinges = tuple[Floats, Floats, Floats]


class AAD(UnitWeightRanker):
    """Fits weights of leaves to all verdicts at once, after each of them.

    With unit weights w, rows x in score space, reviewed rows A (wanted) and N (not), and q the 1 - ``quantile`` of all
    scores before the fit ::

        min over w   1/|A| Σ_A (q + d - w·x)₊ + 1/|N| Σ_N (w·x - q + d)₊ + prior/2 ‖w - w_0‖²

    ``form="quantile"``: w_0 are the weights before the verdict, and rows should be d = ``margin``·(top score - q)
    beyond q. Without a margin a wanted row that is above q teaches nothing; coniferest gets past that by leaving q free
    and having no prior, where its solver decides among many solutions.

    ``form="paper"``: as in the authors' code there is no margin, each row is also held against the row x_q at the
    quantile, by ((x_q - x)·w)₊ and ((x - x_q)·w)₊, and w_0 is uniform. Weights return to length 1 after the fit.

    The solution is w_0 plus a combination of the reviewed rows, so it is found in their number of unknowns (the dual,
    one coordinate at a time) and not in the number of leaves. Differs from the authors' code: rows are scaled to
    length 1 on average and not each.

    References
    ----------
    S. Das et al., "Incorporating Feedback into Tree-based Anomaly Detection", 2017 (arXiv:1708.09441).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(500, 3)), rng.normal(3, 0.3, size=(20, 3))])
    >>> ranker = AAD(ScoreSpace.from_isolation_forest(X, random_state=0))
    >>> for _ in range(20):
    ...     row = ranker.ask()
    ...     ranker.tell(row, row >= 500)
    >>> ranker.hits
    17
    """

    settings = ("form", "quantile", "prior", "margin")

    def __init__(
        self,
        space: ScoreSpace,
        *,
        form: Literal["quantile", "paper"] = "quantile",
        quantile: float = 0.03,
        prior: float = 1.0,
        margin: float = 1.0,
        random_state: int | None = 0,
    ) -> None:
        if form not in ("quantile", "paper"):
            raise InvalidInputError(f"form must be 'quantile' or 'paper'; got {form!r}.")
        if not 0 < quantile < 1:
            raise InvalidInputError(f"quantile must lie between 0 and 1; got {quantile!r}.")
        if prior <= 0:
            raise InvalidInputError(f"prior must be positive; got {prior!r}.")
        self.form = form
        self.quantile = quantile
        self.prior = prior
        self.margin = margin
        space.check_here("AAD", "LeafSimilarity or OJRank")
        squares = space.row_sums(space.values**2, space.first_rows)
        self._value = space.values / (float(np.mean(np.sqrt(squares))) or 1.0)
        self._gram_rows: list[int] = []
        self._gram_known = np.zeros((0, 0))
        super().__init__(space, random_state=random_state)

    def _value_of_leaves(self) -> Floats:
        return self._value

    def _learn(self, version: int, told: Told) -> None:
        known = [*self._log[:version], told]
        rows = [past.row for past in known]
        sign = np.where([past.wanted for past in known], 1.0, -1.0)
        middle, q, top = self._landmarks(told.n_rows)
        start = self._weight if self.form == "quantile" else np.ones(self._weight.size)
        norm = length(start)
        hinges = self._hinges(start / norm, rows, sign, middle, q, self.margin * (top - q))
        self._weight = start + norm * self._solve(hinges, rows, sign, middle)
        self._rebase()

    def _landmarks(self, n_rows: int) -> tuple[int, float, float]:
        """The row at rank quantile·n under the present weights, its score, and the top score."""
        keys = self._ranked().keys()[:n_rows]
        rank = max(1, round(self.quantile * n_rows))
        row = int(np.argpartition(keys, n_rows - rank)[n_rows - rank])
        unit = self._leaf_scores.unit / length(self._weight)
        return row, float(keys[row] * unit), float(keys.max() * unit)

    def _hinges(
        self, weight: Floats, rows: list[int], sign: Floats, middle: int, q: float, distance: float
    ) -> Hinges:
        """Gram matrix, margins and costs of the hinges of this round."""
        score = self._score_of(weight, rows)
        gram = self._gram(rows) * np.outer(sign, sign)
        margin = sign * (q - score)
        cost = np.where(sign > 0, 1 / max(1, int(np.sum(sign > 0))), 1 / max(1, int(np.sum(sign < 0))))
        if self.form == "quantile":
            return gram, margin + distance, cost
        near = self._likeness(rows, middle)
        across = gram - np.outer(sign * near, sign)
        against = (
            across - np.outer(sign, sign * near) + np.outer(sign, sign) * self._likeness([middle], middle)
        )
        margin_middle = sign * (self._score_of(weight, [middle]) - score)
        both = np.block([[gram, across], [across.T, against]])
        return both, np.concatenate([margin, margin_middle]), np.concatenate([cost, cost])

    def _solve(self, hinges: Hinges, rows: list[int], sign: Floats, middle: int) -> Floats:
        """The change of the weights: a combination of the reviewed rows and the row at the quantile."""
        gram, margin, cost = hinges
        dual = np.zeros(margin.size)
        fit_hinges(gram, margin.copy(), cost, self.prior, 1000, 1e-4, dual)
        per_row = dual.reshape(-1, len(rows)) * sign / self.prior
        change = np.zeros(self.space.n_leaves)
        np.add.at(change, self.space.leaves(rows), per_row.sum(axis=0)[:, None])
        if self.form == "paper":
            change[self.space.leaves([middle])[0]] -= per_row[1].sum()
        return change * self._value

    def _score_of(self, weight: Floats, rows: list[int]) -> Floats:
        leaves = self.space.leaves(rows)
        return np.sum(weight[leaves] * self._value[leaves], axis=1)

    def _likeness(self, rows: list[int], row: int) -> Floats:
        """Inner products in score space of some rows with one."""
        mine = self.space.leaves([row])[0]
        return np.sum((self.space.leaves(rows) == mine) * self._value[mine] ** 2, axis=1)

    def _gram(self, rows: list[int]) -> Floats:
        """Inner products of the reviewed rows; those of the rows that were there before are kept."""
        known = 0
        while known < min(len(rows), len(self._gram_rows)) and rows[known] == self._gram_rows[known]:
            known += 1
        gram = np.zeros((len(rows), len(rows)))
        gram[:known, :known] = self._gram_known[:known, :known]
        for i in range(known, len(rows)):
            gram[i, : i + 1] = gram[: i + 1, i] = self._likeness(rows[: i + 1], rows[i])
        self._gram_rows, self._gram_known = list(rows), gram
        return gram
