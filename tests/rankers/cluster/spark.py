"""A session of Spark for tests: two tasks of this machine, on Java."""

import os
import sys
import time
import warnings
from contextlib import contextmanager, suppress

import psutil
import pytest

from shortlist.rankers.cluster.joining import has_java


@contextmanager
def spark_session():
    """It starts once for a file of tests; they are skipped where Spark or Java is absent."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed: Spark is not tested")
    if not has_java():
        pytest.skip("Java is not installed: Spark is not tested")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
    here = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    few = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark's own, of what other libraries will do one day
        session = (
            sql.SparkSession.builder.master("local[2]").config(map={**quiet, **here, **few}).getOrCreate()
        )
    try:
        yield session
    finally:
        session.stop()


def worker_at_work(program):
    """The process of Python that now works most for Spark below a program; None where none does.

    Spark keeps those of earlier stages: what they have used before says nothing.
    """
    before = _cpu_of_workers(program)
    time.sleep(0.5)
    after = _cpu_of_workers(program)
    used = {each: after[each] - before[each] for each in before.keys() & after.keys()}
    busy = max(used, key=used.__getitem__, default=None)
    return busy if busy is not None and used[busy] > 0.1 else None


def _cpu_of_workers(program):
    """Seconds of each process that a process which makes workers has made."""
    found = {}
    for each in program.children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # one that has just ended
            if "pyspark.daemon" in each.cmdline() and "pyspark.daemon" in each.parent().cmdline():
                found[each] = each.cpu_times().user
    return found
