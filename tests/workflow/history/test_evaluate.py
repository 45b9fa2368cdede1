"""A shortlist is measured by outcomes that may be of other rows too."""

import polars as pl
import pytest

from shortlist.exceptions import NoWantedRowsError
from shortlist.workflow import evaluate

LISTED = pl.DataFrame(
    {
        "claim": ["a", "b", "c"],
        "score": [3.0, 2.0, 1.0],
        "amount": [10.0, 5.0, 1.0],
        "team": ["x", "x", "y"],
    }
)
CAME_BACK = pl.DataFrame({"claim": ["a", "b", "c", "d", "e"], "fraud": [1, 0, 1, 1, 0]})


@pytest.mark.parametrize("role", [{"impact": "amount"}, {"list": "team"}])
def test_outcomes_without_a_column_that_is_measured_by_are_left_out_and_told(role):
    found = evaluate(LISTED, outcomes=CAME_BACK, id="claim", label="fraud", budget=2, **role)
    (column,) = role.values()
    assert (found.rows, found.wanted) == (3, 2)
    assert any("2 outcomes not in the ranking" in note and repr(column) in note for note in found.notes)


def test_outcomes_with_all_that_is_measured_by_count_for_recall():
    known = CAME_BACK.with_columns(amount=pl.Series([0.0, 0.0, 0.0, 9.0, 9.0]))
    found = evaluate(LISTED, outcomes=known, id="claim", label="fraud", impact="amount", budget=2)
    assert found.table["recall"][0] == pytest.approx(1 / 3)
    assert found.table["impact share"][0] == pytest.approx(10 / 20)


def test_what_was_ranked_by_value_is_measured_by_it():
    asked = {"outcomes": CAME_BACK, "id": "claim", "label": "fraud", "budget": 2}
    by_value, by_impact = (
        evaluate(LISTED, **asked, value="amount"),
        evaluate(LISTED, **asked, impact="amount"),
    )
    assert by_value.table.equals(by_impact.table)
    assert by_value.table["impact found"][0] == 10.0


def test_no_outcome_of_a_ranked_row_is_said_in_a_sentence():
    waiting = CAME_BACK.with_columns(
        fraud=pl.when(pl.col("claim").is_in(["d", "e"])).then(pl.col("fraud")).otherwise(None)
    )
    with pytest.raises(NoWantedRowsError, match="no outcome of a ranked row has come back yet"):
        evaluate(LISTED, outcomes=waiting, id="claim", label="fraud", budget=2, skip_empty_labels=True)


def test_a_file_is_measured_by_the_columns_that_are_asked_of(tmp_path):
    rows = pl.DataFrame({"score": [4, 3, 2, 1], "fraud": [1, 1, 0, 0], "note": ["x" * 1_000] * 4})
    rows.write_parquet(tmp_path / "scored.parquet")
    found = evaluate(tmp_path / "scored.parquet", label="fraud", budget=2, memory="1GB")
    assert found.table.equals(evaluate(rows, label="fraud", budget=2).table)
    assert found.notes == ("measured in memory: about 4 rows of 2 columns take about 350 MB.",)
