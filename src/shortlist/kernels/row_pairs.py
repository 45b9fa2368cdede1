"""The pairwise logistic loss of RankNet, over all pairs of a list or a sample of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


@compiled
def pair_loss(
    score: NDArray,
    y: NDArray,
    weight: NDArray,
    starts: NDArray,
    list_weight: NDArray,
    shifts: NDArray,
) -> tuple[float, NDArray[np.float64]]:
    """Weighted mean over lists of the mean of log(1 + exp(s_v - s_w)) over pairs with y_w > y_v; its gradient.

    A row meets the rows that follow it by each of ``shifts`` places, round the list; a list no longer than
    twice that meets all its pairs. A pair counts the product of its rows' weights.
    """
    loss = 0.0
    grad = np.zeros(score.size)
    for number in range(list_weight.size):
        start, size = starts[number], starts[number + 1] - starts[number]
        if list_weight[number] == 0.0:
            continue
        everybody = size <= 2 * shifts.size
        turns = size // 2 if everybody else shifts.size
        total = 0.0
        list_loss = 0.0
        for turn in range(turns):
            shift = turn + 1 if everybody else 1 + shifts[turn] % (size - 1)
            # The last shift of an even round meets each pair twice.
            last = size // 2 if everybody and 2 * shift == size else size
            for place in range(last):
                a, b = start + place, start + (place + shift) % size
                if y[a] == y[b]:
                    continue
                high, low = (a, b) if y[a] > y[b] else (b, a)
                pair = weight[a] * weight[b]
                margin = score[low] - score[high]
                list_loss += pair * (max(margin, 0.0) + math.log1p(math.exp(-abs(margin))))
                pull = pair / (1.0 + math.exp(min(-margin, 700.0))) * list_weight[number]
                grad[high] -= pull
                grad[low] += pull
                total += pair
        if total > 0.0:
            loss += list_weight[number] * list_loss / total
            for row in range(start, start + size):
                grad[row] /= total
    return loss, grad
