"""What it costs that a model file which is not known is opened in a child process first, once per file.

CPU seconds of reading a model of APBoost, and of opening it when it is known, which needs no child: what a known file
costs beyond reading it may take 50 ms. Told without a bar: what the child does with a file beside its imports, and its
imports. Both are paid once per file, as one that has passed is known from then on.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.models import examine
from shortlist.models.file import load, parsed, save
from shortlist.rankers import APBoost
from studies.measure import best_in_turn
from studies.running import study_parser, tell

#: For what a known file costs beyond reading it.
BAR = 0.05
IMPORTS = "import shortlist.models.file"


def make_model(path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((5_000, 20))
    save(APBoost(random_state=0).fit(X, X[:, 0] + X[:, 1] > 2.5), path)


def of_child(run: Any) -> float:
    """CPU seconds of the children that something starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(arguments: Sequence[str]) -> None:
    """Open one file again and again."""
    options = study_parser(__name__, __doc__, "5 times instead of 50").parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        make_model(path)
        content = path.read_bytes()
        read, known, child = best_in_turn(
            lambda: parsed(path, path.read_bytes()),
            lambda: load(path),
            lambda: examine.look_at(path, content),
            repeats=5 if options.quick else 50,
        )
        imports = of_child(lambda: subprocess.run([sys.executable, "-P", "-c", IMPORTS], check=True))
    seconds = {"read": read.cpu, "known": known.cpu, "child": child.cpu, "imports": imports}
    tell({"bytes": len(content), **seconds, "bar": BAR}, options.json, show)


def show(found: dict[str, Any]) -> None:
    print(f"a model of {found['bytes']:,} bytes; CPU seconds")
    for name in ("read", "known", "child", "imports"):
        print(f"{name:20} {found[name]:.3f}")
    more = found["known"] - found["read"]
    print(
        f"a known file costs {more:.3f} s beyond reading it (bar: {BAR} s); child and imports are paid once per file"
    )
