"""The face of a finished tree: everything a user reads from it."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray

from shortlist.rankers.target.reading.drawing import tree_svg
from shortlist.rankers.target.reading.export import rules_text, tree_text
from shortlist.rankers.target.reading.words import Words
from shortlist.rankers.target.tree import Tree


@dataclass(frozen=True, eq=False)
class TreeView:
    """One tree of a model, to read: ``print`` it, or show it in a notebook."""

    tree: Tree
    words: Words

    def __str__(self) -> str:
        return tree_text(self.tree, self.words)

    __repr__ = __str__

    def rules(self) -> str:
        """One rule per leaf, best first."""
        return rules_text(self.tree, self.words)

    def svg(self) -> str:
        """A drawing."""
        return tree_svg(self.tree, self.words)

    _repr_svg_ = svg

    def explain(self, X: NDArray) -> list[str]:
        """For each row, the rule that ranked it."""
        leaves = self.tree.leaf_of(X, self.words.bins)
        rule = {
            leaf: f"{self.words.leaf(self.tree, leaf)}: {self.words.rule(self.tree, leaf)}"
            for leaf in set(leaves)
        }
        return [rule[leaf] for leaf in leaves]
