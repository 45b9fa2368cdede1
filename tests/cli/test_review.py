"""The commands of a review: replay, export, import, append; and the start of the server itself."""

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from shortlist.review import Client, Queue, Workspace, create
from shortlist.review.reading import read_queue
from shortlist.review.web.bodies import QueueOut
from shortlist.tables import read_table
from tests.review.conftest import Served


@pytest.fixture
def queue_folder(claims):
    """A queue of new.csv with five verdicts."""
    place = Workspace("new.review")
    create("new.csv", place, id="claim_id", settings={"budget": 20, "audit": 0.2})
    queue = Queue.open(place.folder)
    turn = queue.turn("ann").result()
    for i in range(5):
        turn = queue.record("ann", turn.shown, ["wanted", "not wanted"][i % 2], note="=1+1").result()
    queue.close()
    return place.folder


@pytest.mark.bits
def test_replay_says_that_the_log_is_the_truth(shortlist, run_json, queue_folder):
    done = run_json("replay", queue_folder)
    assert (done["holds"], done["shown"], done["equals live ranking"]) == (True, 6, None)
    assert "bit for bit" in shortlist("replay", queue_folder).out


def test_replay_fails_where_the_server_ranks_otherwise_at_the_same_event(
    shortlist, queue_folder, monkeypatch
):
    server = Served(queue_folder)
    try:
        assert "The running server's ranking is the same." in shortlist("replay", queue_folder).out
        standing: Future = Future()
        standing.set_result(replace(server.queue.standing().result(), digest="another"))
        monkeypatch.setattr(server.queue, "standing", lambda: standing)
        done = shortlist("replay", queue_folder)
        told = shortlist("replay", queue_folder, "--json")
    finally:
        server.stop()
    assert (done.code, told.code) == (1, 1)
    assert "The running server's ranking is NOT the same." in done.out
    said = json.loads(told.out)
    assert (said["holds"], said["equals live ranking"]) == (True, False)


def test_replay_and_export_tell_what_is_missed_as_the_page_and_the_api_do(shortlist, run_json, claims):
    place = Workspace("checked.review")
    create("new.csv", place, id="claim_id", settings={"budget": None, "audit": 0.5})
    with closing(Queue.open(place.folder)) as queue:
        for verdict in ["wanted", "not wanted", "unsure", "not wanted"] * 4:
            queue.record("ann", queue.turn("ann").result().shown, verdict).result()
        page = queue.snapshot
    api = QueueOut.of(page).model_dump(mode="json")
    told = run_json("replay", place.folder)["missed"]
    assert told == run_json("export", place.folder)["missed"] == {name: api[name] for name in told}
    assert told["unseen_wanted"] == {"low": page.missed.low, "high": page.missed.high}
    assert told["random_checks"] > 2
    assert told["random_checks_undecided"] > 0
    words = f"Between {page.missed.low} and {page.missed.high} wanted rows are still unseen (sure 90 %, however often"
    assert words in shortlist("replay", place.folder).out.splitlines()[-1]


def test_without_a_random_check_nothing_is_told_of_what_is_missed(shortlist, run_json, claims):
    place = Workspace("unchecked.review")
    create("new.csv", place, id="claim_id")
    assert run_json("export", place.folder)["missed"] is None
    assert run_json("replay", place.folder)["missed"] is None
    assert "unseen" not in shortlist("replay", place.folder).out


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.slow
def test_replay_holds_on_an_older_cpu(queue_folder, tmp_path):
    older = {
        "OPENBLAS_CORETYPE": "Prescott",
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CACHE_DIR": str(tmp_path / "compiled"),
    }
    call = [sys.executable, "-m", "shortlist", "replay", str(queue_folder), "--json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False, env={**os.environ, **older})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["holds"]


def test_export_writes_csv_parquet_and_a_model(shortlist, run_json, queue_folder):
    assert len(run_json("export", queue_folder)["verdicts"]) == 5
    assert shortlist("export", queue_folder, "-o", "verdicts.csv").code == 0
    assert shortlist("export", queue_folder, "-o", "verdicts.parquet", "--model", "m.shortlist").code == 0
    table = pl.read_csv("verdicts.csv")
    assert table["note"].to_list() == ["'=1+1"] * 5
    assert table["verdict"].to_list() == ["wanted", "not wanted", "wanted", "not wanted", "wanted"]
    assert pl.read_parquet("verdicts.parquet")["note"][0] == "=1+1"


def test_a_model_of_a_review_is_inspected_and_scores_new_rows(shortlist, run_json, queue_folder):
    assert shortlist("export", queue_folder, "--model", "next.shortlist").code == 0
    facts = run_json("inspect", "next.shortlist")
    assert facts["roles"] == {"id": "claim_id", "ignore": []}
    assert (facts["training"]["labels"], facts["training"]["rows"]) == ("verdicts of a review", 5)
    assert "labels = verdicts of a review" in shortlist("inspect", "next.shortlist").out
    found = run_json("score", "next.shortlist", "history.csv", "--budget", 3)
    assert {row["claim_id"] for row in found["rows"]} <= {*pl.read_csv("history.csv")["claim_id"]}
    assert found["notes"] == ["columns that training did not have are not used: fraud."]


def test_export_writes_to_a_database(shortlist, queue_folder):
    table = "sqlite:///claims.db::verdicts"
    assert shortlist("export", queue_folder, "-o", table).code == 0
    assert read_table(table)["note"].to_list() == ["=1+1"] * 5
    again = shortlist("export", queue_folder, "-o", table)
    assert again.code == 2
    assert "--replace" in again.err
    assert shortlist("export", queue_folder, "-o", table, "--replace").code == 0


def test_import_and_append_without_a_server(run_json, queue_folder):
    known = pl.read_csv("new.csv")["claim_id"].to_list()
    pl.DataFrame({"claim": known[-3:], "said": ["yes", "not wanted", None]}).write_csv("said.csv")
    assert run_json("import", queue_folder, "said.csv", "--id", "claim", "--verdict", "said")["imported"] <= 2
    more = pl.read_csv("new.csv").head(4).with_columns(claim_id="N" + pl.col("claim_id"))
    more.write_csv("more.csv")
    assert run_json("append", queue_folder, "more.csv") == {"appended": 4, "rows": 304}
    assert run_json("replay", queue_folder)["holds"]


def test_the_head_of_a_log_is_told_and_checked(shortlist, run_json, queue_folder):
    assert shortlist("head", queue_folder, "--to", "heads.txt").code == 0
    told, head = run_json("head", queue_folder), shortlist("head", queue_folder).out.split()
    assert head[1:] == ["new", str(told["event"]), told["head"]]
    assert shortlist("replay", queue_folder, "--heads", "heads.txt").code == 0
    with Path("heads.txt").open("a") as file:
        file.write(f"2026-01-01T00:00:00Z new 3 {'0' * 64}\n")
    done = shortlist("replay", queue_folder, "--heads", "heads.txt")
    assert (done.code, "should hold event 3" in done.out) == (1, True)
    assert "could not be told" in shortlist("head", queue_folder, "--to", "nowhere/heads.txt").err
    assert "cannot be read" in shortlist("replay", queue_folder, "--heads", "nowhere.txt").err


def test_a_queue_is_backed_up_and_restored(shortlist, run_json, queue_folder, tmp_path):
    kept, other = tmp_path / "kept.tar.gz", tmp_path / "other.review"
    told = run_json("backup", queue_folder, "-o", kept)
    assert [queue["place"] for queue in told["queues"]] == ["."]
    assert "as they were" in shortlist("restore", kept, other).err
    assert run_json("export", other) == run_json("export", queue_folder)
    assert shortlist("replay", other).code == 0
    again = shortlist("restore", kept, other)
    assert (again.code, "nothing is written over" in again.err) == (2, True)
    assert shortlist("backup", tmp_path / "nowhere", "-o", kept).code == 2
    kept.write_bytes(kept.read_bytes()[:-400])
    broken = shortlist("restore", kept, tmp_path / "third.review")
    assert (broken.code, "Use another" in " ".join(broken.err.split())) == (2, True)
    assert not (tmp_path / "third.review").exists()


def test_a_name_is_erased_and_the_log_still_proves_itself(shortlist, run_json, queue_folder):
    assert shortlist("erase", queue_folder, "ann").code == 0
    assert {row["who"] for row in run_json("export", queue_folder)["verdicts"]} == {"erased 1"}
    assert run_json("replay", queue_folder)["holds"]
    assert "nobody called 'ann'" in shortlist("erase", queue_folder, "ann").err


def test_a_claimant_is_erased_and_the_log_still_proves_itself(shortlist, run_json, queue_folder):
    first, second, *_ = (row["id"] for row in run_json("export", queue_folder)["verdicts"])
    ranking = run_json("replay", queue_folder)["digest"]
    done = shortlist("erase", queue_folder, "--row", first)
    assert done.code == 0
    said = " ".join(done.out.split())
    assert "1 row erased" in said
    assert "new.csv may still hold them" in said
    assert "Backups made before" in said
    ids = [row["id"] for row in run_json("export", queue_folder)["verdicts"]]
    assert first not in ids
    assert ids[0].startswith("erased ")
    again = run_json("replay", queue_folder)
    assert (again["holds"], again["digest"]) == (True, ranking)
    assert run_json("erase", queue_folder, "--row", second, "--row", ids[0])["rows"] == 1
    assert f"no row '{first}'" in shortlist("erase", queue_folder, "--row", first).err
    assert run_json("replay", queue_folder)["holds"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say what to erase"),
        (["ann", "--row", "C-1"], "say what to erase"),
        (["ann", "--server", "http://127.0.0.1:9"], "does not answer"),
        (["--row", "C-1", "--server", "http://127.0.0.1:9"], "does not answer"),
    ],
)
def test_what_cannot_be_erased_is_said(shortlist, queue_folder, arguments, words):
    done = shortlist("erase", queue_folder, *arguments)
    assert (done.code, words in " ".join(done.err.split())) == (2, True)


def test_bad_calls_say_what_to_do(shortlist, queue_folder):
    assert "Make one: shortlist review" in shortlist("replay", "nowhere").err
    assert "already" in shortlist("append", queue_folder, "new.csv").err
    assert "--audit is a share" in shortlist("review", "new.csv", "--audit", "lots").err
    pl.DataFrame({"id": ["x"], "verdict": ["wanted"]}).write_csv("strange.csv")
    assert "no row 'x'" in shortlist("import", queue_folder, "strange.csv").err
    changed = pl.read_csv("new.csv").head(100)
    changed.write_csv("new.csv")
    done = shortlist("review", "new.csv", "--no-browser")
    assert done.code == 2
    assert "300 rows and has 100" in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--model", "m.shortlist", "--strategy", "omd"),
            "Leave --model out, or choose another strategy: sim",
        ),
        (("--model", "m.shortlist"), "no boosted trees to go on learning from"),
        (("--strategy", "best"), "there is no strategy 'best'"),
        (("--language", "klingon"), "there is no language klingon; there are: de, en"),
        (("--id", "claim"), "Did you mean 'claim_id'"),
        (("--id", "claim_id", "--ignore", "post_*"), "no column to ignore is called 'post_*'"),
        (("--id", "claim_id", "--value", "region"), "region"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_refused_review_leaves_nothing_behind(shortlist, claims, options, words):
    train = ("train", "history.csv", "--label", "fraud", "--id", "claim_id", "--model", "logistic")
    assert "--model" not in options or shortlist(*train, "-o", "m.shortlist").code == 0
    before = {*claims.iterdir()}
    done = shortlist("review", "new.csv", "--no-browser", *options)
    assert done.code == 2
    assert words in done.err
    assert {*claims.iterdir()} == before


def test_help_says_from_when_on_values_count(shortlist):
    told = " ".join(re.sub(r"[│╭╮╰╯─]", " ", shortlist("review", "--help").out).split())
    assert "rank by expected value, once one row was wanted and another was not." in told


def test_a_review_of_a_day_without_rows_makes_no_queue(shortlist, run_json, claims):
    pl.read_csv("new.csv").clear().write_csv("quiet.csv")
    call, before = ("review", "quiet.csv", "--id", "claim_id", "--no-browser"), sorted(claims.rglob("*"))
    done = shortlist(*call)
    says = "note: quiet.csv has no rows, so there is nothing to review and no queue is made."
    assert (done.code, done.out, done.err) == (0, "", says)
    assert run_json(*call) == {"url": None, "workspace": None}
    assert sorted(claims.rglob("*")) == before


def test_a_review_whose_rows_are_gone_says_how_many_there_were(shortlist, queue_folder):
    pl.read_csv("new.csv").clear().write_csv("new.csv")
    done = shortlist("review", "new.csv", "--no-browser")
    assert (done.code, "it had 300 rows and has 0" in done.err) == (2, True), done.err


def test_a_refused_review_keeps_what_was_in_its_folder(shortlist, claims):
    (claims / "mine").mkdir()
    (claims / "mine" / "note.txt").write_text("kept")
    assert shortlist("review", "new.csv", "--id", "nope", "--workspace", "mine", "--no-browser").code == 2
    assert [path.name for path in (claims / "mine").iterdir()] == ["note.txt"]


def test_a_review_ignores_columns_by_pattern(claims):
    place = Workspace("new.review")
    create("new.csv", place, id="claim_id", ignore=["*age*"])
    found = read_queue(place.folder)
    ignored = {"policy_age_days", "driver_age", "vehicle_age"}
    assert {*found.fixed.ignore} == ignored
    assert not ignored & {feature.name for feature in found.engine.schema.features}


def test_the_server_starts_continues_and_takes_rows_while_it_runs(claims, shortlist, run_json):
    command = [
        sys.executable,
        "-m",
        "shortlist",
        "review",
        "new.csv",
        "--id",
        "claim_id",
        "--no-browser",
        "--json",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        told = json.loads("".join(process.stdout.readline() for _ in range(4)))
        assert told["url"].startswith("http://127.0.0.1:")
        with Client.of_workspace("new.review", who="ann") as client:
            client.record(client.turn().shown, "wanted")
            pl.read_csv("new.csv").head(2).with_columns(claim_id="N" + pl.col("claim_id")).write_csv(
                "more.csv"
            )
            assert run_json("append", "new.review", "more.csv")["rows"] == 302
            ids = pl.read_csv("new.csv")["claim_id"].tail(3)
            pl.DataFrame({"id": ids, "verdict": ["t", " ", None]}).write_parquet("said.parquet")
            assert run_json("import", "new.review", "said.parquet") == {"imported": 1}
            assert "no column 'nope'" in shortlist("import", "new.review", "more.csv", "--id", "nope").err
            assert run_json("replay", "new.review")["equals live ranking"] is True
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
    assert "Traceback" not in said
    assert Workspace("new.review").is_free()
    assert run_json("export", "new.review")["verdicts"][0]["who"] == "ann"
