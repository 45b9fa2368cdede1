"""Two servers of a team at one queue: its owner is killed in the middle of verdicts, and the other goes on."""

import pytest

from studies.quality import review_owners
from tests.forks import start_server


@pytest.mark.slow
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_when_the_owner_is_killed_the_other_server_takes_over(store, request, monkeypatch):
    """Every wait has a limit, so that a server that does not take over fails this instead of stopping all tests."""
    monkeypatch.setattr(review_owners, "PATIENCE", 60.0)
    start_server()  # the one of all tests, before the harness needs one
    url = None if store == "sqlite" else request.getfixturevalue("postgres")
    result = review_owners.run(1, n_rows=200, seed=1, database=url)
    assert (result["owners killed"], result["taken over"]) == (1, 1)
    assert result["acknowledged"] >= 2  # one by either server, at least
    assert result["well"], result
