"""The schemes of the prec@k paper and the refit on five streams, beside SGD with all labels.

The paper (``python -m studies prec_at_k``) runs four schemes with and without an RBF kernel on COD-RNA and shows
precision@50 and @300 by window in figures without numbers. Here the same runs, five seeds each, on five streams, beside
the refit and beside logistic regression by stochastic gradient descent (SGD) that is given every label.

Windows are n / log n random rows, as in the paper; each is ranked by what was learned from the windows before.
Means are over the windows after the first, which nobody has learned anything for.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from shortlist.stream import ActiveRanker
from shortlist.stream.queries import SCHEMES, top_positions
from studies.papers.prec_at_k_runs import SETS, Stream, load_stream, play
from studies.quality.stream_claims import check_claims, check_default
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell

Cell = tuple[str, int, int, int, str, str]
SGD = ("SGD, all labels", "linear")

#: Share of the labels that the default may cost beside full information.
FEW = 0.01


@dataclass(frozen=True)
class Result:
    """One run: precision of the top k by window, and labels spent by window."""

    set: str
    method: str
    kernel: str
    k: int
    seed: int
    rows: int
    precision: list[float]
    labels: list[int]

    @property
    def cell(self) -> Cell:
        """What was run: every run of a study is another cell."""
        return self.set, self.k, self.seed, self.rows, self.method, self.kernel

    @property
    def mean(self) -> float:
        """Mean precision of the windows after the first."""
        return float(np.mean(self.precision[1:]))


def play_sgd(stream: Stream, k: int, seed: int) -> tuple[list[float], list[int]]:
    """The same for logistic regression by SGD with all labels, standardised by the windows so far."""
    model, scaler, rng = (
        SGDClassifier(loss="log_loss", random_state=seed),
        StandardScaler(),
        np.random.default_rng(seed),
    )
    precision = []
    for number, window in enumerate(stream.windows):
        scaler.partial_fit(stream.X[window])
        Z = scaler.transform(stream.X[window])
        scores = model.decision_function(Z) if number else np.zeros(window.size)
        precision.append(float(stream.y[window[top_positions(scores, k, rng)]].mean()))
        model.partial_fit(Z, stream.y[window], classes=[False, True])
    return precision, [window.size for window in stream.windows]


def rankers(stream: Stream, k: int, seed: int) -> Iterator[tuple[str, str, ActiveRanker]]:
    """Every method of the comparison: its name, its kernel, and a fresh ranker."""
    for kernel in (None, "rbf"):
        for scheme in SCHEMES:
            settings: dict[str, Any] = {"scheme": scheme, "kernel": kernel, "random_state": seed}
            yield (
                f"perceptron {scheme}",
                kernel or "linear",
                ActiveRanker(k, learner="perceptron", **settings),
            )
            yield f"refit {scheme}", kernel or "linear", ActiveRanker(k, **settings)
            if scheme != "sequential" and kernel is None:
                printed = ActiveRanker(k, learner="perceptron", balance=False, **settings)
                yield f"perceptron {scheme}, unbalanced", "linear", printed
    per_window = int(FEW * min(window.size for window in stream.windows))
    few = ActiveRanker(k, extra_labels=max(0, per_window - k), window_labels=per_window, random_state=seed)
    yield "default, 1 % of labels", "rbf", few


def study(
    sets: Iterable[str],
    ks: Iterable[int],
    seeds: int,
    *,
    rows: int | None = None,
    results: Path,
    minutes: float = np.inf,
    only: tuple[str, ...] = ("",),
) -> list[Result]:
    """All runs; those in the file ``results`` are taken from there, and new ones added to it.

    ``only``: methods whose name begins so. When the time is up, the runs of the sets that are complete.
    """
    jobs = [(name, seed, k) for name in sets for seed in range(seeds) for k in ks]
    known = (Result(**run) for run in read_runs(results))
    done, end = {each.cell: each for each in known}, time.monotonic() + 60 * minutes
    found: list[Result] = []
    for name, seed, k in track(jobs, "running", console=Console(stderr=True)):
        stream = load_stream(name, seed, rows=rows)
        methods = [(*SGD, None), *rankers(stream, k, seed)]
        for method, kernel, ranker in (each for each in methods if each[0].startswith(only)):
            cell = (name, k, seed, stream.y.size, method, kernel)
            if cell not in done:
                if time.monotonic() > end:
                    return [each for each in found if each.set != name]
                played = play_sgd(stream, k, seed) if ranker is None else play(stream, ranker)
                done[cell] = Result(name, method, kernel, k, seed, stream.y.size, *played)
                append_runs(results, [asdict(done[cell])])
            found.append(done[cell])
    return found


def summarise(results: list[Result]) -> list[dict[str, Any]]:
    """Mean precision over seeds, its standard error, the spread over windows, and labels per stream."""
    groups: dict[tuple[str, int, str, str], list[Result]] = {}
    for each in results:
        groups.setdefault((each.set, each.k, each.method, each.kernel), []).append(each)
    return [
        {
            "set": name,
            "k": k,
            "method": method,
            "kernel": kernel,
            "precision": float(np.mean([each.mean for each in runs])),
            "error": float(np.std([each.mean for each in runs], ddof=1) / np.sqrt(len(runs)))
            if len(runs) > 1
            else 0.0,
            "spread": float(np.mean([np.std(each.precision[1:]) for each in runs])),
            "labels": float(np.mean([sum(each.labels) for each in runs])),
            "by_window": np.mean([each.precision for each in runs], axis=0).round(3).tolist(),
        }
        for (name, k, method, kernel), runs in groups.items()
    ]


def print_report(found: dict[str, list[dict[str, Any]]]) -> None:
    """The table of all runs, then each claim with its verdict and its numbers."""
    summary, claims = found["summary"], found["claims"]
    for name, k in sorted({(row["set"], row["k"]) for row in summary}):
        print(f"\n{name}, precision@{k}: mean ± error, spread over windows, labels")
        for row in (row for row in summary if (row["set"], row["k"]) == (name, k)):
            figures = (
                f"{row['precision']:.3f} ± {row['error']:.3f}  {row['spread']:.3f}  {row['labels']:>9,.0f}"
            )
            print(f"  {row['method']:<36} {row['kernel']:<7} {figures}")
    print()
    for claim in claims:
        print(f"{claim['verdict'].upper():>14}  {claim['claim']}\n{'':>16}{claim['numbers']}")


def main(arguments: Sequence[str]) -> None:
    """Run the study and print its table and the paper's claims."""
    parser = study_parser(__name__, __doc__, "two seeds, 12,000 rows of each set, k = 50")
    in_pieces(parser)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="METHOD", help="methods whose name begins so"
    )
    options = parser.parse_args(arguments)
    ks, seeds, rows = (
        ([50], min(options.seeds, 2), 12_000) if options.quick else ([50, 300], options.seeds, None)
    )
    file, only = runs_file(options, __name__), tuple(options.only)
    results = study(options.sets, ks, seeds, rows=rows, results=file, minutes=options.minutes, only=only)
    summary = summarise(results)
    claims = [] if any(only) else [*check_claims(summary), *check_default(summary)]
    runs = [asdict(each) for each in results]
    tell({"summary": summary, "claims": claims, "runs": runs}, options.json, print_report)
