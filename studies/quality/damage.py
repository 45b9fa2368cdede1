"""Files that are damaged or made to do harm: a sentence that says what to do, each time.

* Every file of a review, flipped, cut, empty, gone and replaced: what ``replay``, ``export`` and opening it say. Wrong
  is a traceback, a crash, an exit code that is not due, or other verdicts or another ranking than those of the whole.
* Model files of a stranger, with good checksums and changed bytes for their trees, given to ``inspect`` in a process of
  its own. Wrong is whatever is neither a model nor a refusal.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import skops.io

from shortlist import train
from shortlist.datasets import make_claims
from shortlist.models.file import read_header
from shortlist.models.trained import TrainedModel
from shortlist.rankers import APBoost
from shortlist.review import Queue, Workspace, create
from shortlist.verdicts import Verdict
from studies.quality.review_damage import every_cell, try_all, wrong
from studies.quality.review_files import small_claims
from studies.running import study_parser, tell


def make_review(place: Path) -> Path:
    """A small review with rows that arrived and all files that there can be."""
    folder, claims = Workspace(place / "claims.review"), small_claims(120)
    claims[:100].write_csv(place / "claims.csv")
    create(str(place / "claims.csv"), folder, id="claim_id", settings={"audit": 0.2})
    queue = Queue.open(folder.folder)
    for n in range(6):
        turn = queue.turn("ann").result()
        queue.record("ann", turn.shown or 0, Verdict.WANTED if n % 2 else Verdict.NOT_WANTED).result()
    queue.append("ann", claims[100:]).result()
    folder.secret()
    queue.close()
    return folder.folder


def damaged_reviews(place: Path, flips: int, log_flips: int) -> dict[str, Any]:
    """Every file of a review with every damage."""
    whole = make_review(place)
    told = try_all(whole, every_cell(whole, flips, log_flips))
    return {
        "files": len({each["file"] for each in told["damaged"]}),
        "damages": len(told["damaged"]) // len(told["whole"]),
        "exit codes": dict(sorted(Counter(str(each["said"][0]) for each in told["damaged"]).items())),
        "wrong": len(wrong(told)),
        "examples": wrong(told)[:5],
    }


def write_model(path: Path, header: Any, payload: bytes) -> Path:
    """A file with a good checksum, as anybody could write one."""
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    checksum = hashlib.sha256(head + b"\n" + payload).hexdigest().encode()
    path.write_bytes(b"shortlist model 2\n%s\n%s\n%s" % (head, checksum, payload))
    return path


def with_trees(ranker: APBoost, data: bytes) -> bytes:
    """The payload of a boosted ranker with other bytes for its trees."""
    trees = np.frombuffer(ranker.booster_.save_raw("ubj"), dtype=np.uint8)
    packed = io.BytesIO()
    deflated = zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(ranker))) as old, deflated as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith(".npy") and trees.tobytes() in content:
                file = io.BytesIO()
                np.save(file, np.frombuffer(data, dtype=np.uint8))
                content = file.getvalue()
            new.writestr(name, content)
    return packed.getvalue()


def flipped(data: bytes, seed: int) -> bytes:
    """With one to three other bytes."""
    rng, changed = np.random.default_rng(seed), bytearray(data)
    for place in rng.integers(len(changed), size=rng.integers(1, 4)):
        changed[place] = rng.integers(256)
    return bytes(changed)


def hostile_models(place: Path, n_files: int) -> dict[str, Any]:
    """Crafted model files, each read by a program that remembers none."""
    rows = make_claims(120, random_state=0, fraud_rate=0.2)
    train(rows, label="fraud", id="claim_id", model="ap-boost", random_state=0, n_jobs=1).save(
        place / "model"
    )
    header, ranker = read_header(place / "model"), TrainedModel.load(place / "model").ranker
    assert isinstance(ranker, APBoost)
    trees = bytes(ranker.booster_.save_raw("ubj"))
    codes, bad = Counter[str](), list[dict[str, Any]]()
    for seed in range(n_files):
        path = write_model(place / "hostile", header, with_trees(ranker, flipped(trees, seed)))
        memory = {**os.environ, "XDG_CACHE_HOME": str(place / "cache" / str(seed))}
        call = [sys.executable, "-m", "shortlist", "inspect", str(path)]
        done = subprocess.run(call, capture_output=True, text=True, env=memory, check=False)
        codes[str(done.returncode)] += 1
        if not (done.returncode == 0 or (done.returncode == 2 and "o not use this file" in done.stderr)):
            bad.append({"seed": seed, "code": done.returncode, "err": done.stderr[-300:]})
    return {
        "files": n_files,
        "exit codes": dict(sorted(codes.items())),
        "wrong": len(bad),
        "examples": bad[:5],
    }


def main(arguments: Sequence[str]) -> None:
    """Both, counted; exit code 1 if anything is wrong."""
    parser = study_parser(__name__, __doc__, "one flip a file, four of the log, two models")
    parser.add_argument("--flips", type=int, default=20, help="of each file")
    parser.add_argument("--log-flips", type=int, default=300)
    parser.add_argument("--models", type=int, default=128)
    options = parser.parse_args(arguments)
    if options.quick:
        options.flips, options.log_flips, options.models = 1, 4, 2
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        found = {
            "reviews": damaged_reviews(place, options.flips, options.log_flips),
            "models": hostile_models(place, options.models),
        }
    tell(found, options.json, lambda found: print(json.dumps(found, indent=2)))
    sys.exit(1 if any(part["wrong"] for part in found.values()) else 0)
