"""Why a row is where it is: the columns that lift it, and the reviewed rows it is like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shortlist.feedback.compared import Compared, Resemblance
from shortlist.feedback.spaces.forest import Floats, Integers
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.kernels.feedback import paths as kernels
from shortlist.tables.columns.words import percent

#: A column that lifts a row less than this share of what the strongest does is no reason to look at it.
LEAST_PUSH = 0.1


@dataclass(frozen=True)
class Push:
    """A column, and by how much its value lifts the row's score beyond that of an average row."""

    column: int
    name: str
    push: float

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Why:
    """The columns that lift a row most, and the reviewed rows it is most like.

    A score space keeps leaves and no values, so this names columns; whoever has the rows says what the values are
    (``shortlist.models.reasons``).
    """

    row: int
    reasons: tuple[Push, ...]
    resembles: tuple[Resemblance, ...]

    def __str__(self) -> str:
        lifted = ", ".join(f"{reason.name} +{reason.push:.3g}" for reason in self.reasons) or "nothing"
        like = ", ".join(
            f"{r.row} {'✓' if r.wanted else '✗'} {percent(r.similarity)}" for r in self.resembles
        )
        return f"row {self.row}: lifted by {lifted}" + (f" (like {like})" if like else "")


class Explainer:
    """Says why rows are where they are, under one state of what was learned; what all rows share is worked out once.

    compared : reviewed rows that others are compared with
    """

    def __init__(self, space: ScoreSpace, contribution: Floats, compared: Compared) -> None:
        self._space, self._contribution, self._compared = space, contribution, compared
        self._total, self._rows = space.forest.sum_up(contribution * space.leaf_rows), space.node_rows

    def why(self, row: int, n_reasons: int, n_similar: int) -> Why:
        """The columns that lift a row, strongest first, and the most similar reviewed rows."""
        leaves = self._space.leaves([row])[0]
        push = self.pushes(leaves)
        strongest = np.argsort(-push, kind="stable")[:n_reasons]
        least = LEAST_PUSH * push.max(initial=0.0)
        names = self._space.column_names
        reasons = tuple(
            Push(int(i), names[i], float(push[i])) for i in strongest if push[i] > 0 and push[i] >= least
        )
        return Why(row, reasons, self._compared.resembling(leaves, n_similar))

    def pushes(self, leaves: Integers) -> Floats:
        """How much each column lifts the row in these leaves, one of each member.

        Every cut on the way to a leaf changes what rows in its part get on average; the change is put down to the
        column that is cut. So the pushes add up to the row's score beyond that of an average row.
        """
        forest, push = self._space.forest, np.zeros(len(self._space.column_names))
        value = self._contribution[leaves]
        kernels.push(
            forest.leaf_nodes[leaves], value, forest.parent, forest.feature, self._total, self._rows, push
        )
        return push
