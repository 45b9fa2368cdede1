"""A number for each of many texts, the same on every machine and with every release of a library."""

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiled import compiled


@compiled
def hash_texts(letters, sizes):  # type: ignore[no-untyped-def]
    """64 bits of each text (FNV-1a); ``letters`` are the bytes of all of them, one after the other."""
    out = np.empty(sizes.size, dtype=np.uint64)
    start = 0
    for i in range(sizes.size):
        number = np.uint64(0xCBF29CE484222325)
        for k in range(start, start + sizes[i]):
            number = (number ^ np.uint64(letters[k])) * np.uint64(0x100000001B3)
        out[i] = number
        start += sizes[i]
    return out
