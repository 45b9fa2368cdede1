"""The model behind a queue: the only place of the review that knows how rows are ranked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.feedback import FeedbackRanker, ScoreSpace
from shortlist.feedback.strategies.catalogue import find_strategy, make_strategy
from shortlist.feedback.why import Why
from shortlist.models.trained import TrainedModel
from shortlist.rankers.base import Ranker
from shortlist.review.log.events import Event, Imported, Judged, Override, Undo
from shortlist.tables import Schema
from shortlist.verdicts import Verdict

#: Rows times trees: fewer are scored at once in no time, for more the index takes over a gigabyte.
LEAST_INDEXED, MOST_INDEXED = 6_000_000, 250_000_000


def make_space(features: Any, strategy: str, *, ranker: Ranker | None, seed: int) -> ScoreSpace:
    """Where scores come from: the trees of a trained ranker, or an isolation forest that starts cold."""
    space = _space(features, find_strategy(strategy).max_depth, ranker, seed)
    # With an index a verdict re-scores only the rows that share leaves with reviewed ones.
    return space.build_index() if LEAST_INDEXED < space.n_rows * space.n_members < MOST_INDEXED else space


def _space(features: Any, max_depth: int | None, ranker: Ranker | None, seed: int) -> ScoreSpace:
    if ranker is None:
        return ScoreSpace.from_isolation_forest(features, max_depth=max_depth, random_state=seed)
    return ScoreSpace.from_boosted(features, ranker)


def boosted_ranker(model: Path) -> Ranker:
    """The ranker in a model file; refuses one without trees."""
    ranker = TrainedModel.load(model).ranker
    if not hasattr(ranker, "booster_"):
        raise InvalidInputError(
            f"{model} holds a {type(ranker).__name__}, which has no boosted trees to go on learning from. "
            "Train one that has, or leave --model out."
        )
    return ranker


@cache
def _compile(strategy: type[FeedbackRanker], kernel: str | None, indexed: bool) -> None:
    """Play a tiny review, so that nobody's first verdict waits for the compiler."""
    space = ScoreSpace.from_isolation_forest(
        np.random.default_rng(0).normal(size=(64, 3)), n_trees=4, random_state=0
    )
    settings = {} if kernel is None else {"kernel": kernel}
    ranker = strategy(space.build_index() if indexed else space, random_state=0, **settings)
    for wanted in (True, False, True):
        ranker.tell(ranker.ask(), wanted)
    ranker.why(int(ranker.ranking(3)[0]))


class Engine:
    """A feedback ranker that follows the log, event by event. One thread uses it."""

    def __init__(self, ranker: FeedbackRanker) -> None:
        _compile(type(ranker), getattr(ranker, "kernel", None), ranker.space.index is not None)
        self._ranker = ranker
        self._why: tuple[int, dict[int, Why]] = (-1, {})

    @classmethod
    def start(cls, space: ScoreSpace, strategy: str, seed: int) -> Engine:
        """The engine of a queue without verdicts."""
        return cls(make_strategy(strategy, space, seed))

    @classmethod
    def resume(cls, space: ScoreSpace, checkpoint: Path) -> Engine:
        """The engine as it was when the checkpoint was written."""
        return cls(FeedbackRanker.load(checkpoint, space))

    def checkpoint(self, path: Path) -> Callable[[], None]:
        """What writes all that was learned until now, so that the next start need not learn it again."""
        return self._ranker.saving(path)

    @property
    def space(self) -> ScoreSpace:
        """Where scores come from."""
        return self._ranker.space

    @property
    def schema(self) -> Schema:
        """How the columns of the whole table are encoded."""
        assert self.space.columns.schema is not None, "spaces of a queue are made from tables"
        return self.space.columns.schema

    @property
    def version(self) -> int:
        """How many learning events are in force."""
        return self._ranker.version

    def follow(self, event: Event) -> None:
        """Learn what an event says; most say nothing to the model."""
        match event.body:
            case Judged(row=row, verdict=verdict, learn=learn):
                self._ranker.tell(row, verdict if learn else Verdict.UNSURE)
            case Imported(row=row, verdict=verdict):
                self._ranker.tell(row, verdict)
            case Override(row=row, verdict=verdict):
                self._forget(row)
                self._ranker.tell(row, verdict)
            case Undo(row=row, second=False):
                self._ranker.untell(row)

    def check(self, features: Any) -> None:
        """Refuse rows that the score space cannot place."""
        self.space.columns.matrix(features)

    def append(self, features: Any, leaves: Mapping[int, Sequence[int]] | None = None) -> None:
        """Rank rows that have arrived; those in ``leaves`` were erased since, and are placed where they were."""
        self._ranker.space.append(features, leaves)

    def leaves(self, row: int) -> tuple[int, ...]:
        """Where a row is placed: the leaf of each member, counted within it."""
        return self.space.local_leaves(row)

    def forget_words(self, words: Mapping[str, Iterable[str]]) -> None:
        """Let categories that no row has any more have no name; their codes stay."""
        self.space.columns = self.space.columns.without_words(words)

    def top(self, n: int) -> list[int]:
        """The n best rows without a verdict, best first."""
        return self._ranker.ranking(n).tolist()

    def best_of(self, rows: NDArray[np.int64], n: int) -> list[int]:
        """The n best of some rows without a verdict, best first."""
        return self._ranker.ranking(n, among=rows).tolist()

    def open_rows(self) -> NDArray[np.int64]:
        """The rows without a verdict, in the order of the table."""
        return self._ranker.open_rows()

    def all_scores(self) -> NDArray[np.float64]:
        """Scores of all rows, under what was learned so far."""
        return self._ranker.scores()

    def own_score(self, row: int) -> float:
        """The score of a row before any verdict."""
        return self.space.own_score(row)

    def scores(self, rows: Sequence[int]) -> list[float]:
        """Scores of some rows, under what was learned so far."""
        return self._ranker.scores(np.asarray(rows, dtype=np.int64)).tolist() if rows else []

    def rank_of(self, row: int) -> int:
        """The place of a row, from 1."""
        return self._ranker.rank_of(row)

    def why(self, row: int) -> Why:
        """Why a row is where it is."""
        if self._why[0] != self.version:
            self._why = (self.version, {})
        known = self._why[1]
        if row not in known:
            known[row] = self._ranker.why(row)
        return known[row]

    def digest(self) -> str:
        """Tells rankings apart: a fingerprint of the version and every row's score."""
        scores = self._ranker.scores()
        return hashlib.sha256(str(self.version).encode() + scores.tobytes()).hexdigest()

    def is_like(self, other: Engine) -> bool:
        """Whether both were told the same and rank alike."""
        ours, theirs = self._ranker.to_arrays(), other._ranker.to_arrays()
        told = ("rows", "wanted", "n_rows", "unsure")
        same = all(np.array_equal(ours[name], theirs[name]) for name in told)
        return same and self.digest() == other.digest()

    def _forget(self, row: int) -> None:
        told = {reviewed for reviewed, _ in self._ranker.reviewed} | set(self._ranker.unsure)
        if row in told:
            self._ranker.untell(row)
