"""Model files, score spaces, queues and streams that an earlier version wrote: they load, and go on as they did.

``tests/data/make_before.py`` wrote them; ``tests/before/asking.py`` is what they were asked then and are asked now.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import shortlist
from shortlist.cli._app import main
from shortlist.review.reading import prove_folder
from shortlist.tables import Roles
from tests.before import asking
from tests.before.asking import KEPT, assert_alike
from tests.data import make_before


def said(name):
    return json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A kept folder, unpacked once; for tests that only read it."""
    place = tmp_path_factory.mktemp("before")

    def find(name):
        folder = place / name
        return folder if folder.exists() else asking.unpack(name, folder)

    return find


@pytest.fixture
def as_ours(monkeypatch):
    """Files count as saved here, so that no child process opens them first: that is seen by the commands below."""
    monkeypatch.setattr("shortlist.models.file.is_known", lambda checksum: True)


AS_OURS = pytest.mark.usefixtures("as_ours")


def plain(value):
    """As it comes back from JSON."""
    return json.loads(json.dumps(value, default=str))


def test_every_model_of_the_catalogue_was_kept():
    from shortlist.rankers.catalogue import MODELS

    later = {"scorecard"}  # a name for several trees of TARGET, of which "trees" was kept
    assert {*MODELS} <= {*said("models")} | later


def in_words_of_today(told):
    """One row was called "1 rows", and a value an impact that is known."""
    notes = [note.replace("1 rows", "1 row") for note in told["notes"]]
    roles = Roles.from_dict(told["facts"]["roles"]).spoken
    return {**told, "notes": notes, "facts": {**told["facts"], "roles": roles}}


@AS_OURS
@pytest.mark.parametrize("name", said("models"))
def test_a_model_says_what_it_said(kept, name):
    then, folder = said("models")[name], kept("models")
    path, rows = folder / f"{name}.shortlist", folder / "rows.csv"
    assert_alike(plain(asking.ask_model(path, rows)), in_words_of_today(then["says"]))
    reasons = asking.ask_reasons(path, rows) if then.get("reasons") else {}
    for row, told in then.get("reasons", {}).items():
        # The same column is the reason; what is said of its value has other words now.
        assert reasons[row].split()[0] == told.split()[0]


@pytest.mark.parametrize(
    "name",
    [
        "ap-boost",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("cs-mart", "target", "from-disk")),
    ],
)
def test_a_model_is_shown_and_used_by_the_commands(kept, name):
    path, rows, then = kept("models") / f"{name}.shortlist", kept("models") / "rows.csv", said("models")[name]
    facts = json.loads(asking.run("inspect", path, "--json"))
    assert facts["version"] == then["says"]["facts"]["version"]
    found = json.loads(asking.run("score", path, rows, "--budget", 30, "--all", "--json"))["rows"]
    assert_alike(sorted(row["score"] for row in found), sorted(then["says"]["score"]))


@AS_OURS
@pytest.mark.parametrize("name", said("arrays"))
def test_a_ranker_of_arrays_scores_as_it_did(kept, name):
    folder = kept("arrays")
    now = asking.ask_array_model(folder / f"{name}.shortlist", folder / "rows.csv")
    assert_alike(now, said("arrays")[name])


@AS_OURS
@pytest.mark.parametrize("name", said("sparse"))
def test_a_ranker_of_sparse_rows_scores_them_as_it_did_sparse_or_dense(kept, name):
    folder = kept("sparse")
    now = asking.ask_sparse_model(folder / f"{name}.shortlist", folder / "rows.csv")
    assert_alike(now, said("sparse")[name])
    assert now["dense"] == now["sparse"]


@AS_OURS
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_model_that_learned_from_a_table_takes_sparse_zeros_for_zeros(kept):
    """Version 0.1.0 did not keep which kind of rows a model learned from, but tables were never sparse."""
    model = shortlist.TrainedModel.load(kept("models") / "ap-boost.shortlist")
    X = np.nan_to_num(model.schema.matrix(shortlist.read_table(kept("models") / "rows.csv")))
    dense = model.ranker.decision_function(X)
    np.testing.assert_array_equal(model.ranker.decision_function(csr_matrix(X)), dense)


@AS_OURS
@pytest.mark.parametrize("name", ["ap-boost", "ap-exp", "tuned"])
def test_a_model_that_does_not_say_what_it_learned_from_warns_of_sparse_rows(kept, name):
    ranker = shortlist.load(kept("arrays") / f"{name}.shortlist")
    X = csr_matrix(np.loadtxt(kept("arrays") / "rows.csv", delimiter=","))
    with pytest.warns(
        UserWarning, match=r"learned from dense or from sparse rows.*[Tt]rain it again"
    ) as told:
        ranker.decision_function(X)
    assert len(told) == 1


@pytest.mark.parametrize("name", said("feedback"))
def test_a_feedback_ranker_goes_on(kept, name):
    space, strategy = name.split("/")
    assert_alike(asking.ask_feedback(kept("feedback") / space, strategy), said("feedback")[name])


@pytest.fixture
def queue(request, tmp_path):
    """A copy of a kept queue: folder and what it said."""
    asking.unpack(request.param, tmp_path)
    return tmp_path / f"{request.param.partition('-')[0]}.review", said(request.param)


def unmarked(told):
    """Our reader takes away the mark that keeps a spreadsheet from running a formula; once it was part of the text."""
    return {**told, "csv": [[cell and cell.removeprefix("'") for cell in row] for row in told["csv"]]}


#: Written before the package was divided into sub-rooms, after, and with reasons, cases and a chain of hashes.
COLD = ["cold", "cold-house", "cold-0.2.0"]
ALL = pytest.mark.parametrize("queue", [*COLD, "alerts"], indirect=True)
#: OJRank takes exponentials. The queue of alerts was made where NumPy rounds this one so; on other processors its last
#: bit is another, and so are the last bits of some scores.
ROUNDS_AS_THERE = np.exp(np.array([-0.024973854905860918]))[0] == 0.9753354119311446
REPLAYED = pytest.mark.parametrize(
    "queue",
    [
        *COLD,
        pytest.param(
            "alerts", marks=pytest.mark.skipif(not ROUNDS_AS_THERE, reason="made on another kind of CPU")
        ),
    ],
    indirect=True,
)


@REPLAYED
def test_a_queue_replays_and_exports_as_it_did(queue):
    folder, then = queue
    assert then["past"]["replay"]["holds"]
    assert_alike(plain(asking.ask_queue(folder)), unmarked(then["past"]))


@pytest.mark.skipif(ROUNDS_AS_THERE, reason="made on a CPU of this kind")
@pytest.mark.parametrize("queue", ["alerts"], indirect=True)
def test_a_queue_of_another_kind_of_processor_differs_by_last_digits_only_and_says_so(
    queue, capsys, monkeypatch
):
    folder, _ = queue
    proof = prove_folder(folder)
    assert proof.nearly == proof.differing != []
    monkeypatch.setattr(sys, "argv", ["shortlist", "replay", str(folder)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    assert "Only their last digits differ" in capsys.readouterr().out


@REPLAYED
@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_queue_goes_on_with_the_next_verdict(queue, checkpoint):
    folder, then = queue
    saved = [*folder.glob("checkpoint-*")]
    assert saved
    for path in [] if checkpoint else saved:
        path.unlink()
    expected = [{**turn, "until": None} if "until" in turn else turn for turn in then["next"]]
    assert_alike(plain(asking.go_on_reviewing(folder, then["now"])), expected)
    assert_alike(plain(asking.ask_queue(folder)), unmarked(then["after"]))


@AS_OURS
@ALL
def test_a_model_trained_in_a_review_can_be_used(queue):
    folder, _ = queue
    model = shortlist.TrainedModel.load(folder.with_suffix(".shortlist"))
    assert model.score(folder.parent / "more.csv", budget=3).frame["score"].is_sorted(descending=True)


@ALL
def test_a_queue_takes_new_rows_and_can_train(queue, monkeypatch):
    folder, _ = queue
    monkeypatch.chdir(folder.parent)
    rows = shortlist.read_table("more.csv")
    shortlist.write_table(rows.with_columns(claim_id="new-" + rows["claim_id"]), "newest.csv")
    assert json.loads(asking.run("append", folder, "newest.csv", "--json"))["rows"] == 80
    asking.run("export", folder, "--model", "next.shortlist")
    assert Path("next.shortlist").exists()


@pytest.mark.parametrize("name", asking.STREAMS)
def test_a_stream_goes_on(name, tmp_path):
    folder = asking.unpack(f"stream-{name}", tmp_path)
    assert_alike(plain(asking.go_on_streaming(folder, name)), said(f"stream-{name}"))


@pytest.mark.parametrize("name", said("active"))
def test_a_saved_active_ranker_goes_on(kept, name):
    folder = kept("active")
    assert_alike(asking.go_on_asking(folder / f"{name}.state", folder / "windows.csv"), said("active")[name])


def test_a_stream_in_the_middle_keeps_what_it_waits_for(tmp_path):
    folder = asking.unpack("stream-refit", tmp_path)
    shutil.rmtree(folder / "stream")  # what was asked is in the state, not in the files for people
    assert asking.step_stream(folder, "refit")["report"]["waiting"] > 0


@pytest.mark.slow
def test_what_the_present_version_would_write_can_be_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it goes into folders of its own
    make_before.main(tmp_path / "now")
    kept = {path.name for path in KEPT.iterdir() if not path.name.startswith(("cold-house.", "cold-0.2.0."))}
    assert {path.name for path in (tmp_path / "now").iterdir()} == kept
