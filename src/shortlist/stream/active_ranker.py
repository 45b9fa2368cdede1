"""The ranker of a stream: shows the top k of each window, asks for few labels, learns from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from shortlist.exceptions import InvalidInputError
from shortlist.kernels.stream.finite import all_within
from shortlist.lists import Groups
from shortlist.rankers.base import unchanged_if_refused
from shortlist.rankers.batch import Batch
from shortlist.rankers.classes import is_wanted, read_classes
from shortlist.stream.columns import StreamColumns
from shortlist.stream.drift import DriftAlarm
from shortlist.stream.learners.cold_start import ColdStart
from shortlist.stream.queries import ranked_positions, top_positions
from shortlist.stream.saving import StateFileError, read_state, write_state
from shortlist.stream.settings import StreamSettings, check_settings, make_learner, make_plan
from shortlist.stream.state import restore, state_of
from shortlist.stream.window import NOT_WANTED, WAITING, WANTED, OpenWindow, find_waiting
from shortlist.validation import LARGEST_VALUE, check_vector, check_wanted, make_generator
from shortlist.verdicts import verdict_codes

Rows = NDArray[np.int64]

#: Rows below the top k that are put in order at once; the others only if they are needed.
_SORTED_BELOW = 500


class ActiveRanker(StreamSettings):
    """Ranks the rows of a stream window by window and asks for the labels that help its top k most.

    For each window, ``ask(X)`` gives the rows to label, the top k first; ``tell(rows, wanted)`` takes their
    labels, at once or many windows later; ``ask()`` without rows gives what remains to be asked of earlier
    windows once their labels are in (nothing, for the default learner). Rows are numbered over the whole
    stream, from 0. The features of a window may be an array or a data frame.

    With Δ the number of unwanted rows in the top k, and m_i how far row i lies below the score of rank k, rows
    beyond the top k are queried by ``scheme``: "sequential" goes down the ranking; the others draw row i with
    p_i = min(1, c·g_i), Σ p_i = E, where g_i is exp(−m_i/τ) for "exponential", 1/(m_i/τ + 0.01) for "inverse"
    and 1 for "uniform", and τ is the standard deviation of the scores.

    - ``learner="refit"`` (default): a logistic regression fitted anew to all labels that still count. It asks
      once per window: for the top k and ``extra_labels`` more.
    - ``learner="perceptron"``: the papers' algorithms. It asks for the top k first and, if Δ > 0, for more.
      With "sequential" and no limit these are Algorithm 1's updates, with far fewer labels; with the other
      schemes this is Algorithm 2, its five faults mended (see ``Perceptron`` for the step that differs).

    Parameters
    ----------
    k : rows of each window that are shown and measured
    extra_labels : labels per window beyond the top k, a hard limit; None: k for the refit; for the perceptron
        as many as the top k has unwanted rows (on average, or without limit for "sequential")
    scheme : how rows beyond the top k are chosen
    learner : "refit" or "perceptron"
    kernel : None (linear), "rbf", or "auto": "rbf" for the refit and None for the perceptron. The perceptron's
        is exact up to 1,000 support vectors and then uses random Fourier features; the refit adds 256 random
        Fourier features to the columns. None is much faster
    explore : share of the extra labels that is spread evenly over the window; None: 0.5 for the refit, 0 for
        the perceptron
    decay : weight that labels of the window before keep; None: 0.95 for the refit, 1 for the perceptron
    drift_decay : the same while the stream recovers from a drift alarm; 1: never forget
    window_labels : hard limit of labels per window, also below k; None: k + extra labels
    total_labels : hard limit of labels in the whole stream; None: no limit
    cold_start : ranking before a wanted row is known: "isolation_forest" (default of the refit, which trusts it less
        with every window that holds none) or "random" (default of the perceptron). To start from known rows, give
        them to ``partial_fit``
    standardize : bring columns to one scale, learned from recent rows (from the first window for the
        perceptron, whose w cannot follow)
    balance, average : options of the perceptron: see there
    random_state : seed

    Attributes
    ----------
    n_rows_, n_windows_ : how many rows and windows have been seen
    labels_asked_ : how many labels have been asked for
    precisions_ : (window, precision of its top k by the labels) for each window whose labels are complete; the first
        window is 1
    alarms_ : windows at which the drift alarm was raised

    References
    ----------
    Modi, Sekhari, Gupta (2017), Online active learning for prec@k. Kar, Narasimhan, Jain (2015), Surrogate
    functions for maximizing precision at the top.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 5))
    >>> y = X[:, 0] + 0.3 * rng.normal(size=20_000) > 2.2
    >>> ranker = ActiveRanker(20, extra_labels=10, random_state=0)
    >>> for window in np.split(X, 10):
    ...     rows = ranker.ask(window)
    ...     ranker = ranker.tell(rows, y[rows])
    >>> ranker.labels_asked_, bool(np.mean([precision for _, precision in ranker.precisions_[5:]]) > 0.7)
    (300, True)
    """

    _takes_missing = True

    # -- the stream

    def ask(self, X: Any = None) -> Rows:
        """Rows to label: of the next window, the top k first; without X, what earlier windows still need."""
        if X is None:
            self._check_started()
            return self._ask_further()
        return self._asked(self._open(self._check_window(X)))

    def tell(self, rows: ArrayLike, wanted: ArrayLike) -> Self:
        """Labels of rows that were asked about, in any order: 1 or True = wanted, 0 = not, NaN = unsure; or verdicts.

        Labels of rows that are not waiting for one are refused, and then none is taken.
        """
        self._check_started()
        told = check_vector(rows, "rows")
        verdicts = verdict_codes(wanted, told.size)
        for window, mine, places in find_waiting(self.open_.values(), told):
            window.verdicts[places] = verdicts[mine]
            if self.learner_.hears:
                self._hear(window, places, verdicts[mine])
            if not window.is_waiting and not self.plan_.may_go_on(window, self._limit_left(window)):
                self._close(window)
        return self

    def ask_about(self, X: Any, sample: Any = None) -> Rows:
        """Ask for the labels of all these rows, which somebody else chose, as a window of their own.

        ``sample`` are rows they were chosen from, to learn the scales of columns by; default: X itself. More rows than
        ``window_labels`` or ``total_labels`` leave room for are refused.
        """
        X = self._check_window(X)
        sample = X if sample is None else self._check_window(sample)
        n, left = X.shape[0], self.labels_left_
        if n > left:
            raise InvalidInputError(
                f"these are {n} rows, but window_labels and total_labels leave room for {left:.0f}; ask about fewer."
            )
        self._fade()
        self.columns_.observe(sample, self.rng_)
        X, scores = X.copy(), self._score(X)  # what waits for labels must not change with the caller's array
        window = self._numbered(X, scores, np.arange(n), n_top=n, n_sorted=n, n_asked=n)
        self.n_rows_ += n
        self.n_windows_ += 1
        return self._asked(window)

    def partial_fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from the next window with all of its labels: they are given, not asked for.

        Also the way to start from known rows; one wanted row is enough for the refit. y is read as ``fit`` reads it: of
        two values the larger is wanted.
        """
        with unchanged_if_refused(self):
            X = self._check_window(X)
            self._learn_window(X, self._read_labels(y, X.shape[0]))
        return self

    @property
    def pending_(self) -> Rows:
        """Rows whose label has been asked for and not been told."""
        self._check_started()
        parts = [window.rows(window.waiting) for window in self.open_.values()]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])

    @property
    def is_due_(self) -> bool:
        """Whether ``ask()`` without rows has something to do: a window's labels are in, and it may need more."""
        self._check_started()
        return any(not window.is_waiting for window in self.open_.values())

    @property
    def labels_left_(self) -> float:
        """The most labels that a new window may cost; infinite where nothing limits them."""
        self._check_started()
        return min(self._labels_left(), np.inf if self.window_labels is None else self.window_labels)

    def save(self, path: str | Path) -> None:
        """Keep everything in one file, at any moment; ``load`` goes on bit for bit as if nothing had happened."""
        write_state(Path(path), self.to_state())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Go on from a file written by ``save``; nothing in it is executed."""
        return cls.from_state(read_state(Path(path)))

    def to_state(self) -> dict[str, Any]:
        """Parameters and everything learned, as a tree of arrays and plain values."""
        return state_of(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The ranker whose ``to_state`` this is; it goes on bit for bit."""
        try:
            ranker = cls(**state["parameters"])
            if state["started"]:
                restore(ranker, state)
            return ranker
        except (KeyError, TypeError, InvalidInputError) as error:
            raise StateFileError(
                f"the state lacks or misnames a part ({error}); start a new stream."
            ) from None

    # -- the ranker's contract

    def fit(self, X: Any, y: ArrayLike, *, groups: Groups | None = None) -> Self:  # type: ignore[override]
        """Begin a stream with one window of labelled rows; labels weigh by age, so there is no ``sample_weight``.

        The rows of a window are one list: ``groups`` that say otherwise are refused.
        """
        return super().fit(X, y, groups=groups)

    @property
    def _is_classifier(self) -> bool:
        """The labels it asks for are no sample of its rows, so what share of rows is wanted is not known to it."""
        return False

    def _fit(self, batch: Batch) -> None:
        check_settings(self)
        if not batch.lists.is_one:
            raise InvalidInputError(
                "the rows of a window are ranked together, as one list; leave groups out, or use one ranker per list."
            )
        self._start(batch.categorical)
        self._learn_window(batch.X, batch.y)

    def _score(self, X: NDArray) -> NDArray[np.float64]:
        if self.learner_.ready:
            return self.learner_.scores(X, self.columns_)
        return self.cold_start_.scores(X, self.columns_)

    def _start(self, categorical: NDArray[np.bool_], seed: int | None = None) -> None:
        self.rng_ = make_generator(self.random_state)
        self.seed_ = int(self.rng_.integers(2**31)) if seed is None else seed
        self.plan_ = make_plan(self)
        self.learner_ = make_learner(self, self.seed_)
        self.columns_ = StreamColumns(
            categorical, standardize=self.standardize, frozen=not self.learner_.follows_scales
        )
        self.cold_start_ = ColdStart(self.plan_.cold_start, self.seed_)
        self.drift_ = DriftAlarm()
        self.open_: dict[int, OpenWindow] = {}
        self.n_rows_ = self.n_windows_ = self.labels_asked_ = 0
        self.log_decay_ = 0.0
        self.precisions_: list[tuple[int, float]] = []
        self.alarms_: list[int] = []

    def _check_started(self) -> None:
        # What scikit-learn does to find this out takes longer than to choose rows of a small window.
        if not hasattr(self, "plan_"):
            check_is_fitted(self)

    def _check_window(self, X: Any) -> NDArray:
        started = hasattr(self, "plan_")
        if started and self._is_plain(X):
            return X
        if not started:
            check_settings(self)
        X = self._check_features(X, reset=not started)
        if not started:
            self._start(self._categorical(X))
        return X

    def _is_plain(self, X: Any) -> bool:
        """Whether X is an array with which nothing can be wrong: small windows pay more for checks than for work."""
        if not isinstance(X, np.ndarray) or X.dtype != np.float64 or self.schema_ is not None:
            return False
        return (
            X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and bool(all_within(X.ravel(), LARGEST_VALUE))
        )

    def _read_labels(self, y: ArrayLike, n_rows: int) -> NDArray[np.bool_]:
        """Labels in the values that ``fit`` or an earlier window had; the first other than 1 and 0 need both kinds."""
        if not hasattr(self, "classes_"):
            if np.isin(check_vector(y, "y", n_rows), (0, 1)).all():
                return check_wanted(y, n_rows)
            self.classes_ = read_classes(y, n_rows)
        return is_wanted(y, self.classes_, n_rows)

    # -- windows

    def _learn_window(self, X: NDArray, wanted: NDArray[np.bool_]) -> None:
        window = self._open(X, whole=True)
        window.answer_all(wanted)
        if self.learner_.hears:
            self.learner_.hear(window.first_row + np.arange(X.shape[0]), X, wanted, window.log_decay)
        self._close(window)

    def _open(self, X: NDArray, *, whole: bool = False) -> OpenWindow:
        """Number the rows of a window, rank them, and choose those to ask about first."""
        self._fade()
        self.columns_.observe(X, self.rng_)
        # With all labels given, nobody looks at a cold start.
        scores = np.zeros(X.shape[0]) if whole and not self.learner_.ready else self._score(X)
        if whole or not self.plan_.one_round:
            n_top = int(min(self.plan_.k, scores.size, np.inf if whole else self.labels_left_))
            best = self._best(scores, n_top)
            X = X if whole else X.copy()  # what waits for labels must not change with the caller's array
            window = self._numbered(X, scores, best, n_top=n_top, n_sorted=best.size, n_asked=n_top)
        else:
            places, n_top = self.plan_.first_round(
                scores, self.labels_left_, self.rng_, **self._where_to_look()
            )
            window = self._numbered(
                X[places], scores, places, n_top=n_top, n_sorted=places.size, n_asked=places.size
            )
        self.n_rows_ += X.shape[0]
        self.n_windows_ += 1
        return window

    def _where_to_look(self) -> dict[str, bool]:
        """Whether extra labels, and half of the top k too, leave the ranking to look anywhere in the window.

        After a drift, and after a window in which the cold start found nothing, looking where the ranking points
        is a waste; after two such windows, so is most of the top k.
        """
        misses = 0 if self.learner_.ready or not self.plan_.doubts else len(self.precisions_)
        return {"explore_only": self.drift_.recovering or misses >= 1, "spread_top": misses >= 2}

    def _asked(self, window: OpenWindow) -> Rows:
        """Keep a window until its labels are in; gives the rows that are asked about."""
        self.labels_asked_ += window.n_asked
        if window.n_asked:
            self.open_[window.number] = window
        return window.rows(window.waiting)

    def _numbered(
        self, X: NDArray, scores: NDArray[np.float64], positions: Rows, **counts: int
    ) -> OpenWindow:
        numbers = {"number": self.n_windows_ + 1, "first_row": self.n_rows_}
        return OpenWindow.of(X, scores, positions, log_decay=self.log_decay_, **numbers, **counts)

    def _best(self, scores: NDArray[np.float64], n_top: int) -> Rows:
        """Positions, best first, of as many rows as are likely to be needed: sorting all costs most."""
        if n_top + _SORTED_BELOW >= scores.size or not self.learner_.ready:
            return ranked_positions(scores, self.rng_)
        return top_positions(scores, n_top + _SORTED_BELOW, self.rng_)

    def _fade(self) -> None:
        factor = self.drift_decay if self.drift_.recovering else self.plan_.decay
        if self.n_windows_ and factor < 1.0:
            self.log_decay_ += float(np.log(factor))
            self.learner_.fade(factor)

    def _labels_left(self) -> float:
        return np.inf if self.total_labels is None else max(0, self.total_labels - self.labels_asked_)

    def _limit_left(self, window: OpenWindow) -> float:
        in_window = np.inf if self.window_labels is None else self.window_labels - window.n_asked
        return min(self._labels_left(), in_window)

    def _hear(self, window: OpenWindow, places: Rows, verdicts: NDArray[np.int8]) -> None:
        decided = (verdicts == WANTED) | (verdicts == NOT_WANTED)
        places, wanted = places[decided], verdicts[decided] == WANTED
        self.learner_.hear(window.rows(places), window.features(places), wanted, window.log_decay)

    def _ask_further(self) -> Rows:
        asked = [np.empty(0, dtype=np.int64)]
        for window in [each for each in self.open_.values() if not each.is_waiting]:
            places = self.plan_.next_round(window, self._limit_left(window), self.rng_)
            window.verdicts[places] = WAITING
            self.labels_asked_ += places.size
            asked.append(window.rows(places))
            if places.size == 0:
                self._close(window)
        return asked[-1] if len(asked) <= 2 else np.concatenate(asked)

    def _close(self, window: OpenWindow) -> None:
        """Learn from a window that has all its labels, and measure its top k."""
        self.open_.pop(window.number, None)
        hits, looked = window.top_hits()
        if looked:
            self.precisions_.append((window.number, hits / looked))
        if self.drift_.measure(hits, looked):
            self.alarms_.append(window.number)
        self.learner_.close(window, self.columns_)
