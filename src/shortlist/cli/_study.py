"""The command that backtest and compare share: the same options, another question."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from shortlist.cli import _options as options
from shortlist.cli._output import deliver_result, progress


def study_command(name: str, summary: str) -> Callable[..., None]:
    """The command that calls the function of this name in ``shortlist.workflow``."""

    def command(
        history: options.History,
        label: options.Label = None,
        wanted: options.Wanted = None,
        skip_empty_labels: options.SkipEmptyLabels = False,
        impact: options.Impact = None,
        impact_known: options.ImpactKnown = False,
        list_: options.ListColumn = None,
        id_: options.Id = None,
        time: options.Time = None,
        every: options.Every = None,
        delay: options.Delay = 0,
        folds: options.Folds = 5,
        ignore: options.Ignore = None,
        budget: options.Budget = 50,
        models: options.Models = None,
        baseline: options.Baselines = None,
        baseline_column: options.BaselineColumns = None,
        report: options.Report = None,
        output: options.Output = None,
        replace: options.Replace = False,
        seed: options.Seed = 0,
        jobs: options.Jobs = None,
        json: options.Json = False,
    ) -> None:
        run: Callable[..., Any] = getattr(import_module("shortlist.workflow"), name)

        options.need_label_or_impact(label, impact)
        options.need_target(output, history, replace=replace)
        options.need_page(report, history)
        with progress(f"ranking {history}") as on_progress:
            result = run(
                history,
                label=label,
                impact=impact,
                impact_known=impact_known,
                list=list_,
                id=id_,
                time=time,
                ignore=ignore or (),
                wanted=wanted,
                skip_empty_labels=skip_empty_labels,
                budget=budget,
                every=every,
                delay=delay,
                n_folds=folds,
                models=None if models is None else options.names(models),
                baselines=baseline or (),
                baseline_columns=baseline_column or (),
                random_state=seed,
                n_jobs=jobs,
                on_progress=on_progress,
            )
        deliver_result(result, output, report, replace=replace, json=json)

    command.__doc__ = summary
    return command
