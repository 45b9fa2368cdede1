"""What came of the five papers: headline, claims with verdicts, tables, figures; writes docs/evidence/papers.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from studies.frame.paper import Entry
from studies.kept import RESULTS
from studies.measure import ROOT
from studies.quality.coverage import PAPERS, declared, results
from studies.running import study_parser, tell

PAGE = ROOT / "docs" / "evidence" / "papers.md"
#: The table at the top of the page, for other pages to quote.
SUMMARY = RESULTS / "papers.summary.md"
VERDICTS = ("holds", "does not hold", "cannot be decided")
#: Per paper how the claim that it is about begins, and the table, row and column of a figure that tells of it.
HEADLINES = {
    "sgbap": ("SGBAP has the best AP on pima", ("3", "pima, SGBAP", "AP")),
    "cost_sensitive": ("cost-sensitive methods beat plain ones (81 of 84)", None),
    "prec_at_k": ("all schemes need far fewer labels than rows (a tenth at most), k = 50", None),
    "target": (
        "TARGET ranks better than CART (the better of A and B), by AP",
        ("1", "Fraud 1994, TARGET, the paper's settings", "AP"),
    ),
    "ojrank": ("OJRank finds more than AAD, benchmark sets", None),
}
#: Where the papers say two things at once, or what cannot be, and how that was read.
READINGS = {
    "sgbap": (
        "Eq. 10, the gradient of AP_sig, is printed with a wrong sign; ours equals numerical differences.",
        "Rankings with ties: AP counts them at their worst, as in Eq. 4 and 5.",
        "The baselines look like stumps on integer codes: an audit found the paper's figures on w8a with them.",
    ),
    "cost_sensitive": (
        "The RMSE of the two models of Section 2 is 4967.56 and 52118.49 (printed 2868.0 and 300090.6).",
        "Example 2: the factor of the DCG is 2.13 (printed 2.63); Example 4: 99.0 % (printed 98.5); weights of the two "
        "storms: 99.0 and 1.0 % (printed 99.5 and 0.5); R_CR by wind: 1.0 % (printed 0.1).",
        "y of the crime data is a count, not a rate: ranked by population alone, the paper's figures come out.",
        "The paper's plain methods were run by a tool that cuts impacts to whole numbers and overflows at 2^y; ours do "
        "not, and are better than printed.",
    ),
    "prec_at_k": (
        "The bound of Theorem 1 lacks a square as printed.",
        "Algorithm 2 asks for rows near the margin with the sign of the exponent turned (Section 3.1 has it right), "
        "adds every row that it asked for, wanted or not, and queries all labels first; we add wanted rows and ask "
        "for the top k and the drawn rows alone.",
    ),
    "target": (
        "Scheme B gives errors costs inverse to the shares of the classes; trees and thresholds follow it.",
        "Standard deviations in Table 1 are over five runs of TARGET on the same rows: they do not tell how far "
        "another sample would be.",
    ),
    "ojrank": (
        "Text and released code differ: in the code momentum is added once per pair and the last w is kept "
        '(`optimizer="released"`), OJR-ALL pairs with all reviewed rows, and b + 1 rows are reviewed.',
        "OMD-LLH: the authors' softmax is over the total path length, ours over the mean; both were run.",
        "Any ensemble will do (Section 3.2) depends on its scale, which OJRank's chances live on: leaf values of "
        "half-space trees, RS-Forest and bagged LOF are brought to that of isolation forests; LODA is shown both ways.",
    ),
}
INTRODUCTION = """# The five papers: what came of them

Written by `python -m studies quality.papers_page` from the runs that are kept in `studies/results`. A claim *holds* or
*does not hold* where a test decides at 5 %; where it does not, or where too little was run, it *cannot be decided*.
[Every item of every paper](coverage.md) has a line of its own.
"""


def summary() -> str:
    """One line per paper: its headline claim, our figure, the verdict, and the verdicts of all its claims."""
    lines = [
        "| paper | headline claim | verdict | our figure (paper's) | all claims: hold / do not / undecided |",
        "|---|---|---|---|---|",
    ]
    for name in PAPERS:
        found, (begins, place) = results(name), HEADLINES[name]
        claims = found["claims"] if found else []
        counts = Counter(claim["verdict"] for claim in claims)
        claim = next((claim for claim in claims if claim["claim"].startswith(begins)), None)
        told = " / ".join(str(counts[verdict]) for verdict in VERDICTS) if found else "not run in full yet"
        verdict = f"**{claim['verdict']}**" if claim else "not run in full yet"
        figure = _figure(found, place) or (claim or {}).get("statistic", "")
        lines.append(f"| {declared(name).title} | {begins} | {verdict} | {figure} | {told} |")
    return "\n".join(lines) + "\n"


def _figure(found: dict[str, Any] | None, place: tuple[str, str, str] | None) -> str | None:
    """Ours beside the paper's at one place of a table, and where that is; None where nothing was run."""
    if found is None or place is None:
        return None
    number, row, column = place
    table = found["tables"][number]
    for each in table["entries"]:
        if (each["row"], each["column"]) == (row, column) and each["ours"] is not None:
            return f"{row}, {column}: {Entry(**each).text(table['digits'])}"
    return None


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, summary(), *(line for name in PAPERS for line in section(name))]) + "\n"


def section(name: str) -> Iterator[str]:
    """A paper: how it was run, its claims, what did not come out, how it was read, tables and figures."""
    paper, found = declared(name), results(name)
    yield f"## {paper.title}\n\n{paper.reference}. `python -m studies {name}`.\n"
    if found is None:
        yield "The full run was not made yet.\n"
        return
    made, cells = found["made by"], found["cells"]
    yield (
        f"{cells['run']:,} of {cells['wanted']:,} cells run, at most {found['repeats']} repeats; version "
        f"{made['shortlist']}, Python {made['python']}, {made['machine']}, {made['date']}.\n"
    )
    yield "| claim | verdict | statistic |\n|---|---|---|"
    yield from (
        f"| {c['claim']} ({c['where']}) | {c['verdict']} | {c['statistic']} |" for c in found["claims"]
    )
    yield "\nHow it was read, and what cannot be had:\n"
    yield from (f"- {sentence}" for sentence in (*READINGS[name], *paper.left_out))
    for number, table in found["tables"].items():
        yield from _table(number, table)
    for number, figure in found["figures"].items():
        file = next(each for each in figure["files"] if each.endswith(".png"))
        yield f"\n![Figure {number}: {figure['title']}](../../studies/results/figures/{file})"
    yield ""


def _table(number: str, table: dict[str, Any]) -> Iterator[str]:
    """A table as the command prints it; rows without any figure are left out."""
    texts = {(each["row"], each["column"]): Entry(**each).text(table["digits"]) for each in table["entries"]}
    run = {each["row"] for each in table["entries"] if each["ours"] is not None}
    columns = list(dict.fromkeys(column for _, column in texts))
    yield f"\nTable {number}: {table['title']}; ours ± standard error (paper)\n"
    yield "| | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1)
    for row in dict.fromkeys(row for row, _ in texts):
        if row in run:
            yield f"| {row} | " + " | ".join(texts.get((row, column), "") for column in columns) + " |"


def main(arguments: Sequence[str]) -> None:
    """Write the page and its summary, or print what they say."""
    options = study_parser(__name__, __doc__, "print the summary and write nothing").parse_args(arguments)
    if options.quick or options.json:
        tell({"summary": summary(), "page": page()}, options.json, lambda told: print(told["summary"]))
        return
    PAGE.write_text(page(), encoding="utf-8")
    SUMMARY.write_text(summary(), encoding="utf-8")
    print(PAGE.relative_to(ROOT), SUMMARY.relative_to(ROOT))
