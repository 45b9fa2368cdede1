"""Benchmark figures tracked over versions: one JSON file per release, and a page that lays them side by side.

Figures are those of the summaries in ``studies/results`` on the day of the release, and what an install takes in the
environment that this runs in, package by package. A version's file is written anew until the next begins; those of
before are not touched.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from release.packages import sizes
from release.results import ROOT
from shortlist import __version__
from studies.kept import kept, made_by

FIGURES = Path(__file__).parent / "figures"
PAGE = ROOT / "docs" / "evidence" / "releases.md"
#: The page that says what an install takes, between these lines.
INSTALL = ROOT / "docs" / "how-to" / "install.md"
BEGIN, END = "<!-- size: python -m release figures -->\n", "<!-- end of size -->"


def _by_method(part: Any) -> dict[str, Any]:
    return {line["method"]: line for line in part["summary"]}


def _review(rows: int, name: str) -> float:
    return next(each[name] for each in kept("speed.review_load") if each["rows"] == rows)


def _precision(row: str) -> float:
    entries = kept("papers.ojrank")["tables"]["means"]["entries"]
    return next(e["ours"] for e in entries if (e["row"], e["column"]) == (row, "precision, 21 sets"))


def _scale(what: str, rows: int, name: str) -> float:
    growth = kept("speed.scale")["growth"]
    return next(each[name] for each in growth if (each["what"], each["rows"]) == (what, rows))


#: Name and unit; the study; how it is had.
TRACKED: dict[str, tuple[str, Callable[[], float]]] = {
    "APBoost, average precision, 28 sets (up)": (
        "quality.ap_boost",
        lambda: _by_method(kept("quality.ap_boost")["both"])["APBoost"]["mean AP"],
    ),
    "APBoost minus LightGBM, average precision (up)": (
        "quality.ap_boost",
        lambda: _by_method(kept("quality.ap_boost")["both"])["LightGBM"]["APBoost minus it"],
    ),
    "share of the ideal money within 50 rows (up)": (
        "quality.value",
        lambda: kept("quality.value")["all"]["what train takes by itself"]["share"],
    ),
    "LeafSimilarity, precision, 21 sets (up)": ("papers.ojrank", lambda: _precision("Similarity")),
    "leaks named, share (up)": ("quality.leaks", lambda: kept("quality.leaks")["both"]["named"]),
    "honest columns accused, share (down)": (
        "quality.leaks",
        lambda: kept("quality.leaks")["both"]["accused"],
    ),
    "acknowledged verdicts lost under faults (0)": (
        "quality.review_faults",
        lambda: kept("quality.review_faults")["all"]["lost"],
    ),
    "99th percentile of a verdict, 20 people, 10,000 rows, ms (down)": (
        "speed.review_load",
        lambda: _review(10_000, "p99_ms"),
    ),
    "CPU per verdict, 1,000,000 rows, ms (down)": (
        "speed.review_load",
        lambda: _review(1_000_000, "cpu_ms_per_verdict"),
    ),
    "shortlist --help, CPU s (down)": ("speed.start", lambda: kept("speed.start")["cpu seconds"]["help"]),
    "score of 300 rows, CPU s (down)": ("speed.start", lambda: kept("speed.start")["cpu seconds"]["score"]),
    "score 1 M rows batch by batch, CPU s (down)": (
        "speed.scale",
        lambda: _scale("score batch by batch", 10**6, "cpu"),
    ),
    "an install, MB (down)": (
        "release size",
        lambda: round(float(sizes()[-1]["MB"])),
    ),
}


def taken() -> dict[str, Any]:
    """Figures of the version that runs."""
    made = made_by()
    return {
        "version": __version__,
        **{fact: made[fact] for fact in ("python", "machine", "date")},
        "packages": sizes(),
        "figures": {
            name: {"study": study, "value": round(float(value()), 4)}
            for name, (study, value) in TRACKED.items()
        },
    }


def page() -> str:
    """All versions side by side, the newest first."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in FIGURES.glob("*.json")]
    found.sort(key=lambda each: [int(part) for part in each["version"].split(".")], reverse=True)
    names = {name: each["study"] for one in found for name, each in one["figures"].items()}
    head = ["figure", *(f"{each['version']}" for each in found), "by"]
    rows = [head, ["---"] * len(head)]
    for name, study in names.items():
        values = [one["figures"].get(name, {}).get("value") for one in found]
        by = f"`python -m {study}`" if study.startswith("release") else f"`python -m studies {study}`"
        rows.append([name, *("" if value is None else f"{value:g}" for value in values), by])
    made = "; ".join(
        f"{one['version']}: Python {one['python']}, {one['machine']}, {one['date']}" for one in found
    )
    return (
        "# Figures by version\n\nWritten by `python -m release figures`: what the studies had found on the day of each "
        "release, and whether it should go up or down. Times are of machines that did other things, too: look at large "
        "changes only.\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows) + f"\n{made}.\n"
    )


def install_page(text: str) -> str:
    """The page about installing, with what this version takes."""
    one = json.loads((FIGURES / f"{__version__}.json").read_text(encoding="utf-8"))
    *_, whole = one["packages"]
    rows = [["package", "MB", "needed by"], ["---"] * 3]
    rows += [[each["package"], f"{each['MB']:.1f}", each["needed by"]] for each in one["packages"]]
    told = (
        f"In an empty environment of Python {one['python']} on {one['machine']} version {one['version']} takes "
        f"{whole['MB']:.0f} MB ({one['date']}):\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)
    )
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{told}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Keep this version's figures and write the pages."""
    FIGURES.mkdir(exist_ok=True)
    text = json.dumps(taken(), indent=1, ensure_ascii=False)
    (FIGURES / f"{__version__}.json").write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    INSTALL.write_text(install_page(INSTALL.read_text(encoding="utf-8")), encoding="utf-8")
