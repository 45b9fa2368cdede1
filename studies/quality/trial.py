"""What a new user found wrong in a trial of the program: every finding, the command, and what it answers today.

The tables of the trial are written into a folder, the commands are run there as a user runs them, and of what each
says the sentence is kept that answers the finding. Tables that are not at hand are left out, and the study says which.

    python -m studies quality.trial --json > studies/results/quality.trial.json
    python -m studies quality.trial --page > docs/evidence/trial.md     # the page, from the figures that are kept
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.kept import how, kept
from studies.quality.trial_tables import AFTERWARDS, TABLES
from studies.running import study_parser, tell

CLAIMS = "--label fraud --id claim_id --time date"
AUTO = "--label fraud_reported --id policy_number --time incident_date"
FLIGHTS = f"--label late {' '.join(f'--ignore {name}' for name in AFTERWARDS)} --ignore year --ignore tailnum"
PAGE = """# The trial, repeated

A data scientist at an insurer tried Shortlist on tables that were new to it. This page has every finding of that
trial, the command that shows it, and what the command answers today. `python -m studies quality.trial` writes the
tables into a folder, runs the commands there, and keeps of what each says the sentence that answers the finding.
{left_out}

{how}
"""


@dataclass(frozen=True)
class Finding:
    """What was wrong, a command that shows it, and the sentence to look for in what it says."""

    about: str
    was: str
    table: str
    command: str
    says: str  # a regular expression
    code: int = 0


FINDINGS = (
    Finding(
        "Money first",
        "`train` took a model that `backtest` showed below sorting by amount",
        "demo",
        f"backtest history.csv {CLAIMS} --value amount --every quarter -k 50",
        r"Looking at 50 rows.*",
    ),
    Finding(
        "Money first",
        "the same question to `train`",
        "demo",
        f"train history.csv {CLAIMS} --value amount --budget 50 -o fraud.shortlist",
        r"\S+ was chosen by.*",
    ),
    Finding(
        "Money first",
        "`make demo` printed that the shortlist finds less money than sorting",
        "demo",
        "demo --folder again",
        r"Ranked by expected value.*",
    ),
    Finding(
        "Money first",
        "no cost of reviews, and no way to ask how many pay for themselves",
        "demo",
        f"backtest history.csv {CLAIMS} --value amount --every quarter -k 20,50,100 --review-cost 35 --models logistic",
        r"At 35 a review.*",
    ),
    Finding(
        "Money first",
        "`compare` concluded for one budget only",
        "demo",
        f"compare history.csv {CLAIMS} --value amount --every quarter -k 20,100 --models logistic,xgboost",
        r"Within 20 rows.*",
    ),
    Finding(
        "Money first",
        "answers spoke of impacts and wanted rows, not of frauds and euros",
        "demo",
        f"backtest history.csv {CLAIMS} --value amount --every quarter --words fraud --currency € --models logistic",
        r"Looking at 50 rows.*",
    ),
    Finding(
        "Money first",
        "the same on real auto claims",
        "messy",
        f"backtest insurance_claims.csv {AUTO} --value total_claim_amount --every week -k 10 --ignore _c39 "
        "--ignore incident_location --models ap-boost,logistic",
        r"Looking at 10 rows.*",
    ),
    Finding(
        "Leaks",
        "a column that is the label under another name passed unnoticed",
        "messy",
        "backtest titanic.csv --label survived --models logistic",
        r"column 'alive'.*",
    ),
    Finding(
        "Leaks",
        "a code and a payment that come after the verdict",
        "messy",
        "backtest leak.csv --label fraud_reported --id policy_number --models logistic",
        r"column 'verdict_code'.*",
    ),
    Finding(
        "Leaks",
        "a perfect result was reported without a caution",
        "messy",
        "backtest leak.csv --label fraud_reported --id policy_number --models logistic",
        r".*too good to be true.*",
    ),
    Finding(
        "Leaks",
        "repair costs are known only after the damage",
        "messy",
        "backtest birdstrikes.csv --label 'Effect Amount of damage' --wanted Substantial --time 'Flight Date' "
        "--every year --models logistic",
        r"column 'Cost.*",
    ),
    Finding(
        "Leaks",
        "how late a flight left is known only when it has left",
        "flights",
        "backtest flights.csv --label late --time time_hour --every quarter --models logistic --ignore year",
        r"column 'arr_delay'.*",
    ),
    Finding(
        "Leaks",
        "numbers that name rows were learned from",
        "messy",
        "backtest h.csv --label fraud_reported --time incident_date --models logistic",
        r"column 'policy_number'.*",
    ),
    Finding(
        "Leaks",
        "new rows that stand in the history",
        "demo",
        f"rank history.csv mixed.csv {CLAIMS} --model logistic -o top.csv",
        r".*stand in the history.*",
    ),
    Finding(
        "Leaks",
        "rows that stand twice, in different folds",
        "demo",
        "backtest twice.csv --label fraud --id claim_id --ignore date --models logistic",
        r".*repeat another row.*",
    ),
    Finding(
        "Leaks",
        "rows that nearly stand twice",
        "demo",
        "backtest nearly-twice.csv --label fraud --id claim_id --ignore date --models logistic",
        r".*nearly repeat.*",
    ),
    Finding(
        "Leaks",
        "a label with one wanted row",
        "messy",
        "rank one.csv n.csv --label fraud_reported --id policy_number --model logistic -o top.csv",
        r"only one row is wanted.*",
    ),
    Finding(
        "Monitoring",
        "nothing measured the shortlists that were really written",
        "demo",
        "monitor again/shortlist.csv --outcomes outcomes.csv --id claim_id --label fraud --time date --every month",
        r"\d+ of 50 rows looked at.*",
    ),
    Finding(
        "Monitoring",
        "recall and base rate of outcomes that came back only for rows looked at",
        "demo",
        "monitor again/shortlist.csv --outcomes outcomes.csv --id claim_id --label fraud --time date --every month",
        r"recall and the share.*",
    ),
    Finding(
        "Monitoring",
        "`evaluate` compared a shortlist with chance among itself",
        "demo",
        "evaluate again/shortlist.csv --outcomes outcomes.csv --id claim_id --label fraud",
        r".*count for recall and for chance.*",
    ),
    Finding(
        "Monitoring",
        "a model trained from such outcomes",
        "demo",
        f"train reviews.csv {CLAIMS} --checked chance --model ap-boost -o checked.shortlist",
        r"learned from [\d,]+ rows? looked at.*",
    ),
    Finding(
        "Monitoring",
        "the same without random checks",
        "demo",
        f"train reviews-no-checks.csv {CLAIMS} --checked chance --model ap-boost -o checked.shortlist",
        r".*marks no row as a random check.*",
        code=2,
    ),
    Finding(
        "Quiet days and partial periods",
        "fewer rows than the budget",
        "demo",
        "score fraud.shortlist quiet.csv --budget 50 -o top.csv",
        r".*fewer than the budget.*",
    ),
    Finding(
        "Quiet days and partial periods",
        "a day without rows ended with an error",
        "messy",
        "rank h.csv n_empty.csv --label fraud_reported --id policy_number --model logistic -k 50 -o top.csv",
        r".*shortlist is empty.*",
    ),
    Finding(
        "Quiet days and partial periods",
        "a last period that rows do not fill was drawn as a fall",
        "demo",
        f"backtest history.csv {CLAIMS} --every quarter --models logistic --json",
        r'"period": "[^"]*\(partial\)"',
    ),
    Finding(
        "A manager's questions",
        "what matters was not told",
        "demo",
        f"backtest history.csv {CLAIMS} --every quarter --models logistic --json",
        r'"importance": \[\s*\{[^}]*\}',
    ),
    Finding(
        "A manager's questions",
        "whether chances are what is found was not told",
        "demo",
        f"backtest history.csv {CLAIMS} --value amount --every quarter --models logistic --json",
        r'"calibration": \[\s*\{[^}]*\}',
    ),
    Finding(
        "A manager's questions",
        "no figures by group",
        "demo",
        f"backtest history.csv {CLAIMS} --every quarter --models logistic --slice repair_shop --json",
        r'"slices": \[\s*\{[^}]*\}',
    ),
    Finding(
        "A million rows",
        "all flights of a year, walked through",
        "flights",
        f"backtest flights.csv {FLIGHTS} --time time_hour --every quarter --models xgboost -k 500",
        r"Looking at 500 rows.*",
    ),
    Finding(
        "A million rows",
        "a million rows to learn from: three years of such flights",
        "flights",
        "train million.parquet --label late --ignore tailnum --model xgboost -o late.shortlist",
        r"learned from .*?wanted",
    ),
)


def answer(command: str, folder: Path) -> tuple[int, str]:
    """The exit code, and all that the program says, each sentence in one line."""
    done = subprocess.run(
        [sys.executable, "-m", "shortlist", *shlex.split(command)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
    )
    return done.returncode, f"{done.stderr}\n{done.stdout}"


def picked(finding: Finding, said: str) -> str | None:
    """The sentence that answers a finding."""
    found = re.search(finding.says, said)
    return (
        None if found is None else " ".join(found[0].removeprefix("note: ").removeprefix("error: ").split())
    )


def measure(tables: Sequence[str]) -> dict[str, Any]:
    """Every finding on the tables that are at hand; commands that several ask for are run once."""
    left_out, rows, run = {}, [], {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for table in tables:
            try:
                TABLES[table](folder)
            except FileNotFoundError as absent:
                left_out[table] = str(absent)
        for finding in FINDINGS:
            if finding.table not in tables or finding.table in left_out:
                continue
            if finding.command not in run:
                run[finding.command] = answer(finding.command, folder)
            code, said = run[finding.command]
            rows.append(
                {
                    "about": finding.about,
                    "finding": finding.was,
                    "command": f"shortlist {finding.command}",
                    "exit code": code,
                    "as it should": code == finding.code,
                    "answer": picked(finding, said),
                }
            )
    return {"findings": rows, "left out": left_out}


def page(found: dict[str, Any]) -> str:
    """The page of the documentation."""
    missing = "; ".join(f"{name}: {why}" for name, why in found["left out"].items())
    left_out = f"Left out: {missing}." if missing else "All tables were at hand."
    text = PAGE.format(left_out=left_out, how=how("quality.trial"))
    for about in dict.fromkeys(row["about"] for row in found["findings"]):
        text += f"\n## {about}\n\n| finding | command | its answer |\n|---|---|---|\n"
        for row in (row for row in found["findings"] if row["about"] == about):
            told = (row["answer"] or "").replace("|", "\\|")
            told = f"`{told}`" if told.startswith('"') else told  # of what is told as JSON
            text += f"| {row['finding']} | `{row['command']}` | {told} |\n"
    return text


def show(found: dict[str, Any]) -> None:
    for row in found["findings"]:
        state = "" if row["as it should"] and row["answer"] else "MISSING: "
        print(f"{state}{row['finding']}\n  {row['command']}\n  {row['exit code']}: {row['answer']}")
    for name, why in found["left out"].items():
        print(f"left out: {name}, {why}")


def main(arguments: Sequence[str]) -> None:
    """Run every command of the trial and keep its answer."""
    parser = study_parser(__name__, __doc__, "the demo alone")
    parser.add_argument("--page", action="store_true", help="print the page from the answers that are kept")
    options = parser.parse_args(arguments)
    if options.page:
        print(page(kept("quality.trial")), end="")
        return
    tell(measure(["demo"] if options.quick else [*TABLES]), options.json, show)
