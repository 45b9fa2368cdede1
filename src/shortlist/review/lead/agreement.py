"""How far two people say the same of a row, beyond what chance would have them say: of opinions given blindly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.review.log.opinions import Given

CONFIDENCE = 0.9
#: Draws of the bootstrap, always the same ones.
DRAWS, SEED = 2000, 0
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Beyond:
    """Agreement beyond chance: 1 where all say the same, 0 where it is as by chance; with a 90 % interval."""

    value: float
    low: float
    high: float
    rows: int


@dataclass(frozen=True)
class Pair:
    """Two people and the rows that both decided; ``kappa`` is None where chance alone explains all of it."""

    one: str
    other: str
    rows: int
    same: int
    kappa: Beyond | None


@dataclass(frozen=True)
class Agreement:
    """What second opinions tell: over all people together, and for every two of them."""

    rows: int  # on which both have decided
    same: int
    unsure: int  # on which the second did not decide
    alpha: Beyond | None
    pairs: tuple[Pair, ...]  # most rows first


def agreement(given: Iterable[Given]) -> Agreement:
    """The agreement of opinions; who is unsure has given none."""
    given = list(given)
    decided = [each for each in given if all(said.is_decided for said in each.said)]
    people: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for each in decided:
        by = dict(zip((each.first.who, each.second.who), each.said, strict=True))
        one, other = sorted(by)
        people[one, other].append((by[one], by[other]))
    pairs = [_pair(*names, said) for names, said in people.items()]
    return Agreement(
        rows=len(decided),
        same=sum(each.is_same for each in decided),
        unsure=len(given) - len(decided),
        alpha=krippendorffs_alpha([each.said for each in decided]),
        pairs=tuple(sorted(pairs, key=lambda pair: (-pair.rows, pair.one, pair.other))),
    )


def _pair(one: str, other: str, said: Sequence[tuple[str, str]]) -> Pair:
    return Pair(one, other, len(said), sum(a == b for a, b in said), cohens_kappa(said))


def cohens_kappa(said: Sequence[tuple[Hashable, Hashable]]) -> Beyond | None:
    """Cohen's kappa of two people, from what each said of the same things; None where it is not defined.

    With p the share said alike and e the share that two people would say alike who say each thing as often, but at
    random, it is (p - e) / (1 - e).

    >>> yes, no = "wanted", "not wanted"
    >>> said = [(yes, yes)] * 20 + [(yes, no)] * 5 + [(no, yes)] * 10 + [(no, no)] * 15
    >>> round(cohens_kappa(said).value, 3)
    0.4
    """
    number = _numbers(each for pair in said for each in pair)
    tables = np.zeros((len(said), len(number), len(number)))
    for table, (one, other) in zip(tables, said, strict=True):
        table[number[one], number[other]] = 1.0
    return _with_interval(tables, _kappa, ordered=True)


def krippendorffs_alpha(units: Sequence[Sequence[Hashable]]) -> Beyond | None:
    """Krippendorff's alpha of nominal values; a unit holds what was said of it, by however many people.

    Units of which fewer than two said something do not count. With d the disagreement within units and e that among
    all values, whatever their unit, it is 1 - d / e; None where all values are the same.

    >>> round(krippendorffs_alpha([["a", "a"], ["b", "b", "b"], ["a", "b"], ["b"]]).value, 3)
    0.5
    """
    units = [unit for unit in units if len(unit) > 1]
    number = _numbers(each for unit in units for each in unit)
    tables = np.zeros((len(units), len(number), len(number)))
    for table, unit in zip(tables, units, strict=True):
        counts = np.bincount([number[each] for each in unit], minlength=len(number)).astype(np.float64)
        table[:] = (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    return _with_interval(tables, _alpha, ordered=False)


def _numbers(values: Iterable[Hashable]) -> dict[Hashable, int]:
    return {value: n for n, value in enumerate(dict.fromkeys(values))}


def _with_interval(tables: Floats, of: Callable[[Floats], Floats], *, ordered: bool) -> Beyond | None:
    """A figure of the sum of tables, one for each row, and what it could be by chance.

    Rows are drawn with weights (Rubin's Bayesian bootstrap), together with one imagined row that says each pair of
    things a little: without it, people who never differed in ten rows could not be thought to differ ever.
    """
    n, values = len(tables), tables.shape[-1]
    value = float(of(tables.sum(axis=0))) if n else np.nan
    if np.isnan(value):
        return None
    kinds, counts = np.unique(tables, axis=0, return_counts=True)  # however many rows, there are few of them
    imagined = np.eye(values * values).reshape(-1, values, values)
    imagined = imagined if ordered else imagined + imagined.transpose(0, 2, 1)
    weights = np.concatenate([counts, np.full(len(imagined), 1 / len(imagined))])
    drawn = n * np.random.default_rng(SEED).dirichlet(weights, size=DRAWS)
    figures = of(np.einsum("dk,kij->dij", drawn, np.concatenate([kinds, imagined])))
    low, high = np.nanquantile(figures, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Beyond(value, min(float(low), value), max(float(high), value), n)


def _kappa(table: Floats) -> Floats:
    n = table.sum(axis=(-2, -1))
    alike = np.trace(table, axis1=-2, axis2=-1) / n
    by_chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / n**2
    return _beyond(alike, by_chance)


def _alpha(table: Floats) -> Floats:
    values = table.sum(axis=-1)
    n = values.sum(axis=-1)
    alike = np.trace(table, axis1=-2, axis2=-1) / n
    by_chance = (values * (values - 1)).sum(axis=-1) / (n * (n - 1))
    return _beyond(alike, by_chance)


def _beyond(alike: Floats, by_chance: Floats) -> Floats:
    """How much of what chance leaves open is said alike; not a number where it leaves nothing open."""
    left = 1 - by_chance
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(left > 1e-12, (alike - by_chance) / left, np.nan)
