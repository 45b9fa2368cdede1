"""Mean and median of a figure of all rows, which lie in parts: the bits that numpy gives for one array of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.rows.parts import Parts
from shortlist.feedback.spaces.forest import Floats, Integers

#: Numbers are found digit by digit, of so many bits.
BITS, LEVELS = 16, 4
#: Up to so many numbers numpy adds in one go, more of them as the sums of two halves.
ADDED_AT_ONCE = 128


def median_of(parts: Parts, n_rows: int) -> float:
    """The middle of all figures, or the mean of the two in the middle."""
    return float(np.mean([_in_order(parts, at) for at in {(n_rows - 1) // 2, n_rows // 2}]))


def _in_order(parts: Parts, at: int) -> float:
    """The figure at a place, from 0, in rising order: digit by digit, each by how many rows have which."""
    prefix = 0
    for level in range(LEVELS):
        upto = np.cumsum(np.sum(parts.each("count_digits", level, prefix), axis=0))
        digit = int(np.searchsorted(upto, at, side="right"))
        at -= int(upto[digit - 1]) if digit else 0
        prefix = prefix << BITS | digit
    return float(_from_ordered(np.array([prefix], dtype=np.uint64))[0])


def digits(figures: Floats, level: int, prefix: int) -> Integers:
    """How many figures begin with these digits, by the next one."""
    ordered, below = _ordered(figures), BITS * (LEVELS - level - 1)
    if level:
        ordered = ordered[ordered >> np.uint64(below + BITS) == np.uint64(prefix)]
    last = (ordered >> np.uint64(below)) & np.uint64(2**BITS - 1)
    return np.bincount(last.astype(np.int64), minlength=2**BITS)


def _ordered(figures: Floats) -> NDArray[np.uint64]:
    """Whole numbers in the order of the figures."""
    bits, sign = np.ascontiguousarray(figures).view(np.uint64), np.uint64(2**63)
    return np.where(bits & sign, ~bits, bits | sign)


def _from_ordered(numbers: NDArray[np.uint64]) -> Floats:
    sign = np.uint64(2**63)
    return np.where(numbers & sign, numbers ^ sign, ~numbers).view(np.float64)


def mean_of(parts: Parts, n_rows: int) -> float:
    """The mean of all figures.

    Numpy adds the sum of one half to that of the other, and so on down to a few numbers. Here halves that lie in one
    part are added there, and the few that lie in several are fetched. NumPy 2.0 adds up long arrays
    otherwise: with it, the mean of many rows may differ in its last digits from that of one machine.
    """
    stretches = list(_stretches(parts, 0, n_rows))
    whole = [each for each in stretches if _is_whole(parts, *each)]
    known = dict(zip(whole, _sums(parts, whole), strict=True))
    torn = [each for each in stretches if each not in known]
    fetched = parts.of("figures_of", np.array([*chain(*(range(*each) for each in torn))], dtype=np.int64))
    lengths = np.cumsum([high - low for low, high in torn])[:-1]
    known |= {each: float(np.sum(own)) for each, own in zip(torn, np.split(fetched, lengths), strict=False)}

    def added(low: int, high: int) -> float:
        if (low, high) in known:
            return known[low, high]
        middle = _middle(low, high)
        return added(low, middle) + added(middle, high)

    return added(0, n_rows) / n_rows


def _stretches(parts: Parts, low: int, high: int) -> Iterator[tuple[int, int]]:
    if high - low <= ADDED_AT_ONCE or _is_whole(parts, low, high):
        yield low, high
    else:
        middle = _middle(low, high)
        yield from _stretches(parts, low, middle)
        yield from _stretches(parts, middle, high)


def _middle(low: int, high: int) -> int:
    half = (high - low) // 2
    return low + half - half % 8


def _is_whole(parts: Parts, low: int, high: int) -> bool:
    first, last = parts.owners(np.array([low, high - 1]))
    return bool(first == last)


def _sums(parts: Parts, stretches: list[tuple[int, int]]) -> list[float]:
    """Sums that parts add up; stretches are in order, and so are parts."""
    owners = parts.owners(np.array([low for low, _ in stretches], dtype=np.int64))
    asked = {
        int(part): ([each for each, owner in zip(stretches, owners, strict=True) if owner == part],)
        for part in np.unique(owners)
    }
    return [*chain(*parts.ask("add_figures", asked))]
