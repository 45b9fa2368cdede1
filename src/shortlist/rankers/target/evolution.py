"""Evolution of trees: restarts of a population, shared out between threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.target.bitset import Cuts
from shortlist.kernels.target.breeding import (
    BEST_TWO_OF_FOUR,
    BOTH_CHILDREN,
    Plan,
    Population,
    breed,
    draw_population,
    keep_elite,
    summarise,
)
from shortlist.kernels.target.tree_fitness import Room, Rows
from shortlist.rankers.target.watching import Generation, Watch

_KNOWN_TREES = 256  # trees each thread remembers; a power of two
Job = Callable[[int, int, Room], None]


@dataclass(frozen=True, eq=False)
class Genome:
    """One tree in preorder, with its fitness."""

    split: NDArray[np.int32]
    rule: NDArray[np.uint64]
    fitness: float


@dataclass(frozen=True, eq=False)
class Arena:
    """What all restarts on the same rows share."""

    cuts: Cuts
    rows: Rows
    plan: Plan
    population: int
    max_leaves: int
    generations: int
    estimator: int = 0

    @property
    def n_jobs(self) -> int:
        """Jobs of one generation: a crossover that adds two trees is one."""
        plan = self.plan
        pair = plan.accept in (BOTH_CHILDREN, BEST_TWO_OF_FOUR)
        rest = self.population - plan.n_elite - plan.n_crossover
        return rest + (-(-plan.n_crossover // 2) if pair else plan.n_crossover)

    def new_population(self) -> Population:
        """Places for the trees of a generation."""
        nodes = (self.population, 2 * self.max_leaves - 1)
        return Population(
            np.full(nodes, -1, dtype=np.int32),
            np.zeros(nodes, dtype=np.uint64),
            np.ones(self.population, dtype=np.int64),
            np.full(self.population, -np.inf),
        )

    def new_room(self) -> Room:
        """Working memory for one thread."""
        leaves, lists, words = self.max_leaves, self.rows.list_scale.size, self.rows.everyone.size
        nodes = 2 * leaves - 1
        return Room(
            sets=np.zeros((leaves + 1, words), dtype=np.uint64),
            side=np.zeros(words, dtype=np.uint64),
            pending=np.zeros((leaves + 1, 2), dtype=np.int64),
            pending_sums=np.zeros((leaves + 1, 2)),
            leaf_count=np.zeros((leaves, lists)),
            leaf_gain=np.zeros((leaves, lists)),
            score=np.zeros(leaves),
            order=np.zeros(leaves, dtype=np.int64),
            state=np.zeros(1, dtype=np.uint64),
            split=np.zeros((2, nodes), dtype=np.int32),
            rule=np.zeros((2, nodes), dtype=np.uint64),
            known_key=np.zeros(_KNOWN_TREES, dtype=np.uint64),
            known_split=np.zeros((_KNOWN_TREES, nodes), dtype=np.int32),
            known_rule=np.zeros((_KNOWN_TREES, nodes), dtype=np.uint64),
            known_size=np.zeros(_KNOWN_TREES, dtype=np.int64),
            known_fitness=np.zeros(_KNOWN_TREES),
        )


class Crew:
    """Threads that share the jobs of a generation; the trees do not depend on how many there are."""

    def __init__(self, arena: Arena, n_threads: int) -> None:
        self.rooms = [arena.new_room() for _ in range(n_threads)]
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def share(self, n_jobs: int, job: Job) -> None:
        """Do the jobs 0 to n_jobs - 1."""
        if self._pool is None:
            job(0, n_jobs, self.rooms[0])
            return
        edges = np.linspace(0, n_jobs, len(self.rooms) + 1).astype(int)
        shares = [
            self._pool.submit(job, int(a), int(b), room)
            for a, b, room in zip(edges[:-1], edges[1:], self.rooms, strict=True)
        ]
        for share in shares:
            share.result()

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()


def evolve(arena: Arena, restart: int, seed: int, watch: Watch, n_threads: int = 1) -> Genome:
    """Evolve one population and give its best tree; Ctrl-C ends it with the best tree so far.

    Where there is none yet, not even a first one, the fitness is -inf.
    """
    crew = Crew(arena, n_threads)
    old, new = arena.new_population(), arena.new_population()

    def draw(first: int, last: int, room: Room) -> None:
        draw_population(first, last, old, arena.plan, seed, arena.cuts, arena.rows, room)

    best, since = -np.inf, 0
    try:
        if watch.stopped:  # while this restart waited for its turn
            return _best(old)
        crew.share(arena.population, draw)
        for generation in range(arena.generations + 1):
            if generation > 0:
                _next_generation(arena, crew, old, new, seed, generation)
                old, new = new, old
            told = _told(arena, restart, generation, old)
            watch.tell(told)
            since = 0 if told.best > best else since + 1
            best = max(best, told.best)
            if watch.stopped or watch.stalled(since):
                break
    except KeyboardInterrupt:
        watch.interrupt()
    finally:
        crew.close()
    return _best(old)


def _next_generation(
    arena: Arena, crew: Crew, old: Population, new: Population, seed: int, generation: int
) -> None:
    wheel = np.empty(arena.population)
    keep_elite(old, new, arena.plan.n_elite, wheel)

    def job(first: int, last: int, room: Room) -> None:
        breed(first, last, old, new, wheel, arena.plan, seed, generation, arena.cuts, arena.rows, room)

    crew.share(arena.n_jobs, job)


def _told(arena: Arena, restart: int, generation: int, trees: Population) -> Generation:
    best, fitness, mean, nodes = summarise(trees)
    leaves = int(trees.size[best] + 1) // 2
    return Generation(arena.estimator, restart, generation, fitness, mean, leaves, (nodes + 1) / 2)


def _best(trees: Population) -> Genome:
    best = int(np.argmax(trees.fitness))
    size = int(trees.size[best])
    return Genome(trees.split[best, :size].copy(), trees.rule[best, :size].copy(), float(trees.fitness[best]))


def best_of_restarts(arena: Arena, seeds: NDArray[np.uint64], watch: Watch, n_threads: int) -> Genome:
    """Evolve from every seed and give the fittest tree; the first restart wins a tie."""
    workers = min(n_threads, seeds.size)
    if workers > 1:
        genomes = _in_threads(arena, seeds, watch, workers, n_threads // workers)
    else:
        genomes = []
        for restart, seed in enumerate(seeds):
            genomes.append(evolve(arena, restart, seed, watch, n_threads))
            if watch.stopped:
                break
    best = max(genomes, key=lambda genome: genome.fitness)
    if best.fitness == -np.inf:  # Ctrl-C came before the first tree
        raise KeyboardInterrupt
    return best


def _in_threads(
    arena: Arena, seeds: NDArray[np.uint64], watch: Watch, workers: int, threads_each: int
) -> list[Genome]:
    """All restarts, several at a time. Ctrl-C reaches the waiting thread, which passes it on to the others."""
    with ThreadPoolExecutor(workers) as pool:
        runs: list[Future[Genome]] = []
        while True:
            try:
                for restart in range(len(runs), seeds.size):
                    runs.append(pool.submit(evolve, arena, restart, seeds[restart], watch, threads_each))
                # With a time limit: polars' signal handler restarts waits that have none, and Ctrl-C would be lost.
                while wait(runs, timeout=0.1).not_done:
                    pass
                return [run.result() for run in runs]
            except KeyboardInterrupt:
                watch.interrupt()
