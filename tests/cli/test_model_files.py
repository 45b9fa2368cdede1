"""Model files that are damaged or made to do harm, given to the program: exit code 2 and a sentence each time."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shortlist import train
from shortlist.datasets import make_claims
from shortlist.models import examine
from shortlist.models.file import read_header
from shortlist.models.trained import TrainedModel
from studies.quality.damage import flipped, with_trees, write_model

pytestmark = pytest.mark.xdist_group("model files")  # they share their models
MODELS = ("ap-boost", "logistic", "random-forest")


def flip(place):
    """One bit of a file, at a share of its length."""

    def damage(path):
        content = bytearray(path.read_bytes())
        content[int(place * (len(content) - 1))] ^= 8
        path.write_bytes(content)

    return damage


def cut(share):
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


DAMAGES = {
    **{f"flipped at {place}": flip(place) for place in (0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 1.0)},
    **{f"cut at {share}": cut(share) for share in (0.001, 0.01, 0.5, 0.999)},
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "empty": lambda path: path.write_bytes(b""),
    "gone": Path.unlink,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a circle": lambda path: (path.unlink(), path.symlink_to(path.name)),
    "a table": lambda path: shutil.copy("new.csv", path),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """One file of each kind of model, and a table to score."""
    folder, rows = tmp_path_factory.mktemp("models"), make_claims(120, random_state=0, fraud_rate=0.2)
    for model in MODELS:
        trained = train(rows, label="fraud", id="claim_id", model=model, random_state=0, n_jobs=1)
        trained.save(folder / model)
    rows.drop("fraud").write_csv(folder / "new.csv")
    return folder


@pytest.fixture
def asked(shortlist, models, monkeypatch, tmp_path):
    """Ask the program about a file, in all ways; all it says is one sentence."""
    shutil.copy(models / "new.csv", tmp_path)
    monkeypatch.chdir(tmp_path)

    def call(name):
        for command in (("inspect", name), ("score", name, "new.csv", "-o", "top.csv"), ("tree", name)):
            done = shortlist(*command)
            assert (done.code, done.out) == (2, ""), (command, done.err)
            assert done.err.startswith("error: ")
            assert "Traceback" not in done.err
        assert not Path("top.csv").exists()
        return done.err

    return call


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(asked, models, damage):
    for model in MODELS:
        shutil.copy(models / model, model)
        DAMAGES[damage](Path(model))
        said = asked(model)
        assert model in said
        shutil.rmtree(model) if Path(model).is_dir() else Path(model).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def boosted(models):
    return read_header(models / "ap-boost"), TrainedModel.load(models / "ap-boost").ranker


@pytest.fixture
def stranger(boosted, tmp_path, monkeypatch):
    """Write a boosted model of a stranger: a good checksum, and other bytes for its trees."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(examine, "_KNOWN", set())
    header, ranker = boosted

    def make(name, trees):
        data = trees(bytes(ranker.booster_.save_raw("ubj")))
        return write_model(tmp_path / name, header, with_trees(ranker, data))

    return make


CRAFTED = {
    "a count that is too large": lambda trees: with_count(trees, b"left_children", 2**40),
    "half of them": lambda trees: trees[: len(trees) // 2],
    "no trees": lambda trees: b"",
    "no bytes of XGBoost": lambda trees: b"\0" * 1000,
    "a list for an object": lambda trees: b"{L\0\0\0\0\0\0\0\x07learner[TT]}",
}


def with_count(trees, name, count):
    place = trees.index(b"#L", trees.index(name)) + 2
    return trees[:place] + count.to_bytes(8, "big") + trees[place + 8 :]


# Each costs the imports of a child.
@pytest.mark.parametrize(
    "kind", [next(iter(CRAFTED)), *(pytest.param(kind, marks=pytest.mark.slow) for kind in [*CRAFTED][1:])]
)
def test_a_file_made_to_do_harm_is_refused(shortlist, stranger, kind):
    done = shortlist("inspect", stranger("hostile", CRAFTED[kind]))
    assert done.code == 2, done.err
    assert "o not use this file" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_no_file_made_to_do_harm_ends_the_program(shortlist, stranger, seed):
    done = shortlist("inspect", stranger("hostile", lambda trees: flipped(trees, seed)))
    assert done.code in (0, 2), done.err
    assert done.code == 0 or "o not use this file" in done.err


@pytest.mark.slow
def test_a_small_file_that_takes_gigabytes_is_refused_by_the_limit_of_memory(stranger):
    # Each of these bytes becomes an object of some 70 bytes: 2.1 GB, of a file of less than 900 kB.
    path = stranger("hungry", lambda trees: b"{L\0\0\0\0\0\0\0\x07learner[" + b"T" * 30_000_000 + b"]}")
    assert path.stat().st_size < 900_000
    program = [sys.executable, "-m", "shortlist", "inspect", str(path)]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        said = running.stderr.read()
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 2, said
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    # kB, of the program and of its child, whose imports are a third of it; Linux counts in what had started them.
    assert used.ru_maxrss < max(1_200_000, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + 1)
