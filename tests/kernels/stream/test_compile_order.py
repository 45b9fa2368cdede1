"""Kernels whose sums may be reordered give the same bits, whichever of them was compiled first."""

import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.bits, pytest.mark.slow]

SCRIPT = """
import hashlib
import sys

import numpy as np

from shortlist.kernels.stream.fourier_sums import fourier_columns, fourier_sums
from shortlist.kernels.stream.logistic import residuals, slope

rng = np.random.default_rng(0)
Z, beta, wanted, weights = rng.normal(size=(300, 5)), rng.normal(size=6), rng.random(300) < 0.1, rng.random(300)
curvature = np.empty(300)
rows, W = rng.normal(size=(50, 8)).astype(np.float32), rng.normal(size=(8, 33)).astype(np.float32)
offset, columns = rng.random(33).astype(np.float32), np.zeros((50, 33), dtype=np.float32)


def columns_of_rows():
    fourier_columns(rows, W, offset, np.float32(2), columns, 0)
    return columns


kernels = {
    "slope": lambda: slope(Z, beta, wanted, weights, curvature),
    "residuals": lambda: residuals(Z @ beta[:-1], wanted, weights, curvature),
    "sums": lambda: fourier_sums(rows, W, offset, W[0]),
    "columns": columns_of_rows,
}
found = {name: hashlib.sha256(kernels[name]().tobytes()).hexdigest() for name in sys.argv[1:]}
print(*sorted(found.items()))
"""


def test_bits_do_not_depend_on_what_was_compiled_first(tmp_path):
    names = ["slope", "residuals", "sums", "columns"]
    assert _bits(names, tmp_path / "one") == _bits(names[::-1], tmp_path / "other")


def _bits(names, cache):
    own = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *names], env=own, capture_output=True, text=True, check=True
    )
    return done.stdout
