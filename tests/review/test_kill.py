"""Nothing acknowledged is lost: the server is killed at random moments and started again."""

import importlib.util
from pathlib import Path

import pytest

from tests.forks import start_server

HARNESS = Path(__file__).parents[2] / "benchmarks" / "review_kill.py"


@pytest.mark.skipif(not HARNESS.exists(), reason="the harness is not part of the installed package")
def test_killed_ten_times_nothing_is_lost():
    start_server()  # the one of all tests, before the harness asks for one of its own
    spec = importlib.util.spec_from_file_location("review_kill", HARNESS)
    harness = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(harness)
    result = harness.run(kills=10, n_rows=300, seed=1)
    assert result["kills"] == 10
    assert result["stored"] >= result["acknowledged"] > 10
