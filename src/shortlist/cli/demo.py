"""``shortlist demo``: the main job, from files to a shortlist, on synthetic insurance claims."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from shortlist.cli import _options as options
from shortlist.cli._output import found_fields, out, print_json, print_table, progress, say
from shortlist.counts import about
from shortlist.exceptions import InvalidInputError
from shortlist.question.options import ModelName, Seed

BUDGET = 50
MODEL = "ap-boost"  # naming it spares the comparison that rank would hold
SHOWN = ["rank", "claim_id", "amount", "score", "chance", "policy_age_days", "repair_shop"]


def command(
    folder: Annotated[Path, typer.Option("--folder", help="Where to write the files.")] = Path("demo"),
    model: ModelName = None,
    seed: Seed = 0,
    json: options.Json = False,
) -> None:
    """Rank synthetic insurance claims by expected value within a budget of 50 and show what that finds.

    Example: [bold]shortlist demo --folder demo[/]
    """
    from shortlist.models.shortlist import expectation
    from shortlist.workflow import evaluate, rank

    history, new, outcomes = write_claims(folder, seed)
    with progress("learning from the history"):
        ranked = rank(
            history,
            new,
            label="fraud",
            value="amount",
            id="claim_id",
            budget=BUDGET,
            model=model or MODEL,
            keep_all=True,
            random_state=seed,
        )
    shortlist = ranked.frame.head(BUDGET)
    result = evaluate(
        ranked.frame,
        outcomes=outcomes,
        id="claim_id",
        label="fraud",
        impact="amount",
        against=["chance", "amount"] if "chance" in ranked.frame.columns else ["amount"],
        budget=BUDGET,
    )
    _write(shortlist, folder / "shortlist.csv")
    if json:
        print_json(
            {
                "model": ranked.model,
                "budget": BUDGET,
                "found": found_fields(ranked),
                "shortlist": shortlist,
                "rankings": result.table,
            }
        )
        return
    shown = [name for name in SHOWN if name in shortlist.columns]
    print_table(shortlist.select(shown), title=f"The {BUDGET} claims to look at first (synthetic data)")
    if ranked.found is not None:
        out.print(expectation(ranked.found, ranked.within), soft_wrap=True)
    title = f"What {BUDGET} reviews find among {result.rows:,} new claims, {result.wanted} of them fraudulent"
    print_table(_in_words(result.in_words()), title=title, figures=result.side_by_side())
    out.print(_trade(result.table), soft_wrap=True)
    out.print(
        f"Model: {ranked.model}. The shortlist is in {folder / 'shortlist.csv'}. Now with your own files:"
    )
    out.print(
        "  shortlist rank HISTORY.csv NEW.csv --label COLUMN --value COLUMN --id COLUMN -o shortlist.csv"
    )


def _trade(rankings: pl.DataFrame) -> str:
    """What ranking for money gains over sorting by amount, and what it costs in frauds found."""
    from shortlist.workflow.history.sentences.amounts import amount

    found = {row["ranking"]: row for row in rankings.to_dicts()}
    ours, by_amount, by_chance = (found.get(name) for name in ("score", "amount", "chance"))
    assert ours is not None
    assert by_amount is not None
    more = ours["impact found"] - by_amount["impact found"]
    says = (
        f"Ranked by expected value, {BUDGET} reviews find {amount(abs(more))} {_side(more)} money than sorting "
        "by amount."
    )
    if by_chance is None:
        return says
    frauds, money = (by_chance[name] - ours[name] for name in ("found", "impact found"))
    return (
        f"{says} Ranked by the chance of fraud alone they would find {about(abs(frauds))} {_fewer(frauds)} frauds and "
        f"{amount(abs(money))} {_side(money)} money: --value-power 0 does that."
    )


def _fewer(difference: float) -> str:
    return "more" if difference >= 0 else "fewer"


def _side(difference: float) -> str:
    return "more" if difference >= 0 else "less"


def _in_words(measures: pl.DataFrame) -> pl.DataFrame:
    """The measures that an investigator cares for, under the names they would use."""
    words = {
        "found": "frauds found",
        "precision": "precision",
        "recall": "recall",
        "impact found": "money found",
    }
    return (
        measures.filter(pl.col("measure").is_in([*words]))
        .with_columns(pl.col("measure").replace(words))
        .rename(
            {"score": "shortlist", "chance": "by chance of fraud", "amount": "sorted by amount"}, strict=False
        )
    )


def write_claims(folder: Path, seed: int) -> tuple[Path, Path, Path]:
    """Write history with outcomes, new claims without, and the outcomes of the new claims aside."""
    from shortlist.datasets import make_claims

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(
            f"the folder {folder} cannot be made ({error.strerror}); name another: --folder"
        ) from None
    claims = make_claims(25_000, random_state=seed)
    history, new = claims.head(20_000), claims.tail(5_000)
    paths = folder / "history.csv", folder / "new.csv", folder / "outcomes.csv"
    parts = history, new.drop("fraud"), new.select("claim_id", "fraud")
    for path, part in zip(paths, parts, strict=True):
        _write(part, path)
    (folder / "README.txt").write_text(
        "Synthetic insurance claims, made by `shortlist demo`. No real person or claim.\n"
    )
    return paths


def _write(frame: object, path: Path) -> None:
    from shortlist.tables import write_table

    write_table(frame, path)
    say(f"wrote {path}")
