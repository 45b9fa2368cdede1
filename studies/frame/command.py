"""The command of a paper: run its cells, print its tables beside ours, judge its claims, draw its figures."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table as Grid

from studies.frame import figures
from studies.frame.cells import Cell, Found, Kept, Told, run
from studies.frame.claims import Claim
from studies.frame.paper import Entry, Figure, Paper, Table, as_dicts
from studies.kept import RESULTS, made_by
from studies.paper_sets import need
from studies.running import study_parser, tell


def run_paper(paper: Paper, module: str, arguments: Sequence[str], *, quick: str) -> None:
    """Answer ``python -m studies PAPER``."""
    options = _parse(paper, module, arguments, quick)
    if options.list:
        tell(paper.catalogue(), options.json, _show_catalogue)
        return
    parts = list(paper.parts(options.table, options.figure))
    cells = {id(part): part.plan(options.repeats, options.quick) for part in parts}
    asked_for = {cell for each in cells.values() for cell in each}
    for claim in paper.claims:  # of one table or figure, the claims that need no more than its cells
        needed = claim.plan(options.repeats, options.quick)
        if claim not in parts and asked_for.issuperset(needed):
            parts.append(claim)
            cells[id(claim)] = needed
    wanted = list(dict.fromkeys(cell for part in parts for cell in cells[id(part)]))
    need({cell.data for cell in wanted if cell.data})
    kept = Kept(options.results)
    stopped = _run(paper.name, wanted, kept, options)
    found = {
        "paper": paper.name,
        "reference": paper.reference,
        "quick": options.quick,
        "repeats": options.repeats,
        "cells": {"run": len(Found.among(wanted, kept)), "wanted": len(wanted)},
        "made by": made_by(),
        **_results(paper, parts, lambda part: Found.among(cells[id(part)], kept), options.figures),
    }
    done = found["cells"]
    if options.onto is not None:
        found = onto(found, json.loads(options.onto.read_text(encoding="utf-8")), paper)
    tell(found, options.json, _show)
    if stopped:
        raise SystemExit(
            f"stopped after {done['run']} of {done['wanted']} cells; the same command goes on from there."
        )


def _parse(paper: Paper, module: str, arguments: Sequence[str], quick: str) -> argparse.Namespace:
    parser = study_parser(module, f"{paper.title}\n\n{paper.reference}", quick)
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--table", choices=[each.number for each in paper.tables], help="this table only")
    one.add_argument("--figure", choices=[each.number for each in paper.figures], help="this figure only")
    one.add_argument(
        "--list", action="store_true", help="name the tables, figures and claims, and run nothing"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes to compute with")
    parser.add_argument("--repeats", type=int, help=f"runs of each cell (default {paper.repeats})")
    text = "stop after so many, and report what is done; 0 computes nothing"
    parser.add_argument("--minutes", type=float, default=math.inf, help=text)
    parser.add_argument("--results", type=Path, help="file of finished cells (default: in studies/results)")
    parser.add_argument("--figures", type=Path, help="folder for figures (default: in studies/results)")
    text = "a kept run (its --json): what is not asked for or has no cells now is taken from there"
    parser.add_argument("--onto", type=Path, help=text)
    options = parser.parse_args(arguments)
    options.repeats = options.repeats or (paper.quick_repeats if options.quick else paper.repeats)
    name = module.removeprefix("studies.")
    options.results = options.results or RESULTS / f"{name}.cells.jsonl"
    options.figures = options.figures or RESULTS / "figures" / ("quick" if options.quick else "")
    return options


def _run(name: str, cells: Sequence[Cell], kept: Kept, options: argparse.Namespace) -> bool:
    """Compute what is missing; whether that was stopped, by the user or by the clock."""
    try:
        with _progress(name) as told:
            return not run(cells, kept, jobs=options.jobs, seconds=60 * options.minutes, tell=told)
    except KeyboardInterrupt:
        return True


@contextmanager
def _progress(name: str) -> Iterator[Told]:
    """A line on the terminal, where there is one: cells done and time left."""
    console = Console(stderr=True)
    columns = (TextColumn(name), BarColumn(), TextColumn("{task.completed:.0f} of {task.total:.0f}"))
    with Progress(*columns, TextColumn("{task.fields[left]}"), console=console, transient=True) as bar:
        task = bar.add_task(name, total=1, left="", visible=console.is_terminal)
        yield lambda done, total, left: bar.update(task, completed=done, total=total, left=_time_left(left))


def _time_left(seconds: float) -> str:
    if math.isnan(seconds):  # not known yet
        return ""
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes > 1 else f"about {seconds:.0f} s left"


def _results(
    paper: Paper, parts: Sequence[Any], found_of: Callable[[Any], Found], folder: Path
) -> dict[str, Any]:
    tables, claims, files = {}, [], {}
    for part in parts:
        found = found_of(part)
        if isinstance(part, Table):
            entries = as_dicts(part.entries(found))
            tables[part.number] = {"title": part.title, "digits": part.digits, "entries": entries}
        elif isinstance(part, Claim):
            claims.append({"claim": part.text, "where": part.where, **asdict(part.judge(found))})
        elif isinstance(part, Figure) and (len(found) or not part.plan(1, True)):
            stem = f"papers.{paper.name}.figure-{part.number}"
            paths = figures.draw(part, found, folder, stem)
            files[part.number] = {"title": part.title, "files": [path.name for path in paths]}
    return {"tables": tables, "claims": claims, "figures": files, "left out": list(paper.left_out)}


def onto(found: dict[str, Any], kept: dict[str, Any], paper: Paper) -> dict[str, Any]:
    """A run and, where it has nothing, what a kept one of the same paper has; in the order of the paper."""
    merged = {**found, "repeats": kept["repeats"], "before": kept["made by"]}
    merged["cells"] = {name: found["cells"][name] + kept["cells"][name] for name in ("run", "wanted")}
    for kind, declared in (("tables", paper.tables), ("figures", paper.figures)):
        numbers = [each.number for each in declared]
        both = {**kept[kind], **{number: part for number, part in found[kind].items() if _told(part)}}
        merged[kind] = {number: both[number] for number in numbers if number in both}
    judged = [claim for claim in found["claims"] if not _without_runs(claim["statistic"])]
    verdicts = {claim["claim"]: claim for claim in (*found["claims"], *kept["claims"], *judged)}
    merged["claims"] = [verdicts[claim.text] for claim in paper.claims if claim.text in verdicts]
    merged["left out"] = list(paper.left_out)
    return merged


def _without_runs(statistic: str) -> bool:
    """Whether no part of a claim has anything to judge by.

    >>> _without_runs("GB-Logistic +0.010 over 8 pairs, p = 0.2; SGBAP_sig nothing was run")
    False
    """
    return all(part.endswith("nothing was run") for part in statistic.split("; "))


def _told(part: dict[str, Any]) -> bool:
    """Whether a table has any figure; a drawn figure was drawn."""
    return any(each["ours"] is not None for each in part["entries"]) if "entries" in part else True


def _show_catalogue(found: dict[str, Any]) -> None:
    print(f"{found['title']}\n{found['reference']}")
    for kind in ("tables", "figures"):
        for number, title in found[kind].items():
            print(f"  --{kind[:-1]} {number:<3} {title}")
    for claim in found["claims"]:
        print(f"  claim: {claim}")
    for sentence in found["left out"]:
        print(f"  left out: {sentence}")


def _show(found: dict[str, Any]) -> None:
    console = Console(
        width=240, soft_wrap=True
    )  # a table wider than the terminal is better than one cut short
    for number, table in found["tables"].items():
        console.print(_grid(f"Table {number}: {table['title']}; ours ± standard error (paper)", table))
    for claim in found["claims"]:
        print(
            f"{claim['verdict'].upper():>18}  {claim['claim']} ({claim['where']})\n{'':20}{claim['statistic']}"
        )
    for number, figure in found["figures"].items():
        print(f"Figure {number}: {figure['title']}: {', '.join(figure['files'])}")
    if found["quick"]:
        print("This was a quick run: too few repeats, and too few rows, for verdicts that count.")
    print(f"{found['repeats']} repeats, {found['cells']['run']} of {found['cells']['wanted']} cells")


def _grid(title: str, table: dict[str, Any]) -> Grid:
    """Entries as rows and columns, in the order in which they first come."""
    texts = {(each["row"], each["column"]): _text(each, table["digits"]) for each in table["entries"]}
    columns = list(dict.fromkeys(column for _, column in texts))
    grid = Grid("", *columns, title=title, title_justify="left")
    for row in dict.fromkeys(row for row, _ in texts):
        grid.add_row(row, *(texts.get((row, column), "") for column in columns))
    return grid


def _text(each: dict[str, Any], digits: int) -> str:
    return Entry(**each).text(digits)
