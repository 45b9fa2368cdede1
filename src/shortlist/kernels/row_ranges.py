"""Work on ranges of rows in several threads, for kernels that give the interpreter free."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

import numba

#: More threads than these wait for memory, not for each other.
MOST_THREADS = 4

Result = TypeVar("Result")


def over_ranges(
    work: Callable[[int, int], Result], first: int, last: int, *, size: int, threads: int | None = None
) -> list[Result]:
    """The results of ``work(low, high)`` for ranges that together are the rows first to last - 1, in their order.

    Ranges end at multiples of ``size``, however many threads there are: so sums over ranges do not depend on them.
    None takes as many threads as Numba's setting ``NUMBA_NUM_THREADS`` allows.

    >>> over_ranges(lambda low, high: (low, high), 2, 10, size=4)
    [(2, 4), (4, 8), (8, 10)]
    """
    inner = range(first // size * size + size, last, size)
    ranges = list(pairwise([first, *inner, last]))
    allowed = numba.config.NUMBA_NUM_THREADS if threads is None else threads
    n_threads = min(MOST_THREADS, allowed, len(ranges))
    if n_threads < 2:
        return [work(low, high) for low, high in ranges]
    results: list[Result | None] = [None] * len(ranges)
    turns = iter(enumerate(ranges))

    def take_turns() -> None:
        for number, (low, high) in turns:
            results[number] = work(low, high)

    others = [_pool().submit(take_turns) for _ in range(1, n_threads)]
    take_turns()
    for other in others:
        # One that has not begun yet, because another program's threads are on its core, is not waited for.
        if not other.cancel():
            other.result()
    return results  # type: ignore[return-value]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_THREADS - 1, thread_name_prefix="rows")


if hasattr(os, "register_at_fork"):  # the threads of a pool do not live on in a forked process
    os.register_at_fork(after_in_child=_pool.cache_clear)
