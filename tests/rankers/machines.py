"""Several machines in one process: each is a thread, connected to the others as machines are."""

from concurrent.futures import ThreadPoolExecutor

from xgboost.tracker import RabitTracker

from shortlist.rankers.cluster.collective import connected


def run_machines(n_machines, work):
    """What ``work(number, communicator)`` gives on each of them."""
    tracker = RabitTracker(n_workers=n_machines, host_ip="127.0.0.1", sortby="task")
    tracker.start()
    given = [{**tracker.worker_args(), "dmlc_task_id": f"{number:06d}"} for number in range(n_machines)]
    with ThreadPoolExecutor(n_machines) as pool:
        found = list(pool.map(work, range(n_machines), given))
    tracker.free()
    return found


def on_machines(n_machines, work):
    """What ``work(number, sums)`` gives on each of them, while they are connected."""

    def alone(number, communicator):
        with connected(communicator) as sums:
            return work(number, sums)

    return run_machines(n_machines, alone)
