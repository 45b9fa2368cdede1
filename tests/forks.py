"""Processes forked from a server that has imported everything: they do their work at once."""

import multiprocessing
from multiprocessing import forkserver

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "shortlist.cli.stream",
        "shortlist.stream.run.stream_run",
        "shortlist.workflow",
        "shortlist.review.web.server",
    ]
)


def start_server():
    """Start it now: a process of tests has one server, with what is imported when it starts."""
    forkserver.ensure_running()
