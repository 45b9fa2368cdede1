"""The alarm that the stream has changed: the top k holds fewer wanted rows than it should by chance."""

from __future__ import annotations

import math
from typing import Any

#: How many standard errors the precision must fall below what is usual.
_THRESHOLD = 3.0
#: How fast "usual" follows: the weight of the windows before the last one.
_MEMORY = 0.8
#: Windows that must have been measured before an alarm is possible.
_WARM_UP = 2
#: Old labels fade fast for at most so many windows after an alarm.
_LONGEST_RECOVERY = 5


class DriftAlarm:
    """Watches the precision measured on the labelled rows of the top k, window after window.

    The usual precision p is a decaying mean of earlier windows. A window of n labelled rows raises the alarm
    when its precision lies more than 3 standard errors below p, where the squared error is
    φ·p(1 − p)·(1/n + 1/N), N the decaying number of rows behind p, and φ ≥ 1 how much more the windows so far
    varied than chance alone explains. After an alarm p starts anew, and ``recovering`` holds until the
    precision of before is reached again, for 5 windows at most.

    >>> alarm = DriftAlarm()
    >>> [alarm.measure(hits, 50) for hits in (40, 42, 41, 12, 30, 41)]
    [False, False, False, True, False, False]
    """

    def __init__(self) -> None:
        self.hits = 0.0
        self.looked = 0.0
        self.excess = 1.0
        self.measured = 0
        self.goal = 0.0
        self.recovery_left = 0

    @property
    def recovering(self) -> bool:
        """Whether an alarm was raised and precision has not come back yet."""
        return self.recovery_left > 0

    def measure(self, hits: int, looked: int) -> bool:
        """Take in one window: ``hits`` wanted rows among ``looked`` labelled ones of its top k. True: alarm."""
        if looked == 0:
            return False
        error = self._error(hits, looked)
        self._recover(hits / looked)
        if self.measured >= _WARM_UP and error < -_THRESHOLD:
            self._begin_recovery()
            self._restart(hits, looked)
            return True
        if self.measured >= _WARM_UP:
            self.excess = _MEMORY * self.excess + (1 - _MEMORY) * error**2
        self.hits = _MEMORY * self.hits + hits
        self.looked = _MEMORY * self.looked + looked
        self.measured += 1
        return False

    def _error(self, hits: int, looked: int) -> float:
        """How far the precision lies from the usual one, in standard errors."""
        usual = (self.hits + 0.5) / (self.looked + 1.0)
        variance = usual * (1.0 - usual) * (1.0 / looked + 1.0 / max(self.looked, 1.0))
        return (hits / looked - usual) / math.sqrt(max(self.excess, 1.0) * variance)

    def _recover(self, precision: float) -> None:
        self.recovery_left = 0 if precision >= self.goal else max(0, self.recovery_left - 1)

    def _begin_recovery(self) -> None:
        self.goal = 0.9 * self.hits / self.looked
        self.recovery_left = _LONGEST_RECOVERY

    def _restart(self, hits: int, looked: int) -> None:
        self.hits, self.looked, self.excess, self.measured = float(hits), float(looked), 1.0, 1

    def state(self) -> dict[str, Any]:
        """What must be kept to go on later."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> DriftAlarm:
        """The alarm whose state was kept."""
        alarm = cls()
        vars(alarm).update(state)
        return alarm
