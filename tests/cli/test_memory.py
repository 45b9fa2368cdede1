"""``--memory``: what fits is done at once, what does not comes batch by batch or is refused before work begins."""

import polars as pl
import pytest

from shortlist.tables import memory
from shortlist.tables.memory import Cost

FAST = ["--label", "fraud", "--id", "claim_id", "--model", "logistic"]
RANK = ["rank", "history.csv", "new.csv", *FAST, "--budget", "10"]


def test_commands_say_how_they_worked(shortlist, claims):
    done = shortlist("train", "history.csv", *FAST, "--memory", "2GB", "-o", "fraud.shortlist")
    assert "trained in memory: about" in done.err
    done = shortlist("score", "fraud.shortlist", "new.csv", "--memory", "2GB")
    assert "scored in memory: about" in done.err


def test_new_rows_beyond_memory_have_the_same_shortlist(shortlist, claims, monkeypatch):
    at_once = shortlist(*RANK, "-o", "at_once.csv")
    monkeypatch.setattr(memory, "BY_BATCH", {"score": Cost(fixed=1e6)})
    monkeypatch.setattr(memory, "WHOLE", {**memory.WHOLE, "score": Cost(row=1e7)})
    in_batches = shortlist(*RANK, "--memory", "1GB", "-o", "in_batches.csv")
    assert (at_once.code, in_batches.code) == (0, 0)
    assert "scored batch by batch: about" in in_batches.err
    assert pl.read_csv("at_once.csv").equals(pl.read_csv("in_batches.csv"))


@pytest.mark.parametrize("command", ["train", "rank", "backtest", "evaluate"])
def test_what_cannot_fit_is_refused_before_work_begins(shortlist, claims, monkeypatch, command):
    monkeypatch.setattr(memory, "WHOLE", dict.fromkeys(memory.WHOLE, Cost(row=1e7)))
    monkeypatch.setattr(memory, "BY_BATCH", {})
    rows = {"rank": ["history.csv", "new.csv"], "evaluate": ["new.csv", "--score", "amount"]}
    given = [*rows.get(command, ["history.csv"]), "--label", "fraud", "--memory", "1GB"]
    done = shortlist(command, *given, *(["-o", "fraud.shortlist"] if command == "train" else []))
    assert done.code == 2
    assert "would take about" in done.err
    assert "1.0 GB may be used. Allow more (--memory) where there is more, or" in done.err
    assert not (claims / "fraud.shortlist").exists()


def test_a_size_that_is_none_is_named(shortlist, claims):
    done = shortlist(*RANK, "--memory", "plenty")
    assert done.code == 2
    assert "memory is a size such as 4GB or 800MB; got 'plenty'." in done.err
