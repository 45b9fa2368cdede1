"""Every sentence that the page says of a row is true of that row: of tables made at random, and of known ones."""

import json

import numpy as np
import polars as pl
import pytest

import shortlist
from shortlist.datasets import make_claims
from shortlist.languages.catalogues import language
from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.telling.reasons import Reasons
from shortlist.review.workspace import Workspace
from shortlist.verdicts import Verdict
from studies.paper_sets import data_folder
from tests.random_table import random_table
from tests.saying import Reader


def texts(queue, row):
    """What is said of a row, by way of the log."""
    stored = json.loads(json.dumps(queue.why(row).result().stored()))
    return [str(queue.rows.usual.message(said)) for said in Reasons.read(stored).said]


def falsehoods(queue, frame, rows):
    """All sentences about some rows that are not true, and how many there are in all."""
    said = [(row, text) for row in rows for text in texts(queue, row)]
    reader = Reader(frame)
    wrong = [(row, text, why) for row, text in said if (why := reader.is_false(text, row))]
    return wrong, len(said)


def judged(queue, n, seed=0):
    rng = np.random.default_rng(seed)
    turn = queue.turn("ann").result()
    for _ in range(n):
        turn = queue.record("ann", turn.shown, Verdict.of(bool(rng.random() < 0.4))).result()


def check_random_table(tmp_path, seed, n_rows):
    frame = random_table(seed, n_rows)
    path = tmp_path / f"table{seed}.parquet"
    frame[: n_rows - 20].write_parquet(path)
    place = Workspace.beside(str(path))
    create(str(path), place, id="claim", seed=seed)
    queue = Queue.open(place.folder)
    try:
        judged(queue, seed % 10, seed)
        queue.append("ann", frame[n_rows - 20 :]).result()
        wrong, said = falsehoods(queue, frame, range(n_rows))
    finally:
        queue.close()
    assert wrong == []
    assert said > n_rows


@pytest.mark.parametrize("seed", range(4))
def test_all_that_is_said_of_random_rows_is_true(tmp_path, seed):
    check_random_table(tmp_path, seed, 150)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 112))
def test_all_that_is_said_of_many_random_rows_is_true(tmp_path, seed):
    check_random_table(tmp_path, seed, 170)


def make_known(name, folder):
    """One of the tables on which the page was found to say false things."""
    if name == "carclaims":
        path = data_folder() / "carclaims.parquet"
        if not path.is_file():
            pytest.skip("the data sets are absent")
        return shortlist.read_table(path), {"ignore": ["PolicyNumber"]}
    frame = make_claims(5_000, random_state=0)
    if name == "demo cold":
        return frame.drop("fraud"), {"id": "claim_id"}
    model = shortlist.train(make_claims(3_000, random_state=1), label="fraud", id="claim_id", n_jobs=1)
    model.save(folder / "model.shortlist")
    return frame.drop("fraud"), {"id": "claim_id", "model": folder / "model.shortlist"}


@pytest.mark.parametrize("name", ["demo cold", "demo with a model", "carclaims"])
def test_all_that_is_said_of_the_top_of_a_known_table_is_true(tmp_path, name):
    frame, options = make_known(name, tmp_path)
    path = tmp_path / "rows.parquet"
    frame.write_parquet(path)
    place = Workspace.beside(str(path))
    create(str(path), place, **options)
    queue = Queue.open(place.folder)
    try:
        judged(queue, 10)
        top = queue._live.engine.top(200)
        wrong, said = falsehoods(queue, frame, top)
        assert len(top) == 200
        longest = max(len(text) for row in top for text in texts(queue, row))
    finally:
        queue.close()
    assert wrong == []
    assert said > 200
    assert longest <= 120  # two lines of the card


def test_what_is_like_a_row_was_judged_as_it_says(queue, review, table, truth):
    turns = review(queue, 6)
    judged = [turn.id for turn in turns[:-1]]
    copies = (
        table.drop("truth").filter(pl.col("claim").is_in(judged)).with_columns(claim="N-" + pl.col("claim"))
    )
    queue.append("ann", copies).result()
    for row in range(200, 206):
        like = queue.why(row).result().like
        assert queue.rows.id(like[0].row) == queue.rows.id(row).removeprefix("N-")
        assert all(each.wanted == truth[queue.rows.id(each.row)] for each in like)


def worth_first(queue, frame, row):
    """The first sentence about a row, which is about its amount and the only one; refuses a false one."""
    said = texts(queue, row)
    assert [text.startswith("amount ") for text in said] == [True, *[False] * (len(said) - 1)], said
    assert Reader(frame).is_false(said[0], row) is None
    return said[0]


def test_a_place_by_expected_value_is_told_by_the_value_first(make_queue, review, table):
    queue = make_queue(value="amount")
    before = queue.turn("ann").result()
    assert not queue._live.ranking.by_value
    by_score = queue.why(before.row).result()
    assert by_score == before.why  # nobody has multiplied by it yet
    review(queue, 12)
    assert queue._live.ranking.by_value
    frame = table.drop("truth")
    said = [worth_first(queue, frame, row) for row in range(200)]
    assert any("higher than" in text for text in said)
    assert any("usually" in text for text in said)
    (shown,) = [event.body for event in queue.log(row=before.row) if event.kind == "shown"]
    assert Reasons.read(shown.why) == by_score  # what was stored stays
    dear = queue.why(queue._live.ranking.top(1)[0]).result().said[0]
    assert "höher als" in language("de").say(queue.rows.usual.message(dear))


def test_the_value_is_told_also_where_it_is_not_ranked_by_or_missing(make_queue, review, table, data):
    frame = table.with_columns(amount=pl.when(pl.int_range(pl.len()) % 9 > 0).then("amount"))
    frame.drop("truth").write_csv(data)
    queue = make_queue(value="amount", ignore=["amount"])
    review(queue, 12)
    assert "amount" not in [feature.name for feature in queue.schema.features]
    said = [worth_first(queue, pl.read_csv(data), row) for row in range(200)]
    assert said[0].startswith("amount missing, as in ")


def test_a_queue_ranked_by_score_tells_no_value_for_itself(make_queue, review):
    queue = make_queue(ignore=["amount"])
    review(queue, 12)
    assert not [text for row in range(200) for text in texts(queue, row) if text.startswith("amount ")]
