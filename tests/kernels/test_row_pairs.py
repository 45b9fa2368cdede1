import numpy as np
import pytest

from shortlist.kernels.row_pairs import pair_loss


def reference(score, y, weight, starts, list_weight):
    loss = 0.0
    for start, stop, factor in zip(starts[:-1], starts[1:], list_weight, strict=True):
        pairs = [(a, b) for a in range(start, stop) for b in range(start, stop) if y[a] > y[b]]
        parts = [(weight[a] * weight[b], np.log1p(np.exp(score[b] - score[a]))) for a, b in pairs]
        if parts:
            loss += factor * sum(w * part for w, part in parts) / sum(w for w, _ in parts)
    return loss


def lists(seed, sizes):
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n = starts[-1]
    return (
        rng.normal(size=n),
        rng.integers(0, 4, n).astype(float),
        rng.random(n) + 0.1,
        starts,
        rng.random(len(sizes)),
    )


@pytest.mark.parametrize("sizes", [[1], [2], [5, 6], [1, 7, 4]])
def test_short_lists_meet_every_pair_once(sizes):
    rows = lists(0, sizes)
    loss, _ = pair_loss(*rows, np.zeros(5, dtype=np.int64))
    assert loss == pytest.approx(reference(*rows))


def test_the_gradient_is_that_of_the_loss():
    score, *rest = lists(1, [6, 5])
    shifts = np.zeros(5, dtype=np.int64)
    _, grad = pair_loss(score, *rest, shifts)
    for row in range(score.size):
        nudge = np.zeros(score.size)
        nudge[row] = 1e-5
        slope = (
            pair_loss(score + nudge, *rest, shifts)[0] - pair_loss(score - nudge, *rest, shifts)[0]
        ) / 2e-5
        assert grad[row] == pytest.approx(slope, abs=1e-8)


def test_long_lists_are_sampled_without_bias():
    rows = lists(2, [60])
    rng = np.random.default_rng(0)
    losses = [pair_loss(*rows, rng.integers(2**40, size=10))[0] for _ in range(300)]
    assert np.mean(losses) == pytest.approx(reference(*rows), rel=0.02)
