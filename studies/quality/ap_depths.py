"""Whether other depths, or more patience, rank large sets better than the default of APBoost.

The sets with more than 15,000 rows, whole, and the splits of ``quality.ap_boost``.

    python -m studies quality.ap_depths --minutes 20
    python -m studies quality.ap_depths --report --json > studies/results/quality.ap_depths.json
"""

from __future__ import annotations

from collections.abc import Sequence

from studies.quality.ap_boost import rivals_parser, study
from studies.quality.rivals import ap_boost

LARGE = ["carclaims", "car_insurance_cost", "cod_rna", "cover", "creditcard_part", "w8a_train"]
METHODS = {
    "APBoost": ap_boost(),
    "depth 10": ap_boost(max_depth=10),
    "depths 6, 10": ap_boost(max_depth=(6, 10)),
    "depths 3, 6, 10": ap_boost(max_depth=(3, 6, 10)),
    "depths 3, 6": ap_boost(max_depth=(3, 6)),
    "patience 100": ap_boost(early_stopping_rounds=100),
}


def main(arguments: Sequence[str]) -> None:
    """Run what is missing, and compare the default with the others."""
    parser = rivals_parser(__name__, __doc__, 1, METHODS)
    parser.set_defaults(rows=1_000_000)
    study(__name__, parser.parse_args(arguments), LARGE, METHODS)
