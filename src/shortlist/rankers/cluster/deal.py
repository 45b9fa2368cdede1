"""Lists dealt to machines, so that each lies on one; and whether rows fit into their memory."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shortlist.exceptions import ClusterError
from shortlist.rankers.cluster.part import Part
from shortlist.rankers.cluster.pieces import WholeTable


def bytes_to_train(n_rows: int, n_columns: int) -> int:
    """The memory that training on rows takes, at most: bins and what XGBoost keeps for gaps, margins and gradients.

    >>> bytes_to_train(1_000_000, 40)
    260000000
    """
    return n_rows * (5 * n_columns + 60)


def deal_lists(lists: pl.DataFrame, machines: Sequence[str]) -> tuple[pl.DataFrame, dict[str, int]]:
    """The machine of each list, long lists first, each to the machine with the fewest rows; and the rows of each.

    >>> lists = pl.DataFrame({"list": ["a", "b", "c"], "rows": [5, 3, 2]})
    >>> deal_lists(lists, ["one", "two"])[1]
    {'one': 5, 'two': 5}
    """
    piles = [(0, number) for number in range(len(machines))]
    owner = []
    longest_first = lists.sort("rows", descending=True, maintain_order=True)
    for n_rows in longest_first["rows"]:
        size, number = heapq.heappop(piles)
        owner.append(machines[number])
        heapq.heappush(piles, (size + n_rows, number))
    dealt = longest_first.select("list").with_columns(machine=pl.Series(owner, dtype=pl.String))
    return dealt, {machines[number]: size for size, number in sorted(piles, key=lambda pile: pile[1])}


def split_part(part: Part, owner: pl.DataFrame, machines: Sequence[str]) -> dict[str, Part]:
    """The rows of a part that go to each machine."""
    assert part.lists is not None
    named = pl.DataFrame({"list": pl.Series(part.lists).cast(owner["list"].dtype)})
    machine = named.join(owner, on="list", how="left", maintain_order="left")["machine"].to_numpy()
    return {each: part.take(np.flatnonzero(machine == each)) for each in machines}


def check_capacity(table: WholeTable, rows: Mapping[str, int], limits: Mapping[str, int | None]) -> None:
    """Refuse rows that do not fit into the memory of their machine, before any work is done."""
    n_columns, lists = table.categorical.size, table.lists
    for machine, n_rows in rows.items():
        limit, needed = limits.get(machine), bytes_to_train(n_rows, n_columns)
        if not limit or needed <= limit:
            continue
        if (
            lists is not None
            and bytes_to_train(longest := int(lists["rows"].to_numpy().max()), n_columns) > limit
        ):
            name = lists.sort("rows", descending=True)["list"][0]
            raise ClusterError(
                f"list {name!r} has {longest:,} rows and must lie on one worker, which would need about "
                f"{_gigabytes(bytes_to_train(longest, n_columns))} and has {_gigabytes(limit)}. Use larger workers, or "
                "rank by shorter lists, such as days in place of months."
            )
        raise ClusterError(
            f"worker {machine} would train on {n_rows:,} rows of {n_columns} columns, which take about "
            f"{_gigabytes(needed)}, and has {_gigabytes(limit)}. Use more or larger workers, or repartition "
            "the table evenly."
        )


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
