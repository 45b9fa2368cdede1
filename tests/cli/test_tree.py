import json

import polars as pl
import pytest

from shortlist.models.file import load, save
from shortlist.rankers import Baseline, TargetTree
from shortlist.rankers.catalogue import SCORECARD_TREES


@pytest.fixture
def model(claims):
    rows = pl.read_csv("history.csv", try_parse_dates=True)
    ranker = TargetTree(generations=20, n_restarts=1, random_state=0)
    save(ranker.fit(rows.drop("fraud", "claim_id"), rows["fraud"]), "risk.shortlist")
    return ranker


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ([], lambda model: model.to_text()),
        (["--rules"], lambda model: model.views[0].rules()),
        (["--sql"], lambda model: model.to_sql()),
        (["--sqlite"], lambda model: model.to_sql("sqlite")),
        (["--svg"], lambda model: model.to_svg()),
    ],
    ids=["text", "rules", "sql", "sqlite", "svg"],
)
def test_shows_the_tree(shortlist, model, option, text):
    done = shortlist("tree", "risk.shortlist", *option)
    assert done.code == 0
    assert done.out == text(model) + "\n"


def test_json_is_json(run_json, model):
    assert run_json("tree", "risk.shortlist") == json.loads(model.to_json())


def test_writes_a_file(shortlist, model, claims):
    assert shortlist("tree", "risk.shortlist", "--svg", "-o", "tree.svg").code == 0
    assert (claims / "tree.svg").read_text(encoding="utf-8") == model.to_svg() + "\n"


def test_one_form_at_a_time(shortlist, model):
    done = shortlist("tree", "risk.shortlist", "--sql", "--svg")
    assert done.code == 2
    assert "choose one" in done.err


def test_other_models_have_no_tree(shortlist, claims):
    save(Baseline().fit([[0.0], [1.0], [2.0]], [0, 0, 1]), "plain.shortlist")
    done = shortlist("tree", "plain.shortlist")
    assert done.code == 2
    assert "--model target" in done.err


def test_a_scorecard_by_name(shortlist, claims):
    trained = ["train", "history.csv", "--label", "fraud", "--id", "claim_id", "--model", "scorecard"]
    assert shortlist(*trained, "-o", "card.shortlist").code == 0
    card = load("card.shortlist")
    assert len(card.trees_) == SCORECARD_TREES == 4
    assert shortlist("tree", "card.shortlist").out == card.to_text() + "\n"
    assert shortlist("tree", "card.shortlist", "--sql").out == card.to_sql() + "\n"


def test_rank_takes_the_target_model(run_json, claims):
    found = run_json(
        "rank", "history.csv", "new.csv", "--label", "fraud", "--id", "claim_id", "--model", "target"
    )
    assert found["model"] == "target"
