"""A model from the verdicts of a review is a trained model like any other."""

import re

import polars as pl
import pytest

import shortlist
from shortlist.models.file import save
from shortlist.rankers import APBoost
from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import ReviewError
from shortlist.review.workspace import Workspace
from shortlist.verdicts import Verdict
from tests.review.conftest import make_rows


@pytest.fixture
def new():
    return make_rows(80, seed=5).drop("truth").with_columns(claim="N-" + pl.col("claim"))


@pytest.fixture
def reviewed(make_queue, review):
    queue = make_queue(settings={"budget": None})
    review(queue, 60)
    return queue


@pytest.fixture
def model(reviewed, tmp_path):
    return shortlist.TrainedModel.load(reviewed.train(tmp_path / "model.shortlist"))


def test_new_rows_keep_their_ids_and_get_reasons(model, new):
    top = model.score(new, budget=5)
    assert {*top.frame["claim"]} <= {*new["claim"]}
    assert top.frame["reason_1"].null_count() == 0
    assert top.notes == ()


def test_the_file_says_what_every_trained_model_says(model):
    facts = model.facts()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-[0-9a-f]{8}", model.version)
    assert (model.name, model.budget, facts["roles"]) == ("ap-boost", 60, {"id": "claim", "ignore": []})
    assert facts["training"] | {"fit seconds": 0} == {
        "labels": "verdicts of a review",
        "rows": 60,
        "wanted": 12,
        "fit seconds": 0,
        "random_state": 0,
    }
    assert {*facts["measures"]} == {"average precision", "precision at 60"}
    assert [column["column"] for column in facts["columns"]] == ["amount", "days late", "region"]
    assert all(column["values"] for column in facts["columns"])


def test_it_is_the_model_that_train_makes_of_the_same_rows(model, reviewed, table, new):
    said = reviewed.verdicts().select(claim="id", wanted=pl.col("verdict") == "wanted")
    history = said.join(table.drop("truth"), on="claim", maintain_order="left")
    other = shortlist.train(history, label="wanted", id="claim", budget=60, n_jobs=1)
    scores = [each.score(new, keep_all=True).frame["score"].to_list() for each in (model, other)]
    assert scores[0] == scores[1]
    assert model.measures == other.measures


def test_unsure_and_unseen_rows_teach_nothing(make_queue, review, tmp_path):
    queue = make_queue()
    turns = review(queue, 12)
    queue.override("ann", turns[0].row, Verdict.UNSURE).result()
    model = shortlist.TrainedModel.load(queue.train(tmp_path / "model.shortlist"))
    assert model.training["rows"] == 11
    assert model.budget == 30


def test_verdicts_of_one_kind_are_not_enough(make_queue, tmp_path):
    queue = make_queue()
    queue.override("ann", 3, Verdict.WANTED).result()
    with pytest.raises(ReviewError, match="there are 1 and 0 so far"):
        queue.train(tmp_path / "model.shortlist")


def test_verdicts_that_were_all_known_before_give_a_budget_too(tmp_path, table, new):
    table.write_parquet(tmp_path / "known.parquet")
    place = Workspace(tmp_path / "known.review")
    create(str(tmp_path / "known.parquet"), place, id="claim", label="truth", settings={"budget": None})
    queue = Queue.open(place.folder)
    model = shortlist.TrainedModel.load(queue.train())
    queue.close()
    assert model.roles.to_dict() == {"id": "claim", "label": "truth", "ignore": []}
    assert model.budget == 200
    assert model.score(new.with_columns(truth=None)).notes == ()


def test_what_the_first_model_left_out_is_left_out_again(tmp_path, table, new, review, clock):
    days = {"day": pl.lit("2024-01-02"), "post": pl.lit(1)}
    history = table.with_columns(**days)
    first = shortlist.train(history, label="truth", id="claim", time="day", ignore=["post"], budget=5)
    first.save(tmp_path / "first.shortlist")
    history.drop("truth").write_csv(tmp_path / "rows.csv")
    place = Workspace(tmp_path / "rows.review")
    create(str(tmp_path / "rows.csv"), place, id="claim", model=tmp_path / "first.shortlist")
    queue = Queue.open(place.folder, clock=clock)
    review(queue, 30)
    model = shortlist.TrainedModel.load(queue.train())
    queue.close()
    assert model.roles.to_dict() == {"id": "claim", "ignore": ["truth", "day", "post"]}
    assert model.score(new.with_columns(**days), budget=3).notes == ()


def test_a_ranker_of_an_array_has_no_columns_to_review(tmp_path, table, data):
    X = table.select("amount", "days late").to_numpy()
    save(APBoost(n_estimators=3).fit(X, table["truth"]), tmp_path / "array.shortlist")
    with pytest.raises(shortlist.exceptions.TableError, match="trained on an array"):
        create(str(data), Workspace(tmp_path / "a.review"), id="claim", model=tmp_path / "array.shortlist")
