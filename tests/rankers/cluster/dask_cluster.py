"""Clusters of Dask for tests: workers that are threads of this process, or processes of their own."""

import time
from contextlib import contextmanager

import pytest


@contextmanager
def workers_in_threads(n_workers=2):
    """The client of a cluster that starts at once; tests are skipped where Dask is absent."""
    distributed = pytest.importorskip("distributed")
    settings = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=n_workers, **settings) as here,
        distributed.Client(here) as client,
    ):
        yield client


@contextmanager
def workers_in_processes(n_workers):
    """A cluster of workers that are apart, as on other machines."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster


@contextmanager
def scaled(cluster, n_workers):
    """A client of the cluster once it has so many workers."""
    distributed = pytest.importorskip("distributed")
    cluster.scale(n_workers)
    with distributed.Client(cluster) as client:
        while len(client.nthreads()) != n_workers:
            time.sleep(0.2)
        yield client
