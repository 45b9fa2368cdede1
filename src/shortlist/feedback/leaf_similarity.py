"""The default strategy: kernel regression on how alike rows are in a score space."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.base import FeedbackRanker, State, Verdict
from shortlist.feedback.forest import Floats
from shortlist.feedback.score_space import ScoreSpace
from shortlist.feedback.similarity import AncestorKernel, LeafKernel, Similarity
from shortlist.kernels import similarity as kernels

#: Up to this many rows a thousand reviews of the ancestor kernel take at most a quarter of a gigabyte.
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

    Parameters
    ----------
    kernel : "leaf", linear in weights of leaves, any number of rows; "ancestor", a little better, keeps one float32
        per row and review; "auto" takes the ancestor kernel up to 65,536 rows

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

    settings = ("kernel", "ridge", "dismissed", "prior_weight", "more_like_this")

    def __init__(
        self,
        space: ScoreSpace,
        *,
        kernel: Literal["auto", "leaf", "ancestor"] = "auto",
        ridge: float = 0.1,
        dismissed: float = -0.5,
        prior_weight: float = 0.5,
        more_like_this: float = 0.1,
        random_state: int | None = 0,
    ) -> None:
        if kernel not in ("auto", "leaf", "ancestor"):
            raise InvalidInputError(f"kernel must be 'auto', 'leaf' or 'ancestor'; got {kernel!r}.")
        if ridge <= 0:
            raise InvalidInputError(f"ridge must be positive; got {ridge!r}.")
        # What "auto" chose is kept: a saved ranker goes on with it however many rows have arrived since.
        self.kernel = (
            ("ancestor" if space.first_rows <= ANCESTOR_ROWS else "leaf") if kernel == "auto" else kernel
        )
        self.ridge = ridge
        self.dismissed = dismissed
        self.prior_weight = prior_weight
        self.more_like_this = more_like_this
        self._similarity: Similarity = (
            AncestorKernel(space) if self.kernel == "ancestor" else LeafKernel(space)
        )
        self._factor = np.zeros((0, 0))
        super().__init__(space, random_state=random_state)

    def _restart(self) -> None:
        self._rewind(0)

    def _rewind(self, version: int) -> int:
        """The factor grows row by row, so its first rows are the state of any earlier version."""
        self._rows: list[int] = getattr(self, "_rows", [])[:version]
        self._target: list[float] = getattr(self, "_target", [])[:version]
        self._prior: list[float] = getattr(self, "_prior", [])[:version]
        self._similarity.truncate(version)
        return version

    def _learn(self, version: int, verdict: Verdict) -> None:
        if version == self._factor.shape[0]:
            room = np.zeros((max(32, version + version // 2),) * 2)
            room[:version, :version] = self._factor
            self._factor = room
        near = self._similarity.between(verdict.row, self._rows)
        kernels.add_to_factor(self._factor, version, near, self._similarity.own(verdict.row) + self.ridge)
        self._similarity.add(verdict.row)
        self._rows.append(verdict.row)
        self._target.append(1.0 if verdict.wanted else self.dismissed)
        self._prior.append(self._similarity.prior.of(verdict.row))

    def _rescore(self) -> None:
        self._similarity.score(*self._terms())

    def _terms(self) -> tuple[float, list[int], Floats]:
        """The weight of the prior, the reviewed rows, and the weight of each."""
        target = np.array(self._target)
        wanted = np.flatnonzero(target == 1.0)
        fade = self.prior_weight * (1 + wanted.size) / (1 + target.size)
        weight = kernels.solve(self._factor, target.size, target - fade * np.array(self._prior))
        if target.size:
            weight[wanted[-1] if wanted.size else -1] += self.more_like_this
        return fade, self._rows, weight

    def _ranking_keys(self) -> NDArray:
        return self._similarity.scores()

    def _score_floats(self) -> Floats:
        return self._similarity.scores()

    def _contribution(self) -> Floats:
        return self._similarity.contribution(*self._terms())

    def _state(self) -> State:
        return {}

    def _restore(self, state: State) -> None:
        self._restart()
        for version, verdict in enumerate(self._log):
            self._learn(version, verdict)
