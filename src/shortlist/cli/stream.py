"""``shortlist stream``: ask for few labels in each window of a stream, and learn from them."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import err, note, out, print_json
from shortlist.exceptions import InvalidInputError

if TYPE_CHECKING:
    from shortlist.stream.run import StreamRun

#: Characters of the longest bar of the plot.
_BAR = 30


class Scheme(StrEnum):
    """How rows beyond the top are chosen."""

    sequential = "sequential"
    exponential = "exponential"
    inverse = "inverse"
    uniform = "uniform"


class LearnerName(StrEnum):
    """What learns from the labels."""

    refit = "refit"
    perceptron = "perceptron"


class Kernel(StrEnum):
    """Whether scores are linear."""

    auto = "auto"
    linear = "linear"
    rbf = "rbf"


def command(
    source: Annotated[
        str,
        typer.Argument(
            help="A folder that grows, a glob of CSV/Parquet/JSON-lines files, or - for standard input."
        ),
    ],
    budget: options.Budget = 50,
    extra_labels: Annotated[
        int | None,
        typer.Option(
            help="Labels to ask for per window beyond the budget. \\[default: as many as the budget]"
        ),
    ] = None,
    state: Annotated[
        Path, typer.Option(metavar="FILE", help="What the stream has learned and taken; made if absent.")
    ] = Path("stream.state"),
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the rows to label go.")
    ] = Path("stream"),
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="File or folder in which labels come back: the id and a column 'wanted'."
        ),
    ] = None,
    id_: options.Id = None,
    ignore: options.Ignore = None,
    window_rows: Annotated[
        int | None,
        typer.Option(help="Rows per window. \\[default: one file is one window; 1,000 on standard input]"),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Stop when there is nothing new, instead of waiting.")
    ] = False,
    poll: Annotated[float, typer.Option(help="Seconds between looks for new files.")] = 2.0,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Answer from the --label column, and measure.")
    ] = False,
    label: options.Label = None,
    wanted: options.Wanted = None,
    total_labels: Annotated[
        int | None, typer.Option(help="Most labels to ask for in the whole stream.")
    ] = None,
    scheme: Annotated[
        Scheme, typer.Option(help="How rows beyond the budget are chosen.")
    ] = Scheme.sequential,
    learner: Annotated[
        LearnerName,
        typer.Option(help="refit, or the paper's perceptron (asks in rounds: only with --simulate)."),
    ] = LearnerName.refit,
    kernel: Annotated[
        Kernel, typer.Option(help="linear is faster, rbf bends; auto: rbf for the refit.")
    ] = Kernel.auto,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Rank each window of a stream, ask for few labels, learn from those that come back.

    Stop and start at will: windows are taken exactly once.

    Example: [bold]shortlist stream incoming/ --budget 50 --extra-labels 25 --id claim_id --labels answered/[/]
    """
    from shortlist.stream import ActiveRanker
    from shortlist.stream.answers import Answers
    from shortlist.stream.lock import only_one
    from shortlist.stream.questions import Folder
    from shortlist.stream.run import StreamRun
    from shortlist.stream.windows import open_source
    from shortlist.tables import Roles

    _check_options(simulate, label, labels, learner)
    ranker = ActiveRanker(
        budget,
        extra_labels=extra_labels,
        total_labels=total_labels,
        scheme=str(scheme),
        learner=str(learner),
        kernel=None if kernel is Kernel.linear else str(kernel),
        random_state=seed,
    )
    watch = not (once or simulate) and Path(source).is_dir()
    with only_one(state):
        windows = open_source(source, sys.stdin, Path(f"{state}.lines"), window_rows=window_rows, watch=watch)
        run = StreamRun(
            ranker,
            windows,
            state=state,
            folder=Folder(output),
            roles=Roles(id=id_, label=label if simulate else None, ignore=tuple(ignore or ())),
            answers=None if labels is None else Answers(labels, id_ or "id"),
            wanted=wanted,
            say=note,
        )
        _work(run, poll if watch else None, quiet=json)
    _show(run, simulate=simulate, as_json=json)


def _check_options(simulate: bool, label: str | None, labels: Path | None, learner: LearnerName) -> None:
    if simulate and label is None:
        raise InvalidInputError("--simulate needs the answers: --label COLUMN.")
    if label is not None and not simulate:
        raise InvalidInputError(
            "--label is for --simulate; labels of a live stream come back in --labels PATH."
        )
    if simulate and labels is not None:
        raise InvalidInputError("--simulate takes its answers from --label; leave --labels out.")
    if learner is LearnerName.perceptron and not simulate:
        raise InvalidInputError(
            "the perceptron asks for labels in rounds; use it with --simulate, or leave --learner out."
        )


def _work(run: StreamRun, poll: float | None, *, quiet: bool) -> None:
    """Take labels and windows until there are none; with ``poll``, wait for more until interrupted."""
    try:
        while True:
            settled = run.take_labels()
            if settled and not quiet:
                err.print(f"took {settled} labels")
            if run.take_window():
                if not quiet and run.reports and run.reports[-1]["file"]:
                    last = run.reports[-1]
                    err.print(
                        f"window {last['window']}: {last['rows']:,} rows, {last['labels']} to label in {last['file']}"
                    )
            elif poll is None:
                return
            else:
                time.sleep(poll)
    except KeyboardInterrupt:
        note("stopped; start again with the same options to go on.")


def _show(run: StreamRun, *, simulate: bool, as_json: bool) -> None:
    if as_json:
        print_json(
            {"budget": run.ranker.k, "waiting": len(run.asked), "windows": run.reports, **_totals(run)}
        )
        return
    if not simulate:
        out.print(f"{len(run.reports)} windows taken, {len(run.asked)} rows wait for a label.")
        return
    for line in _plot(run):
        out.print(line)


def _totals(run: StreamRun) -> dict[str, Any]:
    known = [each["precision"] for each in run.reports if each["precision"] is not None]
    return {
        "precision": sum(known) / len(known) if known else None,
        "labels": sum(each["labels"] for each in run.reports),
        "rows": sum(each["rows"] for each in run.reports),
        "alarms": [each["window"] for each in run.reports if each["alarm"]],
    }


def _plot(run: StreamRun) -> list[str]:
    """One line per window, with a bar as long as its precision."""
    lines = [f"[bold]window      rows  labels  precision@{run.ranker.k}[/]"]
    for each in run.reports:
        precision = each["precision"] or 0.0
        bar = "█" * round(precision * _BAR) + "·" * (_BAR - round(precision * _BAR))
        alarm = "  [red]drift[/]" if each["alarm"] else ""
        lines.append(
            f"{each['window']:>6} {each['rows']:>9,} {each['labels']:>7,}  {bar} {precision:.3f}{alarm}"
        )
    total = _totals(run)
    mean = "–" if total["precision"] is None else f"{total['precision']:.3f}"
    share = total["labels"] / max(total["rows"], 1)
    lines.append(f"mean {mean} with {total['labels']:,} labels of {total['rows']:,} rows ({share:.2%})")
    return lines
