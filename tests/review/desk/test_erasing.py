"""A claimant is erased: no byte of what was known of them is left, and the log still proves itself."""

import itertools
import json
import sqlite3
from contextlib import closing
from functools import partial

import polars as pl
import pytest

from shortlist.review.desk.erasing import Eraser
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import BadRequestError, DamagedError, LeaseLostError
from shortlist.review.log.database import Remote
from shortlist.review.reading import prove_folder
from shortlist.verdicts import Verdict
from tests.before import asking
from tests.review.conftest import make_rows

#: What only the claimant has, each in another place.
ID, SHOP, STORY, NOTE, REMARK, REASON = (
    "CLAIMANT-7431", "Ottokar Garage", "Zwiebelturm burned", "phoned Quillfeather", "ask Brambleby", "Xanthippe",
)  # fmt: skip
SECRETS = (ID, SHOP, STORY, NOTE, REMARK, REASON)
AMOUNT = 98765.4375


def with_claimant(frame, at):
    shops = itertools.cycle(["North", "South", "East"])
    frame = frame.with_columns(
        shop=pl.Series(list(itertools.islice(shops, frame.height))),
        story=pl.Series([f"a story of row {i}, told at length" for i in range(frame.height)]),
    )
    row = frame.row(at, named=True) | {"claim": ID, "shop": SHOP, "story": STORY, "amount": AMOUNT}
    return pl.concat([frame[:at], pl.DataFrame([row], schema=frame.schema), frame[at + 1 :]])


@pytest.fixture
def table():
    return with_claimant(make_rows(), 17)


def known_anywhere(queue, word):
    """Files, and tables of the database, that hold a word: as raw bytes, and as what a table file says."""
    found = []
    for path in sorted(queue.workspace.folder.rglob("*")):
        if path.is_file() and word.encode() in path.read_bytes():
            found.append(path.name)
        if path.suffix == ".parquet" and word in json.dumps(pl.read_parquet(path).to_dicts(), default=str):
            found.append(f"{path.name}, read")
    place = queue.workspace.place
    if isinstance(place, Remote):
        import psycopg

        with closing(psycopg.connect(place.url)) as tool:
            for table in ("events", "queues", "people"):
                if word in str(tool.execute(f"select * from {table}").fetchall()):
                    found.append(table)
    return found


def judge_claimant(queue, row):
    """The claimant's row is shown, judged with a note, remarked on; then others are judged."""
    turn = queue.take("ann", row).result()
    queue.record("ann", turn.shown, Verdict.WANTED, note=NOTE, reason=REASON).result()
    queue.note("bob", row, REMARK).result()


def test_no_byte_of_a_claimant_is_left_and_the_log_is_proved(make_queue, review):
    queue = make_queue()
    judge_claimant(queue, 17)
    review(queue, 7)
    model = queue.train()
    before, folder = queue.standing().result(), queue.workspace.folder
    (folder / "export.csv").write_text(ID)
    for secret in (ID, SHOP, NOTE, REMARK, REASON, STORY):
        assert known_anywhere(queue, secret), secret  # the search finds what is there

    done = queue.erase_rows("admin", [17]).result()

    assert (done.rows, done.removed) == (1, (str(model),))
    assert {*done.files} == {"rows.parquet", "space/space.npz"}
    assert str(folder / "export.csv") in done.elsewhere
    assert any(path.endswith("claims.csv") for path in done.elsewhere)
    (folder / "export.csv").unlink()
    assert [secret for secret in SECRETS if known_anywhere(queue, secret)] == []
    assert pl.read_parquet(folder / "rows.parquet")["amount"].max() < AMOUNT
    assert queue.rows.position(ID) is None
    assert queue.rows.id(17) == "erased 17"
    assert {*queue.rows.fields(17).values()} == {None}

    after = queue.standing().result()
    assert (after.digest, after.version) == (before.digest, before.version)
    review(queue, 3)
    queue.close()
    proof = prove_folder(folder)
    assert proof.holds
    assert proof.digest == make_queue(again=True).digest().result()


def test_an_erased_row_is_never_shown_and_takes_no_words(make_queue, review):
    queue = make_queue(settings={"budget": None, "audit": 0.5})
    queue.assign("lead", 20, "ann").result()
    turn = queue.turn("ann").result()
    assert turn.row == 20
    queue.park("bob", queue.turn("bob").result().shown, 60).result()
    (parked,) = queue.put_off().result()
    queue.erase_rows("admin", [20, 30, parked]).result()
    for lost in (partial(queue.record, verdict=Verdict.WANTED), queue.park):
        with pytest.raises(LeaseLostError, match=f"was erased.* Your note was not kept: “{NOTE}”"):
            lost("ann", turn.shown, note=NOTE).result()
    for refused in (
        lambda: queue.note("ann", 30, NOTE),
        lambda: queue.take("ann", 30),
        lambda: queue.override("ann", 30, Verdict.WANTED, NOTE),
        lambda: queue.decide("ann", [30], Verdict.WANTED),
        lambda: queue.assign("ann", 30, "bob"),
    ):
        with pytest.raises(BadRequestError, match="was erased"):
            refused().result()
    others = {queue.turn("bob").result().row}
    turns = review(queue, 196)
    assert {turn.row for turn in turns[:-1]} == {*range(200)} - {20, 30, parked} - others
    assert turns[-1].state == "waiting"
    assert not known_anywhere(queue, NOTE)


def test_a_verdict_on_an_erased_row_can_be_taken_back_and_the_row_stays_away(queue):
    judge_claimant(queue, 17)
    queue.erase_rows("admin", [17]).result()
    turn = queue.undo("ann").result()
    assert turn.row != 17
    assert queue.verdict_on(17) is None
    queue.close()
    assert prove_folder(queue.workspace.folder).holds


@pytest.mark.parametrize("n_rows", [1, 3])
def test_a_row_that_was_appended_is_erased_and_the_ranking_replays(make_queue, review, n_rows):
    """Its place in the score space came from its values, at every start; now the log keeps it."""
    queue = make_queue()
    late = with_claimant(make_rows(n_rows=6, n_wanted=1, seed=9), 2)[2 : 2 + n_rows].drop("truth")
    late = late.with_columns(claim=pl.Series([f"late {ID}", *(f"L-{i}" for i in range(1, n_rows))]))
    queue.append("ann", late).result()
    judge_claimant(queue, 200)
    review(queue, 5)
    before = queue.digest().result()
    queue.erase_rows("admin", [200]).result()
    assert [secret for secret in SECRETS[:2] if secret in str(queue.rows.table.tail(n_rows).to_dicts())] == []
    assert queue.digest().result() == before
    queue.close()
    proof = prove_folder(queue.workspace.folder)
    assert proof.holds
    assert proof.digest == before
    reopened = make_queue(again=True)
    assert reopened.rows.id(200) == "erased 200"
    assert reopened.erase_rows("admin", [200]).result().rows == 0


@pytest.mark.parametrize(
    "what", ["an erased row gets values", "another row is changed", "the space is changed"]
)
def test_an_edit_after_an_erasure_is_noticed(make_queue, review, what):
    queue = make_queue()
    judge_claimant(queue, 17)
    review(queue, 2)
    folder = queue.workspace.folder
    old = (folder / "rows.parquet").read_bytes()
    queue.erase_rows("admin", [17]).result()
    queue.close()
    if what == "an erased row gets values":
        (folder / "rows.parquet").write_bytes(old)
    elif what == "another row is changed":
        frame = pl.read_parquet(folder / "rows.parquet")
        frame.with_columns(amount=pl.lit(1.0)).write_parquet(folder / "rows.parquet")
    else:
        path = folder / "space" / "space.npz"
        path.write_bytes(path.read_bytes().replace(b"South", b"Youth"))
    (fault,) = prove_folder(folder).faults
    assert "is not as it was written" in fault
    with pytest.raises(DamagedError):
        Queue.open(folder)


@pytest.mark.parametrize(
    "moment", ["before the log", "after the log", "between files", "before the log is cleaned"]
)
def test_an_erasure_that_was_cut_short_is_finished_or_never_was(make_queue, monkeypatch, moment):
    queue = make_queue()
    judge_claimant(queue, 17)
    queue.workspace.model.touch()
    folder = queue.workspace.folder

    def cut(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if moment == "before the log":
            patch.setattr("shortlist.review.log.store.Store.append", cut)
        elif moment == "after the log":
            patch.setattr(Eraser, "finish", cut)
        elif moment == "between files":
            finished = Eraser.finish

            def cut_inside(self, **given):
                patch.setattr("shortlist.review.desk.erasing.sync_folder", cut)
                return finished(self, **given)

            patch.setattr(Eraser, "finish", cut_inside)
        else:
            patch.setattr("shortlist.review.log.store.Store.forget_the_past", cut)
        with pytest.raises(BaseException):  # noqa: B017, PT011 (whatever ends it)
            queue.erase_rows("admin", [17]).result()
        queue.close()
    if moment in ("after the log", "between files"):
        assert "cut short" in prove_folder(folder).faults[0]
    again = make_queue(again=True)
    assert not (folder / ".erasing").exists()
    assert (again.rows.id(17) == ID) is (moment == "before the log") is again.workspace.model.exists()
    if moment != "before the log":
        assert [secret for secret in SECRETS if known_anywhere(again, secret)] == []
    again.close()
    assert prove_folder(folder).holds


def test_whoever_only_reads_a_queue_forgets_too(make_queue):
    queue, reader = make_queue(), make_queue(again=True)
    assert reader.read_only
    judge_claimant(queue, 17)
    assert reader.turn("eve").result().state == "read-only"
    assert reader.verdict_on(17).body.note == NOTE
    queue.erase_rows("admin", [17]).result()
    reader.turn("eve").result()
    assert reader.rows.id(17) == "erased 17"
    assert (reader.verdict_on(17).body.note, SHOP in str(reader.schema)) == ("", False)
    assert reader.digest().result() == queue.digest().result()


def test_a_model_is_trained_without_what_was_erased(make_queue, review, tmp_path):
    queue = make_queue()
    judge_claimant(queue, 17)
    review(queue, 8)
    queue.erase_rows("admin", [17]).result()
    path = queue.train(tmp_path / "next.shortlist")
    from shortlist.models.trained import TrainedModel

    model = TrainedModel.load(path)
    assert model.training["rows"] == 8
    assert not any(secret in str(model.schema) + str(vars(model)) for secret in SECRETS)


# -- queues of before, whose chain covers words to the letter


@pytest.fixture
def old(tmp_path):
    """A queue of before, a row with a note that no other row has, and that note."""
    folder = asking.unpack("cold", tmp_path / "kept") / "cold.review"
    with closing(Queue.open(folder)) as queue:
        notes = [(event.row, event.body.note) for event in queue.log() if getattr(event.body, "note", "")]
        row, note = next(pair for pair in notes if len({row for row, note in notes if note == pair[1]}) == 1)
        return folder, row, note, queue.head()


def test_a_row_of_a_queue_of_before_is_erased(old):
    folder, row, note, head = old
    with closing(Queue.open(folder)) as queue:
        told, before = queue.rows.id(row), queue.digest().result()
        assert known_anywhere(queue, note)
        queue.erase_rows("admin", [row]).result()
        assert [word for word in (note, told) if known_anywhere(queue, word)] == []
        assert queue.digest().result() == before
    proof = prove_folder(folder, published=[head])
    assert proof.holds
    assert proof.digest == before


def test_what_is_left_of_a_line_of_before_cannot_be_changed(old):
    folder, row, _, _ = old
    with closing(Queue.open(folder)) as queue:
        queue.erase_rows("admin", [row]).result()
        seq = int(next(iter(next(queue.log(kinds=["erased"])).body.lines)))
    with closing(sqlite3.connect(folder / "log.sqlite")) as tool:
        (trigger,) = tool.execute(
            "select sql from sqlite_master where name = 'events_stay_as_they_are'"
        ).fetchone()
        with pytest.raises(sqlite3.IntegrityError, match="only added to"):
            tool.execute("update events set payload = '{}' where seq = ?", [seq])
        tool.execute("drop trigger events_stay_as_they_are")
        tool.execute("update events set at = at + 1 where seq = ?", [seq])
        tool.execute(trigger)
        tool.commit()
    assert prove_folder(folder).faults == [
        f"event {seq} is not as it was written, or does not follow event {seq - 1}."
    ]
