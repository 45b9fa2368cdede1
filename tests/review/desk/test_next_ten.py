"""What the next ten will bring in a queue that was made from a model: its own figure first, then verdicts count too."""

import numpy as np
import polars as pl
import pytest

from shortlist.models.trained import TrainedModel
from shortlist.rankers.chances.calibration import Found
from shortlist.review.reading import prove_folder
from shortlist.review.web.bodies import QueueOut
from shortlist.review.workspace import Workspace
from tests.quick_model import quick_model
from tests.review.conftest import make_rows


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """Of rows that look wanted every second was, so that the model is not sure."""
    path = tmp_path_factory.mktemp("model") / "m.shortlist"
    rows = make_rows(400, 120, seed=1)
    half = pl.Series(np.random.default_rng(0).random(400) < 0.5)
    quick_model(rows.with_columns(truth=rows["truth"] & half), label="truth", id="claim").save(path)
    return path


def by_the_model(path, table, snapshot):
    """What the model says of the next ten rows by itself."""
    model = TrainedModel.load(path)
    rows = table.filter(pl.col("claim").is_in([up.id for up in snapshot.top[:10]]))
    return model.score(rows.drop("truth"), budget=10).found


def figures(estimate):
    return Found(pytest.approx(estimate.middle, rel=1e-4), estimate.low, estimate.high)


def test_before_any_verdict_it_is_what_the_model_says(make_queue, model_file, table):
    queue = make_queue(model=model_file)
    said = queue.snapshot.next_ten
    assert by_the_model(model_file, table, queue.snapshot) == figures(said)
    assert QueueOut.of(queue.snapshot).next_ten.model_dump() == vars(said)


@pytest.mark.parametrize("verdict", ["wanted", "not wanted"])
def test_verdicts_move_it_and_a_restart_does_not(make_queue, model_file, table, verdict):
    queue = make_queue(model=model_file)
    turn = queue.turn("ann").result()
    for _ in range(4):
        turn = queue.record("ann", turn.shown, verdict).result()
    said, model = queue.snapshot.next_ten, by_the_model(model_file, table, queue.snapshot)
    assert (said.middle > model.expected) == (verdict == "wanted")
    queue.append("ann", table.drop("truth").with_columns(claim="N-" + pl.col("claim"))).result()
    said, digest = queue.snapshot.next_ten, queue.digest().result()
    queue.close()
    again = make_queue(again=True)
    # The row on the screen is held, in both.
    assert (again.snapshot.next_ten, again.digest().result()) == (said, digest)
    again.close()
    assert prove_folder(again.workspace.folder).holds


def test_what_the_model_knew_is_proved_with_the_other_files(make_queue, model_file):
    folder = make_queue(model=model_file).workspace.folder
    kept = Workspace(folder).chances
    kept.write_bytes(kept.read_bytes()[:-1] + b"!")
    assert [*prove_folder(folder).faults] == ["the file space/chances.npz is not as it was written."]


def test_queues_whose_model_does_not_know_wait_for_verdicts(
    make_queue, model_file, tmp_path, data, clock, review
):
    """As all did before, whose folders have no such file."""
    model = TrainedModel.load(model_file)
    del model.ranker.chance_error_
    model.save(tmp_path / "before.shortlist")
    queue = make_queue(model=tmp_path / "before.shortlist")
    assert not queue.workspace.chances.exists()
    assert queue.snapshot.next_ten is None
    review(queue, 3)
    assert queue.snapshot.next_ten is not None
