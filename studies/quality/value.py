"""Money found within 50 rows by each way of ranking, on tables with a label and an amount known beforehand.

Each table is halved: one half teaches, the other is ranked. Ways were chosen on some tables and confirmed on others
(``value_sets``). A share is the money found over that of the ideal order; sets count alike.

    python -m studies quality.value --minutes 10
    python -m studies quality.value --report --json > studies/results/quality.value.json
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from scipy import stats
from scipy.special import expit
from sklearn.model_selection import train_test_split

from shortlist.models.by_value import ByValue, held_out_curve
from shortlist.question import TrainQuestion
from shortlist.rankers import APBoost, Baseline, Ranker
from shortlist.rankers.catalogue import make_ranker
from shortlist.rankers.chances.calibration import read_chance
from shortlist.tables import Table
from shortlist.workflow.candidates import options_of
from shortlist.workflow.train import train_best
from studies.quality.value_sets import CHOOSE, CONFIRM, SETS
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell

BUDGET = 50
OURS, RIVAL, BY_AMOUNT = "what train takes by itself", "LightGBM, chance x value", "value alone"
BOOSTED = "ap-boost, chance x value"
IDEAL = "the ideal order"
Floats = np.ndarray


def default(past: Table, new: Table, seed: int) -> tuple[str, Floats]:
    """The model that ``train`` takes where none is named, and its scores of the new rows."""
    roles = past.roles
    question = TrainQuestion(
        None, label=roles.label, value=roles.value, budget=BUDGET, random_state=seed, n_jobs=1
    )
    model = train_best(question, past, options_of(question, BUDGET))
    return model.name, model.scored(new).score


def ways(past: Table, new: Table, seed: int) -> dict[str, Floats]:
    """Scores of the new rows by each other way of ranking."""
    value, worth = _value(new), _value(past) * past.wanted
    boost = APBoost(random_state=seed, n_jobs=1).fit(past.features, past.wanted)
    score = boost.decision_function(new.features)
    chance = boost.chance(score)
    base = float(past.wanted.mean())
    plain = _fitted(APBoost(loss="logistic", random_state=seed, n_jobs=1), past)
    linear = _fitted(make_ranker("logistic"), past)
    line = linear.decision_function(new.features)
    lgbm = LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
    return {
        BY_AMOUNT: value,
        "ap-boost, score": score,
        BOOSTED: chance * value,
        "ap-boost, chance x value^0.75": chance * value**0.75,
        "ap-boost, chance x value^0.5": chance * value**0.5,
        "ap-boost, chance x value, base rate as floor": ByValue(least_chance=base).score(chance, value),
        "logistic loss in folds, chance x value": plain.chance(plain.decision_function(new.features)) * value,
        "logistic regression, chance x value": expit(line) * value,
        "logistic regression, held-out chance x value": read_chance(held_out_curve(linear, past, seed), line)
        * value,
        "XGBoost, chance x value": _scores(make_ranker("xgboost", random_state=seed, n_jobs=1), past, new)
        * value,
        RIVAL: _scores(Baseline(estimator=lgbm), past, new) * value,
        "log-regression": _fitted(
            make_ranker("log-regression", random_state=seed, n_jobs=1), past, worth
        ).decision_function(new.features),
    }


def _value(table: Table) -> Floats:
    assert table.impact is not None
    return table.impact


def _fitted(ranker: Any, past: Table, target: Floats | None = None) -> Any:
    return ranker.fit(past.features, past.wanted if target is None else target)


def _scores(ranker: Ranker, past: Table, new: Table) -> Floats:
    return ranker.fit(past.features, past.wanted).decision_function(new.features)


def measure(name: str, seed: int) -> dict[str, Any]:
    """Money and wanted rows within the budget, by each way and by the ideal order."""
    table = SETS[name].table(seed)
    past_rows, new_rows = train_test_split(
        np.arange(len(table)), test_size=0.5, stratify=table.wanted, random_state=seed
    )
    past = table.take(past_rows).learned_again()
    new = table.take(new_rows).under(past.schema)
    worth = _value(new) * new.wanted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rivals, about names of columns
        taken, ours = default(past, new, seed)
        scores = {IDEAL: worth, OURS: ours, **ways(past, new, seed)}
    first = {way: np.argsort(-score, kind="stable")[:BUDGET] for way, score in scores.items()}
    return {
        "set": name,
        "seed": seed,
        "rows": len(new),
        "wanted": int(new.wanted.sum()),
        "taken": taken,
        "money": {way: float(worth[rows].sum()) for way, rows in first.items()},
        "found": {way: int(new.wanted[rows].sum()) for way, rows in first.items()},
    }


def report(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """By set and over sets: the share of the ideal, and how far our default leads, with 95 % intervals."""
    found: dict[str, Any] = {"budget": BUDGET, "runs": len(runs), "sets": len({run["set"] for run in runs})}
    for half, sets in {"choose": CHOOSE, "confirm": CONFIRM, "all": SETS}.items():
        here = [run for run in runs if run["set"] in sets]
        if here:
            found[half] = _summary(here)
    found["by set"] = {name: _of_set([run for run in runs if run["set"] == name]) for name in _names(runs)}
    return found


def _names(runs: list[dict[str, Any]]) -> list[str]:
    return [*dict.fromkeys(run["set"] for run in runs)]


def _shares(runs: list[dict[str, Any]], way: str) -> Floats:
    return np.array([run["money"][way] / run["money"][IDEAL] for run in runs])


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over sets of shares, of wanted rows found, and of differences to our default."""
    sets = [[run for run in runs if run["set"] == name] for name in _names(runs)]

    def line(way: str) -> dict[str, Any]:
        shares = np.array([_shares(part, way).mean() for part in sets])
        ours = np.array([_shares(part, OURS).mean() for part in sets])
        rows = np.mean([np.mean([run["found"][way] for run in part]) for part in sets])
        return {
            "share": round(float(shares.mean()), 4),
            "wanted rows": round(float(rows), 2),
            "ours leads": interval(ours - shares),
        }

    return {way: line(way) for way in runs[0]["money"]}


def _of_set(runs: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "runs": len(runs),
        "rows": runs[0]["rows"],
        "wanted": runs[0]["wanted"],
        "taken": dict(Counter(run["taken"] for run in runs)),
        "shares": {way: round(float(_shares(runs, way).mean()), 4) for way in runs[0]["money"]},
        "ours leads value alone": interval(_shares(runs, OURS) - _shares(runs, BY_AMOUNT)),
        "ours leads LightGBM": interval(_shares(runs, OURS) - _shares(runs, RIVAL)),
    }


def interval(values: Floats) -> dict[str, float]:
    """The mean with its 95 % interval; of a single value nothing is known but itself."""
    half = stats.t.ppf(0.975, values.size - 1) * stats.sem(values) if values.size > 1 else np.inf
    ends = {"mean": values.mean(), "low": values.mean() - half, "high": values.mean() + half}
    return {name: round(float(end), 4) if np.isfinite(end) else None for name, end in ends.items()}  # type: ignore[misc]


def show(found: dict[str, Any]) -> None:
    print(f"{found['runs']} runs on {found['sets']} sets; share of the money that {BUDGET} rows could find")
    for half in ("choose", "confirm", "all"):
        for way, line in found.get(half, {}).items():
            lead = line["ours leads"]
            print(
                f"{half:8} {way:46} {line['share']:.3f}  {line['wanted rows']:5.1f} wanted  ours leads {lead}"
            )
    for name, line in found["by set"].items():
        print(f"{name:24} {line['ours leads value alone']} {line['ours leads LightGBM']}")
    for name in found.get("left out", ()):
        print(f"left out: {name}")


def main(arguments: Sequence[str]) -> None:
    """Run what is missing, and compare the ways."""
    parser = study_parser(__name__, __doc__, "generated claims alone, once")
    in_pieces(parser)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--report", action="store_true", help="only report what is there")
    options = parser.parse_args(arguments)
    sets, seeds = (["claims, generated"], 1) if options.quick else ([*SETS], options.seeds)
    path = runs_file(options, __name__)
    runs, left_out = read_runs(path), dict[str, str]()
    done = {(run["set"], run["seed"]) for run in runs}
    end = time.monotonic() + (0 if options.report else 60 * options.minutes)
    for seed, name in ((seed, name) for seed in range(seeds) for name in sets):
        if (name, seed) not in done and name not in left_out and time.monotonic() < end:
            try:
                runs.append(measure(name, seed))
            except FileNotFoundError as absent:
                left_out[name] = str(absent)
                continue
            append_runs(path, runs[-1:])
    told = {"left out": [f"{name}: {why}" for name, why in left_out.items()]} if left_out else {}
    tell({**report(runs), **told}, options.json, show)
