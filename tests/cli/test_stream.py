"""The stream command as users and crashes meet it."""

import codecs
import json
import os
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import polars as pl
import pytest
from filelock import FileLock

from shortlist.cli import _output
from shortlist.stream.run.ledger import Ledger, StepLog
from shortlist.stream.saving import read_state
from shortlist.tables import write_table
from shortlist.verdicts import WRITTEN, Verdict
from tests.cli.conftest import run_in
from tests.forks import FORKS


def make_rows(n=1_200, seed=0, first=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(size=n) * 1e4
    wanted = a + b / 1e4 + 0.3 * rng.normal(size=n) > 1.6
    ids = [f"r{first + i:05d}" for i in range(n)]
    kind = rng.choice(["x", "y"], size=n)
    return pl.DataFrame({"id": ids, "a": a, "b": b, "kind": kind, "y": wanted.astype(int)})


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with six windows of 200 rows in in/, and the answers to all of them in answers.csv."""
    monkeypatch.chdir(tmp_path)
    rows = make_rows()
    (tmp_path / "in").mkdir()
    for i in range(6):
        write_table(rows[200 * i : 200 * (i + 1)].drop("y"), tmp_path / "in" / f"day-{i}.csv")
    write_table(rows.select("id", wanted="y"), tmp_path / "answers.csv")
    write_table(rows, tmp_path / "rows.jsonl")
    return tmp_path


LIVE = ("--once", "--id", "id", "--budget", "20", "--extra-labels", "10", "--kernel", "linear")


def outputs(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_rows_to_label_go_out_and_labels_come_back(shortlist, place):
    done = shortlist("stream", "in", *LIVE)
    assert done.code == 0
    questions = pl.read_csv(place / "stream/to-label/window-000001.csv")
    assert questions.columns == ["id", "wanted", "rank", "why", "a", "b", "kind"]
    assert questions.height == 30
    assert questions["why"].to_list() == ["shortlist"] * 20 + ["to learn"] * 10
    assert "180 rows wait" in done.out
    # The reviewer fills in the file itself and hands it back.
    (place / "back").mkdir()
    filled = questions.with_columns(wanted=pl.lit("no"))
    write_table(filled, place / "back/window-1.csv")
    done = shortlist("stream", "in", *LIVE, "--labels", "back")
    assert "took 30 labels" in done.err
    assert "150 rows wait" in done.out


def test_windows_are_taken_once_and_new_files_are_found(shortlist, place):
    for _ in range(2):  # the labels of the last window are taken at the second call
        shortlist("stream", "in", *LIVE, "--labels", "answers.csv")
    before = outputs(place / "stream")
    shortlist("stream", "in", *LIVE, "--labels", "answers.csv")
    assert outputs(place / "stream") == before
    write_table(make_rows(200, seed=1, first=9_000).drop("y"), place / "in/day-9.csv")
    shortlist("stream", "in", *LIVE, "--labels", "answers.csv")
    assert sorted(set(outputs(place / "stream")) - set(before)) == ["window-000007.csv"]


def test_stopping_and_starting_equals_running_through(shortlist, place):
    shortlist("stream", "in", *LIVE, "--labels", "answers.csv", "--state", "whole", "-o", "whole-out")
    for i in range(1, 7):
        files = [str(place / "in" / f"day-{j}.csv") for j in range(i)]
        (place / "grown").mkdir(exist_ok=True)
        (place / "grown" / f"day-{i - 1}.csv").write_bytes((place / files[-1]).read_bytes())
        shortlist("stream", "grown", *LIVE, "--labels", "answers.csv", "--state", "cut", "-o", "cut-out")
    whole, cut = outputs(place / "whole-out/to-label"), outputs(place / "cut-out/to-label")
    assert len(whole) == 6
    assert whole == cut


def kill_and_restart(arguments, folder, kills, seed):
    """Run the program, kill it with SIGKILL at random moments, and start it again until it ends by itself."""
    rng, killed, state = np.random.default_rng(seed), 0, folder / "killed.state"
    while True:
        process = FORKS.Process(target=run_in, args=(folder, arguments))
        process.start()
        if killed == kills:
            process.join(120)
            assert process.exitcode == 0
            return
        before = state.stat().st_mtime_ns if state.exists() else 0
        while process.is_alive() and not (state.exists() and state.stat().st_mtime_ns != before):
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL, (
            "the stream ended before it was killed: give it more windows"
        )
        killed += 1


def split_finely(folder, n_files):
    rows = pl.read_ndjson(folder / "rows.jsonl").drop("y")
    (folder / "many").mkdir()
    size = rows.height // n_files
    for i in range(n_files):
        write_table(rows[size * i : size * (i + 1)], folder / "many" / f"part-{i:03d}.csv")


@pytest.mark.slow
def test_a_killed_run_loses_nothing_and_repeats_nothing(shortlist, place):
    split_finely(place, 80)
    common = ["stream", "many", *LIVE, "--budget", "3", "--extra-labels", "2", "--labels", "answers.csv"]
    killed = [*common, "--state", "killed.state", "-o", "killed"]
    assert shortlist(*common, "--state", "whole.state", "-o", "whole").code == 0
    kill_and_restart(killed, place, kills=12, seed=0)
    finished, interrupted = outputs(place / "whole/to-label"), outputs(place / "killed/to-label")
    assert len(finished) == 80
    assert finished == interrupted
    assert shortlist(*killed).code == 0  # nothing is left to do, and nothing half written is left behind
    assert not [path for path in (place / "killed").rglob("*") if path.name.startswith(".")]


ROUNDS = ("--learner", "perceptron", "--scheme", "sequential", "--labels", "answers.csv")


def test_the_perceptron_asks_in_rounds(shortlist, place):
    done = shortlist("stream", "in", "--once", "--id", "id", "--budget", "20", *ROUNDS)
    assert done.code == 0
    report = pl.read_csv(place / "stream/report.csv")
    assert report["rounds"].max() > 1
    assert report["labels"].min() >= 20
    again = f"window-{report['window'][report['rounds'].arg_max()]:06d}-round-2.csv"
    first = pl.read_csv(place / "stream/to-label" / again.replace("-round-2", ""))
    further = pl.read_csv(place / "stream/to-label" / again)
    assert first["why"].to_list() == ["shortlist"] * 20
    assert set(further["why"]) == {"to learn"}
    assert further["rank"][0] == 21
    assert further.columns == first.columns
    files = outputs(place / "stream/to-label")
    ids = [row for name in files for row in pl.read_csv(place / "stream/to-label" / name)["id"]]
    assert len(ids) == len(set(ids)) == report["labels"].sum()
    assert not list((place / "stream/open").iterdir())  # no window waits for another round


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["sequential", "exponential"])
def test_killed_rounds_lose_nothing_and_repeat_nothing(shortlist, place, scheme):
    split_finely(place, 12)  # several hundred steps: most rounds ask for a row or two
    common = ["stream", "many", "--once", "--id", "id", "--budget", "5", *ROUNDS, "--scheme", scheme]
    assert shortlist(*common, "--state", "whole.state", "-o", "whole").code == 0
    kill_and_restart([*common, "--state", "killed.state", "-o", "killed"], place, kills=5, seed=1)
    finished, interrupted = outputs(place / "whole/to-label"), outputs(place / "killed/to-label")
    assert any("round" in name for name in finished)
    assert finished == interrupted


def test_a_row_of_a_later_round_that_another_window_asked_about(shortlist, place):
    live = ("--once", "--id", "id", "--budget", "20", "--learner", "perceptron")
    shortlist("stream", "in", *live)  # six windows wait for their first labels
    rows = make_rows(200)
    first = pl.read_csv(place / "stream/to-label/window-000001.csv")
    unasked = rows.filter(~pl.col("id").is_in(first["id"].to_list()))
    write_table(unasked.drop("y").head(15), place / "in/day-7.csv")  # small: all of them are asked about
    shortlist("stream", "in", *live)
    write_table(first.select("id", wanted=pl.lit(0)), place / "labels.csv")
    done = shortlist("stream", "in", *live, "--labels", "labels.csv")
    assert done.code == 0
    assert (place / "stream/to-label/window-000001-round-2.csv").exists()
    asked = pl.read_csv(place / "stream/to-label/window-000001-round-2.csv")["id"]
    assert not set(asked) & set(unasked["id"].head(15))


def simulate(run_json, *arguments):
    return run_json("stream", *arguments, "--simulate", "--label", "y", "--id", "id", "--budget", "20")


def test_simulation_measures_every_window(run_json, place):
    write_table(make_rows().drop("kind"), place / "rows.parquet")
    result = simulate(run_json, "*.parquet", "--window-rows", "200")
    assert [each["labels"] for each in result["windows"]] == [40] * 6
    assert result["labels"] == 240
    assert result["windows"][-1]["precision"] > 0.7
    assert result["alarms"] == []


@pytest.mark.parametrize("wanted", [(), ("--wanted", "1")])
def test_simulation_leaves_out_rows_without_a_label_when_told_to(shortlist, run_json, place, wanted):
    known = pl.when(pl.int_range(pl.len()) % 200 >= 50).then("y")
    pl.read_ndjson("rows.jsonl").with_columns(y=known).write_csv("gaps.csv")
    simulate = ("stream", "gaps.csv", "--simulate", "--label", "y", *LIVE[1:], *wanted)
    refused = shortlist(*simulate)
    assert refused.code == 2
    assert "empty in 300 of 1,200 rows. Leave them out with --skip-empty-labels" in refused.err
    assert run_json(*simulate, "--skip-empty-labels")["rows"] == 900


def test_simulation_prints_a_plot(shortlist, place):
    done = shortlist(
        "stream", "rows.jsonl", "--simulate", "--label", "y", "--id", "id", "--window-rows", "300"
    )
    assert done.code == 0
    assert "precision@50" in done.out
    assert "█" in done.out
    assert "labels of 1,200 rows" in done.out


def test_the_plot_fits_a_narrow_terminal(shortlist, place, monkeypatch):
    monkeypatch.setattr(_output.out, "_width", 60)
    done = shortlist(
        "stream", "rows.jsonl", "--simulate", "--label", "y", "--id", "id", "--window-rows", "300"
    )
    assert len(done.out.splitlines()) == 6
    assert max(map(len, done.out.splitlines())) <= 60


@pytest.mark.parametrize("scheme", ["sequential", "uniform"])
def test_the_papers_perceptron_can_be_simulated(run_json, place, scheme):
    result = simulate(
        run_json, "rows.jsonl", "--window-rows", "200", "--learner", "perceptron", "--scheme", scheme
    )
    assert result["labels"] < 1_200
    assert len(result["windows"]) == 6


def feed(monkeypatch, lines):
    monkeypatch.setattr(sys, "stdin", iter(lines))


def test_standard_input_may_begin_anew_or_go_on(run_json, place, monkeypatch):
    lines = (place / "rows.jsonl").read_text().splitlines(keepends=True)
    arguments = ("-", "--window-rows", "200", "--kernel", "linear")
    feed(monkeypatch, lines)
    whole = simulate(run_json, *arguments, "--state", "whole")
    feed(monkeypatch, lines[:600])
    simulate(run_json, *arguments, "--state", "anew")
    feed(monkeypatch, lines)
    anew = simulate(run_json, *arguments, "--state", "anew")
    feed(monkeypatch, lines[:600])
    simulate(run_json, *arguments, "--state", "on")
    feed(monkeypatch, lines[600:])
    on = simulate(run_json, *arguments, "--state", "on")
    assert whole["windows"] == anew["windows"] == on["windows"]
    assert whole["rows"] == 1_200


def test_a_pipe_that_is_killed_loses_no_line_it_read(run_json, place, monkeypatch):
    lines = (place / "rows.jsonl").read_text().splitlines(keepends=True)

    def broken(lines):
        yield from lines
        raise SystemExit  # the process ends in the middle of a window

    feed(monkeypatch, broken(lines[:250]))
    with pytest.raises(AssertionError):
        simulate(run_json, "-", "--window-rows", "200")
    feed(monkeypatch, lines[250:])
    result = simulate(run_json, "-", "--window-rows", "200")
    assert result["rows"] == 1_200
    assert result["windows"][1]["name"] == "lines 201 to 400"


def test_csv_on_standard_input(run_json, place, monkeypatch):
    text = make_rows(400).write_csv().splitlines(keepends=True)
    text.insert(30, "r99,1.5\n")
    feed(monkeypatch, text)
    result = simulate(run_json, "-", "--window-rows", "200")
    assert result["rows"] == 400
    refused = json.loads((place / "stream/refused/step-000001.jsonl").read_text())
    assert refused["reason"] == "2 fields where the header has 5"


# -- bad input: clear messages, nothing lost, the stream goes on


def test_csv_on_standard_input_with_semicolons_zeros_and_a_quote_too_many(shortlist, place, monkeypatch):
    rows = make_rows(300).with_columns(id=pl.format("00{}", 1_000 + pl.int_range(pl.len()))).drop("y")
    lines = rows.write_csv(separator=";").splitlines(keepends=True)
    lines[7] = lines[7].replace(";x", ';"x').replace(";y", ';"y')
    feed(monkeypatch, lines)
    done = shortlist("stream", "-", *LIVE)
    assert done.code == 0
    assert "line 7: not a line of CSV (unexpected end of data)" in done.err
    asked = (place / "stream/to-label/window-000001.csv").read_text().splitlines()
    assert asked[0] == "id,wanted,rank,why,a,b,kind"
    assert all(line.startswith("001") for line in asked[1:])


def test_standard_input_that_is_no_table(shortlist, place, monkeypatch):
    feed(monkeypatch, ["ab\rc\n", "1\n"])
    done = shortlist("stream", "-", *LIVE)
    assert done.code == 2
    assert "standard input begins with neither JSON nor a line of column names" in done.err


@pytest.mark.slow
def test_bytes_that_are_no_utf_8_on_standard_input(place):
    rows = codecs.BOM_UTF8 + (place / "rows.jsonl").read_text().replace("x", "ö").encode("latin-1")
    command = [sys.executable, "-m", "shortlist", "stream", "-", "--simulate", "--label", "y", "--id", "id"]
    for language in ("C", "C.UTF-8"):
        done = subprocess.run(
            [*command, "--state", language, "--json"],
            input=rows,
            capture_output=True,
            env={**os.environ, "LC_ALL": language},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["rows"] == 1_200


def test_half_a_json_line(shortlist, place, monkeypatch):
    lines = (place / "rows.jsonl").read_text().splitlines(keepends=True)
    lines[250] = '{"id": "r00250", "a": 0.1'
    feed(monkeypatch, [each if each.endswith("\n") else each + "\n" for each in lines])
    done = shortlist("stream", "-", "--simulate", "--label", "y", "--id", "id", "--window-rows", "400")
    assert done.code == 0
    assert "standard input, line 251: not a whole JSON object" in done.err
    refused = json.loads((place / "stream/refused/step-000001.jsonl").read_text())
    assert refused["content"] == '{"id": "r00250", "a": 0.1'
    assert "of 1,199 rows" in done.out


def test_a_window_with_other_columns(shortlist, place):
    write_table(make_rows(50, first=5_000).drop("y", "b"), place / "in/day-2b.csv")
    done = shortlist("stream", "in", *LIVE)
    assert done.code == 0
    assert "day-2b.csv: the table lacks columns that training had: b" in done.err
    assert len(outputs(place / "stream/to-label")) == 6


@pytest.fixture
def small_start(place):
    """A first window of 20 rows, in which hardly a shop comes twice, and one of 300."""
    rows = make_rows(320).with_columns(shop=pl.format("shop {}", pl.int_range(pl.len()) * 7 % 30))
    (place / "small").mkdir()
    for name, part in {"day-1.csv": rows[:20], "day-2.csv": rows[20:]}.items():
        write_table(part.drop("y"), place / "small" / name)
    write_table(rows, place / "history.csv")
    return place


def test_a_first_window_too_small_to_tell_what_columns_are(shortlist, small_start):
    done = shortlist("stream", "small", *LIVE)
    assert done.code == 2
    assert "column 'shop' has 20 different texts" in done.err
    assert "first window, here of 20 rows" in done.err
    assert "--like FILE" in done.err
    assert not (small_start / "stream.state").exists()


def test_typical_rows_tell_what_columns_are(shortlist, small_start):
    done = shortlist("stream", "small", "--like", "history.csv", *LIVE)
    assert done.code == 0
    assert "2 windows taken" in done.out
    assert "read as missing" not in done.err
    write_table(make_rows(50, first=900).drop("y"), small_start / "small" / "day-3.csv")
    assert "lacks columns that training had: shop" in shortlist("stream", "small", *LIVE).err
    refused = (small_start / "stream/refused/step-000003.jsonl").read_text()
    assert "training is its first window or --like. Give mended rows as a new file" in refused


def test_typical_rows_that_are_not_there(shortlist, small_start):
    done = shortlist("stream", "small", "--like", "none.csv", *LIVE)
    assert (done.code, "there is no file none.csv" in done.err) == (2, True)


def test_a_file_that_cannot_be_read_is_tried_again_when_it_has_changed(shortlist, place):
    broken = place / "in/day-3b.parquet"
    broken.write_bytes(b"PAR1 half a file")
    done = shortlist("stream", "in", *LIVE)
    assert done.code == 0
    assert done.err.count("day-3b.parquet") == 1
    assert len(outputs(place / "stream/to-label")) == 6
    write_table(make_rows(60, first=5_000).drop("y"), broken)
    shortlist("stream", "in", *LIVE)
    assert len(outputs(place / "stream/to-label")) == 7


@pytest.mark.parametrize("name", ["day-0.csv", "day-1.csv"], ids=["the first window", "a later one"])
@pytest.mark.parametrize(
    "more", [(), ("--simulate", "--label", "y", "--skip-empty-labels")], ids=["", "simulated"]
)
def test_a_window_without_rows_is_passed_over(shortlist, place, name, more):
    rows = make_rows(120)
    (place / "quiet").mkdir()
    write_table(rows[:60], place / "quiet/day-0b.csv")
    write_table(rows.clear(), place / "quiet" / name)
    done = shortlist("stream", "quiet", *LIVE, *more)
    assert (done.code, done.err.count(f"{name} has no rows: there is nothing to look at.")) == (0, 1)
    assert done.err.count("window 1:") == (not more)
    assert "no rows" not in shortlist("stream", "quiet", *LIVE, *more).err
    assert not [*(place / "stream/refused").iterdir()]
    write_table(rows[60:], place / "quiet" / name)  # they came late
    shortlist("stream", "quiet", *LIVE, *more)
    assert pl.read_csv(place / "stream/report.csv")["name"].to_list() == ["day-0b.csv", name]


def test_a_file_that_grew_after_it_was_taken_is_said(shortlist, place):
    shortlist("stream", "in", *LIVE)
    with (place / "in/day-1.csv").open("a") as file:
        file.write("r77777,0.1,3.0,x\n")
    done = shortlist("stream", "in", *LIVE)
    assert "day-1.csv changed after it was taken" in done.err


def test_duplicate_and_missing_ids(shortlist, place):
    rows = make_rows(100, first=5_000).drop("y")
    rows = rows.with_columns(id=pl.when(pl.int_range(100) == 7).then(pl.lit("r05000")).otherwise("id"))
    rows = rows.with_columns(id=pl.when(pl.int_range(100) == 8).then(None).otherwise("id"))
    write_table(rows, place / "in/day-7.csv")
    done = shortlist("stream", "in", *LIVE)
    assert "id r05000 stands twice in this window; the first row is ranked" in done.err
    assert "the row has no id" in done.err
    refused = (place / "stream/refused/step-000007.jsonl").read_text().splitlines()
    assert len(refused) == 2


def test_an_id_that_was_asked_about_before(shortlist, place):
    shortlist("stream", "in", *LIVE)
    asked = pl.read_csv(place / "stream/to-label/window-000001.csv")["id"][0]
    again = (
        make_rows(50, first=5_000)
        .drop("y")
        .with_columns(id=pl.when(pl.int_range(50) == 0).then(pl.lit(asked)).otherwise("id"))
    )
    write_table(again, place / "in/day-8.csv")
    done = shortlist("stream", "in", *LIVE)
    assert f"id {asked} was asked about in an earlier window" in done.err


def test_a_window_smaller_than_the_budget(shortlist, place):
    write_table(make_rows(5, first=5_000).drop("y"), place / "in/day-7.csv")
    done = shortlist("stream", "in", *LIVE)
    assert "day-7.csv has 5 rows, fewer than the budget of 20: all are shown" in done.err
    assert pl.read_csv(place / "stream/to-label/window-000007.csv").height == 5


def test_labels_that_are_not_there_yet_are_said(shortlist, place):
    assert "later.csv is not there yet" in shortlist("stream", "in", *LIVE, "--labels", "later.csv").err
    assert "not there" not in shortlist("stream", "in", *LIVE, "--labels", "answers.csv").err


def test_labels_that_cannot_be_used_are_said(shortlist, place):
    shortlist("stream", "in", *LIVE)
    asked = pl.read_csv(place / "stream/to-label/window-000001.csv")["id"]
    rows = [("nobody", "1"), (asked[0], "perhaps"), (asked[1], "unsure"), (asked[2], "yes")]
    write_table(pl.DataFrame(rows, schema=["id", "wanted"], orient="row"), place / "labels.csv")
    done = shortlist("stream", "in", *LIVE, "--labels", "labels.csv")
    assert "labels of rows not asked about are used if they are asked about: nobody" in done.err
    assert f"row {asked[0]} has the label 'perhaps'; write {WRITTEN}" in done.err
    assert "took 2 labels" in done.err
    write_table(pl.DataFrame({"id": [asked[2]], "wanted": ["no"]}), place / "labels.csv")  # yes, before
    done = shortlist("stream", "in", *LIVE, "--labels", "labels.csv")
    assert f"the first label of a row counts; other ones came for {asked[2]}" in done.err


def test_verdicts_of_a_kept_state_are_those_that_were_given(shortlist, place):
    shortlist("stream", "in", *LIVE)
    asked = pl.read_csv(place / "stream/to-label/window-000001.csv")["id"][: len(Verdict)]
    write_table(pl.DataFrame({"id": asked, "wanted": [*Verdict]}), place / "labels.csv")
    shortlist("stream", "in", *LIVE, "--labels", "labels.csv")
    ledger = Ledger()
    for changes in StepLog(place / "stream.state.log").read(read_state(place / "stream.state")["log"]):
        ledger.replay(changes)
    assert ledger.answered == dict(zip(asked, Verdict, strict=True))
    (place / "labels.csv").touch()
    done = shortlist("stream", "in", *LIVE, "--labels", "labels.csv")
    assert (done.code, "other ones came" in done.err) == (0, False)


def test_a_state_without_its_steps_is_refused(shortlist, place):
    shortlist("stream", "in", *LIVE)
    (place / "stream.state.log").unlink()
    done = shortlist("stream", "in", *LIVE)
    assert (done.code, "stream.state.log is gone" in done.err) == (2, True)


def test_other_options_for_a_stream_that_has_begun(shortlist, place):
    shortlist("stream", "in", *LIVE)
    done = shortlist("stream", "in", *LIVE, "--budget", "30")
    assert done.code == 2
    assert "was begun with budget = 20, and now budget = 30 is asked for" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "no folder or file nowhere"),
        (("in", "--simulate"), "--label COLUMN"),
        (("in", "--label", "y"), "--label is for --simulate"),
        (("in", "--once", "--id", "nr"), "the id column 'nr' is not in the table"),
        (("in", "--once", "--state", "no/such/state"), "no folder no/such"),
        (("rows.jsonl", "--simulate", "--label", "kind", "--id", "id"), "--wanted VALUE"),
    ],
)
def test_calls_that_cannot_work(shortlist, place, arguments, message):
    done = shortlist("stream", *arguments)
    assert done.code == 2
    assert message in done.err


def test_a_state_that_is_none_is_refused(shortlist, place):
    with zipfile.ZipFile(place / "stream.state", "w") as archive:
        archive.writestr("state.json", "[]")
    done = shortlist("stream", "in", *LIVE)
    assert done.code == 2
    assert done.err.startswith("error: stream.state is not the state of a stream, or is damaged")


def test_two_processes_do_not_share_a_stream(shortlist, place):
    with FileLock(place / "stream.state.lock"):
        done = shortlist("stream", "in", *LIVE)
    assert done.code == 2
    assert "another process works on" in done.err


@pytest.mark.slow
def test_a_folder_that_grows_is_watched(place):
    questions = place / "out/to-label"

    def wait_for(count):
        while len([*questions.glob("*.csv")]) < count:
            assert process.is_alive()
            time.sleep(0.01)

    process = FORKS.Process(
        target=run_in, args=(place, ["stream", "in", "--poll", "0.01", *LIVE[1:], "-o", "out"])
    )
    process.start()
    try:
        wait_for(6)
        write_table(make_rows(50, first=7_000).drop("y"), place / "in/later.csv")
        wait_for(7)
        os.kill(process.pid, signal.SIGINT)
        process.join(120)
        assert process.exitcode == 0
        assert "start again with the same options" in (place / "errors.txt").read_text()
    finally:
        process.kill()
