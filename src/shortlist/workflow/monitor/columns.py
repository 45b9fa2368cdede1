"""Which columns of shortlists have moved: the newest runs beside the first, with a stated rate of false alarms.

Runs are what differs by chance, not rows: those of one day have much in common. So the runs of both ends are mixed and
dealt anew many times, which shows how far columns move where nothing has changed. A column has moved where it stands
out, by its own standard, more than any column does in all but few of these deals (Westfall and Young's max-T): if
nothing has changed, any column at all is named in so few looks.

References
----------
Westfall and Young, Resampling-based multiple testing, Wiley (1993).
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.counts import counted
from shortlist.tables.columns.words import number_text, percent

Floats = NDArray[np.float64]

#: In how many of a hundred looks at shortlists that have not changed a column is named all the same.
FALSE_LOOKS = 0.01
#: The runs at either end hold this share of the rows; a look takes at least so many at each.
END, FEWEST_RUNS = 0.25, 6
#: How columns of shortlists are called among figures of ours.
PREFIX = "column: "
_DEALS = 1_999
_BINS, _MOST_CATEGORIES = 10, 12
#: A text with more values than this share of rows names rows, or tells stories.
_NAMES = 0.1
_OWN = re.compile(r"rank|row|score|chance|expected_precision|reason_\d+|model_version")


def other_columns(frame: pl.DataFrame, taken: set[str | None]) -> dict[str, pl.Series]:
    """The columns of a shortlist that describe its rows, under names that clash with none of ours."""
    names = [name for name in frame.columns if name not in taken and not _OWN.fullmatch(name)]
    plain = [
        name for name in names if not (frame.schema[name].is_nested() or frame.schema[name].is_temporal())
    ]
    return {f"{PREFIX}{name}": frame[name] for name in plain}


def column_drift(rows: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The columns, those that have moved first, and notes on them; empty where runs are too few to tell.

    >>> days = [day for day in range(40) for _ in range(20)]
    >>> amount = [day // 20 + row % 7 for row, day in enumerate(days)]
    >>> when = pl.Series([f"2025-01-{1 + day % 28:02}" if day < 28 else f"2025-02-{day - 27:02}" for day in days])
    >>> columns = {"column: amount": amount, "column: shop": ["a", "b"] * 400}
    >>> rows = pl.DataFrame({"when": when.str.to_datetime(), **columns})
    >>> column_drift(rows)[0].select("column", "moved").rows()
    [('amount', True), ('shop', False)]
    """
    ends = _ends(rows)
    columns = [name for name in rows.columns if name.startswith(PREFIX)]
    if ends is None or not columns:
        return pl.DataFrame(), ()
    part = rows.filter(pl.Series(ends >= 0))
    run, is_new = _runs_of(part, ends[ends >= 0])
    kinds = {name: bins for name in columns if (bins := _bins(part[name])) is not None}
    if not kinds:
        return pl.DataFrame(), ()
    deals = _deals(is_new)
    index = np.array([_indices(bins, run, deals) for bins in kinds.values()])
    chance = _max_chance(index)
    lines = [
        {
            "column": name.removeprefix(PREFIX),
            "stability index": float(index[place, 0]),
            "moved": bool(chance[place] <= FALSE_LOOKS),
            "change": _change(part[name], is_new[run]),
        }
        for place, name in enumerate(kinds)
    ]
    frame = pl.DataFrame(lines).sort("moved", "stability index", descending=True, maintain_order=True)
    return frame, _notes(frame, int((~is_new).sum()), int(is_new.sum()))


def _ends(rows: pl.DataFrame) -> NDArray[np.int64] | None:
    """0 for rows of the first runs, 1 for those of the newest, -1 between; None where runs or rows are too few."""
    days = rows["when"].dt.date()
    counts = days.value_counts().sort(days.name)
    share = counts["count"].cum_sum().to_numpy() / rows.height
    first = max(FEWEST_RUNS, int(np.searchsorted(share, END, side="left")) + 1)
    last = max(FEWEST_RUNS, int(np.searchsorted(1 - share[::-1], END, side="left")))
    if first + last > counts.height:
        return None
    known = counts[days.name]
    return np.where(days <= known[first - 1], 0, np.where(days >= known[counts.height - last], 1, -1))


def _runs_of(part: pl.DataFrame, end: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The number of each row's run, and which runs are new."""
    run = part["when"].dt.date().rank("dense").cast(pl.Int64).to_numpy() - 1
    is_new = np.zeros(int(run.max()) + 1, dtype=np.bool_)
    is_new[run] = end == 1
    return run, is_new


def _bins(values: pl.Series) -> NDArray[np.int64] | None:
    """The bin of each value: tenths of numbers, frequent categories, gaps; None for names of rows and for constants."""
    if values.dtype.is_numeric():
        numbers = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
        known = numbers[~np.isnan(numbers)]
        if not known.size:
            return None
        edges = np.unique(np.quantile(known, np.arange(1, _BINS) / _BINS))
        bins = np.where(np.isnan(numbers), edges.size + 1, np.searchsorted(edges, numbers))
    else:
        text = values.cast(pl.String, strict=False).fill_null("")
        if text.n_unique() > max(_MOST_CATEGORIES, _NAMES * len(text)):
            return None
        # Names break ties: by the order of rows, categories of the first runs would win, and seem to have moved.
        common = text.value_counts().sort("count", values.name, descending=[True, False])[values.name]
        common = common.head(_MOST_CATEGORIES)
        bins = text.replace_strict(
            common, range(common.len()), default=common.len(), return_dtype=pl.Int64
        ).to_numpy()
    return bins if np.unique(bins).size > 1 else None


def _deals(is_new: NDArray[np.bool_]) -> Floats:
    """Which runs are new: as it is, and in each deal; columns share them, as they share the runs."""
    rng = np.random.default_rng(0)
    return np.array([is_new, *(rng.permutation(is_new) for _ in range(_DEALS))], dtype=np.float64)


def _indices(bins: NDArray[np.int64], run: NDArray[np.int64], deals: Floats) -> Floats:
    """The stability index as it is, and after each deal of the runs."""
    counts = np.zeros((deals.shape[1], int(bins.max()) + 1))
    np.add.at(counts, (run, bins), 1)
    shares = [(side @ counts + 0.5) for side in (1 - deals, deals)]
    p, q = (each / each.sum(axis=1, keepdims=True) for each in shares)
    return np.sum((q - p) * np.log(q / p), axis=1)


def _max_chance(index: Floats) -> Floats:
    """For each column, in which share of deals any column stands out as much: index beside its own mean and spread."""
    root = np.sqrt(index)  # less skewed than the index itself
    spread = root.std(axis=1, keepdims=True)
    apart = (root - root.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.mean(apart.max(axis=0)[None, :] >= apart[:, :1], axis=1), dtype=np.float64)


def _change(values: pl.Series, is_new: NDArray[np.bool_]) -> str:
    """What moved most: the gaps, the median, or a category's share."""
    old, new = values.filter(pl.Series(~is_new)), values.filter(pl.Series(is_new))
    gaps = [each.null_count() / max(len(each), 1) for each in (old, new)]
    if abs(gaps[1] - gaps[0]) > 0.1:
        return f"{percent(gaps[0])} of its values were missing, and {percent(gaps[1])} are"
    if values.dtype.is_numeric():
        middle = [float(np.median(each.drop_nulls().cast(pl.Float64).to_numpy())) for each in (old, new)]
        return f"its median was {number_text(middle[0])} and is {number_text(middle[1])}"
    shares = [
        {name: count / len(each) for name, count in each.value_counts().iter_rows()} for each in (old, new)
    ]
    most = max(
        {**shares[0], **shares[1]}, key=lambda name: abs(shares[1].get(name, 0) - shares[0].get(name, 0))
    )
    return f"{most!r} was {percent(shares[0].get(most, 0.0))} of the rows and is {percent(shares[1].get(most, 0.0))}"


def _notes(frame: pl.DataFrame, first: int, last: int) -> tuple[str, ...]:
    moved = frame.filter("moved")
    if moved.is_empty():
        return ()
    told = "; ".join(f"{row['column']!r}: {row['change']}" for row in moved.head(5).to_dicts())
    more = f" and {moved.height - 5} more" if moved.height > 5 else ""
    return (
        f"{counted(moved.height, 'column')} moved between the first {first} runs and the last {last} ({told}{more}). "
        f"Where nothing changes, a column is named in {percent(FALSE_LOOKS, digits=0)} of looks.",
    )
