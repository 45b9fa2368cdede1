"""Model files, score spaces, queues and streams that an earlier version wrote: they load, and go on as they did.

``tests/data/make_before.py`` wrote them; ``tests/before/asking.py`` is what they were asked then and are asked now.
"""

import json
import shutil
from pathlib import Path

import pytest

import shortlist
from tests.before import asking
from tests.before.asking import KEPT, assert_alike


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


def plain(value):
    """As it comes back from JSON."""
    return json.loads(json.dumps(value, default=str))


def test_every_model_of_the_catalogue_was_kept():
    from shortlist.rankers.catalogue import MODELS

    assert {*MODELS} <= {*said("models")}


@pytest.mark.parametrize("name", said("models"))
def test_a_model_says_what_it_said(kept, name):
    then, folder = said("models")[name], kept("models")
    path, rows = folder / f"{name}.shortlist", folder / "rows.csv"
    assert_alike(plain(asking.ask_model(path, rows)), then["says"])
    reasons = asking.ask_reasons(path, rows) if then.get("reasons") else {}
    assert {row: reasons[row] for row in then.get("reasons", {})} == then.get("reasons", {})


@pytest.mark.parametrize("name", ["ap-boost", "cs-mart", "target", "from-disk"])
def test_a_model_is_shown_and_used_by_the_commands(kept, name):
    path, rows, then = kept("models") / f"{name}.shortlist", kept("models") / "rows.csv", said("models")[name]
    facts = json.loads(asking.run("inspect", path, "--json"))
    assert facts["version"] == then["says"]["facts"]["version"]
    found = json.loads(asking.run("score", path, rows, "--budget", 30, "--all", "--json"))["rows"]
    assert_alike(sorted(row["score"] for row in found), sorted(then["says"]["score"]))


@pytest.mark.parametrize("name", said("arrays"))
def test_a_ranker_of_arrays_scores_as_it_did(kept, name):
    folder = kept("arrays")
    now = asking.ask_array_model(folder / f"{name}.shortlist", folder / "rows.csv")
    assert_alike(now, said("arrays")[name])


@pytest.mark.parametrize("name", said("feedback"))
def test_a_feedback_ranker_goes_on(kept, name):
    space, strategy = name.split("/")
    assert_alike(asking.ask_feedback(kept("feedback") / space, strategy), said("feedback")[name])


@pytest.fixture
def queue(request, tmp_path):
    """A copy of a kept queue: folder and what it said."""
    asking.unpack(request.param, tmp_path)
    return tmp_path / f"{request.param}.review", said(request.param)


BOTH = pytest.mark.parametrize("queue", ["cold", "alerts"], indirect=True)


@BOTH
def test_a_queue_replays_and_exports_as_it_did(queue):
    folder, then = queue
    assert then["past"]["replay"]["holds"]
    assert_alike(plain(asking.ask_queue(folder)), then["past"])


@BOTH
@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_queue_goes_on_with_the_next_verdict(queue, checkpoint):
    folder, then = queue
    saved = [*folder.glob("checkpoint-*")]
    assert saved
    for path in [] if checkpoint else saved:
        path.unlink()
    assert_alike(plain(asking.go_on_reviewing(folder, then["now"])), then["next"])
    assert_alike(plain(asking.ask_queue(folder)), then["after"])


@BOTH
def test_a_model_trained_in_a_review_can_be_used(queue):
    folder, _ = queue
    model = shortlist.TrainedModel.load(folder.with_suffix(".shortlist"))
    assert model.score(folder.parent / "more.csv", budget=3).frame["score"].is_sorted(descending=True)


@BOTH
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
