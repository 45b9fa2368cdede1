"""Every item of the five papers: is it here, by which command, what came of it; writes docs/evidence/coverage.md."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from studies.frame.paper import Entry, Paper
from studies.kept import RESULTS
from studies.measure import ROOT
from studies.running import study_parser, tell

PAPERS = ("sgbap", "cost_sensitive", "prec_at_k", "target", "ojrank")
ITEMS = Path(__file__).parents[1] / "papers" / "coverage.csv"
PAGE = ROOT / "docs" / "evidence" / "coverage.md"
SETS = Path(__file__).parents[1] / "papers" / "sets.csv"
_TARGET = "TARGET, the paper's settings"
#: Figures that tell of an item: table, row and column of each.
FIGURES: dict[tuple[str, str], tuple[tuple[str, str, str], ...]] = {
    **{
        ("target", item): (("1", f"{experiment}, {_TARGET}", "AP"),)
        for item, experiment in {
            "Simulation 1": "Simulation 1",
            "Simulation 2": "Simulation 2",
            "breast": "Breast cancer",
            "fraud 1994": "Fraud 1994",
            "fraud 1995": "Fraud 1995",
        }.items()
    },
    **{
        ("target", item): (("1", f"Breast cancer, {_TARGET}", column),)
        for item, column in {
            "column AP": "AP",
            "column AUC": "AUC",
            "column MCC": "MCC",
            "column specificity": "specificity",
            "column sensitivity": "sensitivity",
            "column misclassification": "error",
            "tree size": "leaves",
        }.items()
    },
    ("target", "CART-A/B costs"): tuple(("1", f"Fraud 1995, CART-{scheme}", "AP") for scheme in "AB"),
    ("target", "RF-A/B costs"): tuple(("1", f"Breast cancer, RF-{scheme}", "AP") for scheme in "AB"),
    ("target", "stability sd of 5 runs"): (("stability", f"Fraud 1994, {_TARGET}", "AP"),),
    **{
        ("cost_sensitive", f"Table3 {item}"): (
            ("3", "CS-MART", f"{data}, k = {k}"),
            ("3", "LambdaMART", f"{data}, k = {k}"),
        )
        for item, data, k in (
            ("crime", "communities_crime_count", 6),
            ("fires", "forest_fires", 6),
            ("concrete", "concrete", 10),
        )
    },
    ("cost_sensitive", "Table4"): (("4", "CS-MART", "k = 10"), ("4", "CR-MART", "k = 10")),
    **{
        ("sgbap", f"Table3 {item}"): (("3", f"{data}, SGBAP", "AP"), ("w8a", f"{data}, SGBAP", "AP"))
        for item, data in {
            "pima": "pima",
            "breast": "breast_ljubljana",
            "heart": "heart_cleveland",
            "hiv": "hiv_schilling",
            "w8a": "w8a_train",
            "fraud": "creditcard_part",
        }.items()
    },
    ("sgbap", "suppl AP vs F1"): (("F1", "pima", "correlation of AP and F1"),),
    ("sgbap", "future NDCG surrogate"): (("future", "pima, smooth NDCG", "NDCG"), ("future", "pima, logistic", "NDCG")),
    ("sgbap", "future AP surrogate in nets"): (("future", "pima, smooth AP", "AP"), ("future", "pima, logistic", "AP")),
    **{
        ("ojrank", item): (("ensembles", ensemble, "OJRank"), ("ensembles", ensemble, "Offline"))
        for item, ensemble in {
            "iForest": "iForest",
            "HS-Trees": "HS-Trees",
            "RS-Forest": "RS-Forest",
            "LODA": "LODA",
            "LOF bagging": "bagged LOF",
        }.items()
    },
    ("ojrank", "generator of clustered sets"): (
        ("generated", "OJRank", "precision"),
        ("generated", "Offline", "precision"),
    ),
    ("prec_at_k", "Theorem 1"): (
        ("theory", "Theorem 1, k = 50", "mistakes"),
        ("theory", "Theorem 1, k = 50", "as printed"),
        ("theory", "Theorem 1, k = 50", "squared"),
    ),
    ("prec_at_k", "selective sampling, active perceptron (related)"): (
        ("related", "selective sampling, b = 0.001", "precision@50"),
        ("related", "active perceptron, halves after 8", "precision@50"),
    ),
}  # fmt: skip
INTRODUCTION = """# The five papers, item by item

Written by `python -m studies quality.coverage`: every table, figure, formula, data set and claim of the five papers,
whether it is here, and the command that shows it. Verdicts and figures come from the runs that are kept in
`studies/results`; where a paper was not run in full, its section says so.
"""


def items() -> list[dict[str, str]]:
    """One line per item: paper, item, whether it is here (yes, partly, no), the command, and an answer."""
    with ITEMS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def declared(name: str) -> Paper:
    """What a paper has here."""
    return import_module(f"studies.papers.{name}").PAPER


def results(name: str) -> dict[str, Any] | None:
    """The run of a paper that is kept, if there is one."""
    path = RESULTS / f"papers.{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def page() -> str:
    """The whole page."""
    known = items()
    here = Counter(item["here"] for item in known)
    told = f"{len(known)} items: {here['yes']} are here, {here['partly']} partly, {here['no']} are not."
    sections = [line for name in PAPERS for line in section(name)]
    return "\n".join([INTRODUCTION, told, "", *sections, *data_sets()]) + "\n"


def section(name: str) -> Iterator[str]:
    """A paper: how it was run, its claims, its items."""
    paper, found = declared(name), results(name)
    yield f"## {paper.title}\n\n{paper.reference}. `python -m studies {name}`, or `--list` for what it has.\n"
    yield from _run(found)
    yield from (f"- Left out: {sentence}" for sentence in paper.left_out)
    yield "\n| item | here | command | answer |\n|---|---|---|---|"
    for item in items():
        if item["paper"] == name:
            command = f"`{item['command']}`" if item["command"] else ""
            answer = "; ".join(part for part in (item["answer"], *_figures(item, found)) if part)
            yield f"| {item['item']} | {item['here']} | {command} | {answer} |"
    yield ""


def _run(found: dict[str, Any] | None) -> Iterator[str]:
    """How the kept run was made, and its claims."""
    if found is None:
        yield "The full run was not made yet: figures on the guide's pages are of earlier runs, without verdicts.\n"
        return
    made, cells = found["made by"], found["cells"]
    yield (
        f"Kept run: {found['repeats']} repeats asked for, {cells['run']:,} of {cells['wanted']:,} cells run, version "
        f"{made['shortlist']}, Python {made['python']}, {made['machine']}, {made['date']}.\n"
    )
    yield "| claim | verdict | statistic |\n|---|---|---|"
    for claim in found["claims"]:
        yield f"| {claim['claim']} ({claim['where']}) | {claim['verdict']} | {claim['statistic']} |"
    yield ""


def _figures(item: dict[str, str], found: dict[str, Any] | None) -> Iterator[str]:
    """Ours beside the paper's, where a place in a table tells of the item; or that it was not run."""
    places = FIGURES.get((item["paper"], item["item"]), ()) if found else ()
    told = [text for place in places for text in _figure(found or {}, *place)]
    yield from dict.fromkeys(told) if told or not places else ("not run yet",)


def _figure(found: dict[str, Any], number: str, row: str, column: str) -> Iterator[str]:
    table = found["tables"].get(number, {"entries": ()})
    for each in table["entries"]:
        if (each["row"], each["column"]) == (row, column) and each["ours"] is not None:
            yield f"{row}, {column}: {Entry(**each).text(table['digits'])}"


def data_sets() -> Iterator[str]:
    """Every set: whose it is, how large, under which licence; none of them is part of the project."""
    yield "## Data sets\n\n`python -m studies data list` tells which are here, `data get NAME` fetches one.\n"
    yield "| set | paper | rows | wanted | licence |\n|---|---|---|---|---|"
    with SETS.open(encoding="utf-8", newline="") as file:
        for each in csv.DictReader(file):
            wanted = f"{int(each['wanted']):,}" if each["wanted"] else ""
            yield f"| {each['name']} | {each['paper']} | {int(each['rows']):,} | {wanted} | {each['licence']} |"


def main(arguments: Sequence[str]) -> None:
    """Write the page, or print what it says."""
    options = study_parser(__name__, __doc__, "print the page and write nothing").parse_args(arguments)
    if options.quick or options.json:
        tell({"items": items(), "page": page()}, options.json, lambda told: print(told["page"]))
        return
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
