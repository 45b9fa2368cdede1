"""Asking the workers of a cluster, which hold the rows of a score space; one that goes away is told in a sentence."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakValueDictionary

from shortlist.exceptions import ClusterError, ShortlistError
from shortlist.feedback.rows.parts import Parts
from shortlist.feedback.spaces.forest import Integers
from shortlist.rankers.cluster.troubles import first_line

#: Seconds between two looks at whether a worker that has not answered is still there.
LOOK_EVERY = 2.0

#: A method and what it is given.
Call = tuple[str, tuple[Any, ...]]


class Workers(Parts):
    """Actors, each on its machine; once one is lost, every question is answered with that."""

    def __init__(self, client: Any, machines: Sequence[str], actors: Sequence[Any], starts: Integers) -> None:
        self.starts = starts
        self._client, self._machines, self._actors = client, machines, actors
        self._rankers: WeakValueDictionary[str, RankerOnWorkers] = WeakValueDictionary()
        self._lost: ClusterError | None = None

    def tell(self, name: str, given: Mapping[int, tuple[Any, ...]]) -> None:
        """At once."""
        self.ask(name, given)

    def ask(self, name: str, given: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """All are asked before the first is waited for."""
        if self._lost is not None:
            raise self._lost
        asked: dict[int, Any] = {}
        with self._noting():
            for number, each in given.items():
                with self._told(number):
                    asked[number] = getattr(self._actors[number], name)(*each)
            return [self._answer(number, future) for number, future in asked.items()]

    def for_ranker(self, seed: int) -> RankerOnWorkers:
        """The same workers, asked about rows as one more ranker knows them."""
        name = uuid.uuid4().hex
        self.each("open", name, seed, [*self._rankers])
        self._rankers[name] = ranker = RankerOnWorkers(self, name)
        return ranker

    def _answer(self, number: int, future: Any) -> Any:
        while True:
            with self._told(number):
                try:
                    return future.result(timeout=LOOK_EVERY)
                except TimeoutError:
                    # Dask itself would wait for ever for the answer of a worker that died at the wrong moment.
                    if future.done() or not self._is_there(self._machines[number]):
                        raise

    @contextmanager
    def _told(self, number: int) -> Iterator[None]:
        """What goes wrong on a worker, in a sentence."""
        try:
            yield
        except ShortlistError:
            raise
        except Exception as error:
            machine = self._machines[number]
            gone = isinstance(error, OSError) or not self._is_there(machine)
            what = "went away, and the rows that it held with it" if gone else f"failed ({first_line(error)})"
            raise ClusterError(
                f"worker {machine} {what}, so rows are not ranked any more. What was learned is still here: save the "
                "ranker (ranker.save), make the space again from the same rows, and load the ranker there."
            ) from error

    def _is_there(self, machine: str) -> bool:
        with suppress(Exception):  # of a scheduler that is gone, too
            return machine in self._client.nthreads()
        return False

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Some workers may know of a verdict and others not: nothing is ranked by them any more."""
        try:
            yield
        except ClusterError as error:
            self._lost = error
            raise


class RankerOnWorkers(Parts):
    """Rows as one ranker knows them; the workers forget them when there is a new ranker and this one is gone."""

    def __init__(self, workers: Workers, name: str) -> None:
        self.starts, self._workers, self._name = workers.starts, workers, name
        self._later: list[list[Call]] = [[] for _ in workers.starts]

    def ask(self, name: str, given: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """The same workers are asked, and told before what waited for that."""
        asked = {number: (self._name, [*self._later[number], (name, each)]) for number, each in given.items()}
        answers = self._workers.ask("of_ranker", asked)
        for number in given:
            self._later[number] = []
        return answers

    def tell(self, name: str, given: Mapping[int, tuple[Any, ...]]) -> None:
        """With the next question, so that a verdict takes no journey of its own."""
        for number, each in given.items():
            self._later[number].append((name, each))
