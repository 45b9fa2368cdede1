"""Which numbers the parameters of a ranker may be, checked before it learns."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

from shortlist.exceptions import InvalidInputError


@dataclass(frozen=True)
class Limit:
    """What a parameter may be.

    >>> str(Limit(0, 1, above=True)), str(Limit(1, whole=True, optional=True))
    ('a number above 0 and at most 1', 'a whole number of at least 1, or None')
    """

    least: float
    most: float = math.inf
    whole: bool = False
    above: bool = False  # the least itself is too little
    below: bool = False  # the most itself is too much
    optional: bool = False  # None will do
    endless: bool = False  # so will infinity

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        least = f"above {self.least:g}" if self.above else f"of at least {self.least:g}"
        most = f" and {'below' if self.below else 'at most'} {self.most:g}" if self.most < math.inf else ""
        return f"{kind} {least}{most}{', or None' if self.optional else ''}"

    def check(self, name: str, value: Any) -> None:
        """Refuse what the parameter of this name may not be."""
        kind = numbers.Integral if self.whole else numbers.Real
        a_number = isinstance(value, kind) and not isinstance(value, bool)
        if not (value is None and self.optional) and not (a_number and self._holds(float(value))):
            raise InvalidInputError(f"{name} must be {self}; got {value!r}.")

    def _holds(self, value: float) -> bool:
        enough = self.least < value or (value == self.least and not self.above)
        too_much = value > self.most or (value == self.most and self.below)
        return enough and not too_much and (self.endless or math.isfinite(value))


COUNT = Limit(1, whole=True)
POSITIVE = Limit(0, above=True)
NOT_NEGATIVE = Limit(0)
SHARE = Limit(0, 1, above=True)
#: A share that leaves something over.
PART = Limit(0, 1, above=True, below=True)
PART_OR_NONE = Limit(0, 1, above=True, below=True, optional=True)
