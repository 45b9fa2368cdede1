"""The toy set of the SGBAP paper's Section 3.4, the costs on it, and what Table 2 tells of the real sets."""

from __future__ import annotations

import numpy as np

from studies.paper_sets import load_paper_set
from studies.papers.sgbap_boost import LOSSES, gradient, value

TOY_X = np.arange(-6.0, 8.0)
TOY_Y = np.isin(TOY_X, (-3, -2, 6))
#: Its three rankings: the slope, and the AP and AUC that the paper prints.
RANKINGS = {
    "from 7 down to -6": (1.0, 0.33, 0.49),
    "from -6 up to 7": (-1.0, 0.29, 0.52),
    "all alike": (0.0, 0.22, 0.5),
}


def surface(loss: str, offset: float, slope: float) -> float:
    """The cost of the line offset + slope·x on the toy set; 1 - AP_exp itself, not its logarithm."""
    found = float(value(offset + slope * TOY_X, TOY_Y, LOSSES[loss]))
    return 1 / (1 + np.exp(-found)) if loss == "ap_exp" else found


#: Ranks of the wanted rows, from 0, in the list of twelve rows of Figure 2.
PLACES = (1, 5, 10)


def pulled(loss: str) -> list[float]:
    """How hard the gradient pulls each wanted row of Figure 2 upwards, as shares; scores fall evenly."""
    score, y = np.linspace(1.5, -1.5, 12), np.isin(np.arange(12), PLACES)
    pull = -gradient(score, y, LOSSES[loss])[y]
    return [float(each) for each in pull / pull.sum()]


def properties(data: str) -> dict[str, float]:
    """Rows, wanted rows in percent, and columns of a set."""
    read = load_paper_set(data)
    return {
        "rows": read.X.shape[0],
        "wanted, %": 100 * float(np.mean(read.y > 0)),
        "columns": read.X.shape[1],
    }
