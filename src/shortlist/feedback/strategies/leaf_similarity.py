"""The default strategy: kernel regression on how alike rows are in a score space."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.base import FeedbackRanker, State, Told
from shortlist.feedback.spaces.forest import Floats
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.strategies.ancestor_kernel import AncestorKernel
from shortlist.feedback.strategies.leaf_kernel import LeafKernel, Similarity, Terms
from shortlist.kernels.feedback import similarity as kernels
from shortlist.validation import check_budget

#: Up to this many rows the reviews that the ancestor kernel keeps take at most a quarter of a gigabyte.
ANCESTOR_ROWS = 65_536


class LeafSimilarity(FeedbackRanker):
    """Scores a row by the verdicts on rows like it, and by the ensemble where nothing like it was reviewed.

    With k the likeness of two rows, pr the ensemble's score (0 at the median, 1 at the top), targets t = 1 for
    wanted and ``dismissed`` for other rows, and reviewed rows R ::

        c = prior_weight · (1 + wanted) / (1 + reviewed)
        α = (K_RR + ridge·I)⁻¹ (t - c·pr_R)
        score(x) = c·pr(x) + Σ over R of α_i·k(x, i) + more_like_this·k(x, last wanted row)

    It is the mean of a Gaussian process whose prior mean is the ensemble's score; the prior fades as misses
    accumulate. The last term keeps reviewers on the kind they just confirmed (before the first wanted row: on the
    last reviewed one), which lowers effort at no measured loss.

    A verdict costs as much late as early: at most ``window`` verdicts are solved for. When one more comes, the older
    half is *settled*: it keeps the weights α that it has then, those of t and those of pr apart as c goes on changing.
    Settled verdicts still count in every score; from then on R are the others, which regress on what is left ::

        level(x) = Σ α(t)_i·k(x, i),  prior(x) = pr(x) - Σ α(pr)_i·k(x, i)      over settled rows i
        α = (K_RR + ridge·I)⁻¹ (t - level_R - c·prior_R)
        score(x) = level(x) + c·prior(x) + Σ over R of α_i·k(x, i) + more_like_this·k(x, last wanted row)

    At the moment of settling nothing moves: these α are those of the joint solution.

    Parameters
    ----------
    kernel : "leaf", linear in weights of leaves, any number of rows; "ancestor", a little better, keeps one float32
        per row and review in the window; "auto" takes the ancestor kernel up to 65,536 rows that are on this machine
    window : how many of the latest verdicts are solved for together, exactly; even

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(500, 3)), rng.normal(3, 0.3, size=(20, 3))])
    >>> ranker = LeafSimilarity(ScoreSpace.from_isolation_forest(X, random_state=0), random_state=0)
    >>> for _ in range(20):
    ...     row = ranker.ask()
    ...     ranker.tell(row, row >= 500)
    >>> ranker.hits
    19
    """

    settings = ("kernel", "ridge", "dismissed", "prior_weight", "more_like_this", "window")

    def __init__(
        self,
        space: ScoreSpace,
        *,
        kernel: Literal["auto", "leaf", "ancestor"] = "auto",
        ridge: float = 0.1,
        dismissed: float = -0.5,
        prior_weight: float = 0.5,
        more_like_this: float = 0.1,
        window: int = 1024,
        random_state: int | None = 0,
    ) -> None:
        if kernel not in ("auto", "leaf", "ancestor"):
            raise InvalidInputError(f"kernel must be 'auto', 'leaf' or 'ancestor'; got {kernel!r}.")
        if ridge <= 0:
            raise InvalidInputError(f"ridge must be positive; got {ridge!r}.")
        if check_budget(window, name="window") % 2:
            raise InvalidInputError(
                f"window must be even, for half of it is settled at a time; got {window!r}."
            )
        # What "auto" chose is kept: a saved ranker goes on with it however many rows have arrived since.
        few = space.first_rows <= ANCESTOR_ROWS and not space.is_spread
        self.kernel = ("ancestor" if few else "leaf") if kernel == "auto" else kernel
        self.ridge = ridge
        self.dismissed = dismissed
        self.prior_weight = prior_weight
        self.more_like_this = more_like_this
        self.window = window
        super().__init__(space, random_state=random_state)

    @cached_property
    def _similarity(self) -> Similarity:
        if self.kernel == "ancestor":
            return AncestorKernel(self.space, self._rows, settle_by=self.window // 2)
        return LeafKernel(self.space, self._rows)

    def _restart(self) -> None:
        self._start(np.zeros((2, 0)))

    def _start(self, weights: Floats, sums: Floats | None = None) -> None:
        """Settle the first rows of the log with these weights, and solve for none yet."""
        rows = [told.row for told in self._log[: weights.shape[1]]]
        self._keep(weights)
        self._similarity.reset(rows, weights, sums)
        self._factor, self._next = Factor(), Factor()
        self._told: list[tuple[float, float, float]] = []  # of the rows solved for: target, level, prior

    def _keep(self, weights: Floats) -> None:
        """Note which rows are settled, the first of the log, with which weights."""
        self._settled = weights
        self._settled_wanted = [told.row for told in self._log[: weights.shape[1]] if told.wanted]

    def _rewind(self, version: int) -> int:
        """Factors grow row by row, so their first rows are the state of earlier versions, back to the settled rows."""
        settled = self._settled.shape[1]
        if self._due(version) < settled:
            return super()._rewind(version)
        del self._told[version - settled :]
        self._factor.truncate(version - settled)
        self._next.truncate(max(0, version - settled - self.window // 2))
        self._similarity.truncate(version - settled)
        return version

    def _due(self, version: int) -> int:
        """How many verdicts are settled once so many are learned."""
        half = self.window // 2
        return half * max(0, -(-version // half) - 2)

    def _learn(self, version: int, told: Told) -> None:
        if len(self._told) == self.window:
            self._settle(version)
        near = self._similarity.between(told.row)
        own = self._similarity.own(told.row) + self.ridge
        if len(self._told) >= self.window // 2:
            self._next.add(near[self.window // 2 :], own)
        self._factor.add(near, own)
        self._similarity.add(told.row)
        self._told.append(self._facts(told))

    def _facts(self, told: Told) -> tuple[float, float, float]:
        return 1.0 if told.wanted else self.dismissed, *self._similarity.mean(told.row)

    def _settle(self, version: int) -> None:
        """Let the older half keep the weights it has now; the other half goes on with a factor of its own."""
        target, level, prior = self._told_lines()
        weights = np.stack([self._factor.solve(target - level), -self._factor.solve(prior)])
        older = weights[:, : self.window // 2]
        self._similarity.settle(older)
        self._keep(np.concatenate([self._settled, older], axis=1))
        self._told = [self._facts(told) for told in self._log[self._settled.shape[1] : version]]
        self._factor, self._next = self._next, Factor()

    def _told_lines(self) -> Floats:
        return np.ascontiguousarray(np.array(self._told).reshape(-1, 3).T)

    def _rescore(self) -> None:
        self._scored_by = self._terms()
        self._similarity.score(self._scored_by)

    def _terms(self) -> Terms:
        target, level, prior = self._told_lines()
        wanted = np.flatnonzero(target == 1.0)
        reviewed, found = self._settled.shape[1] + target.size, len(self._settled_wanted) + wanted.size
        fade = self.prior_weight * (1 + found) / (1 + reviewed)
        weight = self._factor.solve((target - level) - fade * prior)
        if self._settled_wanted and not wanted.size:
            return Terms(fade, weight, self._settled_wanted[-1], self.more_like_this)
        if target.size:
            weight[wanted[-1] if wanted.size else -1] += self.more_like_this
        return Terms(fade, weight)

    def _contribution(self) -> Floats:
        return self._similarity.contribution(self._scored_by if self._scored else self._terms())

    def _state(self) -> State:
        version = np.array(self._settled.shape[1] + len(self._told))
        return {"version": version, "weights": self._settled, "sums": self._similarity.sums}

    def _restore(self, state: State) -> None:
        self._start(state["weights"], state["sums"])
        first, version = state["weights"].shape[1], int(state["version"])
        for i, told in enumerate(self._log[first:version], start=first):
            self._learn(i, told)


class Factor:
    """The Cholesky factor of a kernel matrix that grows by one reviewed row at a time: solves for their weights.

    Its first rows are the factor of those rows alone, so forgetting the last ones costs nothing.

    >>> factor = Factor()
    >>> factor.add(np.array([]), 2.0)
    >>> factor.add(np.array([1.0]), 2.0)
    >>> factor.solve(np.array([3.0, 3.0])).round(9).tolist()
    [1.0, 1.0]
    """

    def __init__(self) -> None:
        self.size = 0
        self._lines = np.zeros((32, 32))

    def add(self, near: Floats, own: float) -> None:
        """One more row, by its kernel with those before it and with itself."""
        if self.size == self._lines.shape[0]:
            room = np.zeros((2 * self.size,) * 2)
            room[: self.size, : self.size] = self._lines
            self._lines = room
        kernels.add_to_factor(self._lines, self.size, near, own)
        self.size += 1

    def truncate(self, n: int) -> None:
        """Forget all rows but the first n."""
        self.size = min(n, self.size)

    def solve(self, right: Floats) -> Floats:
        """The weights x with K x = right."""
        return kernels.solve(self._lines, self.size, right)
