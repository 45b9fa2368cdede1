"""What it costs to open a model file: one that is known, and one that is not, which a child process opens first.

CPU seconds of opening a known file of APBoost, for which no child is started (bar: 50 ms); and, told without a bar, of
what the child does with the file beside its imports, and of its imports. The child is paid once per file: whoever has
passed is known from then on.
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
from shortlist.models.file import load, save
from shortlist.rankers import APBoost
from studies.measure import best_in_turn
from studies.running import study_parser, tell

#: For a known file: what is paid each time.
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
        known, child = best_in_turn(
            lambda: load(path), lambda: examine.look_at(path, content), repeats=5 if options.quick else 50
        )
        imports = of_child(lambda: subprocess.run([sys.executable, "-P", "-c", IMPORTS], check=True))
    found = {"bytes": len(content), "known": known.cpu, "child": child.cpu, "imports": imports, "bar": BAR}
    tell(found, options.json, show)


def show(found: dict[str, Any]) -> None:
    print(f"a model of {found['bytes']:,} bytes; CPU seconds")
    for name in ("known", "child", "imports"):
        print(f"{name:20} {found[name]:.3f}")
    print(f"bar for a known file, which needs no child: {BAR} s; a child is paid once per file")
