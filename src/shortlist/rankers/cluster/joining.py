"""Joining a cluster of Dask or Spark by its address, or starting one of processes of this machine."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from shortlist.exceptions import ClusterError, MissingExtraError
from shortlist.rankers.cluster.troubles import told_by_spark
from shortlist.validation import check_jobs

#: The address that stands for processes of this machine.
LOCAL = "local"
#: Seconds that a scheduler has to answer.
PATIENCE = 10
#: What Spark is told where it runs on this machine alone: no pages, and no way in from elsewhere.
_ALONE = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


@contextmanager
def joined_cluster(address: str, *, n_jobs: int | None = None) -> Iterator[Any]:
    """A client of the cluster of Dask at an address such as tcp://host:8786; ``local`` starts one worker a thread."""
    try:
        from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError.of("distributed", "dask") from None
    if address != LOCAL:
        try:
            client = Client(address, timeout=PATIENCE)
        except (OSError, ValueError, TimeoutError) as error:
            raise _absent(address) from error
        with client:
            yield client
        return
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of ports that another program has; nobody looks at the pages of this cluster
        cluster = LocalCluster(n_workers=check_jobs(n_jobs), threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        yield client


def _absent(address: str) -> ClusterError:
    return ClusterError(
        f"no scheduler of Dask answers at {address}; start one (dask scheduler), name its address as it prints it, "
        f"such as tcp://host:8786, or use {LOCAL} for processes of this machine."
    )


@contextmanager
def joined_spark(master: str) -> Iterator[Any]:
    """A session of the cluster of Spark at an address such as spark://host:7077, or of local[2] for this machine."""
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError.of("pyspark", "spark") from None
    there = SparkSession.getActiveSession()
    if there is not None:
        _check_same(there, master)
        yield there
        return
    _check_java()
    _check_answers(master)
    settings = {"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"}
    if master.startswith(LOCAL):
        settings |= _ALONE
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with told_by_spark():
        session = SparkSession.builder.appName("shortlist").master(master).config(map=settings).getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def has_java() -> bool:
    """Whether there is a Java for Spark to run on."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java") is not None or (home is not None and (Path(home) / "bin" / "java").exists())


def _check_java() -> None:
    if not has_java():
        raise ClusterError(
            "Spark runs on Java, and there is none here; install it (on Debian: apt install openjdk-17-jre-headless), "
            "or name its folder in JAVA_HOME."
        )


def _check_answers(master: str) -> None:
    """Spark itself would try for a minute and longer."""
    if not master.startswith("spark://"):
        return
    for host in master.removeprefix("spark://").split(","):
        try:
            at = urlsplit(f"spark://{host}")
            with socket.create_connection((at.hostname or "", at.port or 7077), timeout=PATIENCE):
                return
        except (OSError, ValueError):
            continue
    raise ClusterError(
        f"no master of Spark answers at {master}; start one (start-master.sh), name its address as it prints it, "
        "such as spark://host:7077, or use local[2] for two processes of this machine."
    )


def _check_same(session: Any, master: str) -> None:
    context = getattr(session, "_sc", None)
    joined = None if context is None else context.master
    if joined != master:
        raise ClusterError(
            f"this process has a session of Spark already, of {joined or 'Spark Connect'}, and not of {master}; stop "
            "it, or give a data frame of it in place of an address."
        )
