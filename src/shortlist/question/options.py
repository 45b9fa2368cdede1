"""The words that can be used to ask: each has one type, one help text and one name, wherever it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from shortlist.question.declare import Argument, InPython, Option

#: Told what is done, of how much, and the value reached where there is one.
Progress = Callable[[int, int, float | None], Any]
#: How many rows are looked at where nobody says.
USUAL_BUDGET = 50
#: The seeds that all random generators take.
LARGEST_SEED = 2**32 - 1

# Rows.
History = Annotated[
    Any,
    Argument(
        "Labelled rows: a file, a folder or a glob",
        python="Labelled rows: a file, a folder, a glob or a data frame",
    ),
]
New = Annotated[
    Any,
    Argument(
        "Rows to rank, with the same columns",
        python="Rows to rank, with the same columns; the outcome may be missing",
    ),
]
Scored = Annotated[
    Any,
    Argument(
        "Rows with a score each: a file, a folder or a glob",
        python="Rows with a score each: a file, a folder, a glob or a data frame",
    ),
]

# Which column plays which part, and what its values mean.
Label = Annotated[
    str | None, Option("Column that says which rows are wanted (1/0, yes/no, ...)", metavar="COLUMN")
]
Wanted = Annotated[
    Any, Option("Value of the label that means wanted, if it is not 1, true or yes", metavar="VALUE")
]
SkipEmptyLabels = Annotated[bool, Option("Leave out rows whose label is empty, instead of refusing them")]
Impact = Annotated[
    str | None,
    Option(
        "Column with a number >= 0: how much a row matters",
        metavar="COLUMN",
        python="Column with a number >= 0: how much a row matters; rows that are not wanted count 0",
    ),
]
ImpactKnown = Annotated[
    bool, Option("The impact is known beforehand, as the amount of a claim is: learn from it too")
]
ListColumn = Annotated[
    str | None,
    Option(
        "Rows with the same value are ranked against each other only",
        metavar="COLUMN",
        python="Column whose values split rows into lists, each with a budget of its own",
    ),
]
Id = Annotated[str | None, Option("Column that names a row", metavar="COLUMN", default="row numbers from 1")]
Ignore = Annotated[
    Sequence[str],
    Option(
        "Column to leave out, or a pattern such as 'post_*'",
        metavar="COLUMN",
        python="Columns to leave out, by name or by patterns such as ``post_*``",
    ),
]
Time = Annotated[
    str | None, Option("Column with the date or time of a row; not learned from", metavar="COLUMN")
]

# What is wanted of the ranking.
_BUDGET = Option("How many rows can be looked at (per list, with --list)", short="-k")
Budget = Annotated[int, _BUDGET]
BudgetOrAll = Annotated[int | None, replace(_BUDGET, default=f"{USUAL_BUDGET}, or all where there are fewer")]
KeepAll = Annotated[
    bool,
    Option(
        "Write every new row in ranked order, not only the top",
        name="all",
        python="Keep every new row in ranked order, not only the top",
    ),
]
ModelName = Annotated[
    str | None,
    Option(
        "Ranker to train; 'list' shows them all",
        short="-m",
        metavar="NAME",
        shows="models",
        python="Ranker to train, a name of :data:`shortlist.rankers.MODELS`; "
        "default: the best for what is given",
    ),
]
Tune = Annotated[
    bool,
    Option(
        "Try a few settings by cross-validation first (takes about 8 times as long)",
        python="Try a few settings by cross-validation first (models that can: ap-boost)",
    ),
]

# Backtest and compare: how a history is split, and which rankings take part.
Every = Annotated[
    str | float | None,
    Option(
        "Length of a period with --time: day, week, '2 months', ...; a number where times are numbers",
        metavar="PERIOD",
    ),
]
Delay = Annotated[float, Option("How long outcomes take to be known: days, or the unit of a time in numbers")]
Folds = Annotated[int, Option("Folds, where there is no --time", name="folds", least=2)]
Models = Annotated[
    Sequence[str] | None,
    Option(
        "Rankers to try; 'list' shows them, 'all' takes every one that fits",
        metavar="NAME,NAME",
        commas=True,
        shows="models",
        default="a good and a plain one",
        python="Rankers to try, names of :data:`shortlist.rankers.MODELS`, "
        'or ``["all"]`` for every one that fits',
    ),
]
Baselines = Annotated[
    Sequence[str],
    Option(
        'A rule to compare with, such as "amount desc"',
        name="baseline",
        metavar="RULE",
        python='Rules to compare with, such as "amount desc"',
    ),
]
BaselineColumns = Annotated[
    Sequence[str],
    Option(
        "Scores in use today: compared with, and not learned from",
        name="baseline-column",
        metavar="COLUMN",
        python="Columns with scores in use today: compared with, and not learned from",
    ),
]

# Evaluate: where scores and outcomes are.
ScoreColumn = Annotated[str, Option("Column with the score", metavar="COLUMN")]
Against = Annotated[
    Sequence[str],
    Option(
        "Compare with sorting by this column",
        metavar="COLUMN",
        python="Other columns to rank by, largest first, for comparison",
    ),
]
Outcomes = Annotated[
    Any,
    Option(
        "Where the outcomes are, if elsewhere; joined by --id",
        metavar="FILE",
        python="File or data frame with the outcomes, if they are elsewhere; joined by ``id``",
    ),
]

# How the work is done.
SEED = Option("Same seed, same result", name="seed", least=0, most=LARGEST_SEED)
Seed = Annotated[int, SEED]
Jobs = Annotated[
    int | None, Option("Threads to use; -2 is all but one", name="jobs", short="-j", default="all")
]
OnProgress = Annotated[
    Progress | None,
    InPython("Called as ``on_progress(done, total, value)`` while the work goes on; ``value`` may be None"),
]
