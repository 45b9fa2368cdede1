"""The time of the log: it never goes back, whatever the clock of the machine does."""

from __future__ import annotations

from collections.abc import Callable


class SteadyClock:
    """The time of day, but for steps back: then it goes on from where it was, as fast as time passes.

    A clock that is set back would make leases last for as long again, and the next start could give a row that somebody
    holds to somebody else.

    Parameters
    ----------
    wall : the clock of the machine, in seconds since 1970
    steady : a clock that is never set, in seconds since anything

    >>> wall, steady = iter([100.0, 40.0]), iter([7.0, 9.0])
    >>> clock = SteadyClock(lambda: next(wall), lambda: next(steady))
    >>> clock(at_least=0.0), clock(at_least=0.0)
    (100.0, 102.0)
    """

    def __init__(self, wall: Callable[[], float], steady: Callable[[], float]) -> None:
        self._wall, self._steady = wall, steady
        self._last: tuple[float, float] | None = None

    def __call__(self, *, at_least: float) -> float:
        """The time now: not before the last event of the log, and not before what this clock has told."""
        tick = self._steady()
        told = self._last[0] + tick - self._last[1] if self._last else at_least
        now = max(self._wall(), told, at_least)
        self._last = now, tick
        return now
