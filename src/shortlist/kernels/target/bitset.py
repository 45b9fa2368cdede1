"""Sets of rows as bits, 64 rows to a word: AND, popcount, and the rows that a split sends left."""

# Numba infers the types of these kernels from the arrays of the named tuples they work on.
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Cuts(NamedTuple):
    """Row sets from which the left side of any split is put together.

    Feature f owns the rows of ``bits`` from ``start[f]`` on. With ``n_planes[f] == 0`` they are one set per
    cut of a numeric feature (rows of bins 0..cut) or one per bin of a categorical one; otherwise they are
    the bits of the bin numbers, lowest first, which take less memory and more work. Missing rows are in
    none of them; they are row ``missing_at[f]`` of ``missing`` (-1: the feature has no missing values).
    """

    bits: NDArray[np.uint64]
    start: NDArray[np.int64]
    n_planes: NDArray[np.int64]
    n_cuts: NDArray[np.int64]  # cuts of a numeric feature, bins of a categorical one
    categorical: NDArray[np.bool_]
    missing: NDArray[np.uint64]
    missing_at: NDArray[np.int64]
    ready: NDArray[np.bool_]  # the left side of every split is a row of ``bits``
    usable: NDArray[np.int64]  # features that can split at all


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """How many bits of a word are set."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), emit


@intrinsic
def lowest_bit(typing_context: Any, word: Any) -> Any:
    """The position of the lowest set bit of a word that is not zero."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, 1))

    return types.uint64(types.uint64), emit


@compiled
def count_common(rows, side, first, last):
    """How many rows are in both sets, within a range of words."""
    count = _ZERO
    # Unsigned, so that no index has to be checked for counting from the end: four times as fast.
    for word in range(np.uint64(first), np.uint64(last)):
        count += popcount(rows[word] & side[word])
    return np.int64(count)


@compiled
def keep_common(rows, side, common, first, last):
    """The same, and keep the common rows."""
    count = _ZERO
    for word in range(np.uint64(first), np.uint64(last)):
        both = rows[word] & side[word]
        common[word] = both
        count += popcount(both)
    return np.int64(count)


@compiled
def keep_rest(rows, side, rest, first, last):
    """How many rows are in both sets, and keep those that are not in the second."""
    count = _ZERO
    for word in range(np.uint64(first), np.uint64(last)):
        both = rows[word] & side[word]
        rest[word] = rows[word] ^ both
        count += popcount(both)
    return np.int64(count)


@compiled
def copy_rows(rows, out):
    """Make one set equal to another."""
    for word in range(out.size):
        out[word] = rows[word]


@compiled
def weigh(rows, weight):
    """The weight of a set of rows."""
    total = 0.0
    for word in range(rows.size):
        left = rows[word]
        while left != _ZERO:
            total += weight[word * 64 + np.int64(lowest_bit(left))]
            left &= left - _ONE
    return total


@compiled
def rows_left(cuts, feature, missing_left, rule, out):
    """The rows that a split sends left, put into ``out``."""
    start, has_missing = cuts.start[feature], cuts.missing_at[feature] >= 0
    if cuts.n_planes[feature] > 0:
        planes = cuts.bits[start : start + cuts.n_planes[feature]]
        if cuts.categorical[feature]:
            _bins_in_set(planes, rule, out)
        else:
            _bins_below(planes, rule + _ONE, out)
        if has_missing:
            drop_rows(out, cuts.missing[cuts.missing_at[feature]])
    elif cuts.categorical[feature]:
        _union(cuts.bits, start, rule, out)
    else:
        copy_rows(cuts.bits[start + np.int64(rule)], out)
    if has_missing and missing_left:
        join_rows(out, cuts.missing[cuts.missing_at[feature]])
    return out


@compiled
def _union(bits, start, members, out):
    """Rows of the bins that are members of a set."""
    out[:] = _ZERO
    while members != _ZERO:
        join_rows(out, bits[start + np.int64(lowest_bit(members))])
        members &= members - _ONE


@compiled
def join_rows(out, rows):
    """Add rows to a set."""
    for word in range(out.size):
        out[word] |= rows[word]


@compiled
def drop_rows(out, rows):
    """Take rows out of a set."""
    for word in range(out.size):
        out[word] &= ~rows[word]


@compiled
def _bins_below(planes, limit, out):
    """Rows whose bin number is below the limit, compared bit by bit from the lowest."""
    out[:] = _ZERO
    for plane in range(planes.shape[0]):
        if (limit >> np.uint64(plane)) & _ONE:
            for word in range(out.size):
                out[word] |= ~planes[plane, word]
        else:
            for word in range(out.size):
                out[word] &= ~planes[plane, word]
    if limit >> np.uint64(planes.shape[0]):  # the limit is above every number that the planes can hold
        out[:] = ~_ZERO


@compiled
def _bins_in_set(planes, members, out):
    """Rows whose bin number is a member: the set is a truth table, folded plane by plane."""
    folded = np.empty(64, dtype=np.uint64)
    width = 1 << planes.shape[0]
    for word in range(out.size):
        for number in range(width):
            folded[number] = _ZERO - ((members >> np.uint64(number)) & _ONE)
        half = width
        for plane in range(planes.shape[0]):
            half >>= 1
            bit = planes[plane, word]
            for number in range(half):
                folded[number] = (folded[2 * number] & ~bit) | (folded[2 * number + 1] & bit)
        out[word] = folded[0]


@compiled
def fill_cuts(code, missing, position, bits, cumulate):
    """One row set per bin number of a feature; ``cumulate``: of that number or below."""
    for row in range(code.size):
        if not missing[row]:
            at = position[row]
            bits[code[row], at >> 6] |= _ONE << np.uint64(at & 63)
    if cumulate:
        for number in range(1, bits.shape[0]):
            join_rows(bits[number], bits[number - 1])


@compiled
def fill_planes(code, position, bits):
    """One row set per bit of a feature's bin numbers."""
    for row in range(code.size):
        at, number = position[row], np.uint64(code[row])
        for plane in range(bits.shape[0]):
            bits[plane, at >> 6] |= ((number >> np.uint64(plane)) & _ONE) << np.uint64(at & 63)


@compiled
def fill_set(member, position, bits):
    """The set of the rows that are members."""
    for row in range(member.size):
        if member[row]:
            at = position[row]
            bits[at >> 6] |= _ONE << np.uint64(at & 63)
