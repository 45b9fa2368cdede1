"""Random numbers inside kernels: SplitMix64, so that a draw depends on its seed and never on the thread."""

# Numba infers the types of these kernels from the arrays of the named tuples they work on.
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiled import compiled

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_UNIT = 1.0 / 9007199254740992.0  # 2^-53


@compiled
def mix(word):
    """Spread a 64-bit word so that neighbours look unrelated."""
    word = np.uint64(word)
    word = (word ^ (word >> np.uint64(30))) * _MIX_1
    word = (word ^ (word >> np.uint64(27))) * _MIX_2
    return word ^ (word >> np.uint64(31))


@compiled
def seed_stream(state, seed, generation, job):
    """Start the stream of one job: the same numbers whichever thread runs it."""
    state[0] = mix(mix(mix(np.uint64(seed)) + np.uint64(generation)) + np.uint64(job))


@compiled
def draw_word(state):
    """64 random bits."""
    state[0] += _GAMMA
    return mix(state[0])


@compiled
def draw_unit(state):
    """A number in [0, 1)."""
    return np.float64(draw_word(state) >> np.uint64(11)) * _UNIT


@compiled
def draw_below(state, n):
    """A whole number from 0 to n - 1."""
    return np.int64(draw_unit(state) * n)
