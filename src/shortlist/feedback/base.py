"""What all feedback rankers share: ask for a row, tell a verdict, take it back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError
from shortlist.feedback.checks import check_row, check_rows, keep_seed
from shortlist.feedback.compared import Compared
from shortlist.feedback.ranker_files import RankerFile
from shortlist.feedback.rows.all_rows import AllRows
from shortlist.feedback.spaces.forest import Floats, Integers
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.why import Explainer, Why
from shortlist.plugins import package_of, subclasses
from shortlist.validation import check_budget
from shortlist.verdicts import Verdict

#: The learned state is kept after every so many verdicts, so that taking one back replays few.
CHECKPOINT_EVERY = 32

#: Verdicts of each kind with which a row is compared to tell what it is like.
MOST_COMPARED = 1000

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
        self.seed = keep_seed(random_state)
        self._log: list[Told] = []
        self._position: dict[int, int] = {}  # row -> where it is in the log
        self._unsure: dict[int, None] = {}  # in the order they were told
        self._rows = AllRows(space, self.seed)
        self._checkpoints: dict[int, State] = {}
        self._scored = False
        self._explainer: tuple[int, Explainer] | None = None  # of what is learned, and for how many rows
        self._compared: tuple[int, Compared] | None = None  # with so many verdicts of the log
        self._restart()

    # -- asking ---------------------------------------------------------------------------------------------

    @overload
    def ask(self, n: None = None, *, skip: Iterable[int] = ()) -> int: ...
    @overload
    def ask(self, n: int, *, skip: Iterable[int] = ()) -> list[int]: ...
    def ask(self, n: int | None = None, *, skip: Iterable[int] = ()) -> int | list[int]:
        """The top row without a verdict; with ``n``, the n top rows. Rows in ``skip`` are passed over."""
        skipped = check_rows(skip, self.space.n_rows)
        left = self._n_open - sum(not self._is_closed(row) for row in {*skipped.tolist()})
        if left < (1 if n is None else check_budget(n, name="n")):
            raise InvalidInputError(
                f"{counted(left, 'row')} left to ask for ({len(self._log)} reviewed, {len(self._unsure)} unsure, "
                f"{skipped.size} skipped of {self.space.n_rows}). Stop here, or append rows to the space."
            )
        best = self._ranked().best(1 if n is None else n, skipped).tolist()
        return best[0] if n is None else best

    def ranking(self, k: int | None = None, *, among: Integers | None = None) -> Integers:
        """The k top rows without a verdict, best first; None: all of them. ``among``: of these rows only."""
        most = None if k is None else check_budget(k, name="k")
        if among is None:
            return self._ranked().best(most)
        rows = check_rows(among, self.space.n_rows)
        return self._ranked().best_of(rows, rows.size if most is None else most)

    def open_rows(self) -> Integers:
        """The rows without a verdict, in their own order."""
        return self._rows.open_rows()

    def scores(self, rows: ArrayLike | None = None) -> Floats:
        """Scores under what was learned so far, of all rows or of some; larger = look sooner."""
        ranked = self._ranked()
        return self._scores_of(
            ranked.keys() if rows is None else ranked.keys_of(check_rows(rows, self.space.n_rows))
        )

    def rank_of(self, row: int) -> int:
        """The place of a row in ``ranking()``, from 1; for a reviewed row, the place it would have."""
        return self._ranked().place(check_row(row, self.space.n_rows))

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
        if meant is None:
            self._unsure[row] = None
        else:
            self._record(Told(row, meant, self.space.n_rows))
            self._unsure.pop(row, None)
        self._rows.close(np.array([row]))

    def untell(self, row: int) -> None:
        """Take the verdict of a row back: everything is as if it had never been told."""
        row = check_row(row, self.space.n_rows)
        if row in self._unsure:
            del self._unsure[row]
        elif row in self._position:
            self._forget(self._position[row])
        else:
            raise InvalidInputError(f"row {row} has no verdict to take back.")
        self._rows.reopen(np.array([row]))

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
        """Why a row is where it is: the leaves that push it up, and the reviewed rows it resembles most.

        Those are looked for among the latest ``MOST_COMPARED`` verdicts of each kind.
        """
        row = check_row(row, self.space.n_rows)
        if self._explainer is None or self._explainer[0] != self.space.n_rows:
            made = Explainer(self.space, self._contribution(), self._latest())
            self._explainer = self.space.n_rows, made
        return self._explainer[1].why(row, n_reasons, n_similar)

    def _latest(self) -> Compared:
        """Verdicts that a row is compared with: those that are new since it was last asked are taken in."""
        known, compared = self._compared or (0, Compared(self.space, MOST_COMPARED))
        compared.add([(told.row, told.wanted) for told in self._log[known:]])
        self._compared = len(self._log), compared
        return compared

    # -- files ----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._log):,} verdicts on {self.space.n_rows:,} rows)"

    def save(self, path: Any) -> None:
        """Write verdicts, settings and learned state to one file; the space is saved on its own."""
        self.saving(path)()

    def saving(self, path: Any) -> Callable[[], None]:
        """What writes this ranker as it is now, from any thread and whatever it learns meanwhile."""
        settings = {name: getattr(self, name) for name in self.settings}
        space, n_rows, arrays = self.space, self.space.n_rows, self.to_arrays()

        def write() -> None:
            name, seed = _name(type(self)), self.seed
            RankerFile(name, settings, seed, space.fingerprint, n_rows, arrays).write(path)

        return write

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
        self._rows.close(np.array([*self._position, *self._unsure], dtype=np.int64))
        state = {
            name.removeprefix("state_"): array for name, array in arrays.items() if name.startswith("state_")
        }
        self._checkpoints[len(self._log)] = state
        self._restore(state)
        self._sort_out_anew()

    # -- for subclasses -------------------------------------------------------------------------------------

    @abstractmethod
    def _restart(self) -> None:
        """Set the learned state to what it is before any verdict."""

    @abstractmethod
    def _learn(self, version: int, told: Told) -> None:
        """Learn one verdict; ``self._log[:version]`` came before it."""

    @abstractmethod
    def _rescore(self) -> None:
        """Bring the keys of ``self._rows``, by which they are ranked, up to date with the learned state."""

    def _scores_of(self, keys: NDArray) -> Floats:
        """The scores that keys stand for."""
        return keys

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

    def _ranked(self) -> AllRows:
        """All rows, ranked under what was learned so far."""
        if not self._scored or self._rows.n_ranked < self.space.n_rows:
            self._rescore()
            self._scored = True
        return self._rows

    # -- the log --------------------------------------------------------------------------------------------

    def _record(self, told: Told) -> None:
        version = len(self._log)
        if version % CHECKPOINT_EVERY == 0 and version not in self._checkpoints:
            self._checkpoints[version] = self._state()
        self._learn(version, told)
        self._scored, self._explainer = False, None
        self._position[told.row] = version
        self._log.append(told)

    def _forget(self, position: int) -> None:
        """Go back to the last checkpoint before a verdict and learn again what came after it."""
        kept = [told for i, told in enumerate(self._log) if i != position]
        start = self._rewind(position)
        self._checkpoints = {at: state for at, state in self._checkpoints.items() if at <= start}
        self._sort_out_anew()
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

    def _sort_out_anew(self) -> None:
        """What is worked out from the verdicts when it is asked for must be worked out again."""
        self._scored, self._explainer = False, None
        self._compared = None

    # -- small parts ----------------------------------------------------------------------------------------

    @property
    def _n_open(self) -> int:
        return self.space.n_rows - len(self._position) - len(self._unsure)

    def _is_closed(self, row: int) -> bool:
        return row in self._position or row in self._unsure


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
