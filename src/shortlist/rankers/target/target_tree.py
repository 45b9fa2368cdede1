"""TARGET: small readable trees, evolved for average precision or any other objective."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shortlist.objectives import AveragePrecision, Objective
from shortlist.question.options import Progress
from shortlist.rankers.base import Ranker
from shortlist.rankers.batch import Batch
from shortlist.rankers.progress import TellsProgress
from shortlist.rankers.target.binning import Bins
from shortlist.rankers.target.chart import LiveChart
from shortlist.rankers.target.problem import Problem
from shortlist.rankers.target.reading.drawing import scorecard_svg
from shortlist.rankers.target.reading.export import Dialect, tree_document, trees_sql
from shortlist.rankers.target.reading.view import TreeView
from shortlist.rankers.target.reading.words import Words, counted_points
from shortlist.rankers.target.recipe import LIMITS, Recipe
from shortlist.rankers.target.training import train
from shortlist.rankers.target.tree import Tree
from shortlist.rankers.target.watching import Watch
from shortlist.validation import count_threads, draw_seed


class TargetTree(TellsProgress, Ranker):
    """A decision tree found by a genetic search for the objective itself.

    A population of trees evolves by elitism, crossover, mutation and transplant to maximise ::

        fitness(T) = value(T) - alpha * |T|

    where value is the objective (tie-averaged average precision unless told otherwise) of the ranking by
    leaf score, and ``|T|`` the number of leaves. A leaf's score is the share of its training rows that are
    wanted; for objectives of impact, their mean gain. Nodes with fewer than ``min_leaf`` rows are pruned:
    the sibling takes the parent's place.

    Different from the paper: features are put into at most ``max_bins`` bins; of several short restarts the
    fittest tree is kept; alpha is 0.1 / sqrt(wanted) where the paper has 0.01 pi, which overfits once the search
    is thorough (docs/evidence/target.md); part of the first generation is grown greedily (``grown``); half of the
    mutations of a split set are small ones (``p_nudge``); sets of categories are drawn small rather than large;
    missing values take a side of their own. Rows of several lists
    (``groups``) are ranked within their list. A row of ``sample_weight`` w counts as w rows.

    Parameters
    ----------
    objective : what to maximise, from ``shortlist.objectives``; None: ``AveragePrecision()``. With NDCG and
        CostSaved, y is an impact
    alpha : price of a leaf; "default": 0.1 / sqrt(wanted), where wanted is the number of wanted rows (of impacts g:
        (sum g)^2 / sum g^2); "cv": the best of 0.01, 0.03, 0.1 and 0.3 pi by five-fold cross-validation, where pi
        is the share of rows that are worth anything
    n_restarts : populations evolved one after the other
    n_estimators : trees, each evolved on its own bootstrap sample when more than one; scores are averaged
    scorecard : so many small trees, of at most 4 leaves each, whose points are added up; None: one tree. Each tree is
        evolved for the rows that those before it explain badly; points come from a ridge logistic regression on all
        leaves, in whole numbers that sum to about 100 at most
    generations, population : how long and how widely to search
    elitism, crossover, mutation, transplant : how the next generation is made up (shares, sum 1)
    accept : which trees of a crossover go on: "best_of_four" (two parents, two children), "best_two_of_four",
        "better_child" or "both_children"
    grown : share of the first generation that is grown greedily, by the Gini index of a few splits, with at most a
        leaf for every ten wanted rows; 0: all trees are random, as in the paper
    p_split : probability that a node of a random tree splits
    p_node_swap : share of crossovers that swap two splits; the others swap subtrees
    mutations : shares of the four mutations: split set, split rule, node swap, subtree swap
    p_nudge : share of the mutations of a split set that move its threshold by at most an eighth of the bins, or one
        category to the other side, rather than draw a new set; 0: all draw a new one, as in the paper
    min_leaf, max_leaves, max_bins : fewest rows of a leaf, most leaves of a tree, most bins of a feature (256)
    patience : end a restart after so many generations without gain; None: never
    time_limit : seconds after which the search ends with the best tree so far; None: none
    callback : called as ``callback(done, total, best)`` after each generation, of all restarts together; returning
        True ends the search. Not kept when a trained model is saved
    verbose : draw a live chart on the terminal or in the notebook
    memory : bytes allowed for ready row sets; beyond, bit planes are used, which take longer
    n_jobs : threads; None: all. The trees do not depend on it
    random_state : same seed, same trees

    Attributes
    ----------
    trees_ : the trees as plain arrays; ``views`` shows them
    history_ : arrays by generation: estimator, restart, generation, best, mean, leaves, mean_leaves
    stopped_by_ : "generations", "patience", "time", "callback" or "interrupt" (Ctrl-C keeps the best so far)
    alpha_ : the price of a leaf that was used

    References
    ----------
    Fan, G. and Zhu, M. (2010). Detection of rare items with TARGET. Statistics and Its Interface 3, 11-17.

    Examples
    --------
    >>> from shortlist.metrics import average_precision
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((2_000, 3))
    >>> y = rng.random(2_000) < np.where((X[:, 0] > 0.7) & (X[:, 1] > 0.6), 0.8, 0.02)
    >>> ranker = TargetTree(random_state=0).fit(X[:1_000], y[:1_000])
    >>> print(ranker.views[0].rules().splitlines()[0])
    rank 1, ...: x...
    >>> round(average_precision(y[1_000:], ranker.decision_function(X[1_000:])), 1)
    0.8
    """

    _takes_missing = True
    _calibration_folds = 0  # to breed trees anew takes long
    _limits: ClassVar = LIMITS

    def __init__(
        self,
        *,
        objective: Objective | None = None,
        alpha: float | Literal["default", "cv"] = "default",
        n_restarts: int = 5,
        n_estimators: int = 1,
        scorecard: int | None = None,
        generations: int = 100,
        population: int = 50,
        elitism: float = 0.1,
        crossover: float = 0.6,
        mutation: float = 0.2,
        transplant: float = 0.1,
        accept: Literal["best_of_four", "best_two_of_four", "better_child", "both_children"] = "best_of_four",
        grown: float = 0.4,
        p_split: float = 0.5,
        p_node_swap: float = 0.5,
        mutations: tuple[float, float, float, float] = (0.25, 0.25, 0.25, 0.25),
        p_nudge: float = 0.5,
        min_leaf: float = 5,
        max_leaves: int = 64,
        max_bins: int = 64,
        patience: int | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
        verbose: bool = False,
        memory: float = 1e9,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.objective = objective
        self.alpha = alpha
        self.n_restarts = n_restarts
        self.n_estimators = n_estimators
        self.scorecard = scorecard
        self.generations = generations
        self.population = population
        self.elitism = elitism
        self.crossover = crossover
        self.mutation = mutation
        self.transplant = transplant
        self.accept = accept
        self.grown = grown
        self.p_split = p_split
        self.p_node_swap = p_node_swap
        self.mutations = mutations
        self.p_nudge = p_nudge
        self.min_leaf = min_leaf
        self.max_leaves = max_leaves
        self.max_bins = max_bins
        self.patience = patience
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _objective(self) -> Objective:
        return AveragePrecision() if self.objective is None else self.objective

    @property
    def _takes_impact(self) -> bool:
        return bool(getattr(self._objective, "takes_impact", False))  # what is no objective is refused by fit

    def _fit(self, batch: Batch) -> None:
        recipe = Recipe.check(self)
        seed = draw_seed(self.random_state)
        rng = np.random.default_rng(seed)
        problem = Problem.of(batch, self._objective, self.max_bins, rng)
        problem.check_splittable(recipe.min_leaf)
        chart = LiveChart() if self.verbose else None
        watch = Watch(self.callback, recipe.total, chart, self.patience, Watch.until(self.time_limit))
        try:
            X = batch.X if batch.sample_weight is None else batch.X[batch.sample_weight > 0]
            trees, alpha = train(problem, X, recipe, watch, rng, count_threads(self.n_jobs))
        finally:
            if chart is not None:
                chart.close()
        self.trees_ = [tree.state() for tree in trees]
        self.alpha_ = alpha
        self.bin_of_code_ = problem.bins.bin_of_code
        self.categorical_ = problem.bins.categorical
        self.had_missing_ = problem.had_missing
        self.history_ = watch.table()
        self.stopped_by_ = watch.stopped or ("patience" if watch.any_stalled else "generations")

    def _score(self, X: NDArray) -> NDArray:
        bins, total = self._bins, np.zeros(X.shape[0])
        for tree in self._trees:
            total += tree.score[tree.leaf_of(X, bins)]
        return total if self._adds_up else total / len(self.trees_)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # In files of before, the callback had another name, and no value; there were no scorecards, and half of the
        # mutations of split sets were nudges.
        state = {name: value for name, value in state.items() if name != "on_generation"}
        super().__setstate__({"callback": None, "scorecard": None, "p_nudge": 0.5} | state)

    @property
    def _adds_up(self) -> bool:
        """Whether the trees are those of a scorecard."""
        return "points" in self.trees_[0]

    @property
    def _trees(self) -> list[Tree]:
        return [Tree.from_state(state) for state in self.trees_]

    @property
    def _bins(self) -> Bins:
        return Bins(self.categorical_, [np.zeros(0)] * self.categorical_.size, self.bin_of_code_)

    @property
    def _words(self) -> Words:
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        columns = Words.columns_of(self.schema_, list(names), self._bins)
        return Words(columns, self._bins, self.had_missing_, impacts=self._takes_impact)

    @property
    def views(self) -> list[TreeView]:
        """The trees, to print or to show in a notebook."""
        check_is_fitted(self)
        return [TreeView(tree, self._words) for tree in self._trees]

    def to_text(self) -> str:
        """All trees as text, one line per branch."""
        return self._joined([str(view) for view in self.views])

    def to_rules(self) -> str:
        """All trees as rules, one per leaf, best first."""
        return self._joined([view.rules() for view in self.views])

    def _joined(self, texts: list[str]) -> str:
        if self._adds_up:
            texts = [f"tree {number}\n{text}" for number, text in enumerate(texts, 1)]
            texts = [f"Add up the points of these {len(texts)} trees; most points first.", *texts]
        return "\n\n".join(texts)

    def to_svg(self) -> str:
        """A drawing of the tree, or of a scorecard; of several trees that are averaged, the first (see ``views``)."""
        check_is_fitted(self)
        return scorecard_svg(self._trees, self._words) if self._adds_up else self.views[0].svg()

    def to_json(self, indent: int | None = None) -> str:
        """The trees as JSON; the score of a row is the mean (of a scorecard: the sum) of the scores of its leaves."""
        check_is_fitted(self)
        trees = [tree_document(tree, self._words) for tree in self._trees]
        how = "sum" if self._adds_up else "mean"
        document = {"objective": repr(self._objective), "score": how, "trees": trees}
        return json.dumps(document, indent=indent, ensure_ascii=False)

    def to_sql(self, dialect: Dialect = "standard") -> str:
        """The score as an SQL expression over the columns of the table: a CASE for each tree."""
        check_is_fitted(self)
        return trees_sql(self._trees, self._words, dialect)

    def contributions(self, X: Any) -> NDArray[np.float64]:
        """What each column adds to the score of each row, then the score of all rows together; the sum is the score.

        A split adds the difference between the score of the side a row takes and that of the node.
        """
        check_is_fitted(self)
        X, bins = self._check_features(X, reset=False), self._bins
        parts = [tree.parts(X.shape[1])[tree.leaf_of(X, bins)] for tree in self._trees]
        return np.sum(parts, axis=0) if self._adds_up else np.mean(parts, axis=0)

    def explain(self, X: Any) -> list[str]:
        """For each row, the rule that ranked it (of trees that are averaged: of the first; of a scorecard: of each)."""
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        if not self._adds_up:
            return self.views[0].explain(X)
        rules = zip(*(view.explain(X) for view in self.views), strict=True)
        totals = [counted_points(total) for total in self._score(X)]
        return ["; ".join([f"{total} in all", *each]) for total, each in zip(totals, rules, strict=True)]
