"""Learn from labelled history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shortlist.exceptions import InvalidInputError
from shortlist.models.batches.training import learns_by_batch, train_batches
from shortlist.models.trained import TrainedModel
from shortlist.models.training import train_on
from shortlist.question import RankQuestion, TrainQuestion
from shortlist.question.answer import answers
from shortlist.rankers.catalogue import RankerOptions, find_model
from shortlist.tables import Table
from shortlist.tables.io.frames import is_spark, is_spread
from shortlist.tables.memory import Plan, plan_for
from shortlist.validation import check_budget
from shortlist.workflow.candidates import check_weighs, model_for, options_of
from shortlist.workflow.choice import choose_model


@answers(TrainQuestion)
def train(question: TrainQuestion) -> TrainedModel:
    """Train a ranker on labelled history.

    With ``label`` and ``value`` and no ``model``, rankers are compared by what they would have found in the history,
    as ``backtest`` does, and the best is trained; ``notes`` tells.

    Examples
    --------
    >>> from shortlist.datasets import make_claims
    >>> model = train(make_claims(2_000, random_state=0), label="fraud", id="claim_id", model="logistic")
    >>> model.training["wanted"]
    60
    """
    options = ranker_options(question, question.budget)
    train_there = _cluster_of(question)
    if train_there is None:
        return train_planned(question, options, plan_training(question, options))
    model = train_there(question, options)
    return replace(model, notes=(*model.notes, *_not_compared(question)))


def _cluster_of(question: TrainQuestion) -> Callable[[TrainQuestion, RankerOptions], TrainedModel] | None:
    """Where a cluster was asked for, or has the rows: how it trains."""
    if question.dask is not None or is_spread(question.history):
        return _train_spread
    if question.spark is not None or is_spark(question.history):
        return _train_spark
    return None


def _train_spread(question: TrainQuestion, options: RankerOptions) -> TrainedModel:
    """Train where the rows lie: on a cluster that is joined for it, or on the one that a table of Dask is from."""
    from shortlist.models.batches.cluster import check_parts, read_parts, train_cluster  # noqa: PLC0415  few have one
    from shortlist.rankers.cluster.joining import joined_cluster  # noqa: PLC0415
    from shortlist.rankers.cluster.on_dask import present_client  # noqa: PLC0415

    _check_spread(question)
    name = question.model or model_for(question.roles)
    how = {"wanted": question.wanted, "on_progress": question.on_progress}
    if question.dask is None:
        return train_cluster(question.history, question.roles, name, options, client=present_client(), **how)
    table = question.history if is_spread(question.history) else None
    if table is None:
        check_parts(question.history)
    with joined_cluster(question.dask, n_jobs=question.n_jobs) as client:
        table = read_parts(question.history, len(client.nthreads())) if table is None else table
        return train_cluster(table, question.roles, name, options, client=client, **how)


def _train_spark(question: TrainQuestion, options: RankerOptions) -> TrainedModel:
    """Train in the tasks of a cluster that is joined for it, or of the one that a data frame of Spark is from."""
    from shortlist.models.batches.cluster import check_parts  # noqa: PLC0415  few have one
    from shortlist.models.batches.spark import train_spark  # noqa: PLC0415
    from shortlist.rankers.cluster.joining import joined_spark  # noqa: PLC0415

    _check_spread(question)
    table, name = question.history, question.model or model_for(question.roles)
    how = {"wanted": question.wanted, "on_progress": question.on_progress}
    if is_spark(table):
        return train_spark(table, question.roles, name, options, session=table.sparkSession, **how)
    check_parts(table)
    with joined_spark(question.spark or "") as session:
        return train_spark(table, question.roles, name, options, session=session, **how)


def _check_spread(question: TrainQuestion) -> None:
    """Refuse what a cluster cannot do."""
    if question.dask is not None and (question.spark is not None or is_spark(question.history)):
        raise InvalidInputError("a model is trained on one cluster; give --dask or --spark, not both.")
    hindering = {"--skip-empty-labels": question.skip_empty_labels, "--checked": question.checked is not None}
    given = [option for option, is_given in hindering.items() if is_given]
    if given:
        raise InvalidInputError(
            f"a cluster trains without {' and '.join(given)}; leave it out of the command."
        )


def plan_training(question: TrainQuestion | RankQuestion, options: RankerOptions) -> Plan:
    """Whether the history is learned from at once or batch by batch; what fits neither way is refused."""
    only_whole = _only_whole(question, options)
    return plan_for("train", question.history, question.memory, only_whole=only_whole)


def train_planned(question: TrainQuestion | RankQuestion, options: RankerOptions, plan: Plan) -> TrainedModel:
    """Train as was planned."""
    if not plan.by_batch:
        return train_best(question, question.read_history(plan=plan), options)
    name = question.model or model_for(question.roles)
    how = {"wanted": question.wanted, "on_progress": question.on_progress}
    how |= {"batch_rows": plan.batch_rows, "sample_rows": plan.batch_rows, "n_rows": plan.rows}
    model = train_batches(question.history, question.roles, name, options, **how)
    return replace(model, notes=(*model.notes, *_not_compared(question), *plan.notes))


def _not_compared(question: TrainQuestion | RankQuestion) -> tuple[str, ...]:
    """That a model was taken which nobody named, where only rows in memory could have shown another to be better."""
    if question.model is not None or question.roles.value is None:
        return ()
    name = model_for(question.roles)
    return (f"{name} is trained without comparing it with others, which needs all rows in memory.",)


def _only_whole(question: TrainQuestion | RankQuestion, options: RankerOptions) -> str | None:
    """What to do so that the history can be learned from batch by batch; None where nothing hinders it."""
    name = question.model or model_for(question.roles)
    if question.roles.label is None or not learns_by_batch(name, replace(options, tune=False)):
        return "learn from a label with --model ap-boost, which can learn batch by batch"
    hindering = {
        "--tune": options.tune,
        "--skip-empty-labels": question.skip_empty_labels,
        "--checked": question.checked is not None,
    }
    given = [option for option, is_given in hindering.items() if is_given]
    return f"leave out {' and '.join(given)}, to learn batch by batch" if given else None


def ranker_options(question: TrainQuestion | RankQuestion, budget: int) -> RankerOptions:
    """What shapes the ranker; what cannot be is told before the history is read."""
    name = question.model or model_for(question.roles)
    model = find_model(name)
    if not model.tunes and question.tune:
        raise InvalidInputError(f"model {name!r} has nothing to tune; leave tune out, or use ap-boost.")
    check_budget(budget)
    options = options_of(question, budget, tune=question.tune)
    check_weighs(name, model, options)
    return options


def train_best(
    question: TrainQuestion | RankQuestion, history: Table, options: RankerOptions
) -> TrainedModel:
    """Train the model that was named; where none was, the best for what is given."""
    named: tuple[str, tuple[str, ...]] | None = (question.model, ()) if question.model else None
    name, notes = named or choose_model(question, history, options)
    if options.tune and not find_model(name).tunes:
        notes = (*notes, f"{name} has nothing to tune, so --tune changed nothing; to tune: --model ap-boost.")
    model = train_on(history, name, options, on_progress=question.on_progress)
    return replace(model, notes=(*model.notes, *notes))
