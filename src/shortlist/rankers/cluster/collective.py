"""Sums over machines, by the same connections that the tree engine adds its histograms up over."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from xgboost import collective
from xgboost.tracker import RabitTracker

from shortlist.kernels.machines import Sums

#: From malloc.h: how much free memory at its end the heap keeps before it gives it back.
_M_TRIM_THRESHOLD = -1
_KEPT_BYTES = 1 << 28
#: Trackers that listen in this process; one that nobody holds on to would stop.
_trackers: dict[str, RabitTracker] = {}


class Collective:
    """Adds up over all machines that are connected; each must ask the same, in the same order."""

    def sum(self, values: NDArray) -> NDArray:
        """Element by element, over all machines."""
        return self._reduced(values, collective.Op.SUM)

    def max(self, values: NDArray) -> NDArray:
        """Element by element, over all machines."""
        return self._reduced(values, collective.Op.MAX)

    def gather(self, values: NDArray) -> NDArray:
        """The values of all machines, one machine after the other."""
        sizes = np.zeros(collective.get_world_size(), dtype=np.int64)
        sizes[collective.get_rank()] = len(values)
        ends = np.cumsum(self.sum(sizes))
        # The engine knows no flags; and no join, so each machine adds its values to the zeros of the others.
        plain = values.view(np.uint8) if values.dtype == np.bool_ else values
        joined = np.zeros((int(ends[-1]), *values.shape[1:]), dtype=plain.dtype)
        last = int(ends[collective.get_rank()])
        joined[last - len(values) : last] = plain
        return self.sum(joined).view(values.dtype)

    def _reduced(self, values: NDArray, how: Any) -> NDArray:
        if values.size == 0:
            return values
        return collective.allreduce(np.ascontiguousarray(values), how).reshape(values.shape)


def start_tracker(n_machines: int, host: str, key: str) -> dict[str, Any]:
    """Where that many machines find each other; it listens on this one until it is stopped."""
    # Machines are numbered by their task, and so is the one that gives the model back.
    tracker = _trackers[key] = RabitTracker(n_workers=n_machines, host_ip=host, sortby="task")
    tracker.start()
    return dict(tracker.worker_args())


def stop_tracker(key: str) -> None:
    """End what :func:`start_tracker` began."""
    tracker = _trackers.pop(key, None)
    if tracker is not None:
        tracker.free()


@contextmanager
def connected(communicator: Mapping[str, Any]) -> Iterator[Sums]:
    """Sums over the machines that connect to the same tracker; see :func:`start_tracker`."""
    _keep_memory()
    # A machine without rows is no mistake, and who got which number is nobody's concern.
    with xgb.config_context(verbosity=0), collective.CommunicatorContext(**communicator):
        yield Collective()


def _keep_memory() -> None:
    """Dask tells its workers to give free memory back at once, and every round would have to ask for it again."""
    with suppress(OSError, AttributeError):  # another C library, without that habit
        ctypes.CDLL("libc.so.6").mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
