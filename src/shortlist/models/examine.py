"""A model file of a stranger is opened in a child process first: hostile bytes may crash or fill that one, no other.

XGBoost and NumPy parse bytes in compiled code, which trusts them. What the child has opened without harm, within limits
of time and memory, is opened here next; its checksum is remembered, as is that of every file that is saved here, so
that this is done once per file.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

from shortlist.exceptions import ShortlistError
from shortlist.later import load_learners
from shortlist.places import user_cache

#: Memory that the child may take beside what its imports took: enough for any honest model of this size.
MOST_BYTES, MOST_TIMES = 512 * 2**20, 60
#: Time that it may take: of the processor beside our imports (those of scikit-learn that a file names take some of it),
#: and by the clock with them.
CPU_SECONDS, SLOWEST, MOST_SECONDS = 15, 256 * 2**20, 120
#: Files that are remembered; the oldest are forgotten first.
MOST_KNOWN = 5000
#: How the child says that the file is none of ours, as opposed to a crash.
REFUSED = 3
#: What it runs.
CHILD = (
    f"from {load_learners.__module__} import load_learners as load; load(); "
    f"from {__name__} import _child; _child()"
)
_KNOWN: set[str] = set()


class ExaminedError(Exception):
    """A file is no sound model; the message says how that showed."""


def is_known(checksum: str) -> bool:
    """Whether a file was saved here, or has been examined."""
    return _mark(checksum) in _KNOWN or (_cache() / _mark(checksum)).exists()


def remember(checksum: str) -> None:
    """Take a file for known from now on; where no folder can be written, as long as this process lives."""
    _KNOWN.add(_mark(checksum))
    with contextlib.suppress(OSError):
        _cache().mkdir(parents=True, exist_ok=True, mode=0o700)
        (_cache() / _mark(checksum)).touch(mode=0o600)
        _forget_oldest(_cache())


def examine(path: str | Path, content: bytes) -> str | None:
    """Open a model in a child process; None: it did no harm, else the sentence by which the child refused it."""
    child = [sys.executable, "-P", "-c", CHILD, str(path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
    try:
        ended = subprocess.run(
            child, input=content, capture_output=True, timeout=MOST_SECONDS, env=env, check=False
        )
    except subprocess.TimeoutExpired:
        raise ExaminedError(f"it takes more than {MOST_SECONDS} seconds to open") from None
    if ended.returncode == REFUSED:
        return ended.stdout.decode(errors="replace")
    if ended.returncode != 0:
        raise ExaminedError("it cannot be opened without a crash, or without more memory than it could need")
    return None


def look_at(path: str | Path, content: bytes) -> None:
    """What the child does with a file: load the model, look at its trees, and score two rows."""
    from shortlist.models.file import parsed  # noqa: PLC0415  which asks for this module

    with beside_limits():
        from shortlist.rankers.boosting.trees import sound  # noqa: PLC0415  for strangers' files only

    try:
        with sound.checked_before_read():
            ranker, _ = parsed(path, content)
        check_trees(ranker)
    except sound.UnsoundTreesError as error:
        raise ExaminedError(str(error)) from None
    columns = ranker.n_features_in_ if ranker.schema_ is None else len(ranker.schema_.columns)
    with contextlib.suppress(Exception):  # an error is no harm: whoever scores gets it too
        ranker._score(np.zeros((2, columns), dtype=np.float32))


def check_trees(ranker: Any) -> None:
    """Refuse trees whose nodes point outside of them, or in a circle: whoever scores by them reads foreign memory."""
    from shortlist.rankers.boosting.trees import sound  # noqa: PLC0415  for strangers' files only

    loaded = sys.modules.get("sklearn.tree._tree")  # where it is not, no part can be of it
    for part in _parts(ranker):
        if isinstance(part, xgboost.Booster):
            sound.check_booster(part)
        elif loaded is not None and isinstance(part, loaded.Tree):
            sound.check_nodes(part.children_left, part.children_right, part.feature, part.n_features)


def _child() -> None:
    """What the child process runs."""
    path, content = sys.argv[1], sys.stdin.buffer.read()
    _Limits.more = MOST_BYTES + MOST_TIMES * len(content)
    _limit(_Limits.more)
    code = 0
    try:
        look_at(path, content)
    except ShortlistError as refusal:
        code = _told(str(refusal))
    except ExaminedError as error:
        code = _told(f"{path} is no sound model: {error}. Do not use this file.")
    sys.stdout.flush()
    os._exit(code)  # without what objects of the file could do on the way out


def _told(refusal: str) -> int:
    sys.stdout.buffer.write(refusal.encode(errors="replace"))
    return REFUSED


class _Limits:
    """What this process may take for a file, where it is a child that examines one."""

    more: int | None = None


@contextlib.contextmanager
def beside_limits() -> Iterator[None]:
    """What our own imports take within is no more of the limits than what they took before."""
    if _Limits.more is None:
        yield
        return
    _limit(None)
    yield
    _limit(_Limits.more)


def _limit(more: int | None) -> None:
    """Limits of this process, beside what it has taken; a system without them keeps the parent's limit on time.

    They are soft: a file may crash this process, but it runs no code that could lift them.
    """
    try:
        import resource  # noqa: PLC0415

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _set_soft(resource.RLIMIT_AS, more and pages * resource.getpagesize() + more)
        _set_soft(resource.RLIMIT_CPU, more and int(time.process_time() + CPU_SECONDS + more / SLOWEST))
        _set_soft(resource.RLIMIT_CORE, 0)
    except (ImportError, OSError, ValueError):
        return


def _set_soft(limit: int, value: int | None) -> None:
    import resource  # noqa: PLC0415

    hard = resource.getrlimit(limit)[1]
    known = [each for each in (value, hard) if each not in (None, resource.RLIM_INFINITY)]
    resource.setrlimit(limit, (min(known, default=hard), hard))


def _parts(whole: Any) -> Iterator[Any]:
    """All objects that a model is made of, each once."""
    waiting, seen = [whole], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype == object else []
        elif isinstance(part, dict):
            waiting += [*part.values()]
        elif isinstance(part, list | tuple | set):
            waiting += [*part]
        else:
            waiting += [*getattr(part, "__dict__", {}).values()]


def _mark(checksum: str) -> str:
    """What is sound for one release of XGBoost need not be for another."""
    return f"{checksum}-{xgboost.__version__}"


def _cache() -> Path:
    return user_cache() / "shortlist" / "models"


def _forget_oldest(folder: Path) -> None:
    known = [*folder.iterdir()]
    if len(known) > MOST_KNOWN:
        for each in sorted(known, key=lambda path: path.stat().st_mtime)[: MOST_KNOWN // 2]:
            each.unlink(missing_ok=True)
