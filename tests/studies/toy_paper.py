"""A paper that takes no time and needs no data, for tests of the frame."""

import time
from pathlib import Path

from studies.frame.cells import Cell
from studies.frame.claims import Claim, paired
from studies.frame.command import run_paper
from studies.frame.paper import Figure, Paper, Table, entry


def work(seed, method, log, wait=0.0):
    """A figure that follows from its settings; the log tells how often it was worked for."""
    time.sleep(wait)
    with Path(log).open("a") as file:
        file.write(f"{method} {seed}\n")
    return {"figure": seed + (10 if method == "ours" else 0) + 0.25}


def paper(log, wait=0.0):
    def plan(repeats, quick):
        return [
            Cell.of(work, seed=seed, method=method, log=str(log), wait=wait)
            for seed in range(repeats)
            for method in ("ours", "theirs")
        ]

    def entries(found):
        for method in ("ours", "theirs"):
            yield entry("set", method, found.where(method=method).each("figure"), 12.0)

    def judge(found):
        return paired(*(found.where(method=method).each("figure") for method in ("ours", "theirs")))

    def draw(found, sheet):
        sheet.subplots().plot(found.where(method="ours").each("figure"))

    return Paper(
        name="toy",
        title="A toy",
        reference="Nobody, never",
        tables=(
            Table("1", "figures", plan, entries),
            Table("2", "asked for only", plan, entries, optional=True),
        ),
        figures=(Figure("1", "a line", plan, draw),),
        claims=(Claim("ours is above theirs", "Section 1", plan, judge),),
        repeats=6,
        left_out=("Nothing.",),
    )


def main(log, wait, *arguments):
    run_paper(paper(log, float(wait)), "studies.papers.toy", arguments, quick="two repeats")
