"""How rankers that take long say how far they are: one ``callback``, with one meaning."""

from __future__ import annotations

from typing import Any

from shortlist.exceptions import InvalidInputError
from shortlist.question.options import Progress


class TellsProgress:
    """A ranker with a ``callback``. That is code, which no saved model may hold; a trained ranker does without."""

    callback: Progress | None

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        trained = any(name.endswith("_") for name in state)
        return {**state, "callback": None} if trained else state

    def _check_callback(self) -> None:
        if self.callback is not None and not callable(self.callback):
            raise InvalidInputError(
                f"callback must be a function, called as callback(done, total, value); got {self.callback!r}."
            )
