"""Curves drawn with matplotlib, in the manner of scikit-learn's displays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

from numpy.typing import ArrayLike

from shortlist.exceptions import InvalidInputError, MissingExtraError
from shortlist.metrics.curves import Curve, cost_saved_by_k, hits_by_rank, precision_by_rank
from shortlist.metrics.scorers import as_flags, score_rows

_CURVES: dict[str, Callable[..., Curve]] = {
    "hits": hits_by_rank,
    "precision": precision_by_rank,
    "cost saved": cost_saved_by_k,
}


class CurveDisplay:
    """A curve along the ranking with its interval; ``plot`` draws it, on the given axes or on new ones.

    ``kind`` is ``"hits"``, ``"precision"`` or ``"cost saved"``; further options go to the function of that
    name in ``shortlist.metrics`` (``hits_by_rank``, ``precision_by_rank``, ``cost_saved_by_k``).

    >>> display = CurveDisplay(precision_by_rank([1, 0, 1, 0], [4, 3, 2, 1]), name="model")
    >>> float(display.curve.value[1])
    0.5
    """

    ax_: Any
    figure_: Any
    line_: Any
    band_: Any

    def __init__(self, curve: Curve, *, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        kind: Literal["hits", "precision", "cost saved"] = "hits",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Score the rows of X and draw the curve."""
        name = type(estimator).__name__ if name is None else name
        flags, scores = as_flags(estimator, y), score_rows(estimator, X)
        return cls.from_predictions(flags, scores, kind=kind, name=name, ax=ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        score: ArrayLike,
        *,
        kind: Literal["hits", "precision", "cost saved"] = "hits",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of given scores."""
        if kind not in _CURVES:
            raise InvalidInputError(f"kind must be one of {', '.join(map(repr, _CURVES))}; got {kind!r}.")
        return cls(_CURVES[kind](y, score, **options), name=name).plot(ax=ax)

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the curve; ``line_options`` go to matplotlib's ``plot``."""
        if ax is None:
            _, ax = pyplot().subplots()
        curve = self.curve
        (self.line_,) = ax.plot(curve.rank, curve.value, **{"label": self.name, **line_options})
        colour = self.line_.get_color()
        self.band_ = ax.fill_between(curve.rank, curve.low, curve.high, color=colour, alpha=0.2, linewidth=0)
        ax.set(xlabel="rows reviewed", ylabel=curve.name)
        if self.line_.get_label() and not self.line_.get_label().startswith("_"):
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def pyplot() -> Any:
    """The drawing functions of matplotlib, which is not installed by default."""
    try:
        from matplotlib import pyplot  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError.of("matplotlib", "plot") from error
    return pyplot
