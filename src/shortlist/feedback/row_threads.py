"""Work on ranges of rows in several threads, for kernels that give the interpreter free."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

import numba
import numpy as np

from shortlist.kernels.trees import BLOCK

#: More threads than these wait for memory, not for each other.
MOST_THREADS = 4


def in_parallel(work: Callable[[int, int], None], first: int, last: int, *, least: int) -> None:
    """Call ``work(low, high)`` for ranges that together are the rows first to last - 1, each of ``least`` rows or more.

    Rows must not depend on each other: then the result is the same however many threads there are. Numba's setting
    ``NUMBA_NUM_THREADS`` limits them.

    >>> out = np.zeros(10)
    >>> in_parallel(lambda low, high: out[low:high].fill(1), 2, 10, least=4)
    >>> out.sum()
    np.float64(8.0)
    """
    n_threads = min(MOST_THREADS, numba.config.NUMBA_NUM_THREADS, (last - first) // max(1, least))
    if n_threads < 2:
        work(first, last)
        return
    # Whole blocks of leaf numbers, so that no two threads share one.
    inner = np.linspace(first, last, n_threads + 1)[1:-1].astype(np.int64) // BLOCK * BLOCK
    ends = [first, *(int(end) for end in inner if end > first), last]
    others = [_pool().submit(work, low, high) for low, high in pairwise(ends[1:])]
    work(ends[0], ends[1])
    for other in others:
        other.result()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_THREADS - 1, thread_name_prefix="rows")


if hasattr(os, "register_at_fork"):  # the threads of a pool do not live on in a forked process
    os.register_at_fork(after_in_child=_pool.cache_clear)
