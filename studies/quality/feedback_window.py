"""What is lost by settling old verdicts: the same long reviews, solved for all verdicts and for the latest ones.

Each set is reviewed for more than two windows, rows shuffled by seed: once with every verdict solved for together
(exact), once with LeafSimilarity's own window, and once with a window of 128 that settles all the time. ``found``
is the share of the wanted rows found at the end, ``on the way`` the mean of that share over the review.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.feedback import LeafSimilarity, ScoreSpace, simulate
from studies.papers.ojrank_runs import shuffled
from studies.running import study_parser, tell

#: Reviews per set: more than two windows of 1,024.
BUDGETS = {
    "mammography": 3000,
    "shuttle": 2500,
    "covtype54_10k": 3000,
    "sensorless_part": 3000,
    "creditcard_part": 3000,
    "cod_rna": 2500,
    "cover": 3000,
}
EXACT = 1_000_000
WINDOWS = {"exact": EXACT, "1024": 1024, "128": 128}


def study(name: str, seed: int, budget: int, windows: dict[str, int]) -> dict[str, Any]:
    X, y = shuffled(name, seed)
    space = ScoreSpace.from_isolation_forest(X, random_state=seed)
    budget = min(budget, y.size // 2)
    line: dict[str, Any] = {
        "set": name,
        "forest": seed,
        "rows": y.size,
        "wanted": int(y.sum()),
        "reviews": budget,
    }
    for label, window in windows.items():
        played = simulate(LeafSimilarity(space, window=window, random_state=seed), y, budget)
        share = played.hits / y.sum()
        line[label] = {
            "found": round(float(share[-1]), 4),
            "on the way": round(float(share.mean()), 4),
            "effort": round(played.effort, 4),
            "last_ms": round(1000 * float(np.mean(played.seconds[-100:])), 2),
        }
    return line


def main(arguments: Sequence[str]) -> None:
    """Play every set and forest."""
    parser = study_parser(__name__, __doc__, "one small set, a window of 128")
    parser.add_argument("--sets", nargs="*", default=[*BUDGETS], choices=BUDGETS)
    parser.add_argument("--forests", type=int, default=2)
    options = parser.parse_args(arguments)
    if options.quick:
        plan, windows = [("sensorless_part", 0, 500)], {"exact": EXACT, "128": 128}
    else:
        plan = [(name, seed, BUDGETS[name]) for name in options.sets for seed in range(options.forests)]
        windows = WINDOWS
    lines = [study(name, seed, budget, windows) for name, seed, budget in plan]
    tell(lines, options.json, lambda lines: print_table(lines, [*windows]))


def print_table(lines: list[dict[str, Any]], windows: list[str]) -> None:
    print(
        f"{'set':18}{'reviews':>8}"
        + "".join(f"{w + ' found':>14}{'on the way':>12}{'last ms':>9}" for w in windows)
    )
    names = dict.fromkeys(line["set"] for line in lines)
    for name in names:
        own = [line for line in lines if line["set"] == name]
        cells = "".join(
            f"{np.mean([line[w]['found'] for line in own]):14.3f}"
            f"{np.mean([line[w]['on the way'] for line in own]):12.3f}"
            f"{np.mean([line[w]['last_ms'] for line in own]):9.1f}"
            for w in windows
        )
        print(f"{name:18}{own[0]['reviews']:8d}{cells}")
