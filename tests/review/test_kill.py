"""Nothing acknowledged is lost: the server is killed at random moments and started again."""

import json
from argparse import Namespace

import pytest

from studies.kept import stamped
from studies.quality import review_kill
from tests.forks import start_server


def test_runs_are_counted_together():
    run = {"kills": 3, "acknowledged": 20, "lost": 0, "well": True, "seconds": 1.25}
    both = review_kill.added([run, {**run, "lost": 1, "well": False}])
    assert both == {"runs": 2, "kills": 6, "acknowledged": 40, "lost": 1, "well": False, "seconds": 2.5}
    assert review_kill.added([both, run])["runs"] == 3


def test_runs_of_before_are_read_with_and_without_how_they_were_made(tmp_path):
    run, files = {"kills": 3, "well": True}, [tmp_path / "bare.json", tmp_path / "stamped.json"]
    for path, whole in zip(files, (run, stamped(run)), strict=True):
        path.write_text(json.dumps(whole))
    assert review_kill.earlier(Namespace(add=files)) == [run, run]


@pytest.mark.parametrize(
    ("kills", "store"),
    [
        (1, "sqlite"),
        pytest.param(20, "sqlite", marks=pytest.mark.slow),
        pytest.param(10, "postgres", marks=pytest.mark.slow),
    ],
)
def test_killed_again_and_again_nothing_is_lost(kills, store, request):
    start_server()  # the one of all tests, before the harness needs one
    url = None if store == "sqlite" else request.getfixturevalue("postgres")
    result = review_kill.run(kills=kills, n_rows=300, seed=1, database=url)
    assert result["kills"] == kills
    assert result["stored"] >= result["acknowledged"] >= result["kills after new verdicts"] >= kills // 2
    assert result["well"], result
