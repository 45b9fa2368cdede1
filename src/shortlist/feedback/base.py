"""What all feedback rankers share: ask for a row, tell a verdict, take it back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.checks import check_row, check_rows, check_seed
from shortlist.feedback.ranker_files import RankerFile
from shortlist.feedback.spaces.forest import Floats, Integers
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.why import Why, explain
from shortlist.kernels.feedback import leaf_scores as kernels
from shortlist.kernels.sorting import kth_largest
from shortlist.plugins import package_of, subclasses
from shortlist.validation import check_budget
from shortlist.verdicts import Verdict

#: The learned state is kept after every so many verdicts, so that taking one back replays few.
CHECKPOINT_EVERY = 32

#: So many top rows are found in one pass over all rows; more of them by partial sorting.
SHORT = 2048

State = dict[str, NDArray]


@dataclass(frozen=True)
class Told:
    """A decided verdict, which was learned from, and how many rows there were when it was told."""

    row: int
    wanted: bool
    n_rows: int


class FeedbackRanker(ABC):
    """Ranks the rows of a score space and learns from one verdict at a time.

    The learned state is a function of the space, the settings, the seed and the verdicts in force, in order:
    whatever is random comes from a counter-based generator keyed by (seed, number of verdicts learned before).
    So taking a verdict back, replaying a log in another process, or loading a saved ranker all give
    the same ranking, bit for bit. Rows with equal scores come in an order drawn by the seed.

    Subclasses say how they start (``_restart``), learn (``_learn``) and score (``_rescore``), and what their learned
    state is (``_state``, ``_restore``).
    """

    #: Names of the constructor's settings, which a saved ranker keeps.
    settings: ClassVar[tuple[str, ...]] = ()

    def __init__(self, space: ScoreSpace, *, random_state: int | None = 0) -> None:
        self.space = space
        self.seed = check_seed(random_state)
        self._log: list[Told] = []
        self._position: dict[int, int] = {}  # row -> where it is in the log
        self._unsure: dict[int, None] = {}  # in the order they were told
        self._closed = np.zeros(space.n_rows, dtype=bool)
        self._checkpoints: dict[int, State] = {}
        self._scored = False
        self._restart()

    # -- asking ---------------------------------------------------------------------------------------------

    @overload
    def ask(self, n: None = None, *, skip: Iterable[int] = ()) -> int: ...
    @overload
    def ask(self, n: int, *, skip: Iterable[int] = ()) -> list[int]: ...
    def ask(self, n: int | None = None, *, skip: Iterable[int] = ()) -> int | list[int]:
        """The top row without a verdict; with ``n``, the n top rows. Rows in ``skip`` are passed over."""
        keys, closed = self._keys(), self._closed_rows()
        skipped = check_rows(skip, self.space.n_rows)
        if skipped.size:
            closed = closed.copy()
            closed[skipped] = True
        left = closed.size - np.count_nonzero(closed)
        if left < (1 if n is None else check_budget(n, name="n")):
            raise InvalidInputError(
                f"{left} rows are left to ask for ({len(self._log)} reviewed, {len(self._unsure)} unsure, "
                f"{skipped.size} skipped of {closed.size}). Stop here, or append rows to the space."
            )
        if n is None:
            return int(kernels.best_row(keys, closed, self.seed))
        return self._top(keys, np.flatnonzero(~closed), n).tolist()

    def ranking(self, k: int | None = None) -> Integers:
        """The k top rows without a verdict, best first; None: all of them."""
        keys, closed = self._keys(), self._closed_rows()
        left = int(closed.size - np.count_nonzero(closed))
        most = left if k is None else min(check_budget(k, name="k"), left)
        if not 0 < most <= SHORT or most == left:
            return self._top(keys, np.flatnonzero(~closed), most)
        near = keys >= kernels.nth_largest(keys, closed, most)
        return self._top(keys, np.flatnonzero(near & ~closed), most)

    def scores(self, rows: ArrayLike | None = None) -> Floats:
        """Scores under what was learned so far, of all rows or of some; larger = look sooner."""
        self._keys()
        return (
            self._score_floats()
            if rows is None
            else self._score_floats()[check_rows(rows, self.space.n_rows)]
        )

    def rank_of(self, row: int) -> int:
        """The place of a row in ``ranking()``, from 1; for a reviewed row, the place it would have."""
        row = check_row(row, self.space.n_rows)
        keys = self._keys()
        rivals = ~self._closed_rows()
        above = np.count_nonzero(rivals & (keys > keys[row]))
        tied = np.flatnonzero(rivals & (keys == keys[row]))
        return int(1 + above + np.count_nonzero(self._hashes(tied) < self._hashes(np.array([row]))))

    # -- telling --------------------------------------------------------------------------------------------

    def tell(self, row: int, wanted: Verdict | bool | None) -> None:
        """Learn that a row is wanted (True) or not (False), or set it aside unlearned (None: unsure).

        A row that was set aside may be told again; a row with a verdict may not: take that back first.
        """
        row = check_row(row, self.space.n_rows)
        meant = Verdict.of(wanted).is_wanted
        if row in self._position:
            known = Verdict.of(self._log[self._position[row]].wanted)
            raise InvalidInputError(
                f"row {row} already has a verdict: {known}. To change it, take it back first: untell({row})."
            )
        self._closed_rows()[row] = True
        if meant is None:
            self._unsure[row] = None
            return
        self._unsure.pop(row, None)
        self._record(Told(row, meant, self.space.n_rows))

    def untell(self, row: int) -> None:
        """Take the verdict of a row back: everything is as if it had never been told."""
        row = check_row(row, self.space.n_rows)
        if row in self._unsure:
            del self._unsure[row]
        elif row in self._position:
            self._forget(self._position[row])
        else:
            raise InvalidInputError(f"row {row} has no verdict to take back.")
        self._closed_rows()[row] = False

    @property
    def version(self) -> int:
        """How many verdicts are learned and in force."""
        return len(self._log)

    @property
    def reviewed(self) -> list[tuple[int, bool]]:
        """Rows and their verdicts, in the order they were told."""
        return [(told.row, told.wanted) for told in self._log]

    @property
    def unsure(self) -> list[int]:
        """Rows set aside, in the order they were told."""
        return list(self._unsure)

    @property
    def hits(self) -> int:
        """How many reviewed rows were wanted."""
        return sum(told.wanted for told in self._log)

    def effort(self, *, normalize: Literal["mean"] | None = "mean") -> float:
        """How unlike each other consecutively reviewed rows are in score space: see ``metrics.expert_effort``."""
        # The measures bring scikit-learn along, and with it more memory than the leaves of a million rows.
        from shortlist.metrics import expert_effort  # noqa: PLC0415

        rows = [told.row for told in self._log]
        return expert_effort(_score_rows(self.space, rows), normalize=normalize)

    def why(self, row: int, *, n_reasons: int = 3, n_similar: int = 5) -> Why:
        """Why a row is where it is: the leaves that push it up, and the reviewed rows it resembles most."""
        row = check_row(row, self.space.n_rows)
        return explain(self.space, self._contribution(), row, self.reviewed, n_reasons, n_similar)

    # -- files ----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._log):,} verdicts on {self.space.n_rows:,} rows)"

    def save(self, path: Any) -> None:
        """Write verdicts, settings and learned state to one file; the space is saved on its own."""
        RankerFile(
            strategy=_name(type(self)),
            settings={name: getattr(self, name) for name in self.settings},
            seed=self.seed,
            space=self.space.fingerprint,
            n_rows=self.space.n_rows,
            arrays=self.to_arrays(),
        ).write(path)

    @classmethod
    def load(cls, path: Any, space: ScoreSpace) -> Self:
        """Read a saved ranker; it goes on exactly where it stopped. Nothing in the file is executed."""
        file = RankerFile.read(path, space)
        strategies = {_name(strategy): strategy for strategy in (cls, *subclasses(cls))}
        if file.strategy not in strategies:
            raise InvalidInputError(
                f"{path} holds a ranker of the strategy {file.strategy}; load it with {file.strategy}.load."
            )
        ranker = strategies[file.strategy](space, random_state=file.seed, **file.settings)
        ranker.from_arrays(file.arrays)
        return ranker

    def to_arrays(self) -> State:
        """Verdicts and learned state, for a file."""
        state = {f"state_{name}": array for name, array in self._state().items()}
        return {
            "rows": np.array([told.row for told in self._log], dtype=np.int64),
            "wanted": np.array([told.wanted for told in self._log], dtype=bool),
            "n_rows": np.array([told.n_rows for told in self._log], dtype=np.int64),
            "unsure": np.array(self.unsure, dtype=np.int64),
            **state,
        }

    def from_arrays(self, arrays: State) -> None:
        """Take up what ``to_arrays`` gave."""
        columns = (arrays[name].tolist() for name in ("rows", "wanted", "n_rows"))
        self._log = [Told(*each) for each in zip(*columns, strict=True)]
        self._position = {told.row: i for i, told in enumerate(self._log)}
        self._unsure = dict.fromkeys(arrays["unsure"].tolist())
        self._closed_rows()[[*self._position, *self._unsure]] = True
        state = {
            name.removeprefix("state_"): array for name, array in arrays.items() if name.startswith("state_")
        }
        self._checkpoints[len(self._log)] = state
        self._restore(state)
        self._scored = False

    # -- for subclasses -------------------------------------------------------------------------------------

    @abstractmethod
    def _restart(self) -> None:
        """Set the learned state to what it is before any verdict."""

    @abstractmethod
    def _learn(self, version: int, told: Told) -> None:
        """Learn one verdict; ``self._log[:version]`` came before it."""

    @abstractmethod
    def _rescore(self) -> None:
        """Bring the scores of all rows up to date with the learned state."""

    @abstractmethod
    def _ranking_keys(self) -> NDArray:
        """Numbers by which rows are ranked, larger first; up to date after ``_rescore``."""

    @abstractmethod
    def _score_floats(self) -> Floats:
        """Scores of all rows; up to date after ``_rescore``."""

    @abstractmethod
    def _contribution(self) -> Floats:
        """What each leaf adds to the scores of its rows."""

    @abstractmethod
    def _state(self) -> State:
        """The learned state, as arrays of its own."""

    @abstractmethod
    def _restore(self, state: State) -> None:
        """Set the learned state to one that ``_state`` gave."""

    def _rng(self, version: int) -> np.random.Generator:
        """The random numbers that belong to one verdict, whenever it is learned or learned again."""
        return np.random.Generator(np.random.Philox(key=np.array([self.seed, version], dtype=np.uint64)))

    def _keys(self) -> NDArray:
        if not self._scored or self._ranking_keys().size < self.space.n_rows:
            self._rescore()
            self._scored = True
        return self._ranking_keys()

    # -- the log --------------------------------------------------------------------------------------------

    def _record(self, told: Told) -> None:
        version = len(self._log)
        if version % CHECKPOINT_EVERY == 0 and version not in self._checkpoints:
            self._checkpoints[version] = self._state()
        self._learn(version, told)
        self._scored = False
        self._position[told.row] = version
        self._log.append(told)

    def _forget(self, position: int) -> None:
        """Go back to the last checkpoint before a verdict and learn again what came after it."""
        kept = [told for i, told in enumerate(self._log) if i != position]
        start = self._rewind(position)
        self._checkpoints = {at: state for at, state in self._checkpoints.items() if at <= start}
        self._scored = False
        for told in self._log[start:]:
            del self._position[told.row]
        self._log = kept[:start]
        for told in kept[start:]:
            self._record(told)

    def _rewind(self, version: int) -> int:
        """Restore the newest state that is no newer than ``version``; returns its version."""
        at = max((at for at in self._checkpoints if at <= version), default=0)
        if at in self._checkpoints:
            self._restore(self._checkpoints[at])
        else:
            self._restart()
        return at

    # -- small parts ----------------------------------------------------------------------------------------

    def _closed_rows(self) -> NDArray[np.bool_]:
        if self._closed.size < self.space.n_rows:
            arrived = np.zeros(self.space.n_rows - self._closed.size, dtype=bool)
            self._closed = np.concatenate([self._closed, arrived])
        return self._closed

    def _top(self, keys: NDArray, rows: Integers, n: int) -> Integers:
        """The n rows with the largest keys, best first; equal keys by hash."""
        if 0 < n < rows.size:
            own = keys[rows]
            rows = rows[own >= kth_largest(own, n)]
        return rows[np.lexsort((self._hashes(rows), -keys[rows]))][:n]

    def _hashes(self, rows: Integers) -> NDArray[np.uint64]:
        out = np.empty(rows.size, dtype=np.uint64)
        kernels.mix_rows(self.seed, rows, out)
        return out


def _score_rows(space: ScoreSpace, rows: list[int]) -> csr_array:
    """Rows in score space: one column per leaf, the leaf's value where the row is in it."""
    leaves = space.leaves(rows)
    starts = np.arange(len(rows) + 1) * space.n_members
    return csr_array(
        (space.values[leaves.ravel()], leaves.ravel(), starts), shape=(len(rows), space.n_leaves)
    )


def _name(cls: type[FeedbackRanker]) -> str:
    """What a file calls a strategy; of other packages by full name, so that none takes the place of ours."""
    return cls.__name__ if package_of(cls) == "shortlist" else f"{cls.__module__}.{cls.__qualname__}"
