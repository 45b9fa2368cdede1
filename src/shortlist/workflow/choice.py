"""Which ranker to train where none is named: the one that would have found the most, where money is at stake."""

from __future__ import annotations

from dataclasses import replace

from shortlist.counts import about, counted
from shortlist.exceptions import InvalidInputError
from shortlist.question import Question
from shortlist.rankers.catalogue import RankerOptions
from shortlist.tables import Table
from shortlist.workflow.candidates import model_for, usual_models, usual_rules
from shortlist.workflow.history.sentences.amounts import amount
from shortlist.workflow.history.splits import folds, walk_forward
from shortlist.workflow.history.tally import Tally
from shortlist.workflow.history.trials import Rankings, run_trials


def choose_model(question: Question, history: Table, options: RankerOptions) -> tuple[str, tuple[str, ...]]:
    """The name of the ranker to train, and how it was chosen.

    With a label and a value known beforehand, rankers differ by much more than chance, and which is best depends on
    the history: all that ``backtest`` tries by default are compared on the same periods or folds as there, by what
    they find within the budget: value, or wanted rows where these alone were asked for. Otherwise the catalogue's
    default is taken.
    """
    default = model_for(question.roles)
    if question.roles.value is None:
        return default, ()
    if history.weight is not None:
        return default, (
            f"{default} is trained without comparing it with others: outcomes are known only of rows that were looked "
            "at, so what rankings would have found among all rows cannot be known. Name another with --model.",
        )
    try:
        tally = _hold_trials(question, history, options)
    except InvalidInputError as error:  # what it advises beyond the reason is for backtest
        reason = str(error).split(". ")[0].rstrip(".")
        return default, (f"{default} is trained without comparing it with others: {reason}.",)
    found = {row["ranking"]: row[tally.goal] for row in tally.totals().to_dicts()}
    models = [name for name in found if name in tally.trials.models]
    return models[0], (*_says(found, models, question, tally), *tally.trials.left_out)


def _hold_trials(question: Question, history: Table, options: RankerOptions) -> Tally:
    models = usual_models(question.roles, None, options)
    rankings = Rankings.of(models, usual_rules(question.roles, ()), replace(options, tune=False))
    splits = (
        folds(history, random_state=question.random_state)
        if history.time is None
        else walk_forward(history.time)
    )
    # As backtest does: what texts are worth is decided without the rows that a ranking is judged by.
    trials = run_trials(history.left_open(), splits, rankings, on_progress=question.on_progress)
    return Tally(trials, options.budget, question.random_state)


def _says(found: dict[str, float], models: list[str], question: Question, tally: Tally) -> tuple[str, ...]:
    where = "fold" if question.time is None else "period"
    how = "cross-validation" if question.time is None else "walking through the history"
    in_words, of = (about, "wanted rows") if tally.goal == "found" else (amount, f"of {question.roles.value}")
    others = "".join(f", {name} {in_words(found[name])}" for name in models[1:])
    rule = f"{question.roles.value} desc"
    says = (
        f"{models[0]} was chosen by {how}: within {counted(tally.budget, 'row')} of each {where} it found "
        f"{in_words(found[models[0]])} {of}{others}; sorting by {question.roles.value} "
        f"{in_words(found[rule])}. Name another with --model."
    )
    if found[rule] <= found[models[0]]:
        return (says,)
    return (says, f"sorting by {question.roles.value} found more than any model: see shortlist backtest.")
