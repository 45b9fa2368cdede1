"""How well APBoost ranks larger sets beside its rivals, and what each part of it adds there.

Sets of more than 28,000 rows, each cut to 60,000: those of the papers, and others from packages
(``studies.large_sets``). Splits and report are those of ``quality.ap_boost``; rivals may have up to 400 rounds,
LightGBM up to 127 leaves.

    python -m studies quality.ap_large --minutes 20
    python -m studies quality.ap_large --report --json > studies/results/quality.ap_large.json
"""

from __future__ import annotations

from collections.abc import Sequence

from studies.large_sets import LARGE_SETS, MOST_ROWS
from studies.quality import rivals
from studies.quality.ap_boost import in_halves, rivals_parser, study
from studies.quality.rivals import ap_boost, lightgbm, xgboost

SETS = sorted([*LARGE_SETS, "car_insurance_cost", "cod_rna", "cover", "creditcard_part", "w8a_train"])
ROUNDS = 400
METHODS = {
    "APBoost": ap_boost(),
    "depth 6 alone": ap_boost(committee=False, max_depth=6, max_cat_threshold=64),  # the default before
    "with extra trees": ap_boost(committee=True),
    "without depth 10": ap_boost(max_depth=(3, 6)),
    "any categories together": ap_boost(max_cat_threshold=64),
    "LightGBM": lightgbm((7, 31, 127), (20,), ROUNDS),
    "XGBoost logistic": xgboost("binary:logistic", ROUNDS),
    **{name: rivals.METHODS[name] for name in ("ExtraTrees", "logistic regression")},
}


def main(arguments: Sequence[str]) -> None:
    """Run what is missing, and compare the default with the others."""
    parser = rivals_parser(__name__, __doc__, 2, METHODS)
    parser.set_defaults(rows=MOST_ROWS)
    parser.add_argument("--sets", nargs="*", default=SETS)
    options = parser.parse_args(arguments)
    study(__name__, options, options.sets, METHODS, in_halves(SETS))
