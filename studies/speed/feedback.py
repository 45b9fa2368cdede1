"""CPU time per verdict, time to build and peak memory of the feedback engine, beside coniferest's AADForest.

10 thousand, 100 thousand and 1 million rows, and memory at 1 million. Rows have 10 numbers; half a percent form a
wanted cluster and as many a rare one that is not wanted. Forests have 100 trees of 256 rows. A verdict is to tell the
label of the top row and to know the next one; "mixed" verdicts are "not wanted" every third time whatever the label.
Ours and the peer's are timed in turns, on one thread. Memory is the largest resident set of a process of its own,
interpreter and rows included.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.feedback import FeedbackRanker, LeafSimilarity, OJRank, ScoreSpace
from studies.measure import apart, cpu_seconds, peak_mb
from studies.running import study_parser, tell

SIZES = {10_000: 12, 100_000: 5, 1_000_000: 2}  # rows, and the peer's verdicts
OURS_PER_PEER = {10_000: 5, 100_000: 8, 1_000_000: 12}
BARS = {("OJRank, index", 10_000): 50, ("OJRank, index", 100_000): 200, ("OJRank, index", 1_000_000): 400}
MEMORY_BARS = {"index": 900, "dense": 400}


def make_rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 10), dtype=np.float32)
    rare = n // 200
    X[:rare] += 3
    X[rare : 2 * rare] -= 3
    wanted = np.zeros(n, dtype=bool)
    wanted[:rare] = True
    return X, wanted


class Ours:
    """A review with a ranker of ours; mixed: every third verdict is "not wanted" whatever the label."""

    def __init__(self, ranker: FeedbackRanker, wanted: np.ndarray, *, mixed: bool = False) -> None:
        self.ranker, self.wanted, self.mixed = ranker, wanted, mixed
        self.row = ranker.ask()

    def review(self) -> None:
        """Learn the label of the top row and find the next one."""
        dismissed = self.mixed and self.ranker.version % 3 == 0
        self.ranker.tell(self.row, bool(self.wanted[self.row]) and not dismissed)
        self.row = self.ranker.ask()


class Peer:
    """A review with coniferest's AADForest at its defaults, on one thread."""

    def __init__(self, X: np.ndarray, wanted: np.ndarray) -> None:
        # Not at the top: processes that measure our memory must not load the peer.
        from coniferest.aadforest import AADForest  # noqa: PLC0415
        from coniferest.label import Label  # noqa: PLC0415

        self.X, self.wanted, self.label = X, wanted, Label
        self.forest = AADForest(random_seed=0, n_jobs=1)
        self.order: list[int] = []
        self.build_seconds = cpu_seconds(self.build)

    def build(self) -> None:
        """Grow the forest and score all rows."""
        self.forest.fit(self.X)
        self.rank()

    def rank(self) -> None:
        """Score all rows; reviewed ones go last."""
        self.score = self.forest.score_samples(self.X)
        self.score[self.order] = np.inf

    def review(self) -> None:
        """Learn the label of the top row and score all rows."""
        self.order.append(int(np.argmin(self.score)))
        labels = np.where(self.wanted[self.order], self.label.ANOMALY, self.label.REGULAR)
        self.forest.fit_known(self.X, self.X[self.order], labels)
        self.rank()


def warm_up() -> None:
    """Compile every kernel before anything is timed."""
    X, wanted = make_rows(2_000)
    space = ScoreSpace.from_isolation_forest(X).build_index()
    for ranker in (
        OJRank(space),
        LeafSimilarity(space, kernel="leaf"),
        LeafSimilarity(space, kernel="ancestor"),
    ):
        ours = Ours(ranker, wanted)
        for _ in range(20):
            ours.review()


def speed(n: int) -> list[dict[str, Any]]:
    X, wanted = make_rows(n)
    peer = Peer(X, wanted)
    spaces: dict[str, ScoreSpace] = {}

    def build(name: str, *, index: bool) -> None:
        spaces[name] = ScoreSpace.from_isolation_forest(X, random_state=0)
        if index:
            spaces[name].build_index()

    build_dense = cpu_seconds(lambda: build("dense", index=False))
    build_index = cpu_seconds(lambda: build("index", index=True))
    rankers = {
        "OJRank, index": OJRank(spaces["index"]),
        "OJRank, mixed": OJRank(spaces["index"]),
        "OJRank, dense": OJRank(spaces["dense"]),
        "Similarity, index": LeafSimilarity(spaces["index"]),
        "Similarity, dense": LeafSimilarity(spaces["dense"]),
        "Similarity, mixed": LeafSimilarity(spaces["index"]),
    }
    reviews = {name: Ours(ranker, wanted, mixed=name.endswith("mixed")) for name, ranker in rankers.items()}
    peer_times: list[float] = []
    times: dict[str, list[float]] = {name: [] for name in rankers}
    for _ in range(SIZES[n]):
        peer_times.append(cpu_seconds(peer.review))
        for name, ours in reviews.items():
            times[name] += [cpu_seconds(ours.review) for _ in range(OURS_PER_PEER[n])]
    peer_ms = 1000 * statistics.fmean(peer_times)
    rows = [line(n, name, 1000 * statistics.fmean(each), peer_ms) for name, each in times.items()]
    rows.append(line(n, "build, dense", 1000 * build_dense, 1000 * peer.build_seconds))
    rows.append(line(n, "build, index", 1000 * build_index, 1000 * peer.build_seconds))
    return rows


def line(n: int, what: str, ours: float, peer: float) -> dict[str, Any]:
    ratio = peer / ours
    bar = 0.5 if what.startswith("build") else BARS.get((what, n), 50)
    return {
        "rows": n,
        "what": what,
        "ms": ours,
        "peer_ms": peer,
        "times_faster": ratio,
        "bar": bar,
        "met": ratio >= bar,
    }


def memory(mode: str, n: int) -> dict[str, Any]:
    """What a process of its own takes at most."""
    found = apart(alone, mode, n)
    bar = MEMORY_BARS.get(mode)
    return found | {"bar_mb": bar, "met": bar is None or found["peak_mb"] <= bar}


def alone(mode: str, n: int) -> dict[str, Any]:
    """Build, review 20 rows, and say what the process took at most."""
    X, wanted = make_rows(n)
    built = []

    def build() -> None:
        space = ScoreSpace.from_isolation_forest(X, random_state=0)
        built.append(space.build_index() if mode == "index" else space)

    build_seconds = cpu_seconds(build)
    found: dict[str, Any] = {"rows": n, "mode": mode, "build_s": build_seconds}
    for name, ranker in (("OJRank", OJRank(built[0])), ("LeafSimilarity", LeafSimilarity(built[0]))):
        ours = Ours(ranker, wanted)
        found[f"{name}_ms"] = 1000 * statistics.fmean(cpu_seconds(ours.review) for _ in range(20))
    return found | {"peak_mb": peak_mb()}


def main(arguments: Sequence[str]) -> None:
    """Time verdicts beside the peer, and measure memory in processes of their own."""
    parser = study_parser(__name__, __doc__, "10 thousand rows, no memory")
    parser.add_argument("--huge", action="store_true", help="10 million rows, dense, alone")
    options = parser.parse_args(arguments)
    warm_up()
    if options.huge:
        found: dict[str, Any] = {"speed": [], "memory": [memory("dense", 10_000_000)]}
    else:
        sizes = [10_000] if options.quick else list(SIZES)
        modes = [] if options.quick else list(MEMORY_BARS)
        found = {
            "speed": [row for n in sizes for row in speed(n)],
            "memory": [memory(mode, 1_000_000) for mode in modes],
        }
    tell(found, options.json, lambda found: print(readable(found)))


def readable(result: dict[str, Any]) -> str:
    lines = (
        [f"{'rows':>10}  {'':18}{'ms':>10}{'peer ms':>11}{'faster':>9}{'bar':>6}"] if result["speed"] else []
    )
    for row in result["speed"]:
        figures = f"{row['ms']:10.2f}{row['peer_ms']:11.1f}{row['times_faster']:8.1f}x{row['bar']:6g}"
        lines.append(f"{row['rows']:>10,}  {row['what']:18}{figures}  {'met' if row['met'] else 'MISSED'}")
    for row in result["memory"]:
        figures = f"built in {row['build_s']:.1f} s, OJRank {row['OJRank_ms']:.1f} ms and LeafSimilarity "
        figures += f"{row['LeafSimilarity_ms']:.1f} ms per verdict, peak {row['peak_mb']:.0f} MB"
        bar = "" if row["bar_mb"] is None else f" (bar {row['bar_mb']}: {'met' if row['met'] else 'MISSED'})"
        lines.append(f"{row['rows']:>10,}  {row['mode']}: {figures}{bar}")
    return "\n".join(lines)
