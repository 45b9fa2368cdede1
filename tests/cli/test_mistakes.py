"""Mistakes that people make: each gets exit code 2 and a sentence that says what is wrong; nothing is left behind."""

import polars as pl
import pytest

from shortlist.datasets import make_claims
from tests.tables.test_museum import MUSEUM, put

H, N, LABEL, ID = "history.csv", "new.csv", ("--label", "fraud"), ("--id", "claim_id")
QUICK = ("--model", "logistic", "-k", "5")
RANK = ("rank", H, N, *LABEL, *ID, *QUICK)

#: What is called, and words of the answer.
MISTAKES = [
    # Names that are not there.
    (("rank", "histroy.csv", N, *LABEL), "no file"),
    (("rank", H, "newer.csv", *LABEL, *QUICK), "no file"),
    (("rank", H, N, "--label", "fruad", *QUICK), "fruad"),
    (("rank", H, N, *LABEL, "--id", "claim", *QUICK), "claim"),
    (("rank", H, N, *LABEL, "--ignore", "nothing", *QUICK), "nothing"),
    (("rank", H, N, *LABEL, "--category", "colour", *QUICK), "colour"),
    (("rank", H, N, *LABEL, "--value", "money", *QUICK), "money"),
    (("rank", H, N, *LABEL, "--list", "month", *QUICK), "month"),
    (("backtest", H, *LABEL, "--time", "when", "--every", "month"), "when"),
    (("rank", H, N, *LABEL, "--model", "lightbgm", "-k", "5"), "lightbgm"),
    (("compare", H, *LABEL, "--models", "logistic,forest"), "forest"),
    (("compare", H, *LABEL, "--models", "sklearn.svm.LinearSVM"), "LinearSVM"),
    (("score", "m.shortlist", N), "no file"),
    (("review", "nowhere.csv", "--id", "claim_id"), "no file"),
    # What is missing.
    (("rank", H, N, *QUICK), "--label"),
    (("train", H, *LABEL), "--output"),
    (("score", "model.shortlist"), "new"),
    (("rank", H, "lacking.csv", *LABEL, *ID, *QUICK), "amount"),
    (("score", "model.shortlist", "renamed.csv"), "amount"),
    # Numbers that cannot be.
    ((*RANK[:-1], "0"), "budget"),
    ((*RANK[:-1], "-3"), "budget"),
    ((*RANK[:-1], "many"), "budget"),
    (("rank", H, N, *LABEL, "--seed", "-1"), "--seed"),
    (("backtest", H, *LABEL, "--folds", "1", "--models", "logistic"), "folds"),
    (("backtest", H, *LABEL, "--review-cost", "-5", "--models", "logistic"), "review"),
    (("backtest", H, *LABEL, "--time", "date", "--every", "fortnight", "--models", "logistic"), "fortnight"),
    # Words that are none.
    (("backtest", H, *LABEL, "--words", ",x", "--models", "logistic"), "--words loss,losses"),
    (("compare", H, *LABEL, "--words", " ", "--models", "logistic"), "--words fraud"),
    (("compare", H, *LABEL, "--currency", " ", "--models", "logistic"), "currency is empty"),
    # Labels that say nothing.
    (("rank", "unlabelled.csv", N, *LABEL, *QUICK), "fraud"),
    (("rank", "all.csv", N, *LABEL, *QUICK), "wanted"),
    (("rank", "none.csv", N, *LABEL, *QUICK), "wanted"),
    (("rank", "three.csv", N, *LABEL, *QUICK), "--wanted"),
    (("rank", "three.csv", N, *LABEL, "--wanted", "perhaps", *QUICK), "perhaps"),
    (("rank", H, N, "--label", "amount", *QUICK), "--wanted"),
    (("rank", H, N, "--label", "fraud", "--id", "fraud", *QUICK), "fraud"),
    (("rank", "negative.csv", N, "--impact", "amount", *QUICK), "negative"),
    # Files that are none, or of another kind.
    (("rank", "empty.csv", N, *LABEL, *QUICK), "empty"),
    (("rank", "header.csv", N, *LABEL, *QUICK), "no rows"),
    (("rank", "picture.png", N, *LABEL, *QUICK), "picture.png"),
    (("rank", "notes.txt", N, *LABEL, *QUICK), "line 2"),
    (("rank", "cut.parquet", N, *LABEL, *QUICK), "cut.parquet"),
    (("rank", "broken.json", N, *LABEL, *QUICK), "broken.json"),
    (("rank", "folder", N, *LABEL, *QUICK), "folder"),
    (("score", H, N), "is not a Shortlist model"),
    (("score", "half.shortlist", N), "damaged"),
    (("inspect", H), "is not a Shortlist model"),
    (("evaluate", H, *LABEL, "--score", "points"), "points"),
    # Places that cannot be written.
    ((*RANK, "-o", "nowhere/top.csv"), "folder"),
    ((*RANK, "-o", "top.docx"), ".docx"),
    ((*RANK, "-o", H), "another name"),
    (("train", H, *LABEL, "--model", "logistic", "-o", "folder"), "folder"),
    # What the program does not have.
    (("rnak", H, N), "rnak"),
    (("rank", H, N, "--lable", "fraud"), "--lable"),
    (("rank", H, N, "extra.csv", *LABEL), "extra"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All files that the mistakes are made with."""
    place = tmp_path_factory.mktemp("mistakes")
    rows = make_claims(300, random_state=0, fraud_rate=0.2)
    new = make_claims(50, random_state=1).drop("fraud")
    other = pl.Series("fraud", ["fraud", "legit", "unclear"] * 100)
    tables = {
        "history": rows, "new": new, "lacking": new.drop("amount"), "renamed": new.rename({"amount": "sum"}),
        "unlabelled": rows.drop("fraud"), "all": rows.with_columns(fraud=1), "none": rows.with_columns(fraud=0),
        "three": rows.with_columns(other), "negative": rows.with_columns(amount=-pl.col("amount")),
        "header": rows.clear(),
    }  # fmt: skip
    for name, table in tables.items():
        table.write_csv(place / f"{name}.csv")
    rows.write_parquet(place / "whole.parquet")
    from shortlist.workflow import train

    train(rows, label="fraud", id="claim_id", model="logistic").save(place / "model.shortlist")
    contents = {
        "empty.csv": b"", "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(64), "notes.txt": b"Dear all,\nsee below.\n",
        "cut.parquet": (place / "whole.parquet").read_bytes()[:-20], "broken.json": b'[{"a": 1}, {"a": ',
        "half.shortlist": (place / "model.shortlist").read_bytes()[:2000],
    }  # fmt: skip
    for name, content in contents.items():
        (place / name).write_bytes(content)
    (place / "folder").mkdir()
    return place


def files_in(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_there_are_forty_five():
    assert len({arguments for arguments, _ in MISTAKES}) == len(MISTAKES) >= 45


@pytest.mark.parametrize(
    ("arguments", "words"), MISTAKES, ids=lambda each: " ".join(each) if isinstance(each, tuple) else ""
)
def test_a_mistake_is_told_in_a_sentence(shortlist, folder, monkeypatch, arguments, words):
    monkeypatch.chdir(folder)
    before = files_in(folder)
    done = shortlist(*arguments)
    assert done.code == 2, done.err
    assert words in done.err
    assert "Traceback" not in done.err + done.out
    assert files_in(folder) == before


@pytest.mark.parametrize("exhibit", [each for each in MUSEUM if each.refused], ids=lambda each: each.name)
def test_an_odd_file_is_refused_by_the_program(shortlist, tmp_path, monkeypatch, exhibit):
    monkeypatch.chdir(tmp_path)
    options = [each for value in exhibit.roles.get("missing", ()) for each in ("--missing", value)]
    done = shortlist("train", put(exhibit, tmp_path), *LABEL, *options, "-m", "logistic", "-o", "m.shortlist")
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    assert not (tmp_path / "m.shortlist").exists()


@pytest.mark.slow
def test_odd_files_are_read_by_the_program_and_what_was_guessed_is_told(shortlist, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for exhibit in (each for each in MUSEUM if each.read):
        options = [each for value in exhibit.roles.get("missing", ()) for each in ("--missing", value)]
        asked = (
            put(exhibit, tmp_path),
            *LABEL,
            *options,
            "-m",
            "logistic",
            "-o",
            f"{exhibit.name}.shortlist",
        )
        done = shortlist("train", *asked)
        assert done.code == 0, (exhibit.name, done.err)
        assert exhibit.says in done.err, exhibit.name
