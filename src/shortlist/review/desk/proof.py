"""Whether the log tells the whole truth: nothing was changed, and a replay gives what reviewers saw.

After libraries were upgraded that is asked when the queue is opened, not at the audit.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from shortlist.review.desk.engine import Engine
from shortlist.review.desk.integrity import faults
from shortlist.review.desk.live import LiveQueue, follow, named, start
from shortlist.review.errors import DamagedError
from shortlist.review.log.events import Event, Shown
from shortlist.review.log.store import Store
from shortlist.review.telling.missed import Missed
from shortlist.review.workspace import Workspace
from shortlist.tables.io.write import atomic_path

log = logging.getLogger("shortlist.review")
#: What computes scores.
LIBRARIES = ("numba", "numpy", "scikit-learn", "scipy", "xgboost", "xgboost-cpu")


@dataclass
class Proof:
    """Whether replaying the log gives the ranking that reviewers saw."""

    events: int = 0
    shown: int = 0
    differing: list[int] = field(default_factory=list)
    #: Of these: where the score is the same but for its last digits, as another processor may round them.
    nearly: list[int] = field(default_factory=list)
    version: int = 0
    digest: str = ""
    #: Where the log or a file is not as it was written.
    faults: list[str] = field(default_factory=list)
    #: Events that were there before there was a chain; it proves what came after.
    unchained: int = 0
    head: str = ""  # the hash that stands for the whole log
    #: The ranking after some events, by their numbers.
    digests: dict[int, str] = field(default_factory=dict)
    #: What the whole log says of wanted rows that nobody has found; None without a random check that could tell.
    missed: Missed | None = None

    @property
    def holds(self) -> bool:
        """Nothing was changed, and every shown row has the score and version it had when it was shown."""
        return not self.differing and not self.faults


def prove(
    workspace: Workspace,
    store: Store,
    queue: int,
    *,
    at: Collection[int] = (),
    published: Iterable[tuple[int, str]] = (),
) -> Proof:
    """Check the log and the files, follow the log from its start, and compare every row with what was shown.

    Parameters
    ----------
    at : events after which the digest of the ranking is wanted
    published : events and their hashes as they were told outside, which the log must hold
    """
    proof = Proof(faults=list(faults(workspace, store, queue, published)))
    with contextlib.suppress(DamagedError):  # which is among the faults
        proof.unchained, proof.head = store.unchained(queue), store.head(queue)[1]
    if not proof.faults:
        _replay(proof, workspace, store, queue, at)
    return proof


def _replay(proof: Proof, workspace: Workspace, store: Store, queue: int, at: Collection[int]) -> None:
    live, checkpoints = start(workspace, store, queue), [*named(workspace, store, queue)]

    def compare(event: Event) -> None:
        proof.events += 1
        if isinstance(event.body, Shown):
            proof.shown += 1
            (score,) = live.engine.scores([event.body.row])
            if (event.body.score, event.body.version) != (score, live.engine.version):
                proof.differing.append(event.seq)
                if event.body.version == live.engine.version and _is_nearly(event.body.score, score):
                    proof.nearly.append(event.seq)
        note(event.seq)

    def note(seq: int) -> None:
        if seq in at:
            proof.digests[seq] = live.engine.digest()
        for each, is_as_written in checkpoints:
            if each.seq == seq and not ((is_as_written or not each.seal) and _is_state_of(live, each.path)):
                proof.faults.append(f"the file {each.path.name} is not what was learned by event {seq}.")

    note(0)
    follow(live, workspace, store.events(queue), watch=compare)
    proof.version, proof.digest = live.engine.version, live.engine.digest()
    proof.missed = live.missed()


def _is_nearly(shown: float, score: float) -> bool:
    return math.isclose(shown, score, rel_tol=1e-9, abs_tol=1e-12)


def _is_state_of(live: LiveQueue, path: Path) -> bool:
    """Whether a checkpoint holds what the replay has learned by now."""
    try:
        return Engine.resume(live.engine.space, path).is_like(live.engine)
    except Exception:  # what cannot be read or ranked by, whatever somebody has made of it, is not the state
        return False


def check_libraries(workspace: Workspace, store: Store, queue: int) -> None:
    """Where other releases compute scores than when it was last opened, replay the queue once; say if it differs."""
    now, before = _versions(), _known(workspace)
    if now == before:
        return
    changed = ", ".join(
        f"{name} {before.get(name, '?')} to {now[name]}" for name in now if now[name] != before.get(name)
    )
    differing = prove(workspace, store, queue).differing if store.head(queue)[0] else []
    if differing:
        log.warning(
            "since the libraries changed (%s), %d rows that were shown get another score, first at event %d: what is "
            "shown from now on cannot be replayed together with what was. Install the old releases to go on, or "
            "begin another queue and import the verdicts.",
            changed,
            len(differing),
            differing[0],
        )
        return
    with contextlib.suppress(Exception), atomic_path(workspace.libraries) as path:
        path.write_text(json.dumps(now))


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _known(workspace: Workspace) -> dict[str, str]:
    try:
        return dict(json.loads(workspace.libraries.read_text()))
    except (OSError, ValueError, TypeError):
        return {}
