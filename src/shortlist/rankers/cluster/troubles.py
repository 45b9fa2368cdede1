"""What goes wrong on a cluster, in a sentence: machines that went away, and what Spark raises."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from shortlist.exceptions import ClusterError


def first_line(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {error}".strip().splitlines()[0]


class Work(NamedTuple):
    """What machines do, in words: what they did, what there is when they stop, and what to do then."""

    did: str
    left: str
    again: str


TRAINING = Work("trained", "there is no model", "train again")


def lost(gone: Sequence[str] = (), work: Work = TRAINING) -> ClusterError:
    """That machines went away, by their names where those are known."""
    which = f"worker {gone[0]}" if gone else "a worker"
    return ClusterError(
        f"{which} went away while it {work.did}, so the others stopped too, and {work.left}. If it ran out of "
        f"memory, give workers more of it or use more workers; then {work.again}."
    )


@contextmanager
def told_by_spark() -> Iterator[None]:
    """What Spark raises, as an error that says what to do; and what it says of other libraries left out."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ConnectionError as error:
        raise ClusterError(
            f"Spark went away ({first_line(error)}); start it again, and train anew."
        ) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark"):
            raise
        raise _understood(str(error)) from error


def _understood(text: str) -> ClusterError:
    # A task that fails by itself says why; one that is killed leaves it to Spark to find that a stream has ended.
    if "barrier task" in text and "PythonException" not in text:
        return lost()
    if "No module named 'shortlist'" in text:
        return ClusterError(
            "the workers of Spark have no Shortlist; install it there, pip install 'shortlist[spark]', and name their "
            "Python in PYSPARK_PYTHON where it is not the one that is found first."
        )
    lines = [line.strip() for line in text.splitlines() if "Exception: " in line or "Error: " in line]
    said = (lines or text.strip().splitlines() or ["no reason is known"])[0].removeprefix(": ")
    return ClusterError(f"Spark failed, and there is no model: {said}")
