"""What the trials found within a budget: by period, in all with intervals, and for every budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from shortlist.lists import Lists
from shortlist.tables.columns.words import percent
from shortlist.tables.table import RowFacts
from shortlist.workflow.history.intervals import ENOUGH_PERIODS, LEVEL, draws, ratio_interval
from shortlist.workflow.history.measures import Floats, budgets_up_to, found_within, looked_at, ratios
from shortlist.workflow.history.trials import Trial, Trials

#: Rows are drawn in at most this many blocks when there are too few periods to draw.
_MOST_UNITS = 2000


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts over the trials; the budget holds for each list of each period."""

    trials: Trials
    budget: int
    random_state: int = 0
    review_cost: float | None = None  # of one row, in the unit of the impact

    def periods(self) -> pl.DataFrame:
        """One row per split and ranking."""
        rows = []
        for trial in self.trials.trials:
            facts, lists = self._test_rows(trial)
            sums = found_within(facts, looked_at(trial.score, self.budget, lists))
            rows.append(
                {
                    "period": trial.split.title,
                    "ranking": trial.ranking,
                    "rows": trial.split.test.size,
                    "wanted": int(sums["wanted"]),
                    "found": sums["found"],
                    **ratios(sums),
                    "fit seconds": trial.fit_seconds,
                }
            )
        return pl.DataFrame(rows, infer_schema_length=None).fill_nan(None)

    def totals(self) -> pl.DataFrame:
        """One row per ranking, with 95 % intervals; best first by impact where there is one, else by rows found."""
        rows = [{"ranking": ranking, **self._total(ranking)} for ranking in self.trials.rankings]
        frame = pl.DataFrame(rows, infer_schema_length=None).fill_nan(None)
        return frame.sort(self.goal, descending=True, maintain_order=True)

    def net_values(self, cost: float) -> pl.DataFrame:
        """What each ranking found less what looking cost, with 95 % intervals."""
        rows = [{"ranking": name, **self._net(self._units(name), cost)} for name in self.trials.rankings]
        return pl.DataFrame(rows)

    @property
    def reviewed(self) -> int:
        """How many rows the budget looks at in all."""
        sizes = [self._test_rows(trial)[1].sizes for trial in self.trials.of(self.trials.rankings[0])]
        return int(np.minimum(np.concatenate(sizes), self.budget).sum())

    @property
    def possible(self) -> int:
        """How many wanted rows the budget could find at best: in each list no more than it holds."""
        each = (self._test_rows(trial) for trial in self.trials.of(self.trials.rankings[0]))
        counts = [np.bincount(lists.of_row, facts.wanted, minlength=len(lists)) for facts, lists in each]
        return int(np.minimum(np.concatenate(counts), self.budget).sum())

    @property
    def goal(self) -> str:
        """What rankings are judged by."""
        return "impact found" if self.trials.by_impact else "found"

    def difference(self, better: str, worse: str) -> tuple[float, float, float]:
        """How much more one ranking found than another, with its interval."""
        gain = self._units(better)[self.goal] - self._units(worse)[self.goal]
        drawn = self.draws @ gain
        low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(gain.sum()), float(low), float(high)

    def curve(self) -> pl.DataFrame:
        """What every budget finds: ranking, budget, found, precision, recall, and impact where it is known."""
        rows = []
        for ranking in self.trials.rankings:
            tests = [(trial, *self._test_rows(trial)) for trial in self.trials.of(ranking)]
            for budget in budgets_up_to(self._longest).tolist():
                parts = [found_within(f, looked_at(t.score, budget, lists)) for t, f, lists in tests]
                sums = {name: sum(part[name] for part in parts) for name in parts[0]}
                rows.append({"ranking": ranking, "budget": budget, "found": sums["found"], **ratios(sums)})
        return pl.DataFrame(rows, infer_schema_length=None).fill_nan(None)

    def reach(self, levels: Sequence[float] = (0.5, 0.8, 0.9), of: str = "wanted") -> pl.DataFrame:
        """The smallest budget that finds each share of the wanted rows, or of the impact, for each ranking: exact."""
        rows = []
        for ranking in self.trials.rankings:
            tests = [(trial, *self._test_rows(trial)) for trial in self.trials.of(ranking)]
            found = partial(_share_found, tests, of)
            budgets = {f"budget for {percent(level)}": self._smallest(found, level) for level in levels}
            rows.append({"ranking": ranking, **budgets})
        return pl.DataFrame(rows)

    def _smallest(self, recall: Callable[[int], float], level: float) -> int:
        low, high = 0, self._longest
        while high - low > 1:  # recall never falls as the budget grows
            middle = (low + high) // 2
            low, high = (low, middle) if recall(middle) >= level - 1e-12 else (middle, high)
        return high

    @cached_property
    def _longest(self) -> int:
        return max(int(self._test_rows(trial)[1].sizes.max()) for trial in self.trials.trials)

    def _total(self, ranking: str) -> dict[str, Any]:
        units = self._units(ranking)
        sums = {name: float(values.sum()) for name, values in units.items()}
        row: dict[str, Any] = {"found": sums["found"], **ratios(sums)}
        pairs = {"precision": ("found", "reviewed"), "recall": ("found", "wanted")}
        if "impact" in sums:
            pairs["impact share"] = ("impact found", "impact")
        for name, (part, whole) in pairs.items():
            row[f"{name} low"], row[f"{name} high"] = ratio_interval(units[part], units[whole], self.draws)
        if self.review_cost is not None:
            row |= self._net(units, self.review_cost)
        seconds = [t.fit_seconds for t in self.trials.of(ranking) if t.fit_seconds is not None]
        return {**row, "fit seconds": float(np.mean(seconds)) if seconds else None}

    def _net(self, units: dict[str, Floats], cost: float) -> dict[str, float]:
        """What was found less what looking cost, with its interval."""
        net = units["impact found"] - cost * units["reviewed"]
        low, high = np.quantile(self.draws @ net, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return {"net value": float(net.sum()), "net value low": float(low), "net value high": float(high)}

    @cached_property
    def draws(self) -> Floats:
        """How often each draw takes each unit."""
        return draws(self._unit_of_row[1], self.random_state)

    @property
    def units(self) -> list[Any]:
        """The unit that each test row belongs to, split by split: what ``draws`` draws anew."""
        return self._unit_of_row[0]

    @cached_property
    def _unit_of_row(self) -> tuple[list[Any], int]:
        """The unit that each test row belongs to, split by split: its period, or one of many blocks of rows."""
        splits = self.trials.splits
        if len(splits) >= ENOUGH_PERIODS:
            return [np.full(split.test.size, i) for i, split in enumerate(splits)], len(splits)
        sizes = [split.test.size for split in splits]
        n_units = min(sum(sizes), _MOST_UNITS)
        shuffled = np.random.default_rng(self.random_state).permutation(sum(sizes)) % n_units
        return np.split(shuffled, np.cumsum(sizes)[:-1]), n_units

    def _units(self, ranking: str) -> dict[str, Floats]:
        """The sums of ``found_within``, unit by unit."""
        unit_of_row, n_units = self._unit_of_row
        totals: dict[str, Any] = {}
        rows: dict[str, Any]
        for trial, units in zip(self.trials.of(ranking), unit_of_row, strict=True):
            facts, lists = self._test_rows(trial)
            share = looked_at(trial.score, self.budget, lists)
            rows = {"found": share * facts.wanted, "reviewed": share, "wanted": facts.wanted}
            if facts.worth is not None:
                rows |= {"impact found": share * facts.worth, "impact": facts.worth}
            for name, values in rows.items():
                sums = np.bincount(units, values, minlength=n_units)
                totals[name] = totals[name] + sums if name in totals else sums
        return totals

    def _test_rows(self, trial: Trial) -> tuple[RowFacts, Lists]:
        facts = self.trials.tested(trial.split)
        return facts, facts.in_lists


def _share_found(tests: Sequence[tuple[Trial, RowFacts, Lists]], of: str, budget: int) -> float:
    """The share of the wanted rows, or of the impact, that a budget finds; all of nothing."""
    part = {"wanted": "found", "impact": "impact found"}[of]
    parts = [found_within(facts, looked_at(trial.score, budget, lists)) for trial, facts, lists in tests]
    whole = sum(each[of] for each in parts)
    return sum(each[part] for each in parts) / whole if whole else 1.0
