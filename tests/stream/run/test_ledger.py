"""What a stream keeps beside its ranker: a line per step, of which the state says how many count."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shortlist.exceptions import TableError
from shortlist.stream import ActiveRanker
from shortlist.stream.run import stream_run
from shortlist.stream.run.folder import StreamFolder
from shortlist.stream.run.ledger import Ledger, StepLog, WindowReport
from shortlist.stream.run.returned import ReturnedLabels
from shortlist.stream.run.sources import FileWindows, LineWindows
from shortlist.stream.run.stream_run import StreamRun
from shortlist.stream.saving import StateFileError, read_state, write_state
from shortlist.tables import Roles, write_table
from shortlist.verdicts import Verdict


def make_rows(n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    frame = pl.DataFrame(x, schema=["a", "b", "c"])
    return frame.with_columns(id=pl.format("r{}", pl.int_range(n)), wanted=pl.Series(x[:, 0] > 1).cast(int))


def open_run(folder, rows, *, window_rows=10, said=print):
    lines = io.StringIO(rows.drop("wanted").write_ndjson())
    return StreamRun(
        ActiveRanker(2, extra_labels=1, kernel=None, random_state=0),
        LineWindows(lines, folder / "lines", window_rows=window_rows),
        state=folder / "state",
        folder=StreamFolder(folder / "out"),
        roles=Roles(id="id"),
        labels=ReturnedLabels(folder / "answers.csv", "id"),
        say=said,
    )


@pytest.fixture
def rows(tmp_path):
    rows = make_rows(600)
    write_table(rows.select("id", "wanted"), tmp_path / "answers.csv")
    return rows


def work(run):
    steps = []
    while done := run.step():
        steps.append(done)
    return steps


def learned(run):
    reports = [replace(each, file=Path(each.file).name) for each in run.windows.values()]
    return run.ranker.to_state()["learner"]["beta"].tolist(), run.ledger.answered, reports


def test_a_step_writes_as_much_in_the_hundredth_window_as_in_the_tenth(tmp_path, rows):
    run = open_run(tmp_path, rows, window_rows=2)
    written = []
    while run.step():
        written.append(((tmp_path / "state").stat().st_size, (tmp_path / "state.log").stat().st_size))
    assert len(written) == 2 * 300 == 2 * len(run.windows)
    state, log = np.array(written).T
    assert state[-100:].max() <= 1.05 * state[100:200].max()
    assert np.diff(log)[-100:].max() <= 1.1 * np.diff(log)[20:120].max()


def test_what_is_kept_is_what_was_known(tmp_path, rows):
    run = open_run(tmp_path, rows)
    work(run)
    again = open_run(tmp_path, rows)
    assert learned(again) == learned(run)
    assert again.ranker.precisions_ == run.ranker.precisions_ == run.ledger.precisions != []
    assert again.ledger.progress == run.ledger.progress
    assert work(again) == []
    assert [window for window, _ in run.ranker.precisions_] == [*run.windows] == [*range(1, 61)]


@pytest.mark.parametrize("step", [1, 2, 5, 6])
def test_a_step_that_ends_before_its_state_is_written_is_done_again(tmp_path, rows, monkeypatch, step):
    (tmp_path / "whole").mkdir()
    write_table(rows.select("id", "wanted"), tmp_path / "whole" / "answers.csv")
    whole = open_run(tmp_path / "whole", rows)
    work(whole)
    run = open_run(tmp_path, rows)
    for _ in range(step - 1):
        run.step()
    with monkeypatch.context() as full:
        full.setattr(
            stream_run, "write_state", lambda *_: (_ for _ in ()).throw(TableError("the disk is full"))
        )
        with pytest.raises(TableError):
            run.step()
    again = open_run(tmp_path, rows)
    work(again)
    assert learned(again) == learned(whole)
    log = (tmp_path / "whole" / "state.log").read_text()
    assert (tmp_path / "state.log").read_text() == log.replace(f"{tmp_path}/whole/", f"{tmp_path}/")


@pytest.mark.parametrize("harm", ["gone", "short", "changed"])
def test_steps_that_do_not_belong_to_the_state_are_refused(tmp_path, rows, harm):
    work(open_run(tmp_path, rows))
    log = tmp_path / "state.log"
    told = log.read_bytes()
    log.unlink()
    if harm != "gone":
        log.write_bytes(told[:-1] if harm == "short" else told.replace(b'"r1', b'"r2', 1))
    with pytest.raises(
        StateFileError, match=r"state\.log is gone, damaged or of another stream.*Put copies of both"
    ):
        open_run(tmp_path, rows)


def test_a_disk_that_takes_no_step(tmp_path):
    log = StepLog(tmp_path / "none" / "state.log")
    with pytest.raises(TableError, match="The step was not kept; start again to go on"):
        log.append({"asked": {"x": 1}})


def older_state(run):
    """What a version before there was a file of steps would have kept, its windows numbered from 0 in the ranker."""
    ranker = run.ranker.to_state()
    del ranker["first_window"]
    ranker["precisions"] = [[window - 1, precision] for window, precision in ranker["precisions"]]
    ranker["open"] = [each | {"number": each["number"] - 1} for each in ranker["open"]]
    plain = {Verdict.WANTED: True, Verdict.NOT_WANTED: False, Verdict.UNSURE: None}
    return {
        "ranker": ranker,
        "roles": run.roles.to_dict(),
        "progress": run.ledger.progress,
        "steps": run.steps,
        "asked": run.ledger.asked,
        "answered": {row: plain[verdict] for row, verdict in run.ledger.answered.items()},
        "reports": [report.to_dict() for report in run.windows.values()],
    }


def test_an_older_state_goes_on_as_it_would_have(tmp_path, rows):
    run = open_run(tmp_path, rows)
    for _ in range(7):  # the fourth window waits for its labels
        run.step()
    write_state(tmp_path / "older", older_state(run))
    work(run)
    (tmp_path / "state.log").unlink()
    (tmp_path / "older").replace(tmp_path / "state")
    again = open_run(tmp_path, rows)
    work(again)
    assert learned(again) == learned(run)
    assert again.ranker.precisions_ == run.ranker.precisions_
    assert read_state(tmp_path / "state").keys() == {"ranker", "roles", "steps", "log"}
    assert learned(open_run(tmp_path, rows)) == learned(run)


def test_an_alarm_is_told_once(tmp_path):
    ledger = Ledger()
    for number in (1, 2):
        ledger.report(WindowReport(number, "x", 5, 5))
    assert ledger.measure([(1, 0.5)], []) == []
    assert ledger.measure([(1, 0.5), (2, 0.0)], [2]) == [2]
    assert ledger.measure([(1, 0.5), (2, 0.0)], [2]) == []
    assert [(each.precision, each.alarm) for each in ledger.windows.values()] == [(0.5, False), (0.0, True)]


def test_the_table_of_windows_is_whole_when_the_stream_waits(tmp_path, rows):
    run = open_run(tmp_path, rows)
    told = []
    while run.step():
        told.append(
            pl.read_csv(tmp_path / "out/report.csv").height if (tmp_path / "out/report.csv").exists() else 0
        )
    report = pl.read_csv(tmp_path / "out/report.csv")
    assert report["window"].to_list() == [*range(1, 61)]
    assert report["precision"].null_count() == 0
    assert len({*told}) < 60  # not at every step


def test_files_that_come_and_go_while_others_are_taken(tmp_path):
    for name in ("a", "b", "d"):
        write_table(make_rows(3), tmp_path / f"{name}.csv")
    source, progress, taken = FileWindows(str(tmp_path)), {}, []
    while window := source.next(progress):
        taken.append(window.name)
        progress |= window.progress
        if window.name == "a.csv":
            (tmp_path / "b.csv").unlink()
            write_table(make_rows(3), tmp_path / "c.csv")
    assert taken == ["a.csv", "d.csv", "c.csv"]


def test_labels_are_given_once_and_again_when_their_file_changes(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("id,wanted\nx,yes\ny,\n")
    labels = ReturnedLabels(path, "id")
    assert {row: label.verdict for row, label in labels.read()[0].items()} == {"x": Verdict.WANTED}
    assert labels.read() == ({}, [])
    path.write_text("id,wanted\nx,no\ny,unsure\n")
    found, messages = labels.read()
    assert {row: label.verdict for row, label in found.items()} == {"x": Verdict.WANTED, "y": Verdict.UNSURE}
    assert messages == ["labels.csv: row x has two labels that differ; the first counts."]
