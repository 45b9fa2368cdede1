import os
import threading
import time

import numpy as np
import polars as pl
import pytest

from shortlist.review.client import Client
from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.web.server import _bound, make_server
from shortlist.review.workspace import Workspace
from shortlist.verdicts import Verdict


class Clock:
    """A clock that tests set."""

    def __init__(self):
        self.now = 1_700_000_000.0

    def __call__(self):
        return self.now


def make_rows(n_rows=200, n_wanted=12, seed=0):
    """Rows of which the last few are unlike the others, and wanted."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 3))
    x[-n_wanted:] += [4, 3, 0]
    order = rng.permutation(n_rows)
    wanted = np.arange(n_rows) >= n_rows - n_wanted
    return pl.DataFrame(
        {
            "claim": [f"C-{i:04d}" for i in range(n_rows)],
            "amount": np.round(np.exp(x[order, 0]) * 100, 2),
            "days late": np.round(x[order, 1] * 5 + 10),
            "region": np.where(x[order, 2] > 0, "north", "south"),
            "truth": wanted[order],
        }
    )


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def table():
    return make_rows()


@pytest.fixture
def truth(table):
    return dict(zip(table["claim"], table["truth"], strict=True))


@pytest.fixture
def data(tmp_path, table):
    path = tmp_path / "claims.csv"
    table.drop("truth").write_csv(path)
    return path


@pytest.fixture
def make_queue(data, clock):
    """Make a queue, or open the one that is there; all are closed at the end."""
    opened = []

    def make(again=False, **options):
        workspace = Workspace.beside(str(data))
        if not again and not workspace.exists:
            settings = {"budget": 30, **options.pop("settings", {})}
            create(str(data), workspace, id="claim", settings=settings, **options)
        queue = Queue.open(workspace.folder, clock=clock)
        opened.append(queue)
        return queue

    yield make
    for queue in opened:
        queue.close()


@pytest.fixture
def queue(make_queue):
    return make_queue()


@pytest.fixture
def review(truth):
    """Let a reviewer who knows the truth give n verdicts; returns the turns they had."""

    def run(queue, n, who="ann"):
        turns = [queue.turn(who).result()]
        for _ in range(n):
            answer = Verdict.WANTED if truth.get(turns[-1].id) else Verdict.NOT_WANTED
            turns.append(queue.record(who, turns[-1].shown, answer).result())
        return turns

    return run


class Served:
    """A server of a queue in a thread of its own; may be stopped and started again on the same port."""

    def __init__(self, folder, port=0):
        self.folder, self.port, self._clients = folder, port, []
        self.start()

    def start(self):
        self.queue = Queue.open(self.folder)
        sock = _bound(self.port)
        self.port = sock.getsockname()[1]
        self._server, self.keys, self.url = make_server(self.queue, sock)
        if not self.queue.read_only:
            self.queue.workspace.announce(
                {"url": self.url, "token": self.keys.access_token, "pid": os.getpid()}
            )
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [sock]})
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        return self

    def stop(self):
        for client in self._clients:
            client.close()
        self._server.should_exit = True
        self._thread.join()

    def login(self):
        return f"{self.url}/login?token={self.keys.issue()}"

    def client(self, who="ann"):
        self._clients.append(Client(self.url, self.keys.access_token, self.queue.name, who=who))
        return self._clients[-1]


@pytest.fixture
def serve_queue(data):
    """Make a queue and serve it."""
    running = []

    def serve(workspace=None, **options):
        place = Workspace(workspace) if workspace else Workspace.beside(str(data))
        if not place.exists:
            settings = {"budget": 30, **options.pop("settings", {})}
            create(str(data), place, id="claim", settings=settings, **options)
        running.append(Served(place.folder))
        return running[-1]

    yield serve
    for server in running:
        if server._thread.is_alive():
            server.stop()
