"""What all studies share: their options, how figures are told, and the files of runs that can be gone on with."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from studies.kept import RESULTS, stamped


def study_parser(module: str, text: str | None, quick: str) -> argparse.ArgumentParser:
    """The options of every study; it adds its own."""
    parser = argparse.ArgumentParser(
        prog=f"python -m studies {module.removeprefix('studies.')}",
        description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


def in_pieces(parser: argparse.ArgumentParser) -> None:
    """The options of a study that can be stopped and gone on with."""
    text = "file of finished runs, one JSON line each; what it holds is not run again (default: in studies/results)"
    parser.add_argument("--results", type=Path, help=text)
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="stop after so many, report what is done"
    )


def runs_file(options: argparse.Namespace, module: str) -> Path:
    """Where finished runs are kept; quick ones are not, unless a file is named."""
    if options.quick and options.results is None:
        return Path(os.devnull)
    return options.results or RESULTS / f"{module.removeprefix('studies.')}.jsonl"


def tell(found: Any, as_json: bool, show: Callable[[Any], None]) -> None:
    """Print the figures: as JSON with how they were made, or for people."""
    if as_json:
        print(json.dumps(stamped(found), indent=1, ensure_ascii=False))
    else:
        show(found)


def read_runs(path: Path) -> list[dict[str, Any]]:
    """The runs that a file holds; none where there is no file yet."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines]


def append_runs(path: Path, runs: Iterable[dict[str, Any]]) -> None:
    """Add finished runs to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(run) + "\n" for run in runs)
