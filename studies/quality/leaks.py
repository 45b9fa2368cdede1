"""Whether columns that give the label away are named, and honest ones are not, on all forty sets.

In each set five kinds of leaks are planted, one at a time, at three strengths or more: the label itself, a noisy
copy of it, a category that only wanted rows have, a gap that only unwanted rows have, and a date after the outcome.
Honest columns are all others of the set, and two planted dates that are no leaks: one before the row's time, one after
it that has nothing to do with the label. Where the outcome is an amount, the upper tenth is wanted. Thresholds (in
``shortlist.tables.guard``) were set on every second set by name; how strongly honest columns separate was looked at on
all sets when the form was chosen.

    python -m studies quality.leaks --json > studies/results/quality.leaks.json
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from shortlist.tables import Roles, load_table
from shortlist.tables.guard.leaks import Found, Leak, find_leaks, standing_out
from studies.paper_sets import load_paper_set, paper_sets
from studies.running import study_parser, tell

#: Names of rows, or a column that says too little of too many; and columns that are known to be filled afterwards.
DROPPED = {"carclaims": ["PolicyNumber"], "power_outages": ["hurricane_names"]}
AFTERWARDS = "post_"
KINDS = ("label", "noisy copy", "category", "gap", "date")
ROLES = Roles(label="wanted label", time="time of row")


def load(name: str) -> tuple[pl.DataFrame, np.ndarray]:
    """The features, and which rows are wanted."""
    data = load_paper_set(name)
    y = np.asarray(data.y, dtype=np.float64)
    wanted = y > (0 if np.unique(y).size == 2 else np.quantile(y, 0.9))
    frame = pl.DataFrame(data.X.toarray()) if data.frame is None else data.X
    return frame.drop(DROPPED.get(name, [])), wanted


def planted(
    wanted: np.ndarray, time: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[str, str, pl.Series]]:
    """Each kind of leak at each strength: kind, strength, column."""
    n = wanted.size
    yield "label", "0 / 1", pl.Series(wanted.astype(int))
    yield "label", "words", pl.Series(np.where(wanted, "closed: upheld", "closed: dismissed"))
    yield "label", "amounts", pl.Series(np.where(wanted, 31.5, 2.0))
    for noise in (0.05, 0.1, 0.15):
        yield "noisy copy", f"number, noise {noise}", pl.Series(wanted + rng.normal(0, noise, n))
    for share in (0.01, 0.03, 0.05):
        yield "noisy copy", f"flag, {share:.0%} wrong", pl.Series(_flipped(wanted, share, rng))
    for share in (0.2, 0.5, 1.0):
        names = rng.choice([f"reason {i}" for i in range(8)], n).astype(object)
        names[wanted & (rng.random(n) < share)] = "reason 31"
        yield "category", f"{share:.0%} of wanted rows", pl.Series(names, dtype=pl.String)
    for share in (0.5, 0.75, 1.0):
        filled = pl.Series(rng.lognormal(3, 1, n))
        yield "gap", f"{share:.0%} of others", filled.set(pl.Series(~wanted & (rng.random(n) < share)), None)
    for longer in (2.5, 6.0):
        days = rng.lognormal(np.log(np.where(wanted, 10 * longer, 10)), 0.7).astype(int) + 1
        yield "date", f"{longer} times later", pl.Series(time + days.astype("timedelta64[D]"))
    closed = pl.Series(time + rng.integers(20, 90, n).astype("timedelta64[D]"))
    yield "date", "wanted rows only", closed.set(pl.Series(~wanted), None)


def _flipped(wanted: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """A copy with some wanted rows left out and as many others taken in."""
    copy, count = wanted.copy(), int(share * wanted.sum())
    copy[rng.choice(np.flatnonzero(wanted), count, replace=False)] = False
    copy[rng.choice(np.flatnonzero(~wanted), count, replace=False)] = True
    return copy.astype(int)


def measure(name: str, seed: int) -> dict[str, Any]:
    """Which planted leaks are named, and which columns are accused, in one set."""
    rng = np.random.default_rng(seed)
    frame, wanted = load(name)
    time = np.datetime64(date(2023, 1, 1)) + rng.integers(0, 730, wanted.size).astype("timedelta64[D]")
    roles = {"wanted label": pl.Series(wanted.astype(int)), "time of row": pl.Series(time)}
    honest = frame.with_columns(
        pl.Series("policy start", time - rng.integers(1, 900, wanted.size).astype("timedelta64[D]")),
        pl.Series("policy end", time + rng.integers(1, 365, wanted.size).astype("timedelta64[D]")),
    )
    found = find_leaks(load_table(honest.with_columns(**roles), ROLES))
    return {
        "set": name,
        "seed": seed,
        "wanted": int(wanted.sum()),
        "columns": len([each for each in honest.columns if not each.startswith(AFTERWARDS)]),
        "accused": [each.column for each in found.leaks if not each.column.startswith(AFTERWARDS)],
        "easy": len(found.easy),
        "planted": [
            {
                "kind": kind,
                "strength": strength,
                "named": _is_named(column.alias("planted"), roles, found, honest.width),
            }
            for kind, strength, column in planted(wanted, time, rng)
        ],
    }


def _is_named(column: pl.Series, roles: dict[str, pl.Series], beside: Found, width: int) -> bool:
    """Whether a column is named in a table that has these others, too."""
    alone: tuple[Leak, ...] = find_leaks(
        load_table(pl.DataFrame([column]).with_columns(**roles), ROLES)
    ).leaks
    return "planted" in [
        each.column for each in standing_out((*beside.leaks, *beside.easy, *alone), width + 1).leaks
    ]


def report(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of planted leaks named and of honest columns accused, by half."""
    names = sorted({run["set"] for run in runs})
    halves = {"choose": names[::2], "confirm": names[1::2], "both": names}
    return {
        half: _rates([run for run in runs if run["set"] in sets]) for half, sets in halves.items() if sets
    }


def _rates(runs: list[dict[str, Any]]) -> dict[str, Any]:
    leaks = [leak for run in runs for leak in run["planted"]]
    columns, accused = sum(run["columns"] for run in runs), sum(len(run["accused"]) for run in runs)
    strengths = dict.fromkeys((leak["kind"], leak["strength"]) for leak in leaks)
    return {
        "sets": len({run["set"] for run in runs}),
        "planted": len(leaks),
        "named": _share(leaks),
        "named by kind": {kind: _share([leak for leak in leaks if leak["kind"] == kind]) for kind in KINDS},
        "named by strength": {
            f"{kind}: {strength}": _share(
                [leak for leak in leaks if (leak["kind"], leak["strength"]) == (kind, strength)]
            )
            for kind, strength in strengths
        },
        "honest columns": columns,
        "accused": round(accused / columns, 4),
        "accused or easy": round((accused + sum(run["easy"] for run in runs)) / columns, 4),
        "accused, sets alike": round(
            float(np.mean([len(run["accused"]) / run["columns"] for run in runs])), 4
        ),
        "accused columns": sorted({f"{run['set']}: {name}" for run in runs for name in run["accused"]}),
        "sets whose label is easy": sorted(
            {f"{run['set']}: {run['easy']} columns" for run in runs if run["easy"]}
        ),
    }


def _share(leaks: list[dict[str, Any]]) -> float:
    return round(float(np.mean([leak["named"] for leak in leaks])), 4)


def show(found: dict[str, Any]) -> None:
    for half, rates in found.items():
        kinds = ", ".join(f"{kind} {share:.1%}" for kind, share in rates["named by kind"].items())
        print(
            f"{half:8} {rates['sets']} sets: {rates['named']:.1%} of {rates['planted']} planted leaks named ({kinds}); "
        )
        print(
            f"{'':8} {rates['accused']:.2%} of {rates['honest columns']} honest columns accused "
            f"({rates['accused, sets alike']:.2%} with sets alike): {', '.join(rates['accused columns']) or 'none'}; "
            f"easy: {', '.join(rates['sets whose label is easy']) or 'none'}"
        )


def main(arguments: Sequence[str]) -> None:
    """Plant leaks in every set, and count what is named."""
    parser = study_parser(__name__, __doc__, "three small sets, one seed")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    names = ["glass", "wbc", "pima"] if options.quick else paper_sets()["name"].to_list()
    seeds = 1 if options.quick else options.seeds
    tell(report([measure(name, seed) for seed in range(seeds) for name in names]), options.json, show)
