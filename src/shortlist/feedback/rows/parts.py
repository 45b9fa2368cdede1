"""Parts that rows lie in: who is asked, wherever they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.spaces.forest import Integers


class Parts(ABC):
    """Parts that together hold all rows, each those from ``starts`` on up to the next."""

    starts: Integers

    @abstractmethod
    def ask(self, name: str, given: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """What a method gives of some parts, by number, with what each is given; in the same order."""

    @abstractmethod
    def tell(self, name: str, given: Mapping[int, tuple[Any, ...]]) -> None:
        """Let a method of some parts do something, no later than they are asked again."""

    def tell_each(self, name: str, *given: Any) -> None:
        """Let a method of each part do something."""
        self.tell(name, dict.fromkeys(range(self.starts.size), given))

    def each(self, name: str, *given: Any) -> list[Any]:
        """What a method gives of each part."""
        return self.ask(name, dict.fromkeys(range(self.starts.size), given))

    def owners(self, rows: Integers) -> Integers:
        """The part that each row lies in; an empty part, which begins where the next does, has none."""
        return np.searchsorted(self.starts, rows, side="right") - 1

    def dealt(self, rows: Integers, *given: Any) -> dict[int, tuple[Any, ...]]:
        """The rows that each part has of some, and what else it is given; the parts that have none are left out."""
        owners = self.owners(rows)
        return {int(part): (rows[owners == part], *given) for part in np.unique(owners)}

    def of(self, name: str, rows: Integers) -> NDArray:
        """What a method gives for each row, in the order of the rows."""
        owners = self.owners(rows)
        found = np.concatenate(self.ask(name, self.dealt(rows) or {0: (rows,)}))
        out = np.empty_like(found)
        out[np.argsort(owners, kind="stable")] = found
        return out


class Here(Parts):
    """One part, which holds all rows and is in this process."""

    def __init__(self, part: Any) -> None:
        self.starts = np.zeros(1, dtype=np.int64)
        self._part = part

    def ask(self, name: str, given: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """Call it."""
        return [getattr(self._part, name)(*each) for each in given.values()]

    def tell(self, name: str, given: Mapping[int, tuple[Any, ...]]) -> None:
        """At once."""
        self.ask(name, given)
