"""The claims of the prec@k paper on several streams, by means; ``studies.papers.prec_at_k`` has the paired tests."""

from __future__ import annotations

from typing import Any

import numpy as np

Summary = list[dict[str, Any]]

SAMPLERS = ("exponential", "inverse", "uniform")
#: Precision within this of another counts as comparable.
COMPARABLE = 0.02


def check_claims(summary: Summary) -> list[dict[str, Any]]:
    """What the paper claims of its algorithms, for each set, k and kernel of the study."""
    claims = []
    for name, k in sorted({(row["set"], row["k"]) for row in summary}):
        rows = {(row["method"], row["kernel"]): row for row in summary if (row["set"], row["k"]) == (name, k)}
        for kernel in ("linear", "rbf"):
            perceptrons = {
                scheme: rows[f"perceptron {scheme}", kernel] for scheme in ("sequential", *SAMPLERS)
            }
            all_labels = rows["SGD, all labels", "linear"]["labels"]
            claims += [_fewer(perceptrons, all_labels), _comparable(perceptrons), _decaying(perceptrons)]
            claims += [_steadier(perceptrons), _label_bound(perceptrons, k, all_labels)]
            for claim in claims[-5:]:
                claim["where"] = f"{name}, k = {k}, {kernel}"
        claims.append(_kernel_helps(rows) | {"where": f"{name}, k = {k}"})
    return [{**claim, "claim": f"{claim['claim']} ({claim['where']})"} for claim in claims]


def check_default(summary: Summary) -> list[dict[str, Any]]:
    """The goal of the default: full-label SGD's precision with at most 1 % of its labels."""
    verdicts = []
    for name, k in sorted({(row["set"], row["k"]) for row in summary}):
        rows = {row["method"]: row for row in summary if (row["set"], row["k"]) == (name, k)}
        few, full = rows["default, 1 % of labels"], rows["SGD, all labels"]
        numbers = (
            f"{few['precision']:.4f} with {few['labels']:,.0f} labels; "
            f"SGD {full['precision']:.4f} with {full['labels']:,.0f}"
        )
        goal = f"default at or above SGD with all labels, at 1 % of them ({name}, k = {k})"
        verdicts.append(_verdict(goal, few["precision"] >= full["precision"], numbers))
    return verdicts


def _verdict(claim: str, holds: bool, numbers: str) -> dict[str, Any]:
    return {"claim": claim, "verdict": "holds" if holds else "does not hold", "numbers": numbers}


def _fewer(perceptrons: dict[str, dict[str, Any]], all_labels: float) -> dict[str, Any]:
    most = max(row["labels"] for row in perceptrons.values())
    claim = "all schemes need far fewer labels (a tenth at most) than full information"
    numbers = ", ".join(f"{scheme} {row['labels']:,.0f}" for scheme, row in perceptrons.items())
    return _verdict(claim, most <= 0.1 * all_labels, f"{numbers} of {all_labels:,.0f}")


def _comparable(perceptrons: dict[str, dict[str, Any]]) -> dict[str, Any]:
    full = perceptrons["sequential"]["precision"]
    worst = min(perceptrons[scheme]["precision"] for scheme in ("exponential", "inverse"))
    claim = f"sampling is comparable to Algorithm 1 (within {COMPARABLE})"
    return _verdict(claim, worst >= full - COMPARABLE, _precisions(perceptrons))


def _decaying(perceptrons: dict[str, dict[str, Any]]) -> dict[str, Any]:
    pairs = [(perceptrons[scheme], perceptrons["uniform"]) for scheme in ("exponential", "inverse")]
    claim = "probabilities that decay with the margin beat uniform ones"
    return {"claim": claim, "verdict": _all_above(pairs), "numbers": _precisions(perceptrons)}


def _steadier(perceptrons: dict[str, dict[str, Any]]) -> dict[str, Any]:
    spreads = {scheme: perceptrons[scheme]["spread"] for scheme in SAMPLERS}
    steadier = max(spreads["exponential"], spreads["inverse"]) < spreads["uniform"]
    numbers = "spread over windows: " + ", ".join(
        f"{scheme} {spread:.3f}" for scheme, spread in spreads.items()
    )
    return _verdict("probabilities that decay with the margin are steadier over windows", steadier, numbers)


def _label_bound(perceptrons: dict[str, dict[str, Any]], k: int, n_rows: float) -> dict[str, Any]:
    unit = k * np.log(n_rows)
    ratios = {scheme: perceptrons[scheme]["labels"] / unit for scheme in SAMPLERS}
    numbers = "labels / (k log n): " + ", ".join(f"{scheme} {ratio:.2f}" for scheme, ratio in ratios.items())
    return _verdict(
        "sampling needs O(k log n) labels (here: at most 2 k log n)", max(ratios.values()) <= 2, numbers
    )


def _kernel_helps(rows: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    schemes = ("sequential", *SAMPLERS)
    pairs = [
        (rows[f"perceptron {scheme}", "rbf"], rows[f"perceptron {scheme}", "linear"]) for scheme in schemes
    ]
    numbers = ", ".join(
        f"{scheme} {linear['precision']:.3f} → {rbf['precision']:.3f}"
        for scheme, (rbf, linear) in zip(schemes, pairs, strict=True)
    )
    return {"claim": "an RBF kernel improves every scheme", "verdict": _all_above(pairs), "numbers": numbers}


def _all_above(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """Whether the first of each pair is above the second, and by more than two standard errors."""
    gaps = [row["precision"] - other["precision"] for row, other in pairs]
    errors = [np.hypot(row["error"], other["error"]) for row, other in pairs]
    if all(gap > 2 * error for gap, error in zip(gaps, errors, strict=True)):
        return "holds"
    return "not clear" if min(gaps) > 0 else "does not hold"


def _precisions(perceptrons: dict[str, dict[str, Any]]) -> str:
    return ", ".join(
        f"{scheme} {row['precision']:.3f} ± {row['error']:.3f}" for scheme, row in perceptrons.items()
    )
