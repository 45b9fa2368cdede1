"""What each strategy learns, on cases small enough to follow; reasons; simulation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.feedback import AAD, OMD, LeafSimilarity, Offline, OJRank, ScoreSpace, compare, simulate
from shortlist.feedback.compared import Compared
from shortlist.feedback.strategies.catalogue import STRATEGIES, make_strategy
from shortlist.feedback.strategies.ojrank import _bottom_weights, _half, _top_weights
from shortlist.feedback.why import Explainer
from tests.feedback.conftest import make_rows, make_space, play


def kernel_by_hand(space, kind):
    """The kernel between all rows, straight from its definition."""
    leaves = space.leaves(np.arange(space.n_rows))
    if kind == "leaf":
        same = leaves[:, None, :] == leaves[None, :, :]
        k = np.sum(same * space.values[leaves][:, None, :], axis=2)
        return k / np.mean(np.diag(k))
    forest = space.forest
    below = [{int(node)} for node in range(forest.feature.size)]  # every node, with itself and all above it
    for node in range(forest.feature.size):
        if forest.parent[node] >= 0:
            below[node] |= below[forest.parent[node]]
    mass = np.zeros(forest.feature.size)
    for row in leaves:
        for leaf in row:
            mass[list(below[forest.leaf_nodes[leaf]])] += 1
    surprise = -np.log((mass + 1) / (space.n_rows + 1))
    g = np.zeros((space.n_rows, space.n_rows))
    for i, j in np.ndindex(g.shape):
        for a, b in zip(leaves[i], leaves[j], strict=True):
            shared = below[forest.leaf_nodes[a]] & below[forest.leaf_nodes[b]]
            g[i, j] += max(surprise[list(shared)])  # the smallest shared node has the largest surprise
    return (g / np.sqrt(np.outer(np.diag(g), np.diag(g)))) ** 3


@pytest.mark.parametrize("kind", ["leaf", "ancestor"])
def test_similarity_is_kernel_regression_with_a_fading_prior(kind):
    space, wanted = make_space(60, n_trees=5), make_rows(60)[1]
    ranker = LeafSimilarity(space, kernel=kind, random_state=0)
    play(ranker, wanted, 12)
    rows = np.array([row for row, _ in ranker.reviewed])
    target = np.where(wanted[rows], 1.0, -0.5)
    base = space.base_scores()
    prior = (base - np.median(base)) / (base.max() - np.median(base))
    fade = 0.5 * (1 + wanted[rows].sum()) / 13
    K = kernel_by_hand(space, kind)
    alpha = np.linalg.solve(K[np.ix_(rows, rows)] + 0.1 * np.eye(12), target - fade * prior[rows])
    last = rows[wanted[rows]][-1] if wanted[rows].any() else rows[-1]
    expected = fade * prior + K[:, rows] @ alpha + 0.1 * K[:, last]
    assert ranker.scores() == pytest.approx(expected, abs=1e-5 if kind == "ancestor" else 1e-9)


def test_the_kernel_is_chosen_by_memory(monkeypatch):
    assert LeafSimilarity(make_space()).kernel == "ancestor"
    monkeypatch.setattr("shortlist.feedback.strategies.leaf_similarity.ANCESTOR_ROWS", 100)
    assert LeafSimilarity(make_space()).kernel == "leaf"


def test_ojrank_moves_only_the_leaves_it_may():
    space = make_space()
    ranker = OJRank(space, random_state=0)
    first, second = 10, 20
    ranker.tell(first, True)
    moved = np.flatnonzero(ranker._weight != 1)
    assert set(moved) <= set(space.leaves([first])[0])
    ranker.tell(second, False)
    moved = np.flatnonzero(ranker._weight != 1)
    assert set(moved) <= set(space.leaves([first, second]).ravel())
    everywhere = OJRank(space, all_coordinates=True, random_state=0)
    everywhere.tell(first, True)
    assert np.count_nonzero(everywhere._weight != 1) > space.n_members


def test_ojrank_lifts_wanted_rows_and_their_like():
    space, wanted = make_space(), make_rows()[1]
    row = int(np.flatnonzero(wanted)[0])
    before, ranker = Offline(space).rank_of(row), OJRank(space, random_state=0)
    ranker.tell(row, True)
    assert ranker.rank_of(row) < before
    ranker.untell(row)
    ranker.tell(row, False)
    assert ranker.rank_of(row) > before


def test_mistakes_only_learns_nothing_from_wanted_rows():
    ranker, space = OJRank(make_space(), mistakes_only=True), make_space()
    ranker.tell(ranker.ask(), True)
    assert np.array_equal(ranker._weight, np.ones(space.n_leaves))
    ranker.tell(ranker.ask(), False)
    assert not np.array_equal(ranker._weight, np.ones(space.n_leaves))


def test_capped_targets_stay_within_the_historic_ones():
    space, wanted = make_space(), make_rows()[1]
    free, capped = OJRank(space, cap_targets=False, delta=5.0), OJRank(space, delta=5.0)
    for row in np.flatnonzero(wanted)[:6].tolist():
        free.tell(row, True)
        capped.tell(row, True)
    assert np.ptp(capped.scores()) < np.ptp(free.scores())


def test_a_long_review_with_the_released_optimizer_keeps_numbers():
    """Its momentum grows without bound within a round: weights stay of length 1, and others may become 0."""
    X, wanted = make_rows(600)
    space = ScoreSpace.from_isolation_forest(X, n_trees=20, random_state=1)
    ranker = OJRank(space, optimizer="released", cap_targets=False, random_state=0)
    play(ranker, wanted, 200)
    assert np.linalg.norm(ranker._weight) == pytest.approx(1)
    assert np.isfinite(ranker.scores()).all()


def test_history_may_hold_all_verdicts():
    """Rows that both are wanted are no pair, unless all of them are: the paper's OJR-ALL as it was run."""
    space = make_space()
    opposite, everything = (
        OJRank(space, history=history, n_pairs=1, random_state=0) for history in ("opposite", "all")
    )
    for ranker in (opposite, everything):
        ranker.tell(0, True)
        ranker.tell(1, True)
    assert not np.array_equal(opposite.scores(), everything.scores())


@pytest.mark.parametrize("wrong", [{"optimizer": "adam"}, {"history": "none"}])
def test_ojrank_says_what_there_is_to_choose(wrong):
    with pytest.raises(InvalidInputError, match=r"must be '.*' or '.*'; got"):
        OJRank(make_space(), **wrong)


def test_sampling_of_pairs():
    keys = np.array([5, 1, 4, 2, 3, 9])
    assert np.flatnonzero(_half(keys, top=True)).tolist() == [0, 2, 5]
    assert np.flatnonzero(_half(keys, top=False)).tolist() == [1, 2, 3, 4]
    assert _bottom_weights(np.array([1.0, 2.0, 4.0])).tolist() == [1.0, 0.5, 0.25]
    assert np.all(_bottom_weights(np.array([-3.0, 0.0, 5.0])) > 0)
    top = _top_weights(np.array([1.0, 2.0, 3.0]))
    assert top[0] == 1
    assert top[2] == pytest.approx(0.01 ** (1 / -0.99))
    assert np.all(np.isfinite(_top_weights(np.ones(3))))


def test_aad_puts_wanted_rows_above_the_quantile():
    space, wanted = make_space(), make_rows()[1]
    for form in ("quantile", "paper"):
        ranker = AAD(space, form=form, random_state=0, prior=1e-3)
        yes, no = np.flatnonzero(wanted)[:4], np.flatnonzero(~wanted)[:4]
        for row in yes.tolist():
            ranker.tell(row, True)
        for row in no.tolist():
            ranker.tell(row, False)
        assert ranker.scores(yes).min() > ranker.scores(no).max()


def way_of(space, row):
    """The nodes that a row passes, in all trees."""
    return space.forest.nodes_above(space.leaves([row])[0])


def test_omd_changes_every_node_on_the_way():
    space = make_space(max_depth=None)
    ranker = OMD(space, learning_rate=0.5)
    row = ranker.ask()
    before, way = ranker._theta.copy(), way_of(space, row)
    ranker.tell(row, True)
    assert np.array_equal(np.flatnonzero(before != ranker._theta), np.sort(way))
    assert np.all(ranker._theta[way] == before[way] - 0.5)
    depth = space.forest.depth[space.forest.leaf_nodes[space.leaves([row])[0]]]
    assert way.size == np.sum(depth + 1)


def test_omd_log_likelihood_follows_the_mass_of_nodes():
    space = make_space(60, n_trees=3, max_depth=None)
    ranker = OMD(space, loss="log-likelihood")
    row, start, score = ranker.ask(), ranker._theta.copy(), ranker.scores()
    ranker.tell(row, True)
    chance = np.exp(score - score.max()) / np.exp(score - score.max()).sum()
    forest = space.forest
    for node in way_of(space, row):
        held = [r for r in range(60) if node in way_of(space, r)]
        assert start[node] - ranker._theta[node] == pytest.approx(1 - chance[held].sum())
    assert np.allclose(start[forest.roots[:-1]], ranker._theta[forest.roots[:-1]])


def test_the_likelihood_of_total_path_lengths_is_steeper():
    """Softmax of m times the score: the mass that is taken off moves to the first rows."""
    space, row = make_space(max_depth=None), 0
    for likelihood, steepness in (("mean", 1), ("total", space.n_members)):
        ranker = OMD(space, loss="log-likelihood", likelihood=likelihood)
        before, score = ranker._theta.copy(), ranker.scores()
        ranker.tell(row, True)
        leaf = int(space.leaves([row])[0][0])
        mass = np.exp(steepness * (score - score.max()))
        inside = space.leaves(np.arange(space.n_rows))[:, 0] == leaf
        gain = 1 - mass[inside].sum() / mass.sum()
        node = space.forest.leaf_nodes[leaf]
        assert before[node] - ranker._theta[node] == pytest.approx(space.leaf_counts[leaf] * gain)
    with pytest.raises(InvalidInputError, match="likelihood must be 'mean' or 'total'"):
        OMD(space, likelihood="median")


def test_before_any_verdict_all_strategies_rank_as_the_forest_does():
    space = make_space()
    for name in STRATEGIES:
        ranker = make_strategy(name, space)
        assert np.corrcoef(ranker.scores(), space.base_scores())[0, 1] > 0.85


def test_simulation_counts_and_compares():
    X, wanted = make_rows()
    played = simulate(LeafSimilarity(make_space(), random_state=1), wanted, 15)
    assert played.hits[-1] == wanted[played.order].sum() == played.found.sum()
    assert np.unique(played.order).size == 15
    assert played.precision == played.hits[-1] / 15
    both = compare(X, wanted, 15, ["omd", "offline"], n_trees=20)
    assert both["omd"].hits[-1] > both["offline"].hits[-1]
    assert np.isnan(simulate(Offline(make_space()), wanted, 1).effort)
    with pytest.raises(InvalidInputError, match="no strategy 'luck'"):
        compare(X, wanted, 15, ["luck"])
    with pytest.raises(InvalidInputError, match="only 300 rows"):
        simulate(Offline(make_space()), wanted, 301)


def claims():
    """Rows that are odd for a plain reason: late and dear, or of a rare make."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "amount": rng.normal(1000, 100, 400).round(),
            "days_late": rng.integers(0, 5, 400),
            "make": rng.choice(["Fiat", "Audi", "Opel"], 400),
            "paid": rng.random(400) < 0.5,
        }
    )
    odd = pl.DataFrame(
        {"amount": [9000.0] * 6, "days_late": [41] * 6, "make": ["Lada"] * 6, "paid": [True] * 6}
    )
    return pl.concat([frame, odd.cast(frame.schema)])


def test_why_names_the_columns_that_set_a_row_apart():
    ranker = LeafSimilarity(ScoreSpace.from_isolation_forest(claims(), random_state=0))
    for row, verdict in [(400, True), (401, True), (3, False)]:
        ranker.tell(row, verdict)
    why = ranker.why(402)
    assert {reason.name for reason in why.reasons} <= {"amount", "days_late", "make", "paid"}
    assert why.reasons[0].name in ("amount", "days_late", "make")
    assert [r.row for r in why.resembles[:2]] in ([400, 401], [401, 400])
    assert why.resembles[0].wanted
    assert why.resembles[0].similarity > 0.9
    assert [reason.push for reason in why.reasons] == sorted((r.push for r in why.reasons), reverse=True)
    assert "402" in str(why)
    assert "✓" in str(why)


def test_a_row_is_compared_with_the_latest_verdicts_of_each_kind(monkeypatch):
    """A wanted row of long ago is still found among many that are not; of as many as are compared, the best."""
    space = ScoreSpace.from_isolation_forest(claims(), random_state=0)

    def resembling(row):
        ranker = LeafSimilarity(space)
        for reviewed, verdict in [(400, True), *((each, False) for each in range(20)), (401, True)]:
            ranker.tell(reviewed, verdict)
        return ranker.why(row, n_similar=30).resembles

    whole = {row: resembling(row) for row in (30, 402)}
    monkeypatch.setattr("shortlist.feedback.base.MOST_COMPARED", 5)
    compared = {400, 401, *range(15, 20)}
    for row, like in whole.items():
        assert resembling(row) == tuple(r for r in like if r.row in compared)
    assert {r.row for r in whole[402][:2]} == {400, 401}
    assert any(r.row not in compared for r in whole[30])


def test_pushes_add_up_to_the_score_beyond_that_of_an_average_row():
    frame = claims()
    ranker = OJRank(ScoreSpace.from_isolation_forest(frame, n_trees=20, random_state=0))
    for row, verdict in [(400, True), (3, False)]:
        ranker.tell(row, verdict)
    contribution = ranker._contribution()
    scores = ranker.space.row_sums(contribution, frame.height)
    for row in (0, 17, 405):
        explainer = Explainer(ranker.space, contribution, Compared(ranker.space, 1))
        push = explainer.pushes(ranker.space.leaves([row])[0])
        assert push.sum() == pytest.approx(scores[row] - scores.mean())


def test_why_speaks_of_projections_and_boosted_trees():
    X, wanted = make_rows()
    loda = LeafSimilarity(ScoreSpace.from_loda(X, random_state=0))
    play(loda, wanted, 5)
    assert "·x" in str(loda.why(loda.ask()).reasons[0])
    nothing_reviewed = Offline(make_space()).why(0)
    assert nothing_reviewed.resembles == ()
