"""Online active learning for precision@k: the paper's Figures 1 to 4 and its claims, by paired tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from studies.frame.cells import Cell, Found
from studies.frame.claims import Claim, Judged, all_of, paired, within
from studies.frame.command import run_paper
from studies.frame.figures import line_style, panels, shared_legend
from studies.frame.paper import Entry, Figure, Paper, Plan, Table, entry
from studies.papers.prec_at_k_runs import perceptron
from studies.papers.prec_at_k_theory import SURROGATES, related, theorem

SCHEMES = ("sequential", "exponential", "inverse", "uniform")
DECAYING = ("exponential", "inverse")
#: As the paper numbers them; Algorithm 1 is the one that is not active.
LABELS = {scheme: f"Algorithm {number}, {scheme}" for number, scheme in enumerate(SCHEMES, 1)}
KS, KERNELS = (50, 300), (None, "rbf")
NAMES = {None: "linear", "rbf": "RBF"}
#: Precision within this of another counts as comparable; labels up to this share of all as far fewer.
COMPARABLE, FEW = 0.02, 0.1


def plan(ks: Sequence[int] = KS, kernels: Sequence[str | None] = KERNELS) -> Plan:
    """Every scheme on the same streams; quick: the first rows of each."""

    def cells(repeats: int, quick: bool) -> list[Cell]:
        size = {"rows": 12_000} if quick else {}
        return [
            Cell.of(perceptron, data="cod_rna", seed=seed, k=k, scheme=scheme, kernel=kernel, **size)
            for seed in range(repeats)
            for kernel in kernels
            for k in ks
            for scheme in SCHEMES
        ]

    return cells


def means(found: Found, **where: Any) -> list[float]:
    """Mean precision of the windows after the first, which nobody has learned anything for; a figure per seed."""
    return [float(np.mean(run["precision"][1:])) for run in found.where(**where).each()]


def spreads(found: Found, **where: Any) -> list[float]:
    """Standard deviation of precision over the windows after the first."""
    return [float(np.std(run["precision"][1:])) for run in found.where(**where).each()]


def labels(found: Found, **where: Any) -> list[float]:
    """Labels asked for in the whole stream."""
    return [float(sum(run["labels"])) for run in found.where(**where).each()]


def entries(found: Found) -> Iterator[Entry]:
    """What the figures show, in numbers: the paper prints none."""
    for kernel in KERNELS:
        for k in KS:
            for scheme in SCHEMES:
                row = f"k = {k}, {NAMES[kernel]}, {LABELS[scheme]}"
                where = {"k": k, "kernel": kernel, "scheme": scheme}
                yield entry(row, "precision", means(found, **where))
                yield entry(row, "spread over windows", spreads(found, **where))
                yield entry(row, "labels", labels(found, **where))


def few_labels(found: Found, *, k: int) -> Judged:
    """The most that a scheme asks for, as a share of the rows."""
    shares = {
        scheme: max(sum(run["labels"]) / run["rows"] for run in runs)
        for scheme in SCHEMES
        if (runs := found.where(k=k, scheme=scheme).each())
    }
    return within(shares, 0, FEW)


def comparable(found: Found, *, k: int, kernel: str | None) -> Judged:
    """The active schemes are not below Algorithm 1 by more than a little."""
    full = means(found, k=k, kernel=kernel, scheme="sequential")
    return all_of(
        {
            scheme: paired(means(found, k=k, kernel=kernel, scheme=scheme), full, margin=COMPARABLE)
            for scheme in DECAYING
        }
    )


def decaying(found: Found, *, k: int, kernel: str | None) -> Judged:
    """Both schemes that decay with the margin beat the even one on the same streams."""
    even = means(found, k=k, kernel=kernel, scheme="uniform")
    return all_of(
        {scheme: paired(means(found, k=k, kernel=kernel, scheme=scheme), even) for scheme in DECAYING}
    )


def steadier(found: Found, *, k: int, kernel: str | None) -> Judged:
    """Their precision differs less from window to window."""
    even = spreads(found, k=k, kernel=kernel, scheme="uniform")
    return all_of(
        {scheme: paired(even, spreads(found, k=k, kernel=kernel, scheme=scheme)) for scheme in DECAYING}
    )


def kernel_helps(found: Found, *, k: int) -> Judged:
    """The RBF kernel is better than none, scheme by scheme."""
    pairs = {s: [means(found, k=k, scheme=s, kernel=kernel) for kernel in ("rbf", None)] for s in SCHEMES}
    return all_of({scheme: paired(*both) for scheme, both in pairs.items()})


def label_bound(found: Found, *, k: int) -> Judged:
    """Labels divided by k log n."""
    ratios = {
        scheme: float(np.mean([sum(run["labels"]) / (k * np.log(run["rows"])) for run in runs]))
        for scheme in SCHEMES[1:]
        if (runs := found.where(k=k, scheme=scheme).each())
    }
    return within(ratios, 0, 2)


def draw(found: Found, sheet: Any, *, k: int, kernel: str | None) -> None:
    """Precision and labels so far, window by window, mean over streams."""
    axes = panels(sheet, (f"precision@{k}", "labels asked for so far"), height=3.0)
    for place, scheme in enumerate(SCHEMES):
        runs = found.where(k=k, kernel=kernel, scheme=scheme).each()
        if not runs:
            continue
        precision, asked = (
            np.mean([run[figure] for run in runs], axis=0) for figure in ("precision", "labels")
        )
        windows = np.arange(1, precision.size + 1)
        axes[f"precision@{k}"].plot(windows, precision, label=LABELS[scheme], **line_style(place))
        axes["labels asked for so far"].plot(windows, np.cumsum(asked), **line_style(place))
    for each in axes.values():
        each.set_xlabel("window")
    axes[f"precision@{k}"].set_ylim(0, 1.02)
    shared_legend(sheet, axes[f"precision@{k}"], columns=2)


def theory(repeats: int, quick: bool) -> list[Cell]:
    """Theorem 1 and the surrogates on the same streams, a third of them: what is counted needs few."""
    size = {"rows": 12_000} if quick else {}
    return [
        Cell.of(theorem, data="cod_rna", seed=seed, k=k, **size)
        for seed in range(max(2, repeats // 3))
        for k in KS
    ]


#: Ways to ask of the papers that this one builds on: b of selective sampling, answers before a threshold halves.
RELATED = {"selective sampling": (0.001, 0.01, 0.1), "active perceptron": (8.0, 32.0)}


def others(repeats: int, quick: bool) -> list[Cell]:
    """Selective sampling and the active perceptron, row by row, on the same streams."""
    size = {"rows": 12_000} if quick else {}
    return [
        Cell.of(related, data="cod_rna", seed=seed, method=method, budgets="50 300", setting=setting, **size)
        for seed in range(max(2, repeats // 3))
        for method, settings in RELATED.items()
        for setting in settings
    ]


def entries_theory(found: Found) -> Iterator[Entry]:
    """Mistakes and both forms of the bound; surrogates, the mean over windows."""
    for k in KS:
        runs = found.where(k=k).each()
        for column in ("mistakes", "as printed", "squared"):
            yield entry(f"Theorem 1, k = {k}", column, [run[column] for run in runs])
        for name in ("loss", *SURROGATES):
            yield entry(f"per window, k = {k}", name, [run["surrogates"][name] for run in runs])


def entries_related(found: Found) -> Iterator[Entry]:
    """Precision after the first window, and labels."""
    for method, settings in RELATED.items():
        for setting in settings:
            runs = found.where(method=method, setting=setting).each()
            row = f"{method}, {'b =' if setting < 1 else 'halves after'} {setting:g}"
            for k in map(str, KS):
                yield entry(row, f"precision@{k}", [float(np.mean(run["precision"][k][1:])) for run in runs])
            yield entry(row, "labels", [float(run["labels"][-1]) for run in runs])


def bounded(found: Found, *, form: str) -> Judged:
    """Streams on which the mistakes are within the bound."""
    runs = found.each()
    inside = sum(run["mistakes"] <= run[form] for run in runs)
    if not runs:
        return Judged("cannot be decided", "nothing was run")
    told = f"within the bound on {inside} of {len(runs)} streams"
    return Judged("holds" if inside == len(runs) else "does not hold", told)


def ordered(found: Found) -> Judged:
    """The loss is below the ramp, that below the average, that below the maximum, in every window."""
    runs = found.each()
    if not runs:
        return Judged("cannot be decided", "nothing was run")
    good = sum(run["ordered"] for run in runs)
    told = f"in all windows of {good} of {len(runs)} streams"
    return Judged("holds" if good == len(runs) else "does not hold", told)


def _theory_claims() -> Iterator[Claim]:
    yield Claim(
        "the three surrogates bound the loss from above, the ramp tightest", "Section 2", theory, ordered
    )
    yield Claim("Theorem 1 as printed", "Theorem 1", theory, partial(bounded, form="as printed"))
    yield Claim(
        "Theorem 1 with the right side squared", "Theorem 1", theory, partial(bounded, form="squared")
    )


def _claims() -> Iterator[Claim]:
    where = "Section 4.2"
    for k in KS:
        by_k = plan((k,))
        yield Claim(
            f"all schemes need far fewer labels than rows (a tenth at most), k = {k}",
            where,
            by_k,
            partial(few_labels, k=k),
        )
        yield Claim(f"an RBF kernel improves every scheme, k = {k}", where, by_k, partial(kernel_helps, k=k))
        bound = partial(label_bound, k=k)
        yield Claim(
            f"sampling needs O(k log n) labels (here: at most 2 k log n), k = {k}", where, by_k, bound
        )
        for kernel in KERNELS:
            case, run = f"k = {k}, {NAMES[kernel]}", plan((k,), (kernel,))
            told = f"sampling is comparable to Algorithm 1 (within {COMPARABLE}), {case}"
            yield Claim(told, where, run, partial(comparable, k=k, kernel=kernel))
            told = f"probabilities that decay with the margin beat uniform ones, {case}"
            yield Claim(told, where, run, partial(decaying, k=k, kernel=kernel))
            told = f"probabilities that decay with the margin are steadier over windows, {case}"
            yield Claim(told, where, run, partial(steadier, k=k, kernel=kernel))


def _figures() -> Iterator[Figure]:
    cases = ((50, None), (300, None), (50, "rbf"), (300, "rbf"))
    for number, (k, kernel) in enumerate(cases, 1):
        title = f"precision@{k} and labels by window on COD-RNA, {NAMES[kernel]}"
        yield Figure(str(number), title, plan((k,), (kernel,)), partial(draw, k=k, kernel=kernel))


PAPER = Paper(
    name="prec_at_k",
    title="Online active learning for precision@k",
    reference="A. Modi, A. Sekhari and S. Gupta, 2017",
    tables=(
        Table("means", "what the figures show, in numbers; the paper prints none", plan(), entries),
        Table("theory", "Theorem 1 and the surrogates, all labels, linear", theory, entries_theory, digits=1),
        Table("related", "the schemes of related work, row by row, linear", others, entries_related),
    ),
    figures=tuple(_figures()),
    claims=(*_claims(), *_theory_claims()),
    repeats=30,
    quick_repeats=6,
    left_out=("COD-RNA with 488,565 rows: the file at hand has 59,535 of them.",),
)


def main(arguments: Sequence[str]) -> None:
    """Run the study and print its figures in numbers, and the paper's claims."""
    run_paper(PAPER, __name__, arguments, quick="six streams of 12,000 rows")
