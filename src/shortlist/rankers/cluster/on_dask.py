"""Dask starts the machines: a table of Dask is trained on where its partitions lie."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from shortlist.exceptions import ClusterError, InvalidInputError, MissingExtraError, ShortlistError
from shortlist.rankers.base import Ranker
from shortlist.rankers.cluster.collective import start_tracker, stop_tracker
from shortlist.rankers.cluster.deal import check_capacity, deal_lists, split_part
from shortlist.rankers.cluster.part import Part, train_part
from shortlist.rankers.cluster.pieces import EVERY_COLUMN, Piece, WholeTable, describe
from shortlist.rankers.cluster.ready import clone_with_state, ready_to_train, take_over
from shortlist.rankers.cluster.troubles import TRAINING, Work, first_line, lost
from shortlist.tables import Roles
from shortlist.tables.io.frames import is_spread
from shortlist.tables.problems import tell

#: Seconds between two looks at whether all machines are still there, and that the others have to end after one failed.
LOOK_EVERY, LAST_WORDS = 2.0, 3.0


def fit_spread(
    ranker: Ranker,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    ids: Any = None,
    eval_set: Any = None,
    roles: Roles = EVERY_COLUMN,
) -> None:
    """Train the ranker on a Dask data frame or array, whose rows stay on the workers of the cluster.

    ids : what names rows, by which they are drawn; None: their places in the table
    roles : which columns of X hold names, and which values mean that nothing is known
    """
    if not ranker._trains_spread:
        ranker._check_here(X)
    if eval_set is not None:
        raise InvalidInputError(
            "eval_set is for rows on this machine; leave it out: rows of X are held out by themselves."
        )
    ranker._check_limits()
    ranker._check_objectives()
    client = present_client()
    pieces = _pieces(X, y=y, groups=groups, sample_weight=sample_weight, ids=ids)
    with told_in_a_sentence(client):
        held = client.compute(pieces)
        how = {"takes_impact": ranker._takes_impact, "roles": roles}
        facts = client.gather(client.map(describe, held, **how, pure=False))
        table = WholeTable(ranker, facts, roles)
        machines = _where(client, held)
        parts = [
            client.submit(encoder, piece, workers=[where], pure=False)
            for encoder, piece, where in zip(table.encoders(), held, machines, strict=True)
        ]
        del held
        if ranker._learns_whole(table.n_rows):
            machines = [_fullest(table, machines)] * len(parts)
        shares = _shares(client, table, parts, machines)
        ready = ready_to_train(ranker, getattr(X, "_meta", None), table)
        trained = _train(client, ready, shares, table.categorical)
    take_over(ranker, trained)


def present_client(purpose: str = "train on") -> Any:
    """The client of the cluster that this process has joined."""
    try:
        from distributed import default_client  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError.of("distributed", "dask") from None
    try:
        return default_client()
    except ValueError:
        raise InvalidInputError(
            f"X is a table of Dask and there is no cluster to {purpose}. Start one on this machine, or connect to "
            "yours: distributed.Client() or distributed.Client('tcp://scheduler:8786')."
        ) from None


def _pieces(X: Any, **beside: Any) -> list[Any]:
    """One for each partition of X, yet to be computed."""
    from dask import delayed  # noqa: PLC0415 - an extra

    columns = {"X": partitions(X, "X")}
    columns |= {name: partitions(given, name) for name, given in beside.items() if given is not None}
    n_partitions = len(columns["X"])
    for name, each in columns.items():
        if len(each) != n_partitions:
            raise InvalidInputError(
                f"X has {n_partitions} partitions and {name} has {len(each)}; give {name} as a column of the "
                "same table, or repartition both alike."
            )
    return [
        delayed(Piece)(**dict(zip(columns, each, strict=True)))
        for each in zip(*columns.values(), strict=True)
    ]


def partitions(given: Any, name: str) -> list[Any]:
    """The partitions of a table of Dask, yet to be computed."""
    if not is_spread(given):
        raise InvalidInputError(
            f"X is a table of Dask, and {name} is not: give {name} as a column of the same table, such as "
            f"table['{name}']."
        )
    if getattr(given, "ndim", 1) == 2 and hasattr(given, "rechunk"):
        given = given.rechunk({1: -1})  # a machine needs all columns of its rows
    return list(np.ravel(given.to_delayed()))


def _where(client: Any, held: Sequence[Any]) -> list[str]:
    """The machine that has each piece."""
    from distributed import wait  # noqa: PLC0415 - an extra

    wait(held)
    has = client.who_has(held)
    return [sorted(has[piece.key])[0] for piece in held]


def _fullest(table: WholeTable, where: Sequence[str]) -> str:
    """The machine that has the most rows."""
    rows: Counter[str] = Counter()
    for facts, machine in zip(table.facts, where, strict=True):
        rows[machine] += facts.n_rows
    return max(sorted(rows), key=rows.__getitem__)


def _shares(
    client: Any, table: WholeTable, parts: Sequence[Any], where: Sequence[str]
) -> dict[str, list[Any]]:
    """The parts that each machine trains on: where they lie, unless rows of a list lie on several machines."""
    machines = sorted(set(where))
    limits = client.run(memory_limit, workers=machines)
    lists = table.lists
    if lists is None or lists["pieces"].max() == 1 or len(machines) == 1:
        shares = {
            machine: [part for part, at in zip(parts, where, strict=True) if at == machine]
            for machine in machines
        }
        rows = {
            m: sum(f.n_rows for f, at in zip(table.facts, where, strict=True) if at == m) for m in machines
        }
    else:
        owner, rows = deal_lists(lists, machines)
        torn = int((lists["pieces"] > 1).sum())
        tell(
            f"{torn:,} lists lay in several partitions; rows were moved so that each list lies on one worker."
        )
        split = [client.submit(split_part, part, owner, machines, pure=False) for part in parts]
        shares = {
            machine: [client.submit(dict.get, each, machine, workers=[machine], pure=False) for each in split]
            for machine in machines
        }
    check_capacity(table, rows, limits)
    return shares


def memory_limit(dask_worker: Any) -> int | None:
    """How many bytes a worker may use; None where nobody said."""
    return getattr(getattr(dask_worker, "memory_manager", None), "memory_limit", None)


def _train(client: Any, ranker: Ranker, shares: dict[str, list[Any]], categorical: Any) -> Ranker:
    """Train on all machines in step; they end together, one way or the other."""
    machines, threads = [*shares], client.nthreads()
    with _in_touch(client, len(machines)) as given:
        futures = [
            client.submit(
                _train_share,
                ranker,
                shares[machine],
                categorical,
                number,
                given,
                threads[machine],
                workers=[machine],
                allow_other_workers=False,
                pure=False,
                retries=0,
            )
            for number, machine in enumerate(machines)
        ]
        _await(client, dict(zip(machines, futures, strict=True)))
        return futures[0].result()


@contextmanager
def _in_touch(client: Any, n_machines: int) -> Iterator[dict[str, Any] | None]:
    """What machines need to find each other; one alone needs nothing."""
    from distributed.comm import get_address_host  # noqa: PLC0415 - an extra

    if n_machines == 1:
        yield None
        return
    key, scheduler = uuid.uuid4().hex, client.scheduler.address
    host = "127.0.0.1" if scheduler.startswith("inproc") else get_address_host(scheduler)
    # Not on a worker: when that one is killed, the others would wait for word from it.
    given = client.run_on_scheduler(start_tracker, n_machines, host, key)
    try:
        yield given
    finally:
        with suppress(Exception):  # without a scheduler, it is gone too
            client.run_on_scheduler(stop_tracker, key)


def _train_share(
    ranker: Ranker,
    parts: Sequence[Part],
    categorical: Any,
    number: int,
    communicator: dict[str, Any] | None,
    threads: int,
) -> Ranker | None:
    ranker = clone_with_state(ranker, n_jobs=threads)
    if communicator is not None:
        communicator = {**communicator, "dmlc_task_id": f"{number:06d}"}
    trained = train_part(ranker, Part.joined(parts), categorical, communicator)
    return trained if number == 0 else None


def _await(client: Any, futures: dict[str, Any]) -> None:
    """Return when all machines are done; raise as soon as one cannot be."""
    from distributed import wait  # noqa: PLC0415 - an extra

    pending = set(futures.values())
    while pending:
        with suppress(TimeoutError):
            done, pending = wait(pending, timeout=LOOK_EVERY, return_when="FIRST_COMPLETED")
            if any(each.status != "finished" for each in done):
                raise _cause(client, futures, wait)
        gone = [machine for machine in futures if machine not in client.nthreads()]
        if gone and pending:
            client.cancel(list(pending))
            raise lost(gone)


def _cause(client: Any, futures: dict[str, Any], wait: Any) -> Exception:
    """Why training failed: what a machine raised itself, rather than that it lost the others."""
    with suppress(Exception):
        wait(list(futures.values()), timeout=LAST_WORDS)
    errors = {machine: each.exception() for machine, each in futures.items() if each.status == "error"}
    client.cancel(list(futures.values()))
    gone = [machine for machine in futures if machine not in client.nthreads()]
    known = [error for error in errors.values() if isinstance(error, ShortlistError)]
    if known:
        return known[0]
    if gone or not errors:
        return lost(gone)
    machine, error = min(errors.items(), key=lambda each: type(each[1]).__name__ == "XGBoostError")
    return ClusterError(f"worker {machine} failed, and there is no model: {first_line(error)}")


@contextmanager
def told_in_a_sentence(client: Any, work: Work = TRAINING) -> Iterator[None]:
    """What Dask raises when machines are lost, as an error that says what to do."""
    from distributed import KilledWorker  # noqa: PLC0415 - an extra
    from distributed.client import FutureCancelledError  # noqa: PLC0415 - an extra
    from distributed.comm import CommClosedError  # noqa: PLC0415 - an extra

    try:
        yield
    except (KilledWorker, FutureCancelledError, CommClosedError) as error:
        raise lost(work=work) from error
    except (OSError, TimeoutError) as error:
        if client.status == "running":  # the table itself could not be read
            raise
        raise ClusterError(
            f"the scheduler of the cluster does not answer ({first_line(error)}); start it again, then {work.again}."
        ) from error
