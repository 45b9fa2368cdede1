"""Reading a history: rows without a label, columns left out by pattern, what is refused before training."""

from importlib import import_module

import polars as pl
import pytest

LABEL = ("--label", "fraud", "--id", "claim_id")
COMMANDS = {
    "rank": ("rank", "history.csv", "new.csv", *LABEL, "--model", "logistic", "-k", 5),
    "train": ("train", "history.csv", *LABEL, "--model", "logistic", "-o", "m.shortlist"),
    "backtest": ("backtest", "history.csv", *LABEL, "--models", "logistic", "--folds", 2),
    "compare": ("compare", "history.csv", *LABEL, "--models", "logistic", "--folds", 2),
    "simulate": ("simulate", "history.csv", *LABEL, "--strategy", "offline", "-k", 5, "--trees", 5),
    "evaluate": ("evaluate", "history.csv", *LABEL, "--score", "amount"),
}
every_command = pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)


@pytest.fixture
def gaps(claims):
    """A history of which the first forty rows are not reviewed yet."""
    reviewed = pl.when(pl.int_range(pl.len()) >= 40).then("fraud")
    pl.read_csv("history.csv").with_columns(fraud=reviewed).write_csv("history.csv")
    return claims


@every_command
def test_rows_without_a_label_are_refused_unless_they_are_to_be_skipped(shortlist, gaps, arguments):
    refused = shortlist(*arguments)
    assert refused.code == 2
    assert "empty in 40 of 600 rows. Leave them out with --skip-empty-labels" in refused.err
    done = shortlist(*arguments, "--skip-empty-labels")
    assert done.code == 0, done.err
    assert "40 of 600 rows are left out: their label (fraud) is empty" in done.err


@every_command
def test_skipping_says_nothing_where_all_labels_are_known(shortlist, claims, arguments):
    done = shortlist(*arguments, "--skip-empty-labels")
    assert done.code == 0, done.err
    assert "left out" not in done.err


def test_skipped_rows_teach_nothing_and_rows_keep_their_numbers(run_json, gaps):
    pl.read_csv("history.csv").tail(560).write_csv("known.csv")
    ask = ("--label", "fraud", "--ignore", "claim_id", "--strategy", "offline", "--trees", 20, "-k", 10)
    whole = run_json("simulate", "history.csv", *ask, "--skip-empty-labels")
    known = run_json("simulate", "known.csv", *ask)
    assert whole["hits"] == known["hits"]
    assert whole["reviewed"]["offline"] == [row + 40 for row in known["reviewed"]["offline"]]


def test_labels_that_are_all_empty_leave_nothing(shortlist, claims):
    pl.read_csv("history.csv").with_columns(fraud=pl.lit("")).write_csv("history.csv")
    done = shortlist(*COMMANDS["train"], "--skip-empty-labels")
    assert done.code == 2
    assert "empty in all 600 rows" in done.err


def test_skipping_needs_a_label(shortlist, claims):
    done = shortlist("train", "history.csv", "--impact", "amount", "--skip-empty-labels", "-o", "m.shortlist")
    assert done.code == 2
    assert "name its column: --label" in done.err


def test_ignore_takes_patterns(shortlist, run_json, claims):
    done = shortlist(*COMMANDS["train"], "--ignore", "*_days", "--ignore", "claim*", "--ignore", "region")
    assert done.code == 2  # the id is the only column that claim* could mean, and it has a part
    assert "no column to ignore is called 'claim*'" in done.err
    roles = run_json(*COMMANDS["train"], "--ignore", "*_[di]*", "--ignore", "region")["roles"]
    assert roles["ignore"] == ["policy_age_days", "region"]
    assert roles["id"] == "claim_id"
    assert shortlist("score", "m.shortlist", "new.csv").code == 0


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "evaluate"])
def test_a_pattern_that_matches_nothing_is_told(shortlist, claims, command):
    done = shortlist(*COMMANDS[command], "--ignore", "post_*")
    assert done.code == 2
    assert "no column to ignore is called 'post_*'" in done.err
    assert "Its columns: " in done.err


def test_a_name_that_looks_like_a_pattern_means_its_column(run_json, claims):
    pl.read_csv("history.csv").rename({"amount": "amount*"}).write_csv("history.csv")
    assert run_json(*COMMANDS["train"], "--ignore", "amount*")["roles"]["ignore"] == ["amount*"]


@pytest.mark.parametrize("model", ["logistic", "ap-boost", "xgboost", "random-forest"])
def test_no_model_works_with_no_threads(shortlist, claims, model):
    for command in ("rank", "train"):
        done = shortlist(*COMMANDS[command], "--model", model, "--jobs", 0)
        assert done.code == 2
        assert "jobs must be a whole number of threads" in done.err


@pytest.mark.parametrize("command", ["backtest", "compare"])
def test_no_study_works_with_no_threads(shortlist, claims, command):
    assert shortlist(*COMMANDS[command], "--jobs", 0).code == 2


def test_all_threads_but_one_give_the_same_ranking(run_json, claims):
    model = ("--model", "xgboost")
    one, most = (run_json(*COMMANDS["rank"], *model, "--jobs", jobs)["rows"] for jobs in (1, -2))
    assert [row["claim_id"] for row in one] == [row["claim_id"] for row in most]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda new: new.drop("amount"), "lacks columns that training had: amount"),
        (lambda new: new.drop("claim_id"), "id column 'claim_id' is not in the table"),
        (lambda new: new.with_columns(amount=pl.lit("much")), "'amount' held numbers in training"),
    ],
    ids=["a missing column", "no id", "another type"],
)
def test_new_rows_that_do_not_fit_are_told_before_training(shortlist, claims, monkeypatch, change, words):
    module = import_module("shortlist.workflow.train")  # the package has a function of that name
    monkeypatch.setattr(module, "train_on", lambda *a, **o: pytest.fail("trained first"))
    change(pl.read_csv("new.csv")).write_csv("new.csv")
    done = shortlist(*COMMANDS["rank"])
    assert done.code == 2
    assert words in done.err


def test_any_estimator_takes_part_by_its_dotted_name(run_json, shortlist, claims):
    command = ("compare", "history.csv", "--label", "fraud", "--id", "claim_id", "-k", "20", "--folds", "2")
    done = run_json(*command, "--models", "logistic,lightgbm,sklearn.naive_bayes.GaussianNB")
    assert {row["ranking"] for row in done["table"]} >= {
        "logistic",
        "lightgbm",
        "sklearn.naive_bayes.GaussianNB",
    }
    refused = shortlist(*command, "--models", "sklearn.naive_bayes.Gauss")
    assert refused.code == 2
    assert "has no class 'Gauss'" in refused.err
