"""The label column as wanted / not wanted."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import NoUnwantedRowsError, NoWantedRowsError, TableError
from shortlist.tables.columns.values import as_flags, clean_text, first_misfit
from shortlist.verdicts import LABEL_WORDS


def wanted_rows(labels: pl.Series, wanted: Any = None, *, both: bool = True) -> NDArray[np.bool_]:
    """Which rows are wanted, from 0/1, yes/no, wanted/not wanted, or any values if ``wanted`` names one or several.

    With ``both``, as training needs it, there must be wanted rows and others.

    >>> wanted_rows(pl.Series("verdict", ["wanted", "not wanted"])).tolist()
    [True, False]
    >>> wanted_rows(pl.Series("outcome", ["paid", "fraud", "paid"]), wanted="fraud").tolist()
    [False, True, False]
    >>> wanted_rows(pl.Series("outcome", ["paid", "fraud", "theft"]), wanted=["fraud", "theft"]).tolist()
    [False, True, True]
    """
    flags = labels.dtype == pl.Boolean and wanted is None and not labels.null_count()
    text = clean_text(labels.unique() if flags else labels)  # flags need not become text row by row
    check_known(labels.name, text)
    values = text.unique().sort().to_list()
    if flags:
        is_wanted = labels
    elif wanted is not None:
        is_wanted = text.is_in(_chosen(labels.name, values, several(wanted)))
    else:
        is_wanted = _understood(labels.name, text, values)
    if both:
        _check_both(labels.name, is_wanted, values)
    return is_wanted.to_numpy()


def several(wanted: Any) -> tuple[Any, ...]:
    """One value or several, as several."""
    return (wanted,) if isinstance(wanted, str) or not isinstance(wanted, Iterable) else tuple(wanted)


def wanted_in_window(labels: pl.Series, wanted: Any = None) -> NDArray[np.bool_]:
    """The same for some rows of a table: they may all be of one kind, or lack the value that ``wanted`` names.

    >>> wanted_in_window(pl.Series("outcome", ["paid", "open"]), wanted="fraud").tolist()
    [False, False]
    """
    text = clean_text(labels)
    check_known(labels.name, text)
    if wanted is not None:
        return (
            text.str.to_lowercase().is_in([str(each).strip().lower() for each in several(wanted)]).to_numpy()
        )
    flags = as_flags(text, LABEL_WORDS)
    odd = first_misfit(text, flags)
    if odd is not None:
        raise TableError(
            f"label column {labels.name!r} holds {odd.lower()!r}, which is neither wanted nor not (1/0, yes/no, "
            "true/false). Say which value is wanted: --wanted VALUE"
        )
    return flags.to_numpy()


def labelled_rows(labels: pl.Series) -> NDArray[np.int64]:
    """Positions of the rows whose label is not empty; at least one must be known.

    >>> labelled_rows(pl.Series("fraud", ["yes", None, "", "no"])).tolist()
    [0, 3]
    """
    known = np.flatnonzero(clean_text(labels).is_not_null())
    if not known.size:
        raise NoWantedRowsError(
            f"label column {labels.name!r} is empty in all {len(labels):,} rows, so there is nothing to learn from or "
            "to measure. Label some, or start without labels: shortlist review DATA"
        )
    return known


def check_known(name: str, text: pl.Series) -> None:
    """Refuse labels with gaps; ``text`` is cleaned."""
    unknown = text.null_count()
    if unknown:
        raise TableError(
            f"label column {name!r} is empty in {unknown:,} of {len(text):,} rows. Leave them out with "
            "--skip-empty-labels (in Python: skip_empty_labels=True); if they are the new rows to be ranked, give "
            "them as a table of their own."
        )


def _chosen(name: str, values: list[str], wanted: tuple[Any, ...]) -> list[str]:
    folded = {each.lower(): each for each in values}
    texts = [clean_text(pl.Series([each]))[0] for each in wanted]
    found = {text: text if text in values else folded.get(str(text).lower()) for text in texts}
    absent = [repr(given) for given, text in zip(wanted, texts, strict=True) if found[text] is None]
    if absent:
        raise TableError(
            f"label column {name!r} has no value {' and no value '.join(absent)}; its values: {_shown(values)}."
        )
    return [each for each in found.values() if each is not None]


def _understood(name: str, text: pl.Series, values: list[str]) -> pl.Series:
    flags = as_flags(text, LABEL_WORDS)
    if flags.null_count():
        rarest = text.value_counts(sort=True, name="rows")[text.name][-1]  # the few are mostly the wanted
        likely = next((each for each in values if LABEL_WORDS.get(each.strip().lower())), rarest)
        repeat = " (several: repeat it; all others are not wanted)" if len(values) > 2 else ""
        raise TableError(
            f"label column {name!r} has the values {_shown(values)}; say which one is wanted: --wanted "
            f"{shlex.quote(likely)}{repeat}"
        )
    return flags


def _check_both(name: str, is_wanted: pl.Series, values: list[str]) -> None:
    count = int(is_wanted.sum())
    if count == 0:
        raise NoWantedRowsError(
            f"label column {name!r} is {_shown(values)} in all {len(is_wanted)} rows: no row is wanted. "
            "Learning and measuring need at least one; label one, or start without labels: shortlist review DATA"
        )
    if count == len(is_wanted):
        raise NoUnwantedRowsError(
            f"label column {name!r} is {_shown(values)} in all {count} rows: every row is wanted. Add "
            "rows that were looked at and dismissed."
        )


def _shown(values: list[str], most: int = 8) -> str:
    return ", ".join(repr(each) for each in values[:most]) + (", ..." if len(values) > most else "")
