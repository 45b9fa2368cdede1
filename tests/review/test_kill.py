"""Nothing acknowledged is lost: the server is killed at random moments and started again."""

from studies.quality import review_kill
from tests.forks import start_server


def test_killed_ten_times_nothing_is_lost():
    start_server()  # the one of all tests, before the harness needs one
    result = review_kill.run(kills=10, n_rows=300, seed=1)
    assert result["kills"] == 10
    assert result["stored"] >= result["acknowledged"] > 10
