"""Free text as columns of numbers: what its words, and the letters in them, say of the rows that are wanted.

Words and parts of words are hashed, so that no list of them is kept, and a linear model weighs them. The rows that
taught the weights get theirs from models that did not see them: a ranker would otherwise trust the text far too much.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: What the columns of a text are made of, and how it is cut into pieces.
PIECES = {"words": ("word", (1, 2)), "letters": ("char_wb", (3, 5))}
#: Pieces fall into so many places; two that share one are weighed as one.
PLACES = 2**12
_FOLDS = 5
#: Rows that show whether a text helps.
_MOST_ROWS = 20_000
#: How freely pieces are weighed; studies/quality/texts.py.
_STRENGTH = 10.0


@dataclass(frozen=True, eq=False)
class TextWeights:
    """What each piece of a text adds to the score of its row: one row of weights for each of ``PIECES``."""

    weights: NDArray[np.float16]

    @classmethod
    def fit(cls, text: pl.Series, y: NDArray[np.bool_]) -> TextWeights:
        """Weights by which wanted rows come first."""
        return cls.of([pieces(text, part) for part in PIECES], y)

    @classmethod
    def of(cls, cut: list[Any], y: NDArray[np.bool_]) -> TextWeights:
        """As ``fit``, for texts that are cut into each of ``PIECES`` already."""
        return cls(np.stack([_weigh(matrix, y) for matrix in cut]).astype(np.float16))

    @classmethod
    def none(cls) -> TextWeights:
        """Weights that say nothing of any row."""
        return cls(np.zeros((len(PIECES), PLACES), dtype=np.float16))

    def columns(self, text: pl.Series) -> Floats:
        """A number for each row and each of ``PIECES``; 0 where nothing in the text says anything, NaN without text."""
        return self.sums([pieces(text, part) for part in PIECES], text.is_null().to_numpy())

    def sums(self, cut: list[Any], missing: NDArray[np.bool_]) -> Floats:
        """As ``columns``, for texts that are cut already."""
        scores = [matrix @ row for matrix, row in zip(cut, self._wide, strict=True)]
        return np.where(missing[:, None], np.nan, np.column_stack(scores))

    def telling(self, text: str, part: str, count: int = 3) -> list[str]:
        """The words of a text that add most to its score, strongest first; only those that add something.

        Of words and pairs of words that overlap, the stronger stands for both.
        """
        cut = _cutter("words").build_analyzer()(text) if part == "words" else text.lower().split()
        words = [*dict.fromkeys(cut)]
        if not words:
            return []
        adds = pieces(pl.Series(words), part) @ self._wide[[*PIECES].index(part)]
        told: list[str] = []
        for place in np.argsort(-adds, kind="stable"):
            if adds[place] <= 0 or len(told) == count:
                break
            if not any({*words[place].split()} & {*each.split()} for each in told):
                told.append(words[place])
        return told

    @property
    def _wide(self) -> Floats:
        return self.weights.astype(np.float64)

    def to_text(self) -> str:
        """The weights as text for JSON."""
        return base64.b64encode(self.weights.tobytes()).decode()

    @classmethod
    def from_text(cls, stored: str) -> TextWeights:
        """The weights that ``to_text`` stored."""
        flat = np.frombuffer(base64.b64decode(stored), dtype=np.float16)
        return cls(flat.reshape(len(PIECES), PLACES))


def held_out_columns(text: pl.Series, y: NDArray[np.bool_]) -> Floats | None:
    """The columns of the rows that teach, each by weights of other rows; None where there are too few to hold out."""
    if min(y.sum(), (~y).sum()) < _FOLDS:
        return None
    columns = np.empty((len(text), len(PIECES)))
    missing, cut = (
        text.is_null().to_numpy(),
        [pieces(text, part) for part in PIECES],
    )  # cutting takes the most time
    for learn, hold_out in _folds(y):
        weights = TextWeights.of([matrix[learn] for matrix in cut], y[learn])
        columns[hold_out] = weights.sums([matrix[hold_out] for matrix in cut], missing[hold_out])
    return columns


def _folds(y: NDArray[np.bool_]) -> list[tuple[NDArray, NDArray]]:
    splitter = import_module("sklearn.model_selection").StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    return [*splitter.split(y, y)]


def adds_to(others: NDArray[np.float32], columns: Floats, y: NDArray[np.bool_]) -> bool:
    """Whether columns help to put wanted rows first beside what the other columns tell already.

    A small model is cross-validated with and without them: they help if average precision gains in the mean of the
    folds, by more than its standard error.
    """
    rows = _sample(y)
    splits = _folds(y[rows])
    with_them = np.hstack([others[rows], columns[rows]])
    gains = [
        _precision(with_them, y[rows], *split) - _precision(others[rows], y[rows], *split) for split in splits
    ]
    return float(np.mean(gains)) > float(np.std(gains, ddof=1)) / np.sqrt(len(gains))


def _precision(X: NDArray, y: NDArray[np.bool_], learn: NDArray, hold_out: NDArray) -> float:
    # The booster cannot cut a column that has no two values among the rows it learns from.
    X = X[:, [np.unique(column[~np.isnan(column)]).size > 1 for column in X[learn].T]]
    if X.shape[1] == 0:
        return float(y[hold_out].mean())
    booster = import_module("sklearn.ensemble").HistGradientBoostingClassifier
    model = booster(max_iter=50, max_leaf_nodes=8, min_samples_leaf=5, early_stopping=False, random_state=0)
    score = model.fit(X[learn], y[learn]).decision_function(X[hold_out])
    return float(import_module("sklearn.metrics").average_precision_score(y[hold_out], score))


def _sample(y: NDArray[np.bool_]) -> NDArray[np.int64]:
    """So many rows show whether a text helps; wanted ones are kept as far as there is room for both."""
    shuffled = np.random.default_rng(0).permutation(y.size)
    wanted, others = shuffled[y[shuffled]], shuffled[~y[shuffled]]
    few = wanted[: _MOST_ROWS // 2]
    return np.sort(np.concatenate([few, others[: _MOST_ROWS - few.size]]))


def pieces(text: pl.Series, part: str) -> Any:
    """How often each piece is in each text, as a sparse matrix whose rows have length 1."""
    return _cutter(part).transform(text.fill_null("").to_list())


@cache
def _cutter(part: str) -> Any:
    analyzer, lengths = PIECES[part]
    vectorizer = import_module("sklearn.feature_extraction.text").HashingVectorizer
    return vectorizer(analyzer=analyzer, ngram_range=lengths, n_features=PLACES, alternate_sign=False)


def _weigh(matrix: Any, y: NDArray[np.bool_]) -> Floats:
    linear = import_module("sklearn.linear_model").LogisticRegression
    model = linear(C=_STRENGTH, class_weight="balanced", max_iter=300)
    return model.fit(matrix, y).coef_[0]
