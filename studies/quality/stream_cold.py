"""How a stream begins: whether it finds wanted rows that are not odd, and what that costs where they are.

Two ways to begin: as ActiveRanker does (misses of the isolation forest make it count for less), and as it did before
(three quarters of the labels follow the forest until a wanted row is known).

- *hidden*: wanted rows lie in the midst of the others, so that the oddest rows are the worst place to look. A run is
  stuck if no window's top k holds a wanted row; it is played until one does, the old way for every fourth seed.
- the first windows of the streams of ``quality.stream_defaults``, those to choose on and those to confirm on apart.
  Where the first window finds a wanted row both ways are one, and are played once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shortlist.stream import ActiveRanker
from studies.papers.prec_at_k_runs import Stream
from studies.quality.stream_defaults import CHOOSE, CONFIRM, load
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell

HIDDEN = "hidden"
GROUPS = {HIDDEN: [HIDDEN], "choose": CHOOSE, "confirm": CONFIRM}
WAYS = NOW, BEFORE = "default", "as before"
#: Windows of a stream of 30 that are played: later ones hardly know how it began.
FIRST_WINDOWS = 12


def hidden(seed: int) -> Stream:
    """Ten windows of 2,000 rows; about one in a hundred is wanted, close to the middle of all."""
    X = np.random.default_rng(seed).normal(size=(20_000, 3))
    y = np.linalg.norm(X - [0.5, 0.0, 0.0], axis=1) < 0.35
    return Stream(X, y, np.array_split(np.arange(y.size), 10))


def play(
    stream: Stream, k: int, seed: int, *, doubts: bool, until_found: bool
) -> tuple[dict[str, list[int]], bool]:
    """Wanted rows in the top k of each window, and how many there could be; whether the first window found any."""
    ranker, found, possible = ActiveRanker(k, random_state=seed), [], []
    at_once = False
    for number, window in enumerate(stream.windows[:FIRST_WINDOWS]):
        rows = ranker.ask(stream.X[window])
        ranker.plan_ = replace(ranker.plan_, doubts=doubts)  # nobody doubts in the first window
        found.append(int(stream.y[rows[:k]].sum()))
        possible.append(min(k, int(stream.y[window].sum())))
        ranker.tell(rows, stream.y[rows])
        at_once = at_once or (number == 0 and ranker.learner_.ready)
        if until_found and found[-1]:
            break
    return {"found": found, "possible": possible}, at_once


def measure(name: str, seed: int) -> list[dict[str, Any]]:
    """Both ways to begin on one stream."""
    about = {"set": name, "seed": seed}
    if name == HIDDEN:
        ways = {NOW: True} | ({BEFORE: False} if seed % 4 == 0 else {})
        played = {way: play(hidden(seed), 50, seed, doubts=ways[way], until_found=True)[0] for way in ways}
        return [about | {"way": way} | each for way, each in played.items()]
    stream = load(name, seed, drift=False)
    now, at_once = play(stream, 20, seed, doubts=True, until_found=False)
    before = now if at_once else play(stream, 20, seed, doubts=False, until_found=False)[0]
    return [about | {"way": NOW} | now, about | {"way": BEFORE} | before]


def run(jobs: list[tuple[str, int]], results: Any, minutes: float) -> list[dict[str, Any]]:
    """Play what is missing in the file; gives all runs."""
    runs, end = read_runs(results), time.monotonic() + 60 * minutes
    done = {(each["set"], each["seed"]) for each in runs}
    for job in jobs:
        if job not in done and time.monotonic() < end:
            new = measure(*job)
            runs += new
            append_runs(results, new)
    return runs


def summarise(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By group and way: runs that stayed stuck; of whole runs the share found, and its gain over the old way."""
    rows = []
    for group, names in GROUPS.items():
        of_way = {way: [each for each in runs if each["set"] in names and each["way"] == way] for way in WAYS}
        for way, mine in of_way.items():
            stuck = sum(sum(each["found"]) == 0 for each in mine)
            row = {"group": group, "way": way, "runs": len(mine), "stuck": stuck}
            if group != HIDDEN and mine:
                gains = _shares(mine) - _shares(of_way[BEFORE])
                error = float(gains.std(ddof=1) / np.sqrt(gains.size)) if gains.size > 1 else 0.0
                row |= {"share": float(_shares(mine).mean()), "gain": float(gains.mean()), "error": error}
            rows.append(row)
    return rows


def _shares(runs: list[dict[str, Any]]) -> Any:
    """Wanted rows in the top k after the first window, as a share of what there could be."""
    return np.array([sum(each["found"][1:]) / sum(each["possible"][1:]) for each in runs])


def show(rows: list[dict[str, Any]]) -> None:
    print("stuck; share found of what the top k could hold after the first window, gain over before ± error")
    for row in rows:
        figures = f"{row['share']:.3f}  {row['gain']:+.3f} ± {row['error']:.3f}" if "share" in row else ""
        print(f"  {row['group']:<8} {row['way']:<10} {row['stuck']:>4} of {row['runs']:<4} {figures}")


def main(arguments: Sequence[str]) -> None:
    """Play what is missing and compare the two ways to begin."""
    parser = study_parser(__name__, __doc__, "three hidden streams and two small sets")
    in_pieces(parser)
    parser.add_argument("--hidden", type=int, default=200, help="seeds of the hidden stream")
    parser.add_argument("--seeds", type=int, default=10, help="seeds of the other streams")
    options = parser.parse_args(arguments)
    n_hidden, seeds = (3, 1) if options.quick else (options.hidden, options.seeds)
    sets = ["covtype54_10k", "mammography"] if options.quick else [*CHOOSE, *CONFIRM]
    jobs = [(name, seed) for seed in range(seeds) for name in sets]
    jobs += [(HIDDEN, seed) for seed in range(n_hidden)]
    tell(summarise(run(jobs, runs_file(options, __name__), options.minutes)), options.json, show)
