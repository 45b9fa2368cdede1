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
    Any,
    Option(
        "Value of the label that means wanted, if it is not 1, true or yes; all others are not",
        metavar="VALUE",
        repeated=True,
        python="Value of the label that means wanted, or several, if it is not 1, true or yes; all others are not",
    ),
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
    bool, Option("The impact is known beforehand, as the amount of a claim is: the same as --value")
]
Value = Annotated[
    str | None,
    Option(
        "Column with what a row is worth if it is wanted, known beforehand: rank by expected value, with --label",
        metavar="COLUMN",
        python="Column with what a row is worth if it is wanted, known beforehand, as the amount of a claim is: with "
        "``label``, rows are ranked by expected value, the chance that they are wanted times this",
    ),
]
ValueFound = Annotated[
    str | None,
    Option("Column with what a row is worth if it is wanted, as it was ranked by", metavar="COLUMN"),
]
ValuePower = Annotated[
    float,
    Option(
        "With --value: 1 ranks for the most money, 0 for the most wanted rows; between them for some of both",
        metavar="POWER",
        least=0,
        most=1,
        python="With ``value``: rank by chance x value^power; 1 is for the most money, 0 for the most wanted rows",
    ),
]
LeastChance = Annotated[
    float,
    Option(
        "With --value: rows less likely to be wanted than this come last, however much they are worth",
        metavar="CHANCE",
        least=0,
        most=1,
    ),
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
Category = Annotated[
    Sequence[str],
    Option(
        "Column whose values are names whatever they look like, such as postcodes",
        metavar="COLUMN",
        python="Columns whose values are names whatever they look like, such as postcodes; by name or pattern",
    ),
]
Missing = Annotated[
    Sequence[str],
    Option(
        "Value that means that nothing is known, beside empty ones, NA, ? and the like",
        metavar="VALUE",
        python="Values that mean that nothing is known, beside empty ones, NA, ? and the like",
    ),
]
IgnoreText = Annotated[bool, Option("Leave out columns of free text, instead of learning from their words")]
Time = Annotated[
    str | None, Option("Column with the date or time of a row; not learned from", metavar="COLUMN")
]

# What is wanted of the ranking.
_BUDGET = Option("How many rows can be looked at (per list, with --list)", short="-k")
Budget = Annotated[int, _BUDGET]
BudgetOrAll = Annotated[int | None, replace(_BUDGET, default=f"{USUAL_BUDGET}, or all where there are fewer")]
Budgets = Annotated[
    int | Sequence[int],
    replace(
        _BUDGET,
        help="How many rows can be looked at (per list, with --list); several with commas are compared, and the "
        "first is the one that rankings are judged by",
        counts=True,
        metavar="N,N",
        python="How many rows can be looked at (per list, with ``list``); of several, the first is the one that "
        "rankings are trained for and judged by",
    ),
]
ReviewCost = Annotated[
    float | None,
    Option(
        "What it costs to look at one row, in the unit of --value: tells the net value, and up to which budget reviews "
        "pay for themselves",
        metavar="COST",
    ),
]
Words = Annotated[
    str | None,
    Option(
        "What a wanted row is called in answers and reports, such as fraud; with its plural after a comma if that has "
        "no s",
        metavar="WORD",
        default="wanted row",
    ),
]
Currency = Annotated[
    str | None, Option("Sign or code that amounts are told with, such as € or EUR", metavar="SIGN")
]
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
    Sequence[Any] | None,
    Option(
        "Rankers to try; 'list' shows them, 'all' takes every one that fits; also lightgbm, catboost, or a "
        "class by its dotted name, such as sklearn.svm.LinearSVC",
        metavar="NAME,NAME",
        commas=True,
        shows="models",
        default="a good and a plain one",
        python="Rankers to try: names of :data:`shortlist.rankers.MODELS`, "
        '``["all"]`` for every one that fits, "lightgbm", "catboost", a dotted name of a class, or estimators',
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

Slices = Annotated[
    Sequence[str],
    Option(
        "Also tell precision and recall for each group of rows by this column, such as a region",
        name="slice",
        metavar="COLUMN",
        python="Columns by whose groups precision and recall are told too, such as a region",
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

# Monitor: what was written, what came back, what was promised.
Shortlists = Annotated[
    Any,
    Argument(
        "Shortlists that were written, one file a day or all in one: a folder, a glob or a table",
        python="Shortlists that were written: a folder or glob of files, one a day, or a table with all days",
    ),
]
ReturnedOutcomes = Annotated[
    Any,
    Option(
        "What came of the rows; those whose label is empty wait",
        metavar="FILE",
        python="File or data frame with what came of the rows; those whose label is empty wait",
    ),
]
DayColumn = Annotated[
    str | None,
    Option("Column with the day of a row", metavar="COLUMN", default="the day in the names of files"),
]
Checked = Annotated[
    str | None,
    Option(
        "Column with the chance that a row was drawn as a random check, where outcomes are known only of rows that "
        "were looked at; empty where it was looked at for its rank",
        metavar="COLUMN",
    ),
]
Complete = Annotated[bool, Option("Outcomes are known of all rows, not only of those looked at")]
Promise = Annotated[
    Any,
    Option(
        "Precision that was promised: a number, or the report of a backtest",
        metavar="PRECISION",
        default="what the first 30 runs found",
    ),
]
Challenger = Annotated[
    Any,
    Option(
        "Shortlists of another model for the same days",
        metavar="FILES",
        python="Shortlists of another model for the same days",
    ),
]
PeriodLength = Annotated[
    str | float | None, Option("Length of a period: day, week, '2 months', ...", metavar="PERIOD")
]

# How the work is done.
SEED = Option("Same seed, same result", name="seed", least=0, most=LARGEST_SEED)
Seed = Annotated[int, SEED]
Jobs = Annotated[
    int | None, Option("Threads to use; -2 is all but one", name="jobs", short="-j", default="all")
]
Memory = Annotated[
    Any,
    Option(
        "Memory that may be used, such as 4GB: what does not fit is done batch by batch, or refused before work begins",
        metavar="SIZE",
        default="what is free, less a margin",
    ),
]
Dask = Annotated[
    str | None,
    Option(
        "Train on the workers of a cluster of Dask, which read the files of the history: the address of its "
        "scheduler, such as tcp://host:8786, or local for processes of this machine",
        metavar="ADDRESS",
    ),
]
Spark = Annotated[
    str | None,
    Option(
        "Train in the tasks of a cluster of Spark, which read the files of the history: its master, such as "
        "spark://host:7077, or local[2] for two processes of this machine",
        metavar="MASTER",
    ),
]
OnProgress = Annotated[
    Progress | None,
    InPython("Called as ``on_progress(done, total, value)`` while the work goes on; ``value`` may be None"),
]
