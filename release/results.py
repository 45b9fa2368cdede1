"""The table of results of the README, from the summaries in ``studies/results``: nothing in it is typed by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from studies.kept import kept
from studies.quality.target_defaults import CONFIRM as SECOND
from studies.quality.value_sets import CONFIRM

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
#: Between these lines of the README the table stands.
BEGIN, END = "<!-- results: python -m release results -->\n", "<!-- end of results -->"
#: What is here of each paper.
PAPERS = {
    "sgbap": "APBoost",
    "cost_sensitive": "ranking by cost",
    "ojrank": "OJRank",
    "prec_at_k": "streams",
    "target": "TargetTree",
}
#: Claims that are not the papers' own.
OURS = {"our bar", "our own", "found by us"}


def short(value: float) -> str:
    """As the pages write figures: .774."""
    return f"{value:.3f}".removeprefix("0")


def table() -> str:
    """All of it."""
    head = ["what is asked", "here", "beside", "evidence"]
    rows = [head, ["---"] * len(head), _labels(), _money(), _verdicts(), _scorecard(), *_papers()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _labels() -> list[str]:
    """Of the sets on which nothing was chosen."""
    found = kept("quality.ap_boost")["confirm"]
    by_name = {line["method"]: short(line["mean AP"]) for line in found["summary"]}
    rivals = {
        "LightGBM": "LightGBM",
        "XGBoost": "XGBoost logistic",
        "CatBoost": "CatBoost",
        "extra trees": "ExtraTrees",
        "random forest": "random forest",
        "logistic regression": "logistic regression",
    }
    on = f"{found['sets']} confirming sets, {found['splits'][1]} splits"
    return [
        f"labels: average precision of new rows, {on}, rivals tuned",
        f"`APBoost` {by_name['APBoost']}",
        ", ".join(f"{name} {by_name[key]}" for name, key in rivals.items()),
        "[APBoost](docs/evidence/ap-boost.md)",
    ]


def _money() -> list[str]:
    """Of the tables on which nothing was chosen."""
    found = kept("quality.value")
    share = {way: short(line["share"]) for way, line in found["confirm"].items()}
    tables = sum(name in CONFIRM for name in found["by set"])
    rivals = {"sorted by amount": "value alone", "XGBoost": "XGBoost, chance x value"}
    rivals["LightGBM"] = "LightGBM, chance x value"
    rivals["logistic regression"] = "logistic regression, chance x value"
    return [
        f"money: share of what the ideal order finds within {found['budget']} rows, "
        f"{tables} confirming tables",
        f"`--value` {share['what train takes by itself']}",
        ", ".join(f"{name} {share[way]}" for name, way in rivals.items()) + " (models: chance × amount)",
        "[workflow](docs/evidence/workflow.md)",
    ]


def _verdicts() -> list[str]:
    """Of the sets that confirm."""
    entries = kept("papers.ojrank")["tables"]["means"]["entries"]
    column = "precision, 10 confirming sets"
    precision = {each["row"]: short(each["ours"]) for each in entries if each["column"] == column}
    rivals = {name: name for name in ("OMD-LLH", "OJRank", "AAD")} | {"never learning": "Offline"}
    return [
        f"no labels: share of wanted rows among those reviewed, {column.removeprefix('precision, ')}",
        f"`LeafSimilarity` {precision['Similarity']}",
        ", ".join(f"{name} {precision[key]}" for name, key in rivals.items()),
        "[feedback](docs/evidence/feedback.md)",
    ]


def _scorecard() -> list[str]:
    """Of the sets that confirm."""
    found = [line for name, line in kept("quality.target_defaults").items() if name in SECOND]

    def mean(setting: str) -> str:
        return short(sum(each[setting]["ap"] for each in found) / len(found))

    return [
        f"a score to read: average precision, {len(found)} confirming sets",
        f"four small trees {mean('scorecard = 4')}",
        f"one tree {mean('alpha = 0.1 / sqrt(wanted)')}, one of up to 16 leaves {mean('one tree of 16 leaves')}",
        "[TargetTree](docs/evidence/target.md)",
    ]


def _papers() -> Iterator[list[str]]:
    """Which claims of the papers held when their experiments were run again."""
    for name, place in PAPERS.items():
        found = kept(f"papers.{name}")
        claims = [each["verdict"] for each in found.get("claims", ()) if each["where"] not in OURS]
        if claims:
            counts = Counter(claims)
            others = sorted(counts.keys() - {"holds"})
            told = ", ".join(f"{counts[word]} {_plural(word, counts[word])}" for word in others)
            yield [
                f"claims of the paper behind {place} ({found['reference']})",
                f"{counts['holds']} of {len(claims)} hold",
                told,
                "[papers](docs/evidence/papers.md)",
            ]


def _plural(verdict: str, count: int) -> str:
    return verdict if count == 1 else verdict.replace("does not", "do not")


def written(text: str) -> str:
    """A README with today's table."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main() -> None:
    """Write the README anew."""
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
