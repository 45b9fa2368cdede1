"""``shortlist stream``: ask for few labels in each window of a stream, and learn from them."""

from __future__ import annotations

import io
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from shortlist.cli import _options as options
from shortlist.cli._output import note, out, print_json, say
from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError
from shortlist.question.options import Budget, Id, Ignore, Label, Seed, SkipEmptyLabels, Wanted

if TYPE_CHECKING:
    from shortlist.stream import ActiveRanker
    from shortlist.stream.run.stream_run import StreamRun
    from shortlist.tables import Roles

#: Characters of the longest bar of the plot.
_BAR = 30
#: Characters of a line of the plot beside the bar.
_BESIDE_BAR = 40


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


Source = Annotated[
    str,
    typer.Argument(help="A folder that grows, a glob of table files, or - for standard input."),
]
ExtraLabels = Annotated[
    int | None,
    typer.Option(
        help="Labels to ask for per window beyond the budget. "
        "\\[default: as many as the budget; perceptron: as many as it misses]"
    ),
]
TotalLabels = Annotated[int | None, typer.Option(help="Most labels to ask for in the whole stream.")]
State = Annotated[
    Path, typer.Option(metavar="FILE", help="What the stream has learned and taken; made if absent.")
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the rows to label go.")]
Labels = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH", help="File or folder in which labels come back: the id and a column 'wanted'."
    ),
]
WindowRows = Annotated[
    int | None,
    typer.Option(min=1, help="Rows per window. \\[default: one file is one window; 1,000 on standard input]"),
]
Like = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Table of typical rows, such as last month's, to learn from which kinds and categories columns have. "
        "\\[default: the first window]",
    ),
]
Once = Annotated[bool, typer.Option("--once", help="Stop when there is nothing new, instead of waiting.")]
Poll = Annotated[float, typer.Option(min=0.01, max=86_400, help="Seconds between looks for new files.")]
Simulate = Annotated[bool, typer.Option("--simulate", help="Answer from the --label column, and measure.")]
SchemeOption = Annotated[Scheme, typer.Option(help="How rows beyond the budget are chosen.")]
LearnerOption = Annotated[
    LearnerName, typer.Option(help="refit, or the paper's perceptron, which asks in rounds.")
]
KernelOption = Annotated[Kernel, typer.Option(help="linear is faster, rbf bends; auto: rbf for the refit.")]


def command(
    source: Source,
    budget: Budget = 50,
    extra_labels: ExtraLabels = None,
    state: State = Path("stream.state"),
    output: Output = Path("stream"),
    labels: Labels = None,
    id_: Id = None,
    ignore: Ignore = (),
    like: Like = None,
    window_rows: WindowRows = None,
    once: Once = False,
    poll: Poll = 2.0,
    simulate: Simulate = False,
    label: Label = None,
    wanted: Wanted = None,
    skip_empty_labels: SkipEmptyLabels = False,
    total_labels: TotalLabels = None,
    scheme: SchemeOption = Scheme.sequential,
    learner: LearnerOption = LearnerName.refit,
    kernel: KernelOption = Kernel.auto,
    verbatim: options.Verbatim = False,
    seed: Seed = 0,
    json: options.Json = False,
) -> None:
    """Rank each window of a stream, ask for few labels, learn from those that come back.

    Stop and start at will: windows are taken exactly once.

    Example: [bold]shortlist stream incoming/ --budget 50 --extra-labels 25 --id claim_id --labels answered/[/]
    """
    from shortlist.stream import ActiveRanker
    from shortlist.stream.run.lock import only_one
    from shortlist.tables import Roles
    from shortlist.validation import check_budget

    _check_options(simulate, label, labels, skip_empty_labels)
    check_budget(budget)
    if labels is not None and not labels.exists():
        note(f"{labels} is not there yet; labels are taken when it appears.")
    ranker = ActiveRanker(
        budget,
        extra_labels=extra_labels,
        total_labels=total_labels,
        scheme=str(scheme),
        learner=str(learner),
        kernel=None if kernel is Kernel.linear else str(kernel),
        random_state=seed,
    )
    roles = Roles(id=id_, label=label if simulate else None, ignore=ignore)
    truth = {"wanted": wanted, "skip_empty_labels": skip_empty_labels}
    watch = not (once or simulate) and Path(source).is_dir()
    with only_one(state):
        run = _open_run(
            ranker, source, window_rows, watch, state, output, verbatim, roles, like, labels, truth
        )
        _work(run, poll if watch else None, quiet=json)
    _show(run, simulate=simulate, as_json=json)


def _open_run(
    ranker: ActiveRanker,
    source: str,
    window_rows: int | None,
    watch: bool,
    state: Path,
    output: Path,
    verbatim: bool,
    roles: Roles,
    like: str | None,
    labels: Path | None,
    truth: dict[str, Any],
) -> StreamRun:
    from shortlist.stream.run.folder import StreamFolder
    from shortlist.stream.run.returned import ReturnedLabels
    from shortlist.stream.run.sources import open_source
    from shortlist.stream.run.stream_run import StreamRun

    return StreamRun(
        ranker,
        open_source(source, _standard_input(), Path(f"{state}.lines"), window_rows=window_rows, watch=watch),
        state=state,
        folder=StreamFolder(output, formula_safe=not verbatim),
        roles=roles,
        like=like,
        labels=None if labels is None else ReturnedLabels(labels, roles.id or "id"),
        say=note,
        **truth,
    )


def _standard_input() -> TextIO:
    """Standard input as UTF-8 whatever the locale; other bytes are replaced, as in files of JSON lines."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace")
    return sys.stdin


def _check_options(simulate: bool, label: str | None, labels: Path | None, skip_empty_labels: bool) -> None:
    if simulate and label is None:
        raise InvalidInputError("--simulate needs the answers: --label COLUMN.")
    if label is not None and not simulate:
        raise InvalidInputError(
            "--label is for --simulate; labels of a live stream come back in --labels PATH."
        )
    if simulate and labels is not None:
        raise InvalidInputError("--simulate takes its answers from --label; leave --labels out.")
    if skip_empty_labels and not simulate:
        raise InvalidInputError("--skip-empty-labels is for --simulate; a live stream waits for labels.")


def _work(run: StreamRun, poll: float | None, *, quiet: bool) -> None:
    """Take labels and windows until there are none; with ``poll``, wait for more until interrupted."""
    try:
        while True:
            before = len(run.windows)
            done = run.step()
            if done and not quiet:
                _say_step(run, done, is_new=len(run.windows) > before)
            elif not done and poll is None:
                return
            elif not done:
                time.sleep(poll or 0.0)
    except KeyboardInterrupt:
        note("stopped; start again with the same options to go on.")


def _say_step(run: StreamRun, done: str, *, is_new: bool) -> None:
    """Say what was done; ``is_new``: the window was ranked, and not empty or refused."""
    if done == "labels":
        say(f"took {counted(run.settled, 'label')}")
    elif is_new:
        last = next(reversed(run.windows.values()))
        if last.file:
            say(f"window {last.window}: {counted(last.rows, 'row')}, {last.labels} to label in {last.file}")


def _show(run: StreamRun, *, simulate: bool, as_json: bool) -> None:
    if as_json:
        windows = [report.to_dict() for report in run.windows.values()]
        waiting = len(run.ledger.asked)
        print_json({"budget": run.ranker.k, "waiting": waiting, "windows": windows, **_totals(run)})
        return
    if not simulate:
        out.print(
            f"{counted(len(run.windows), 'window')} taken, {counted(len(run.ledger.asked), 'row')} waiting for a label."
        )
        return
    for line in _plot(run):
        out.print(line)


def _totals(run: StreamRun) -> dict[str, Any]:
    reports = run.windows.values()
    known = [each.precision for each in reports if each.precision is not None]
    return {
        "precision": sum(known) / len(known) if known else None,
        "labels": sum(each.labels for each in reports),
        "rows": sum(each.rows for each in reports),
        "alarms": [each.window for each in reports if each.alarm],
    }


def _plot(run: StreamRun) -> list[str]:
    """One line per window, with a bar as long as its precision."""
    from shortlist.tables.columns.words import percent

    lines = [f"[bold]window      rows  labels  precision@{run.ranker.k}[/]"]
    room = max(1, min(_BAR, out.width - _BESIDE_BAR))
    for each in run.windows.values():
        precision = each.precision or 0.0
        bar = "█" * round(precision * room) + "·" * (room - round(precision * room))
        alarm = "  [red]drift[/]" if each.alarm else ""
        lines.append(f"{each.window:>6} {each.rows:>9,} {each.labels:>7,}  {bar} {precision:.3f}{alarm}")
    total = _totals(run)
    mean = "–" if total["precision"] is None else f"{total['precision']:.3f}"
    share = total["labels"] / max(total["rows"], 1)
    lines.append(
        f"mean {mean} with {total['labels']:,} labels of {total['rows']:,} rows ({percent(share, digits=2)})"
    )
    return lines
