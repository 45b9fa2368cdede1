"""HS-Trees and RS-Forest as score spaces, beside boxes that are cut again by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.exceptions import InvalidInputError
from shortlist.feedback import AAD, OMD, LeafSimilarity, OJRank, ScoreSpace
from tests.feedback.conftest import make_rows, play
from tests.feedback.spaces.test_score_space import leaf_counts_by_hand, with_gaps

MAKERS = {"half-space": ScoreSpace.from_half_space_trees, "rs-forest": ScoreSpace.from_rs_forest}
each_kind = pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))


def rows_by_node(space, X):
    """How many rows pass each node, walked one comparison at a time."""
    counts = np.zeros(space.forest.feature.size, dtype=int)
    for leaf in space.forest.leaf_nodes[leaf_counts_by_hand(space, X)].ravel():
        node = leaf
        while node >= 0:
            counts[node] += 1
            node = space.forest.parent[node]
    return counts


def volumes_by_hand(space, low, high):
    """The share of its tree's box that each leaf has, from the thresholds on its way."""
    shares = []
    for node in space.forest.leaf_nodes:
        begin, end, share = low.copy(), high.copy(), 1.0
        for up, left in space.forest.path(node):
            f, cut = space.forest.feature[up], space.forest.threshold[up]
            part = (cut - begin[f]) / (end[f] - begin[f])
            share *= part if left else 1 - part
            (end if left else begin)[f] = cut
        shares.append(share)
    return np.array(shares)


def as_scaled(values):
    """Values from 0.1 to 0.2."""
    return 0.1 + 0.1 * (values - values.min()) / np.ptp(values)


def test_half_space_values_are_mass_by_hand():
    X, _ = make_rows(120)
    space = ScoreSpace.from_half_space_trees(X, n_trees=6, sample_size=500, random_state=3)
    counts, leaves = rows_by_node(space, X), space.forest.leaf_nodes
    mass = np.maximum(counts[leaves], 0.5) / 120 * 2.0 ** space.forest.depth[leaves]
    assert space.values == pytest.approx(as_scaled(-np.log(mass)))


def test_half_space_cuts_halve_what_is_left_of_a_column():
    X, _ = make_rows(300)
    forest = ScoreSpace.from_half_space_trees(X, n_trees=8, random_state=0).forest
    seen = 0
    for node in forest.leaf_nodes:
        cuts: dict[int, list[float]] = {}
        for up, _ in forest.path(node):
            cuts.setdefault(int(forest.feature[up]), []).append(forest.threshold[up])
        for line in cuts.values():
            gaps = np.abs(np.diff(line))
            assert gaps[1:] == pytest.approx(gaps[:-1] / 2)
            seen += gaps.size > 1
    assert seen > 50
    first = forest.feature[forest.roots[:-1]], forest.threshold[forest.roots[:-1]]
    assert all(X[:, f].min() <= cut <= X[:, f].max() for f, cut in zip(*first, strict=True))


def test_random_space_values_are_densities_by_hand():
    X, _ = make_rows(150)
    space = ScoreSpace.from_rs_forest(X, n_trees=6, sample_size=150, random_state=2)
    counts, leaves = rows_by_node(space, X), space.forest.leaf_nodes
    share = volumes_by_hand(space, X.min(axis=0), X.max(axis=0))
    assert np.add.reduceat(share, space.forest.leaf_starts[:-1]) == pytest.approx(np.ones(6))
    density = np.maximum(counts[leaves], 0.5) / 150 / share
    assert space.values == pytest.approx(as_scaled(-np.log(density)))


@each_kind
def test_boxes_are_cut_while_they_hold_enough_rows(make):
    X, _ = make_rows(200)
    space = make(X, n_trees=5, sample_size=200, max_depth=6, size_limit=9, random_state=1)
    counts, forest = rows_by_node(space, X), space.forest
    inner = forest.feature >= 0
    assert counts[inner].min() > 9
    assert np.all((counts[~inner] <= 9) | (forest.depth[~inner] == 6))
    assert forest.depth.max() == 6


@each_kind
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 999),
    n=st.integers(5, 40),
    width=st.integers(1, 4),
    limit=st.sampled_from([None, 1, 3]),
)
def test_any_rows_fall_where_a_walk_leads(make, seed, n, width, limit):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, width)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:2, 0] = 0, 1
    space = make(X, n_trees=4, sample_size=16, max_depth=5, size_limit=limit, random_state=seed)
    assert np.array_equal(space.leaves(np.arange(n)), leaf_counts_by_hand(space, X))
    assert np.isfinite(space.values).all()
    again = make(X, n_trees=4, sample_size=16, max_depth=5, size_limit=limit, random_state=seed)
    assert again.fingerprint == space.fingerprint
    assert np.array_equal(space.leaves(list(space.append(X))), space.leaves(np.arange(n)))


@each_kind
def test_categories_are_set_apart_and_gaps_have_a_side(make):
    X, _ = with_gaps()
    frame = pl.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "kind": [f"k{int(c)}" for c in X[:, 2]]}, nan_to_null=True
    )
    space = make(frame, n_trees=30, random_state=0)
    assert np.array_equal(
        space.leaves(np.arange(400)), leaf_counts_by_hand(space, space.columns.matrix(frame))
    )
    known = len(set(frame["kind"]))
    cuts = [len(space.forest.categories(node)) for node in np.flatnonzero(space.forest.category_set >= 0)]
    assert cuts
    assert 0.2 * known < np.mean(cuts) < 0.8 * known
    assert space.append(frame[:1].with_columns(kind=pl.lit("never seen"))) == range(400, 401)


@each_kind
def test_a_row_far_from_all_others_comes_first(make):
    X, _ = make_rows(400)
    space = make(np.vstack([X, np.full((1, 3), 9.0)]), random_state=0)
    assert np.argmax(space.base_scores()) == 400


@each_kind
def test_strategies_learn_and_say_why(make):
    X, wanted = make_rows(400)
    space = make(X, random_state=0).build_index()
    for strategy in (OJRank, AAD, LeafSimilarity):
        ranker = strategy(space, random_state=0)
        play(ranker, wanted, 20)
        assert ranker.hits >= wanted[np.argsort(-space.base_scores())[:20]].sum() + 5
    assert ranker.why(ranker.ask()).reasons[0].name in ("x0", "x1", "x2")
    with pytest.raises(InvalidInputError, match="only isolation forests"):
        OMD(space)


@each_kind
def test_files_keep_the_boxes(make, tmp_path):
    X, _ = make_rows()
    space = make(X, random_state=4)
    space.save(tmp_path)
    loaded = ScoreSpace.load(tmp_path)
    assert loaded.fingerprint == space.fingerprint
    assert np.array_equal(loaded.leaves(loaded.append(X[:9])), space.leaves(range(9)))


@each_kind
@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"n_trees": 0}, "n_trees"),
        ({"sample_size": -1}, "sample_size"),
        ({"max_depth": 0}, "max_depth"),
        ({"size_limit": 0}, "size_limit"),
        ({"size_limit": 256}, "more than 256 rows, but trees have 256"),
        ({"random_state": "a"}, "random_state"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, named, words):
    with pytest.raises(InvalidInputError, match=words):
        make(make_rows()[0], **named)


@each_kind
@pytest.mark.parametrize("X", [np.ones((50, 3)), np.full((50, 2), np.nan), np.ones((1, 2))])
def test_rows_that_are_all_alike_are_refused(make, X):
    with pytest.raises(InvalidInputError, match="no column has two values"):
        make(X)


@pytest.mark.parametrize("make", [*MAKERS.values(), ScoreSpace.from_scores])
def test_rows_on_a_cluster_are_refused_with_advice(make):
    spread = type("Spread", (), {"__dask_graph__": None})()
    with pytest.raises(InvalidInputError, match=r"table of Dask.*X\.compute\(\)"):
        make(spread)
