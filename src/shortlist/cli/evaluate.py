"""``shortlist evaluate``: measure a ranking once outcomes are known."""

from __future__ import annotations

from shortlist.cli import _options as options
from shortlist.cli._output import deliver, note, out
from shortlist.question import EvaluateQuestion


def command(
    question: EvaluateQuestion,
    output: options.Output = None,
    replace: options.Replace = False,
    verbatim: options.Verbatim = False,
    json: options.Json = False,
) -> None:
    """Measure a ranking by what it puts within the budget, beside chance and simple rules.

    Example: [bold]shortlist evaluate shortlist.csv --outcomes outcomes.csv --id claim_id --label fraud --budget 50[/]
    """
    from shortlist.workflow import evaluate
    from shortlist.workflow.history.sentences.words import Words

    options.need_label_or_impact(question.label, question.impact)
    options.need_target(output, question.scored, question.outcomes, replace=replace)
    result = evaluate(**vars(question))
    for message in result.notes:
        note(message)
    if not (result.rows or output or json):  # the note has said it all
        return
    if result.rows and not json:
        out.print(f"{result.wanted:,} of {result.rows:,} rows are wanted; budget {result.budget:,}.")
    summary = {
        "rows": result.rows,
        "wanted": result.wanted,
        "budget": result.budget,
        "notes": result.notes,
        "rankings": result.table,
    }
    words = Words(worth=question.value or "impact")
    deliver(
        result.side_by_side(),
        output,
        replace=replace,
        verbatim=verbatim,
        as_json=summary if json else None,
        spoken=result.in_words(words),
    )
