"""How well APBoost ranks larger sets beside its rivals, and what each part of it adds there.

Sets of more than 28,000 rows, each cut to 60,000: those of the papers, and others from packages
(``studies.large_sets``). Splits and report are those of ``quality.ap_boost``; rivals may have up to 400 rounds,
LightGBM up to 127 leaves. With the sets of that study, as it was kept, both tell of every set once.

    python -m studies quality.ap_large --minutes 20
    python -m studies quality.ap_large --report --json > studies/results/quality.ap_large.json
    python -m studies quality.ap_large --whole    # those of more rows as they are, beside LightGBM
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import polars as pl

from studies.kept import kept
from studies.large_sets import LARGE_SETS, MOST_ROWS
from studies.quality import ap_boost as small
from studies.quality import rivals
from studies.quality.rivals import ap_boost, catboost, lightgbm, xgboost
from studies.running import tell

SETS = sorted([*LARGE_SETS, "car_insurance_cost", "cod_rna", "cover", "creditcard_part", "w8a_train"])
ROUNDS = 400
BEFORE: dict[str, Any] = {"committee": False, "max_depth": 6, "max_cat_threshold": 64}
METHODS = {
    "APBoost": ap_boost(),
    "depth 6 alone": ap_boost(**BEFORE),
    "APBoost as it was": ap_boost(**BEFORE, n_estimators=150),  # in the first release
    "with extra trees": ap_boost(committee=True),
    "without depth 10": ap_boost(max_depth=(3, 6)),
    "LightGBM": lightgbm((7, 31, 127), (20,), ROUNDS),
    "XGBoost logistic": xgboost("binary:logistic", ROUNDS),
    **({"CatBoost": catboost(ROUNDS)} if find_spec("catboost") else {}),  # it is in the extra "studies"
    **{
        name: rivals.METHODS[name]
        for name in ("one model", "any categories together", "ExtraTrees", "logistic regression")
    },
}


#: Sets of more than 60,000 rows, and what is run on all of their rows.
WHOLE = ["bald", "car_insurance_cost", "census", "cover", "fars", "flights", "homologous"]
BESIDE = ["APBoost", "depth 6 alone", "LightGBM"]


def every_set_once(large: dict[str, Any]) -> dict[str, Any]:
    """All sets of both studies in their halves, the larger ones at their size here, by the methods that both know."""
    few = kept("quality.ap_boost")
    methods = ["set", *(name for name in METHODS if name in few["both"]["by set"][0])]
    found = {}
    for half, here in large.items():
        others = [line for line in few[half]["by set"] if line["set"] not in SETS]
        table = pl.DataFrame([*others, *here["by set"]]).select(methods)
        found[half] = {"sets": table.height, "summary": small.beside(table, "APBoost")}
    return found


def main(arguments: Sequence[str]) -> None:
    """Run what is missing, and compare the default with the others."""
    parser = small.rivals_parser(__name__, __doc__, 1, METHODS)
    parser.set_defaults(rows=MOST_ROWS)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--whole", action="store_true", help="sets of more than 60,000 rows with all of them")
    options = parser.parse_args(arguments)
    if options.whole:
        options.sets, options.methods, options.rows = WHOLE, BESIDE, 1_000_000
    found = small.study(__name__, options, options.sets, METHODS, small.in_halves(SETS))
    if "both" in found and options.methods == [*METHODS]:
        once = every_set_once(found)
        found |= {f"every set once, {half}": part for half, part in once.items()}
    tell(found, options.json, small.show)
