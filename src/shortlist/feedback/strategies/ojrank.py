"""OJRank: pairwise learning on the job from the verdict on the top row."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.base import Told
from shortlist.feedback.rows.all_rows import AllRows
from shortlist.feedback.spaces.forest import Floats, Integers
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.strategies.leaf_weights import UnitWeightRanker, length
from shortlist.kernels.feedback.released_pairs import fit_released
from shortlist.kernels.feedback.verdict_pairs import fit_pairs
from shortlist.validation import check_budget

#: The skew of sampling towards the top: probability ∝ (SKEW·s̄ + 1)^(1/SKEW).
SKEW = -0.99
#: Pairs from history per step, steps per verdict, and the gain below which they end (the paper's).
BATCH, MAX_STEPS, TOLERANCE = 100, 1000, 1e-8
#: How the weights of a round are looked for.
DESCENTS = {"best": fit_pairs, "released": fit_released}
#: In larger tables pairs are sampled among this many rows drawn evenly, which takes no pass over the table.
SAMPLE_FROM = 16_384


class OJRank(UnitWeightRanker):
    """Moves weights of leaves so that a wanted row ranks above rows not wanted, and the other way round.

    After the verdict on row u, pairs (u, v) are made with every earlier row of the opposite verdict and, while there
    are fewer than ``n_pairs`` of those, with rows sampled where the opposite is likely. With unit weights w, scores
    s = S·w and p̂_uv = 1 / (1 + exp(s_v - s_u)), momentum descent ::

        w ← (w + γ·Δ - η·Σ (p̂_uv - p_uv)(S_u - S_v)) / its norm

    brings p̂_uv to the targets: p̂ of the top against the bottom row for pairs from history (1 less that for a row
    not wanted), (1 ± δ)·p̂_uv for sampled ones, which move only the leaves of u.

    Differs from the paper: momentum has the sign that speeds up (the printed one is wrong), w is
    divided by its norm in every step (the paper never says so), the best w of a round is kept, and with ``cap_targets``
    no sampled target goes beyond the historic ones: without that a run of wanted verdicts can run away onto u's leaves.

    Parameters
    ----------
    n_pairs, delta : pairs to reach by sampling, and how far those are nudged (the paper's k and δ)
    cap_targets : keep sampled targets within the historic ones
    mistakes_only : learn from rows not wanted only (the paper's OJR-MO)
    all_coordinates : sample evenly and move the leaves of both rows (with ``history="all"`` the paper's OJR-ALL)
    optimizer : "best" is as above; "released" as in the authors' code, which adds the momentum once per pair instead of
        once per step and keeps the last w of a round (with ``cap_targets=False`` for all of it)
    history : pair u with earlier rows of the "opposite" verdict, or with "all" of them, whatever was said of those

    References
    ----------
    H. Lamba, L. Akoglu, "Learning On-the-Job to Re-rank Anomalies from Top-1 Feedback", SDM 2019.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(500, 3)), rng.normal(3, 0.3, size=(20, 3))])
    >>> ranker = OJRank(ScoreSpace.from_isolation_forest(X, random_state=0), random_state=0)
    >>> for _ in range(20):
    ...     row = ranker.ask()
    ...     ranker.tell(row, row >= 500)
    >>> ranker.hits
    18
    """

    settings = (
        "n_pairs",
        "delta",
        "cap_targets",
        "mistakes_only",
        "all_coordinates",
        "learning_rate",
        "momentum",
        "optimizer",
        "history",
    )

    def __init__(
        self,
        space: ScoreSpace,
        *,
        n_pairs: int = 5,
        delta: float = 0.1,
        cap_targets: bool = True,
        mistakes_only: bool = False,
        all_coordinates: bool = False,
        learning_rate: float = 0.1,
        momentum: float = 0.75,
        optimizer: Literal["best", "released"] = "best",
        history: Literal["opposite", "all"] = "opposite",
        random_state: int | None = 0,
    ) -> None:
        _check_choice("optimizer", optimizer, tuple(DESCENTS))
        _check_choice("history", history, ("opposite", "all"))
        self.n_pairs = check_budget(n_pairs, name="n_pairs")
        self.delta = delta
        self.cap_targets = cap_targets
        self.mistakes_only = mistakes_only
        self.all_coordinates = all_coordinates
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.optimizer = optimizer
        self.history = history
        super().__init__(space, random_state=random_state)

    def _learn(self, version: int, told: Told) -> None:
        if told.wanted and self.mistakes_only:
            return
        rows = self._ranked()
        unit = self._leaf_scores.unit / length(self._weight)
        everything = self.history == "all"
        history = [past.row for past in self._log[:version] if everything or past.wanted != told.wanted]
        sampled = self._sample(version, told, rows, unit, self.n_pairs - len(history))
        target = self._targets(told, rows, unit, len(history), sampled)
        self._descend(np.array([told.row, *history, *sampled]), len(history), target)

    def _targets(self, told: Told, rows: AllRows, unit: float, n_history: int, sampled: Integers) -> Floats:
        least, most = rows.extremes(told.n_rows)
        surest = _chance((most - least) * unit)
        historic = surest if told.wanted else 1 - surest
        keys = rows.keys_of(np.array([told.row, *sampled]))
        now = _chance((keys[0] - keys[1:]) * unit)
        nudged = np.clip(now * (1 + self.delta if told.wanted else 1 - self.delta), 0, 1)
        if self.cap_targets:
            nudged = np.minimum(nudged, historic) if told.wanted else np.maximum(nudged, historic)
        return np.concatenate([np.full(n_history, historic), nudged])

    def _sample(self, version: int, told: Told, ranked: AllRows, unit: float, n: int) -> Integers:
        """Rows likely of the other kind: without a verdict, from the bottom half if u is wanted, else the top."""
        if n <= 0:
            return np.zeros(0, dtype=np.int64)
        rng = self._rng(version)
        among = min(told.n_rows, SAMPLE_FROM)
        rows = (
            np.arange(among)
            if among == told.n_rows
            else rng.choice(told.n_rows, among, replace=False, shuffle=False)
        )
        rows = rows[~np.isin(rows, [told.row, *(past.row for past in self._log[:version])])]
        n = min(n, rows.size)
        if self.all_coordinates or rows.size < 2:
            return rng.choice(rows, n, replace=False)
        keys = ranked.keys_of(rows)
        half = _half(keys, top=not told.wanted)
        rows, score = rows[half], keys[half] * unit
        weight = _bottom_weights(score) if told.wanted else _top_weights(score)
        # A race: drawing without replacement by weight, in one pass.
        times = rng.standard_exponential(rows.size) / weight
        return rows[np.argpartition(times, min(n, rows.size) - 1)[:n]]

    def _descend(self, rows: Integers, n_history: int, target: Floats) -> None:
        local, where, n_movable = self._local_leaves(rows, n_history)
        scale = 1 / length(self._weight)
        weight = self._weight[local] * scale
        rest = max(0.0, 1.0 - float(np.sum(weight[:n_movable] ** 2)))
        rest_scale = DESCENTS[self.optimizer](
            where, n_history, target, self.space.values[local], weight, n_movable, rest, self.all_coordinates,
            self.learning_rate, self.momentum, BATCH, MAX_STEPS, TOLERANCE,
        )  # fmt: skip
        moved, factor = local[:n_movable], scale * rest_scale
        if self.optimizer == "released":
            # Its momentum grows with every step, and the leaves it does not move may shrink to nothing in one round.
            self._weight *= factor
            self._weight[moved] = weight[:n_movable]
            return
        # Only moved leaves get a new number: the others were scaled, and the common factor is not kept.
        self._weight[moved] = weight[:n_movable] / factor
        self._rebase()

    def _local_leaves(self, rows: Integers, n_history: int) -> tuple[Integers, NDArray[np.int32], int]:
        """The leaves of these rows, those that may move first; each row by its places among them; how many move."""
        leaves = self.space.leaves(rows)
        may_move = leaves if self.all_coordinates else leaves[: n_history + 1]
        place = np.full(self.space.n_leaves, -1, dtype=np.int32)
        place[leaves] = 1
        place[may_move] = 0
        n_movable = int(np.count_nonzero(place == 0))
        present = np.flatnonzero(place >= 0)
        local = present[np.argsort(place[present], kind="stable")]
        place[local] = np.arange(local.size)
        return local, place[leaves], n_movable


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidInputError(f"{name} must be {' or '.join(map(repr, choices))}; got {value!r}.")


def _chance(gap: Floats) -> Floats:
    return 1 / (1 + np.exp(-gap))


def _half(keys: NDArray, *, top: bool) -> NDArray[np.bool_]:
    """Which rows are the better or the worse half; rows level with the middle one count to both."""
    middle = np.partition(keys, keys.size // 2)[keys.size // 2]
    return keys >= middle if top else keys <= middle


def _bottom_weights(score: Floats) -> Floats:
    """∝ 1/s; where not all scores are positive, they are lifted until the lowest is 1 % of their range."""
    if score.min() <= 0:
        score = score - score.min() + 0.01 * max(float(np.ptp(score)), np.finfo(float).tiny)
    return score.min() / score


def _top_weights(score: Floats) -> Floats:
    scaled = (score - score.min()) / max(float(np.ptp(score)), np.finfo(float).tiny)
    return (SKEW * scaled + 1) ** (1 / SKEW)
