"""The sigmoid surrogate of average precision: its gradient without quadratic time.

With σ(x) = 1 / (1 + e^(-αx)), the margins f and row weights w, a wanted row i sees ::

    a_i = Σ_wanted w_j σ(f_j - f_i)     c_i = Σ_unwanted w_j σ(f_j - f_i)     b_i = a_i + c_i

and AP_sig = Σ_i w_i a_i / b_i / Σ_i w_i over the wanted rows. All sums depend on differences of margins only, so
rows put into narrow bins turn them into convolutions, and a Fourier transform does those in B log B for B bins.
Short lists take the direct sum, which is exact and then faster.

The gradient printed in the paper (Eq. 10) has the wrong sign on unwanted rows; this is the derivative of 1 - AP_sig.

Reference: Frery et al., Efficient top rank optimization with gradient boosting for supervised anomaly detection,
ECML PKDD 2017.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from shortlist.kernels.compiled import compiled
from shortlist.kernels.machines import ALONE, Sums
from shortlist.kernels.margin_bins import bin_rows, bin_weights, read_grid, read_rows
from shortlist.kernels.row_ranges import over_ranges
from shortlist.kernels.whole_sums import FINE_STEPS, ROWS_AT_ONCE, STEPS, whole

#: Width of a bin, in units of 1/α: the error stays below 1e-3 of the largest gradient, and mostly below 3e-4.
BIN_WIDTH = 0.05
#: Rows further than this from every wanted row, in units of 1/α, cannot change the sums (e^-30 = 1e-13).
REACH = 30.0
#: Beyond this many bins they grow wider instead: margins that far apart would need only ever more zeros.
MAX_BINS = 1 << 17

Floats = NDArray[np.float64]


@compiled
def direct_gradient(margin, wanted, weight, order, starts, alpha, out):  # type: ignore[no-untyped-def]
    """Add the gradient of 1 - AP_sig of each list to ``out``; P x n steps for a list, exact.

    List l is ``order[starts[l]:starts[l + 1]]``; an empty ``weight`` counts all rows alike.
    """
    for number in range(starts.size - 1):
        rows = order[starts[number] : starts[number + 1]]
        _add_list_gradient(margin, wanted, weight, rows, alpha, out)


@compiled
def _add_list_gradient(margin, wanted, weight, rows, alpha, out):  # type: ignore[no-untyped-def]
    n = rows.size
    slope = np.empty(n)
    total = 0.0
    for i in rows:
        if wanted[i]:
            total += 1.0 if weight.size == 0 else weight[i]
    if total == 0.0:
        return
    for i in rows:
        own = 1.0 if weight.size == 0 else weight[i]
        if not wanted[i] or own == 0.0:
            continue
        above_wanted = above_unwanted = slope_wanted = slope_unwanted = 0.0
        for k in range(n):
            j = rows[k]
            w = 1.0 if weight.size == 0 else weight[j]
            sigma = 1.0 / (1.0 + np.exp(-alpha * (margin[j] - margin[i])))
            slope[k] = w * alpha * sigma * (1.0 - sigma)
            if wanted[j]:
                above_wanted += w * sigma
                slope_wanted += slope[k]
            else:
                above_unwanted += w * sigma
                slope_unwanted += slope[k]
        unit = own / total / (above_wanted + above_unwanted) ** 2
        for k in range(n):
            j = rows[k]
            out[j] += slope[k] * unit * (-above_unwanted if wanted[j] else above_wanted)
        out[i] += unit * (slope_wanted * above_unwanted - above_wanted * slope_unwanted)


class PullCurve(NamedTuple):
    """The gradient of 1 - AP_sig of one list: a curve over margins for unwanted rows, and that of each wanted row."""

    low: float
    per_unit: float
    curve: NDArray[np.float32]
    of_wanted: NDArray[np.float32]


def pull_curve(
    margin: NDArray[np.float32],
    positions: NDArray[np.int64],
    weight: NDArray,
    alpha: float,
    threads: int = 1,
    sums: Sums = ALONE,
) -> PullCurve:
    """The gradient of one list with wanted rows at ``positions``: linear in rows; error below 1e-3 of the largest.

    An empty ``weight`` counts all rows alike. ``sums`` adds up over the machines that hold the list.
    """
    at = margin[positions].astype(np.float64)
    own = np.ones(at.size) if weight.size == 0 else np.maximum(weight[positions], 1e-30)
    low, per_unit, n_bins = _grid(at, alpha, sums)
    levels, slopes = _kernel_spectra(n_bins, alpha / per_unit)
    spectrum = _spectrum(sums.sum(_histograms(margin, at, weight, own, (low, per_unit, n_bins), threads)))
    curves = _curves(np.concatenate([spectrum * levels, spectrum * slopes]), n_bins)
    c, a, slope_c, slope_a = read_grid(at, low, per_unit, curves)
    # The convolution's rounding error, 1e-16 of the whole list, can make an empty sum negative.
    a, c = np.maximum(a, own / 2), np.maximum(c, 0.0)
    per_square = own / (a + c) ** 2

    histogram = np.zeros((2, n_bins))
    bin_weights(at, FINE_STEPS * np.stack([a * per_square, c * per_square]), low, per_unit, histogram)
    scale = alpha / max(float(sums.sum(whole(own, STEPS).sum(keepdims=True))[0]), 1e-30)
    down, up = scale * _curves(_spectrum(sums.sum(histogram / FINE_STEPS)) * slopes, n_bins)
    lifted = read_grid(at, low, per_unit, up[None])[0]
    of_wanted = scale * per_square * (slope_a * c - a * slope_c) - own * lifted
    return PullCurve(low, per_unit, down.astype(np.float32), of_wanted.astype(np.float32))


def _histograms(
    margin: NDArray[np.float32],
    at: Floats,
    weight: NDArray,
    own: Floats,
    grid: tuple[float, float, int],
    threads: int,
) -> Floats:
    """The weight of unwanted and of wanted rows in each bin."""
    low, per_unit, n_bins = grid

    def bin_part(first: int, last: int) -> Floats:
        lanes = np.zeros((4, n_bins))
        bin_rows(margin[first:last], weight[first:last], low, per_unit, lanes)
        return lanes.sum(axis=0)

    # Wanted rows are few: all rows are binned as they lie, and the wanted ones taken out again.
    histogram = np.zeros((2, n_bins))
    bin_weights(at, STEPS * own[None], low, per_unit, histogram[1:])
    everyone = np.sum(over_ranges(bin_part, 0, margin.size, size=ROWS_AT_ONCE, threads=threads), axis=0)
    histogram[0] = everyone - histogram[1]
    return histogram / STEPS


def binned_gradient(
    margin: NDArray[np.float32],
    positions: NDArray[np.int64],
    weight: NDArray,
    alpha: float,
    out: NDArray[np.float32],
    threads: int = 1,
    sums: Sums = ALONE,
) -> None:
    """Write the gradient of 1 - AP_sig of one list to ``out``; arguments as of :func:`pull_curve`."""
    low, per_unit, curve, of_wanted = pull_curve(margin, positions, weight, alpha, threads, sums)

    def read_part(first: int, last: int) -> None:
        read_rows(margin[first:last], weight[first:last], low, per_unit, curve, out[first:last])

    over_ranges(read_part, 0, margin.size, size=ROWS_AT_ONCE, threads=threads)
    out[positions] = of_wanted


def _grid(at: Floats, alpha: float, sums: Sums) -> tuple[float, float, int]:
    """Where the bins begin, how many there are per unit of margin, and how many in all."""
    ends = sums.max(np.array([-at.min(initial=np.inf), at.max(initial=-np.inf)])) + REACH / alpha
    low, high = -float(ends[0]), float(ends[1])
    # Numbers of bins that recur let the spectra of the kernel be kept from round to round.
    n_bins = 512 * int(np.ceil(((high - low) * alpha / BIN_WIDTH + 2) / 512))
    if n_bins <= MAX_BINS:
        return low, alpha / BIN_WIDTH, n_bins
    return low, (MAX_BINS - 2) / (high - low), MAX_BINS


@lru_cache(maxsize=16)
def _kernel_spectra(n_bins: int, step: float) -> tuple[NDArray, NDArray]:
    """Transforms of σ and σ(1 - σ) over all differences of bins that lie ``step`` / α apart."""
    length = fft.next_fast_len(2 * n_bins - 1, real=True)
    difference = np.zeros(length)
    difference[:n_bins] = np.arange(n_bins)
    difference[length - n_bins + 1 :] = np.arange(1 - n_bins, 0)
    sigma = 1 / (1 + np.exp(np.clip(-step * difference, -700, 700)))
    spectra = fft.rfft(np.stack([sigma, sigma * (1 - sigma)]))
    # The conjugate turns the convolution into the correlation that the sums are.
    return np.conj(spectra[0]), np.conj(spectra[1])


def _spectrum(histogram: Floats) -> NDArray:
    return fft.rfft(histogram, n=fft.next_fast_len(2 * histogram.shape[1] - 1, real=True))


def _curves(spectra: NDArray, n_bins: int) -> Floats:
    length = fft.next_fast_len(2 * n_bins - 1, real=True)
    return np.ascontiguousarray(fft.irfft(spectra, n=length)[:, :n_bins])


# What the compiler may assume of these loops. Not among it: reciprocals by estimate. Only blocks of rows would get
# them, single rows would not, and which rows lie in a block depends on where the arrays lie in memory.
_LAX = {"nnan", "ninf", "nsz", "contract"}


@compiled(fastmath=_LAX, inline="always")
def chance(margin):  # type: ignore[no-untyped-def]
    """1 / (1 + e^-f), relative error below 5e-5; margins beyond 30 count as 30.

    e^x = (e^(x/64))^64 with a polynomial for small x: sums and products alone, which run side by side.
    """
    one = np.float32(1.0)
    x = min(max(margin, np.float32(-30.0)), np.float32(30.0)) * np.float32(-1 / 64)
    power = np.float32(1 / 120) + x * np.float32(1 / 720)
    power = one + x * (
        one + x * (np.float32(1 / 2) + x * (np.float32(1 / 6) + x * (np.float32(1 / 24) + x * power)))
    )
    for _ in range(6):
        power *= power
    return one / (one + power)


# A division by zero, which cannot happen, is not looked out for: such a look would keep rows from running side by side.
@compiled(fastmath=_LAX, error_model="numpy")
def add_logistic(margin, wanted, weight, pull, scale, grad, hess):  # type: ignore[no-untyped-def]
    """Gradient w(p - y) + scale x pull and its positive hessian w p(1 - p) + scale x abs(pull), in one pass."""
    scale = np.float32(scale)
    for i in range(margin.size):
        w = np.float32(1.0) if weight.size == 0 else np.float32(weight[i])
        p = chance(margin[i])
        s = scale * pull[i]
        grad[i] = w * (p - np.float32(wanted[i])) + s
        hess[i] = w * p * (np.float32(1.0) - p) + abs(s)


@compiled
def add_curve(margin, wanted, weight, low, per_unit, curve, scale, grad, hess):  # type: ignore[no-untyped-def]
    """The same with the pull read from a curve, block by block: it never goes through memory."""
    pull = np.empty(4096, dtype=np.float32)
    for first in range(0, margin.size, pull.size):
        rows = slice(first, min(first + pull.size, margin.size))
        here = pull[: rows.stop - first]
        read_rows(margin[rows], weight[rows], low, per_unit, curve, here)
        add_logistic(margin[rows], wanted[rows], weight[rows], here, scale, grad[rows], hess[rows])
