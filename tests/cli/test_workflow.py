"""train, score, inspect, backtest and compare as a user calls them."""

import datetime as dt
import json
import os
import pickle
import re
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import run_in
from tests.forks import FORKS
from tests.quick_model import quick_model

TRAIN = ["train", "history.csv", "--label", "fraud", "--id", "claim_id", "--model", "logistic", "-k", "10"]
LABEL = ["--label", "fraud", "--id", "claim_id", "--models", "logistic", "-k", "10"]
BACKTEST = ["backtest", "history.csv", *LABEL, "--time", "date", "--every", "quarter"]
COMPARE = ["compare", "history.csv", *LABEL, "--folds", "3"]


@pytest.fixture
def model(shortlist, claims):
    done = shortlist(*TRAIN, "-o", "fraud.shortlist")
    assert done.code == 0, done.err
    return claims / "fraud.shortlist"


def test_train_score_inspect(shortlist, run_json, model):
    rows = run_json("score", model, "new.csv")["rows"]
    assert [row["rank"] for row in rows] == list(range(1, 11))
    assert all(row["reason_1"] and row["model_version"] for row in rows)
    facts = run_json("inspect", model)
    assert facts["training"]["rows"] == 600
    assert facts["version"] == rows[0]["model_version"]
    shown = shortlist("inspect", model).out
    assert "logistic" in shown
    assert "policy_age_days" in shown


def test_inspect_writes_large_numbers_as_other_commands_do(shortlist, claims):
    history = pl.read_csv("history.csv").with_columns(amount=pl.col("amount") * 1234.5)
    history.write_csv("history.csv")
    assert shortlist(*TRAIN, "--value", "amount", "-o", "fraud.shortlist").code == 0
    shown = shortlist("inspect", "fraud.shortlist").out
    assert re.search(r"value = \d{1,3}(,\d{3})+", shown), shown


def test_people_see_the_reasons(shortlist, model):
    rows = [
        line for line in shortlist("score", model, "new.csv", "-k", "3").out.splitlines() if "C-000" in line
    ]
    best = json.loads(shortlist("score", model, "new.csv", "-k", "1", "--json").out)["rows"][0]
    assert len(rows) == 3
    assert best["reason_1"] in rows[0]


def test_train_says_what_it_wrote(shortlist, claims):
    done = shortlist(*TRAIN, "-o", "fraud.shortlist")
    assert done.out == ""
    wanted = pl.read_csv("history.csv")["fraud"].sum()
    assert f"learned from 600 rows, {wanted} of them wanted" in done.err


def test_score_agrees_with_rank(run_json, model):
    ranked = run_json("rank", "history.csv", *["new.csv", *TRAIN[2:]])["rows"]
    assert [row["claim_id"] for row in run_json("score", model, "new.csv")["rows"]] == [
        row["claim_id"] for row in ranked
    ]


@pytest.mark.parametrize("target", ["top.csv", "top.parquet", "top.jsonl", "sqlite:///top.db::top"])
def test_score_writes_every_kind_of_table(shortlist, model, target):
    assert shortlist("score", model, "new.csv", "-k", "5", "-o", target).code == 0
    if target.startswith("sqlite"):
        with closing(sqlite3.connect("top.db")) as database:
            (count,) = database.execute("select count(reason_1) from top").fetchone()
        assert count == 5
    else:
        reader = {"csv": pl.read_csv, "parquet": pl.read_parquet, "jsonl": pl.read_ndjson}
        assert reader[target.split(".")[1]](target).height == 5


def test_shifted_rows_are_scored_and_told(shortlist, model):
    pl.read_csv("new.csv").with_columns(pl.col("amount") * 50).write_csv("new.csv")
    done = shortlist("score", model, "new.csv")
    assert done.code == 0
    assert "'amount' has shifted" in done.err


def test_backtest_answers_and_writes_its_page(shortlist, claims):
    done = shortlist(*BACKTEST, "--baseline", "amount desc", "--report", "report.html", "-o", "table.csv")
    assert done.code == 0, done.err
    assert done.out.startswith("Looking at 10 rows each quarter")
    assert pl.read_csv("table.csv")["ranking"].len() == 3
    figures = json.loads(Path("report.json").read_text())
    assert figures["answer"] in Path("report.html").read_text().replace("\u00a0", " ")
    assert "shortlist backtest history.csv" in figures["setup"]["command"]


def test_compare_answers_and_writes_its_page(run_json, claims):
    result = run_json(*COMPARE, "--baseline", "amount", "--report", "report.html")
    assert "logistic" in result["answer"]
    assert result["table"][0]["ranking"] == "logistic"
    assert Path("report.html").stat().st_size > 50_000


def test_model_list_from_models(shortlist):
    assert "logistic" in shortlist("compare", "--models", "list").out


def _flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


SPOILT_MODELS = {
    "flipped byte": (_flip, "damaged"),
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:-100]), "damaged"),
    "a pickle": (lambda path: path.write_bytes(pickle.dumps([1])), "not a Shortlist model"),
    "newer": (lambda path: path.write_bytes(path.read_bytes().replace(b"model 2", b"model 9", 1)), "Upgrade"),
    "gone": (lambda path: path.unlink(), "no file"),
}


@pytest.mark.parametrize("command", ["score", "inspect"])
@pytest.mark.parametrize("case", SPOILT_MODELS)
def test_spoilt_models_are_refused(shortlist, model, case, command):
    spoil, words = SPOILT_MODELS[case]
    spoil(model)
    done = shortlist(command, model, *(["new.csv", "-o", "top.csv"] if command == "score" else []))
    assert done.code == 2
    assert words in done.err
    assert not Path("top.csv").exists()


def _history(**columns):
    return lambda: pl.read_csv("history.csv").with_columns(**columns).write_csv("history.csv")


BAD_HISTORY = {
    "empty file": (lambda: Path("history.csv").write_text(""), [], "empty"),
    "header alone": (lambda: Path("history.csv").write_text("claim_id,amount,fraud\n"), [], "no rows"),
    "three labels": (_history(fraud=pl.int_range(pl.len()) % 3), [], "say which one is wanted"),
    "nothing wanted": (_history(fraud=0), [], "no row is wanted"),
    "everything wanted": (_history(fraud=1), [], "every row is wanted"),
    "budget of zero": (None, ["-k", "0"], "at least 1"),
    "budget no number": (None, ["-k", "many"], "--budget"),
    "list with nulls": (_history(region=None), ["--list", "region"], "region"),
    "ragged": (lambda: Path("history.csv").write_text("a,b,fraud\n1,2,0\n1,2,3,4,5,1\n"), [], "line 3"),
    "missing file": (lambda: Path("history.csv").unlink(), [], "history"),
    "unknown label": (None, ["--label", "frud"], "fraud"),
    "duplicate ids": (_history(claim_id=pl.lit("C-1")), [], "C-1"),
    "infinite impact": (None, ["--impact", "region"], "numbers"),
    "bad ignore": (None, ["--ignore", "amuont"], "amount"),
}
COMMANDS = {
    "train": [*TRAIN, "-o", "out.shortlist"],
    "backtest": [*BACKTEST, "-o", "out.csv", "--report", "out.html"],
    "compare": [*COMPARE, "-o", "out.csv", "--report", "out.html"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("case", BAD_HISTORY)
def test_mistakes_get_a_message_and_leave_no_file(shortlist, claims, case, command):
    spoil, extra, words = BAD_HISTORY[case]
    if spoil is not None:
        spoil()
    before = sorted(path.name for path in claims.iterdir())
    done = shortlist(*COMMANDS[command], *extra)
    assert done.code == 2, done.err
    assert words in done.err
    assert "Traceback" not in done.err
    assert sorted(path.name for path in claims.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*BACKTEST, "--every", "fortnight"], "no period"),
        ([*BACKTEST, "--baseline", "amuont desc"], "amuont"),
        ([*BACKTEST, "--baseline-column", "risk"], "risk"),
        ([*BACKTEST, "--report", "page.pdf"], ".html"),
        ([*BACKTEST, "--report", "none/page.html"], "folder"),
        ([*COMPARE, "--models", "logistics"], "Did you mean logistic"),
        (["compare", "history.csv"], "--label"),
        ([*TRAIN, "-o", "none/model"], "folder"),
    ],
)
def test_wrong_options_get_advice(shortlist, model, arguments, words):
    done = shortlist(*arguments)
    assert done.code == 2
    assert words in done.err


class StopHalfWay:
    """Lets a process write half of each file only, say so, and wait."""

    def __init__(self):
        self.reached = FORKS.Event()

    def __call__(self):
        Path.write_bytes, Path.write_text = self._half(Path.write_bytes), self._half(Path.write_text)

    def _half(self, write):
        def write_half(path, data, *rest, **options):
            write(path, data[: len(data) // 2], *rest, **options)
            self.reached.set()
            time.sleep(600)

        return write_half


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("command", ["train", "compare"])
def test_stopped_half_way_the_old_file_stays(claims, command, stop):
    target = "out.shortlist" if command == "train" else "out.html"
    arguments = [*TRAIN, "-o", target] if command == "train" else [*COMPARE, "--report", target]
    Path(target).write_text("old")
    half_way = StopHalfWay()
    running = FORKS.Process(target=run_in, args=(claims, arguments, half_way))
    running.start()
    assert half_way.reached.wait(timeout=120)
    os.kill(running.pid, stop)
    running.join(120)
    assert running.exitcode not in (0, None)
    assert running.exitcode == 143 or stop != signal.SIGTERM
    assert "Traceback" not in (claims / "errors.txt").read_text()
    assert Path(target).read_text() == "old"
    if (
        stop != signal.SIGKILL
    ):  # killed outright, a hidden file may stay behind, never under the target's name
        assert not [path.name for path in claims.iterdir() if path.name.endswith(".tmp")]


def test_dates_are_told_as_dates(run_json, claims):
    history = pl.DataFrame(
        {"seen": [dt.datetime(2024, 1, 1) + dt.timedelta(hours=7 * i) for i in range(900)]}
    )
    history = history.with_columns(fraud=(pl.col("seen").dt.weekday() == 5) & (pl.col("seen").dt.hour() > 12))
    history.write_parquet("history.parquet")
    history.select("seen").write_parquet("new.parquet")
    ask = ("history.parquet", "new.parquet", "--label", "fraud", "--model", "xgboost", "-k", 20)
    found = run_json("rank", *ask)
    reasons = {row[f"reason_{i}"] for row in found["rows"] for i in (1, 2, 3)}
    assert any(re.match(r"seen [A-Z][a-z]{2} \d+, 2024, ", reason or "") for reason in reasons)
    assert any((reason or "").startswith("seen (weekday) Friday, as in ") for reason in reasons)
    assert "(days)" not in str(found)


def test_score_says_how_many_to_expect(shortlist, run_json, claims, model):
    quick_model("history.csv", label="fraud", id="claim_id").save("boosted.shortlist")
    score = ["score", "boosted.shortlist", "new.csv", "-k", "20"]
    found = run_json(*score)["found"]
    assert [*found] == ["of", "expected", "low", "high"]
    assert (found["of"], 0 < found["low"] < found["expected"] < found["high"] < 20) == (20, True)
    sentence = (
        r"Of these 20 rows, expect about (\S+) to be wanted; (\d+) to (\d+) in nine of ten such shortlists\."
    )
    said = re.search(sentence, shortlist(*score).err)
    assert float(said[1]) == pytest.approx(found["expected"], abs=0.5)
    assert (int(said[2]), int(said[3])) == (found["low"], found["high"])
    assert said[0] in shortlist(*score, "-o", "top.csv").err
    assert "Of the 20 rows within the budget, expect" in shortlist(*score, "--all", "-o", "all.csv").err
    assert "expect" not in shortlist(*score, "--json").err
    assert run_json("score", model, "new.csv")["found"] is None
    assert "expect" not in shortlist("score", model, "new.csv").err
