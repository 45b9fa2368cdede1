"""Nothing acknowledged is lost: the server is killed at random moments and started again."""

import pytest

from studies.quality import review_kill
from tests.forks import start_server


@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_killed_again_and_again_nothing_is_lost(kills):
    start_server()  # the one of all tests, before the harness needs one
    result = review_kill.run(kills=kills, n_rows=300, seed=1)
    assert result["kills"] == kills
    assert result["stored"] >= result["acknowledged"] >= result["kills after new verdicts"] >= kills // 2
