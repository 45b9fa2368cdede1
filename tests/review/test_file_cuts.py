"""Power cuts while files are written, in short; the study goes through as many moments as time allows."""

import random

import pytest

from shortlist.review.errors import DamagedError
from studies.quality import review_files
from studies.quality.review_disk import Step
from studies.quality.review_faults import make_queue


@pytest.mark.parametrize("most", [6, pytest.param(250, marks=pytest.mark.slow)])
def test_a_power_cut_at_any_moment_leaves_a_review_that_goes_on(tmp_path, most):
    tried, found = review_files.file_cuts(make_queue(tmp_path), until=float("inf"), most=most)
    assert tried["power cuts"] == most
    assert tried["moments"] > 300
    assert found.acknowledged > most
    assert found.is_well


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return review_files.record_files(make_queue(tmp_path_factory.mktemp("recorded")))


def test_what_python_writes_is_recorded(recorded):
    renamed = {step.content.decode() for step in recorded.steps if step.what == "rename"}
    assert {"rows.parquet", ".erasing/rows.parquet", "space/space.npz"} <= renamed
    assert any(name.startswith("checkpoint-") for name in renamed)
    assert any(name.startswith("rows-") for name in renamed)


def test_rows_that_are_being_erased_are_found_after_a_power_cut(recorded, tmp_path):
    """The log tells the sums of new files while they lie in a folder of their own: that must be there for good."""
    for place in (n for n, step in enumerate(recorded.steps) if step.content == b"rows.parquet"):
        marks = [step.mark for step in recorded.steps[:place] if step.what == "mark"]
        image = recorded.image(place, "lost", random.Random(0))
        assert any(name.startswith(".erasing/") for name in image)
        assert review_files.look_at_files(image, marks, tmp_path / "cut.review").is_well


@pytest.mark.parametrize("what", ["folders", "contents"])
def test_a_disk_that_is_not_waited_for_loses_files(recorded, tmp_path, what):
    """The recorded disk is not blind: without syncs of folders, or of files, rows that were appended are gone."""
    ours = review_files.Recorder(tmp_path)
    ours.before = recorded.before
    ours.steps = [
        step if not _is_sync(step, what) else Step("mark", mark=("", "")) for step in recorded.steps
    ]
    after = next(n for n, step in enumerate(ours.steps) if step.mark == ("rows", 90)) + 1
    with pytest.raises(DamagedError, match=r"rows-\d+-\w+\.parquet is"):
        review_files.look_at_files(ours.image(after, "lost", random.Random(0)), [], tmp_path / "cut.review")


def _is_sync(step, what):
    return (
        step.what == "sync"
        and not step.file.startswith("log.")
        and (what == "folders") == (step.file in (".", ".erasing", ".erasing/space", "space"))
    )
