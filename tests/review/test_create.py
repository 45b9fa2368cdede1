"""Queues from files: labels learned first, models reviewed, values added up; what is wrong is said."""

import datetime as dt

import polars as pl
import pytest

from shortlist.exceptions import InvalidInputError, SchemaError, TableError
from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.reading import prove_folder, read_queue
from shortlist.review.telling.fields import Usual
from shortlist.review.workspace import Workspace
from shortlist.tables import Roles
from shortlist.verdicts import Verdict


@pytest.mark.parametrize("unknown", [None, " ", "NA"])
def test_known_labels_are_learned_first(tmp_path, table, clock, unknown):
    known = table.with_columns(
        truth=pl.when(pl.int_range(pl.len()) < 40)
        .then(pl.col("truth").cast(pl.String))
        .otherwise(pl.lit(unknown))
    )
    known.write_parquet(tmp_path / "half.parquet")
    place = Workspace(tmp_path / "half.review")
    create(str(tmp_path / "half.parquet"), place, id="claim", label="truth")
    queue = Queue.open(place.folder, clock=clock)
    turn = queue.turn("ann").result()
    assert (queue.snapshot.version, queue.snapshot.imported, queue.snapshot.reviewed) == (40, 40, 0)
    assert turn.row >= 40
    assert queue.verdicts()["drawn"].unique().to_list() == ["imported"]
    queue.close()
    assert prove_folder(place.folder).holds


def test_arrivals_are_ranked_and_survive_a_restart(make_queue, review, table):
    queue = make_queue()
    review(queue, 4)
    arrivals = table.drop("truth").with_columns(claim="N-" + pl.col("claim"), amount=pl.lit(99_999.0))
    queue.append("ann", arrivals.head(3)).result()
    assert {"N-C-0000", "N-C-0001", "N-C-0002"} & {up.id for up in queue.snapshot.top}
    turn = queue.turn("bob").result()
    queue.record("bob", turn.shown, Verdict.WANTED).result()
    digest = queue.digest().result()
    queue.close()
    again = make_queue(again=True)
    assert again.digest().result() == digest
    assert again.snapshot.n_rows == 203
    assert prove_folder(again.workspace.folder).holds


def test_a_trained_model_starts_the_next_queue(make_queue, review, tmp_path, data, clock):
    queue = make_queue(settings={"budget": None})
    review(queue, 60)
    path = queue.train(tmp_path / "model.shortlist")
    place = Workspace(tmp_path / "next.review")
    create(str(data), place, id="claim", model=path)
    following = Queue.open(place.folder, clock=clock)
    review(following, 10)
    assert following.snapshot.found >= 6
    following.close()


def test_a_queue_half_made_is_made_anew(tmp_path, data):
    place = Workspace.beside(str(data))
    create(str(data), place, id="claim")
    (place.folder / "ready").unlink()
    assert not place.exists
    create(str(data), place, id="claim")
    assert read_queue(place.folder).state.n_rows == 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "magic"}, "there are similarity, ojrank"),
        ({"value": "amnt"}, "no column 'amnt'"),
        ({"value": "region"}, "must hold numbers"),
        ({"id": "nope"}, "'nope'"),
        ({"settings": {"audit": 5}}, "0 to 0.5"),
        ({"settings": {"budget": 0}}, "at least 1"),
        ({"settings": {"bugdet": 5}}, "there is no setting"),
    ],
)
def test_bad_options_are_said_and_nothing_is_made(data, options, message):
    place = Workspace.beside(str(data))
    with pytest.raises(InvalidInputError, match=message):
        create(str(data), place, **{"id": "claim", **options})
    assert not place.exists


def test_too_many_labels_want_a_model(tmp_path):
    pl.DataFrame({"x": range(3000), "y": [0, 1] * 1500}).write_csv(tmp_path / "many.csv")
    with pytest.raises(InvalidInputError, match="Train a"):
        create(str(tmp_path / "many.csv"), Workspace(tmp_path / "many.review"), label="y")


def test_a_value_column_adds_up(make_queue, review):
    queue = make_queue(value="amount")
    review(queue, 10)
    found = [
        queue.rows.fields(e.row)["amount"] for e in queue.log(kinds=["verdict"]) if e.body.verdict == "wanted"
    ]
    assert queue.snapshot.value_found == pytest.approx(sum(found))


def test_fields_come_most_unusual_first(table):
    usual = Usual.learn(table, Roles(id="claim"))
    fields = usual.fields({"claim": "x", "amount": 1e6, "days late": 10.0, "region": "mars", "truth": False})
    assert {fields[0].name, fields[1].name} == {"amount", "region"}
    assert [field.is_unusual for field in fields] == [True, True, False, False]
    assert all(field.name != "claim" for field in fields)


def test_missing_values_and_dates_are_shown():
    frame = pl.DataFrame(
        {"day": [dt.date(2024, 1, d) for d in range(1, 29)], "text": [None] * 28, "t": [dt.time(3)] * 28}
    )
    fields = Usual.learn(frame, Roles()).fields({"day": dt.date(2031, 1, 1), "text": None, "t": dt.time(3)})
    assert fields[0].name == "day"
    assert fields[0].usual == "Jan 2, 2024 – Jan 27, 2024"


def test_a_row_that_does_not_fit_is_not_appended(make_queue, table):
    queue = make_queue()
    wrong = table.drop("truth").with_columns(claim="N-" + pl.col("claim"), amount=pl.lit("much"))
    before = queue.snapshot.seq
    with pytest.raises(TableError):
        queue.append("ann", wrong).result()
    assert queue.snapshot.seq == before
    assert queue.turn("ann").result().state == "row"


def test_dates_written_as_text_are_appended_to_dates(tmp_path):
    days = pl.DataFrame(
        {"id": [f"r{i}" for i in range(60)], "day": [f"2024-01-{i % 28 + 1:02}" for i in range(60)]}
    )
    (days.with_columns(x=pl.int_range(pl.len()))).write_csv(tmp_path / "rows.csv")
    place = Workspace(tmp_path / "rows.review")
    create(str(tmp_path / "rows.csv"), place, id="id", settings={"budget": 5})
    queue = Queue.open(place.folder)
    queue.append("ann", pl.DataFrame({"id": ["new"], "day": ["17/02/2024"], "x": [7]})).result()
    assert queue.rows.frame([60])["day"].to_list() == [dt.date(2024, 2, 17)]
    with pytest.raises(SchemaError, match=r"'day' held dates .* now holds 'soon'"):
        queue.append("ann", pl.DataFrame({"id": ["newer"], "day": ["soon"], "x": [7]})).result()
    queue.close()


def test_columns_that_cannot_be_learned_from_are_named_at_once_and_shown(tmp_path, table, clock):
    frame = table.drop("truth").with_columns(
        narrative="what happened to " + pl.col("claim"),
        iban="DE" + pl.int_range(pl.len()).cast(pl.String).str.zfill(20),
        endless=pl.when(pl.int_range(pl.len()) == 3).then(float("inf")).otherwise(1.5),
    )
    frame.write_parquet(tmp_path / "odd.parquet")
    place = Workspace(tmp_path / "odd.review")
    (said,) = create(str(tmp_path / "odd.parquet"), place, id="claim")
    assert all(name in said for name in ("narrative", "iban", "endless"))
    queue = Queue.open(place.folder, clock=clock)
    fields = {field.name: field for field in queue.rows.usual.fields(queue.rows.fields(0))}
    assert fields["narrative"].text == "what happened to C-0000"
    assert fields["iban"].usual == fields["narrative"].usual == ""  # other people's are nobody's business
    assert {each.name for row in range(20) for each in queue.why(row).result().said} <= {
        "amount",
        "days late",
        "region",
    }
    arrivals = frame.head(2).with_columns(claim="N-" + pl.col("claim"))
    assert queue.append("ann", arrivals).result() == 202
    queue.close()
    assert prove_folder(place.folder).holds


def test_a_table_of_which_nothing_can_be_learned_is_refused(tmp_path):
    pl.DataFrame({"text": [f"word {i}" for i in range(50)]}).write_csv(tmp_path / "words.csv")
    with pytest.raises(TableError, match="different texts"):
        create(str(tmp_path / "words.csv"), Workspace(tmp_path / "words.review"))
