"""Watching an evolution: what is told after each generation, and what ends it early."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from shortlist.question.options import Progress

Stop = str  # "generations", "patience", "time", "callback" or "interrupt"


@dataclass(frozen=True)
class Generation:
    """One generation of one population, as the history and the live chart see it."""

    estimator: int
    restart: int
    generation: int
    best: float  # fitness of the best tree
    mean: float  # mean fitness of the population
    leaves: int  # of the best tree
    mean_leaves: float


Chart = Callable[[Generation], None]


@dataclass(eq=False)
class Watch:
    """Tells of each generation and knows when to stop; safe to share between threads."""

    callback: Progress | None = None
    total: int = 0  # generations of all populations
    chart: Chart | None = None
    patience: int | None = None
    deadline: float | None = None
    history: list[Generation] = field(default_factory=list)
    best: float = -np.inf
    stopped: Stop | None = None  # why everything ends, not just one restart
    any_stalled: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @staticmethod
    def until(seconds: float | None) -> float | None:
        """The moment at which a time limit runs out."""
        return None if seconds is None else time.monotonic() + seconds

    def tell(self, generation: Generation) -> None:
        """Note a generation; a callback that returns True ends the evolution."""
        with self._lock:
            self.history.append(generation)
            self.best = max(self.best, generation.best)
            self._call(generation)
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self.stopped = self.stopped or "time"

    def _call(self, generation: Generation) -> None:
        ends = True  # also when the callback raises: other restarts must not go on in their threads
        try:
            if self.chart is not None:
                self.chart(generation)
            told = None if self.callback is None else self.callback(len(self.history), self.total, self.best)
            ends = told is True
        finally:
            if ends:
                self.stopped = self.stopped or "callback"

    def interrupt(self) -> None:
        """Ctrl-C: finish the running generation and keep the best tree so far."""
        self.stopped = "interrupt"

    def stalled(self, generations_without_gain: int) -> bool:
        """Whether a restart has not improved for too long."""
        stalled = self.patience is not None and generations_without_gain >= self.patience
        self.any_stalled |= stalled
        return stalled

    def table(self) -> dict[str, NDArray]:
        """What was told, as one array per column, in the order of estimator, restart and generation."""
        told = sorted(self.history, key=lambda p: (p.estimator, p.restart, p.generation))
        return {each.name: np.array([getattr(p, each.name) for p in told]) for each in fields(Generation)}
