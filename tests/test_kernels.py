"""Each kernel beside its plain twin."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from shortlist.kernels import average_precision as kernel
from shortlist.kernels.pairs import ordered_and_tied_pairs
from shortlist.kernels.sorting import descending_within

few = settings(max_examples=60)
scores = st.lists(st.integers(0, 6), max_size=12).map(lambda values: np.sort(np.array(values, dtype=float)))


@few
@given(st.integers(0, 1000), st.integers(1, 1000))
def test_harmonic_difference(before, n):
    expected = digamma(before + n + 1) - digamma(before + 1)
    assert kernel.harmonic_difference(before, n) == pytest.approx(expected)


@few
@given(scores, scores)
def test_pairs(wanted, unwanted):
    above, tied = ordered_and_tied_pairs(wanted, unwanted)
    assert above == np.sum(wanted[:, None] > unwanted)
    assert tied == np.sum(wanted[:, None] == unwanted)


@few
@given(scores.filter(len), scores)
def test_average_precision_at_worst(wanted, unwanted):
    at_least = [(np.sum(wanted >= s), np.sum(unwanted >= s)) for s in wanted]
    expected = np.mean([hits / (hits + misses) for hits, misses in at_least])
    assert kernel.average_precision(wanted, unwanted, True) == pytest.approx(expected)


@few
@given(st.lists(st.lists(st.floats(-9, 9), min_size=1, max_size=8), min_size=1, max_size=5))
def test_descending_within(stretches):
    values, starts = np.concatenate(stretches), np.cumsum([0, *map(len, stretches)])
    expected = np.concatenate([sorted(stretch, reverse=True) for stretch in stretches])
    order = descending_within(values, starts)
    assert values[order].tolist() == expected.tolist()
    assert sorted(order.tolist()) == list(range(values.size))


def compiled_calls(source):
    """The names of what compiled functions call."""
    for function in ast.walk(ast.parse(source)):
        decorators = getattr(function, "decorator_list", [])
        if any(ast.unparse(each).startswith("compiled") for each in decorators):
            calls = (each.func for each in ast.walk(function) if isinstance(each, ast.Call))
            yield from (ast.unparse(each) for each in calls)


def test_compiled_kernels_sort_in_one_way_only():
    sources = [*Path(kernel.__file__).parent.rglob("*.py")]
    assert {"sorting.py", "leaf_scores.py", "greedy_trees.py"} <= {
        path.name for path in sources
    }  # sub-rooms too
    calls = [call for path in sources for call in compiled_calls(path.read_text(encoding="utf-8"))]
    assert "np.argsort" in calls
    others = {"sort", "unique", "median", "percentile", "quantile", "partition", "nanmedian"}
    assert not [call for call in calls if call.rpartition(".")[2] in others]


def test_kernels_are_compiled_and_kept_in_one_way_only():
    room = Path(kernel.__file__).parent
    sources = {path: path.read_text(encoding="utf-8") for path in room.parent.rglob("*.py")}
    ways_of_numba = re.compile(r"\b(n?jit|vectorize|guvectorize|stencil|cfunc|jitclass|cache=True)\b")
    assert [path.name for path, text in sources.items() if ways_of_numba.search(text)] == ["compiled.py"]
    # What is compiled elsewhere would not be compiled anew when it is edited.
    users = [path for path, text in sources.items() if "kernels.compiled import" in text]
    assert len(users) > 20
    assert all(room in path.parents for path in users)
