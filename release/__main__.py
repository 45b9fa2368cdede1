"""``python -m release NAME``: one of the things that a release is made and judged by."""

import sys
from importlib import import_module

#: What there is, what it is for, and where it is done.
JOBS = {
    "results": ("write the table of results of the README", "release.results", "main"),
    "evidence": (
        "write below each table of the evidence how it was made",
        "release.evidence",
        "main",
    ),
    "size": ("what an install takes, package by package", "release.packages", "size_main"),
    "sbom": ("print the bill of materials of what is installed", "release.sbom", "main"),
    "audit": ("is what is installed locked, permitted, and not known to be faulty?", "release.audit", "main"),
    "figures": (
        "keep this version's figures, and write the page that compares versions",
        "release.figures",
        "main",
    ),
    "package": ("build, install into empty environments, run the demo", "release.package", "main"),
    "newcomer": ("the README as a new user, with a stopwatch", "release.newcomer", "main"),
}
TAKE_ARGUMENTS = {"audit", "package", "newcomer"}


def main(arguments: list[str]) -> None:
    """Run one, or list them."""
    if not arguments or arguments[0] not in JOBS:
        print(*(f"{name:10}{about}" for name, (about, *_) in JOBS.items()), sep="\n")
        sys.exit(0 if not arguments else f"there is no {arguments[0]}")
    _, home, function = JOBS[arguments[0]]
    job = getattr(import_module(home), function)
    job(arguments[1:]) if arguments[0] in TAKE_ARGUMENTS else job()


if __name__ == "__main__":
    main(sys.argv[1:])
