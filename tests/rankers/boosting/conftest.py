"""Rows that boosted rankers learn from."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 5)).astype(np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=900) > 2
    return X, y
