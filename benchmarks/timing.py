"""How long something takes, in the time of the processor: other programs on the machine do not count."""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu_seconds(run: Callable[[], object]) -> float:
    """Seconds of all threads of this process."""
    start = time.process_time()
    run()
    return time.process_time() - start
