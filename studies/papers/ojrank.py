"""The experiment of the OJRank paper: what each strategy finds in as many reviews as rows are wanted.

Rows are shuffled (several sets have their wanted rows in a block, which ties broken by row number would give away) and
ties are broken at random, both by seed. Paper: H. Lamba, L. Akoglu, "Learning On-the-Job to Re-rank Anomalies from
Top-1 Feedback", SDM 2019, Tables 3 to 6.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, wilcoxon

from shortlist.feedback import AAD, OMD, FeedbackRanker, LeafSimilarity, Offline, OJRank, ScoreSpace, simulate
from studies.paper_sets import load_paper_set
from studies.papers.ojrank_tables import BENCHMARK, CLUSTERED, EFFORT, METHODS, PRECISION
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell

Result = dict[str, Any]
Spaces = tuple[ScoreSpace, ScoreSpace]  # trees of depth 8, and of unlimited depth for OMD

STRATEGIES: dict[str, Callable[[Spaces, int], FeedbackRanker]] = {
    "OJRank": lambda spaces, seed: OJRank(spaces[0], random_state=seed),
    "OJR-MO": lambda spaces, seed: OJRank(spaces[0], mistakes_only=True, random_state=seed),
    "OJR-ALL": lambda spaces, seed: OJRank(spaces[0], all_coordinates=True, random_state=seed),
    "AAD": lambda spaces, seed: AAD(spaces[0], form="paper", random_state=seed),
    "OMD-Lin": lambda spaces, seed: OMD(spaces[1], loss="linear", random_state=seed),
    "OMD-LLH": lambda spaces, seed: OMD(spaces[1], loss="log-likelihood", random_state=seed),
    "Offline": lambda spaces, seed: Offline(spaces[0], random_state=seed),
    "AAD-margin": lambda spaces, seed: AAD(spaces[0], random_state=seed),
    "Similarity-leaf": lambda spaces, seed: LeafSimilarity(spaces[0], kernel="leaf", random_state=seed),
    "Similarity": lambda spaces, seed: LeafSimilarity(spaces[0], kernel="ancestor", random_state=seed),
}
PEER = "coniferest AAD"
#: Reviews of the peer take a tenth of a second each on this set's 12,345 rows, and it has 867 wanted ones.
SLOW_FOR_PEER = "shuttle"
QUICK_SETS = ("cardiotocography", "yeast", "clus_vehicle")


def run(
    name: str, seed: int, strategies: tuple[str, ...], *, peer: bool = False, sample_size: int = 256
) -> Iterator[Result]:
    """All strategies on one shuffled set and one forest."""
    X, y = shuffled(name, seed)
    spaces = (
        ScoreSpace.from_isolation_forest(X, sample_size=sample_size, random_state=seed),
        ScoreSpace.from_isolation_forest(X, sample_size=sample_size, max_depth=None, random_state=seed),
    )
    budget = int(y.sum())
    for strategy in strategies:
        played = simulate(STRATEGIES[strategy](spaces, seed), y, budget)
        seconds = float(np.median(played.seconds))
        yield result(name, seed, strategy, played.precision, effort_in(spaces[0], played.order), seconds)
    if peer and name != SLOW_FOR_PEER:
        order = play_peer(X, y, budget, seed)
        yield result(name, seed, PEER, float(y[order].mean()), effort_in(spaces[0], order), float("nan"))


def result(name: str, seed: int, strategy: str, precision: float, effort: float, seconds: float) -> Result:
    """One line of the cache."""
    figures = {"precision": precision, "effort": effort, "seconds": seconds}
    return {"set": name, "forest": seed, "strategy": strategy, **figures}


def shuffled(name: str, seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A set with its rows in an order drawn by the seed."""
    data = load_paper_set(name)
    order = np.random.default_rng([seed, 7]).permutation(data.y.size)
    return data.X.to_numpy().astype(np.float64)[order], (data.y == 1)[order]


def effort_in(space: ScoreSpace, order: NDArray[np.int64]) -> float:
    """The effort of any order of reviews, in one space for all strategies: trees of depth 8."""
    ranker = Offline(space)
    for row in order.tolist():
        ranker.tell(row, True)
    return ranker.effort()


def play_peer(X: NDArray, y: NDArray[np.bool_], budget: int, seed: int) -> NDArray[np.int64]:
    """The same review with coniferest's AADForest at its defaults, ties broken at random."""
    # A peer for studies, not needed to import this module.
    from coniferest.aadforest import AADForest  # noqa: PLC0415
    from coniferest.label import Label  # noqa: PLC0415

    forest = AADForest(random_seed=seed, n_jobs=1).fit(X)
    tie = np.random.default_rng(seed).permutation(y.size)
    order: list[int] = []
    for _ in range(budget):
        score = forest.score_samples(X)
        score[order] = np.inf
        order.append(int(np.lexsort((tie, score))[0]))
        labels = np.where(y[order], Label.ANOMALY, Label.REGULAR)
        forest.fit_known(X, X[order], labels)
    return np.array(order)


def run_all(options: argparse.Namespace) -> list[Result]:
    """Every set and forest that is not among the results yet, until the time is up."""
    results = runs_file(options, __name__)
    known = read_runs(results)
    done = {(line["set"], line["forest"], line["strategy"]) for line in known}
    end = time.monotonic() + 60 * options.minutes
    wanted = (*STRATEGIES, *((PEER,) if options.peer else ()))
    for seed in range(options.forests):
        for name in options.sets:
            missing = tuple(s for s in wanted if (name, seed, s) not in done)
            ours = tuple(s for s in missing if s != PEER)
            late = time.monotonic() > end
            if late or not missing or (missing == (PEER,) and name == SLOW_FOR_PEER):
                continue
            lines = list(run(name, seed, ours, peer=PEER in missing, sample_size=options.sample_size))
            known += lines
            append_runs(results, lines)
    return [line for line in known if line["set"] in options.sets and line["forest"] < options.forests]


def means(lines: list[Result], figure: str, sets: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Strategy -> set -> mean over forests; strategies that lack a set are dropped where ranks need all."""
    grouped: dict[str, dict[str, list[float]]] = {}
    for line in lines:
        if line["set"] in sets:
            grouped.setdefault(line["strategy"], {}).setdefault(line["set"], []).append(line[figure])
    return {s: {name: float(np.mean(values)) for name, values in by.items()} for s, by in grouped.items()}


def ranks(table: dict[str, dict[str, float]], sets: tuple[str, ...], *, high: bool) -> dict[str, float]:
    """Mean rank of each strategy over sets, 1 = best; strategies without all sets take no part."""
    names = [strategy for strategy, by in table.items() if all(name in by for name in sets)]
    figures = np.array([[table[strategy][name] for strategy in names] for name in sets])
    placed = np.array([rankdata(-row if high else row) for row in np.round(figures, 10)])
    return dict(zip(names, placed.mean(axis=0).tolist(), strict=True))


def p_value(better: dict[str, float], worse: dict[str, float], *, high: bool) -> float:
    """One-sided Wilcoxon signed-rank test over the sets both have."""
    sets = [name for name in better if name in worse]
    gaps = np.round([better[name] - worse[name] for name in sets], 10)
    if not np.any(gaps):
        return 1.0
    return float(wilcoxon(gaps, alternative="greater" if high else "less").pvalue)


def print_table(title: str, lines: list[Result], figure: str, sets: tuple[str, ...], paper: Any) -> None:
    """Ours, and the paper's in parentheses; then mean ranks and tests."""
    high = figure == "precision"
    table = means(lines, figure, sets)
    strategies = [s for s in (*STRATEGIES, PEER) if s in table]
    print(f"\n{title}\n{'':17}" + "".join(f"{s:>16}" for s in strategies))
    for name in sets:
        theirs = dict(zip(METHODS, paper[name], strict=True))
        cells = [_cell(table[s].get(name), theirs.get(s)) for s in strategies]
        print(f"{name:17}" + "".join(f"{cell:>16}" for cell in cells))
    theirs = ranks({m: {n: paper[n][i] for n in sets} for i, m in enumerate(METHODS)}, sets, high=high)
    ours = ranks({m: table[m] for m in METHODS}, sets, high=high)
    everyone = ranks(table, sets, high=high)
    print(f"{'rank, paper 7':17}" + "".join(f"{_cell(ours.get(s), theirs.get(s)):>16}" for s in strategies))
    print(f"{'rank, all':17}" + "".join(f"{_cell(everyone.get(s), None):>16}" for s in strategies))
    for champion in ("OJRank", "Similarity"):
        tests = [p_value(table[champion], table[s], high=high) if s != champion else None for s in strategies]
        print(f"p, {champion:14}" + "".join(f"{'-' if p is None else f'{p:.3f}':>16}" for p in tests))


def halves(sets: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Every second set by name: one half for choosing settings, the other to confirm them."""
    ordered = sorted(sets)
    return {"chosen on": tuple(ordered[::2]), "confirmed on": tuple(ordered[1::2]), "all": tuple(ordered)}


def print_halves(lines: list[Result], sets: tuple[str, ...]) -> None:
    """Mean figures and ranks of every strategy on each half of the sets."""
    for title, half in halves(sets).items():
        precision, effort = means(lines, "precision", half), means(lines, "effort", half)
        rank = ranks(precision, half, high=True)
        print(f"\n{title} ({len(half)} sets){'':4}precision   effort   mean rank")
        for strategy in rank:
            values = np.mean([*precision[strategy].values()]), np.mean([*effort[strategy].values()])
            print(f"{strategy:24}{values[0]:9.3f}{values[1]:9.3f}{rank[strategy]:10.2f}")


def main(arguments: Sequence[str]) -> None:
    """Run the study and print the paper's tables beside ours."""
    parser = study_parser(__name__, __doc__, "three small sets, two forests")
    in_pieces(parser)
    parser.add_argument("--forests", type=int, default=10, help="forests, each with its own order of rows")
    parser.add_argument("--sets", nargs="+", default=[*BENCHMARK, *CLUSTERED])
    parser.add_argument(
        "--sample-size", type=int, default=256, help="rows per tree (give each its own file of results)"
    )
    parser.add_argument("--peer", action="store_true", help="also run coniferest's AADForest (slow)")
    options = parser.parse_args(arguments)
    if options.quick:
        options.sets, options.forests = [*QUICK_SETS], 2
    tell(run_all(options), options.json, show)


def show(lines: list[Result]) -> None:
    """The paper's tables of the sets that were run."""
    run = {line["set"] for line in lines}
    for group, tables in ((BENCHMARK, ("3", "5")), (CLUSTERED, ("4", "6"))):
        sets = tuple(name for name in group if name in run)
        if sets:
            print_table(f"Table {tables[0]}: precision@b, ours (paper)", lines, "precision", sets, PRECISION)
            print_table(f"Table {tables[1]}: mean expert effort, ours (paper)", lines, "effort", sets, EFFORT)
    print_halves(lines, tuple(name for name in (*BENCHMARK, *CLUSTERED) if name in run))


def _cell(ours: float | None, theirs: float | None) -> str:
    return ("-" if ours is None else f"{ours:.2f}") + ("" if theirs is None else f" ({theirs:.2f})")
