"""Every reason in a shortlist and in a report is true of its row, beside the rows that its model learned from."""

import html
import statistics

import numpy as np
import polars as pl
import pytest

import shortlist
from shortlist.datasets import make_claims
from shortlist.report.write import render
from studies.paper_sets import data_folder
from tests.random_table import random_table
from tests.saying import Reader

REASONS = ["reason_1", "reason_2", "reason_3"]


def said_of(rows):
    """Each sentence of a shortlist with the position of its row."""
    return [(at, text) for at, row in enumerate(rows.select(REASONS).rows()) for text in row if text]


def check(rows, new, history, id):
    """All reasons of a shortlist, after they were found true."""
    place = dict(zip(new[id], range(len(new)), strict=True))
    reader, said = Reader(new, history), said_of(rows)
    wrong = [(text, why) for at, text in said if (why := reader.is_false(text, place[rows[id][at]]))]
    assert wrong == []
    assert said
    return [text for _, text in said]


def labelled(frame, seed):
    """Rows of which those are wanted that are odd in some column, and a few others."""
    rng = np.random.default_rng(seed)
    column = frame.columns[1 + seed % (frame.width - 1)]
    odd = frame[column].rank("random", seed=seed).fill_null(0).to_numpy() > 0.85 * len(frame)
    return frame.with_columns(wanted=odd ^ (rng.random(len(frame)) < 0.05))


def check_random_table(seed, n_rows, model):
    frame = labelled(random_table(seed, 2 * n_rows), seed)
    history, new = frame[:n_rows], frame[n_rows:]
    trained = shortlist.train(history, label="wanted", id="claim", model=model, random_state=seed, n_jobs=1)
    rows = trained.score(new.drop("wanted"), budget=n_rows).frame
    check(rows, new, history, "claim")


FEW = [(0, "logistic"), (1, "ap-boost"), (2, "logistic"), (3, "xgboost")]
MANY = [(seed, model) for seed in range(100, 108) for model in ("logistic", "ap-boost", "scorecard")]


@pytest.mark.parametrize(
    ("seed", "model"), [*FEW, *(pytest.param(*each, marks=pytest.mark.slow) for each in MANY)]
)
def test_reasons_for_random_rows_are_true(seed, model):
    check_random_table(seed, 200, model)


def known_table(name):
    """History, new rows and options of a table on which reasons were found to be false."""
    if name == "demo":
        history, new = make_claims(1_500, random_state=1), make_claims(800, random_state=0)
        return history, new, {"label": "fraud", "id": "claim_id", "value": "amount", "model": "xgboost"}
    path = data_folder() / "carclaims.parquet"
    if not path.is_file():
        pytest.skip("the data sets are absent")
    frame = shortlist.read_table(path).with_row_index("row id")
    return (
        frame.filter(pl.col("Year") < 1996),
        frame.filter(pl.col("Year") == 1996),
        {"label": "y", "id": "row id", "ignore": ["PolicyNumber"], "model": "xgboost"},
    )


@pytest.mark.parametrize("name", ["demo", "carclaims"])
def test_reasons_for_the_top_of_a_known_table_are_true_and_short(name):
    history, new, options = known_table(name)
    trained = shortlist.train(history, **options, n_jobs=1)
    rows = trained.score(new, budget=200).frame
    said = check(rows, new, history, options["id"])
    assert len(said) > 500
    assert statistics.median(map(len, said)) <= 120


def test_codes_and_long_texts_are_told_as_they_are_written():
    rng = np.random.default_rng(1)
    wanted = rng.random(400) < 0.2
    code = np.where(wanted, rng.integers(0, 50, 400), rng.integers(40, 100, 400))
    words = np.where(rng.random(400) < 0.1 + 0.8 * wanted, "a very long text of one kind " * 9, "short")
    frame = pl.DataFrame(
        {"claim": range(400), "plz": [f"{n:05}" for n in code], "words": words, "wanted": wanted}
    )
    trained = shortlist.train(frame[:300], label="wanted", id="claim", model="xgboost", n_jobs=1)
    rows = trained.score(frame[300:], budget=20).frame
    told = {text for row in rows.select("reason_1", "reason_2").rows() for text in row if text}
    assert {text for text in told if text.startswith("plz")} <= {f"plz {n:05}" for n in code}
    assert any(text.startswith("plz 000") for text in told)
    assert any("…" in text for text in told)
    assert max(map(len, told)) <= 120


def test_words_of_a_narrative_stand_in_it():
    rng = np.random.default_rng(0)
    words = np.array(["rear", "car", "wall", "lorry", "door", "staged", "cash", "quick", "witness", "north"])
    wanted = rng.random(600) < 0.2
    texts = [
        " ".join(rng.choice(words, 6, p=p / p.sum()))
        for p in (np.where(np.isin(words, ["staged", "cash"]), 6.0 if y else 0.5, 1.0) for y in wanted)
    ]
    frame = pl.DataFrame(
        {"claim": range(600), "narrative": texts, "wanted": wanted, "n": rng.normal(size=600)}
    )
    trained = shortlist.train(frame[:400], label="wanted", id="claim", n_jobs=1)
    said = check(trained.score(frame[400:], budget=50).frame, frame[400:], frame[:400], "claim")
    assert any("'staged" in text for text in said)


def test_reasons_of_a_report_are_true():
    frame = make_claims(3_000, random_state=2).sort("date")
    found = shortlist.backtest(
        frame,
        label="fraud",
        id="claim_id",
        time="date",
        every="quarter",
        budget=60,
        models=["xgboost"],
        n_jobs=1,
    )
    first = frame.filter(pl.col("claim_id").is_in(found.shortlist["claim_id"].to_list()))["date"].min()
    quarter = pl.col("date").dt.truncate("1q")
    last = frame.filter(quarter == frame["date"].dt.truncate("1q").max())
    assert first >= last["date"].min()
    said = check(found.shortlist, last, frame.filter(quarter < quarter.max()), "claim_id")
    page = render(found.page())
    assert all(html.escape(text) in page for text in said)
