import shutil
import threading
import time

import numpy as np
import polars as pl
import pytest

from shortlist.review.client import Client
from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.web.server import bound, make_server
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


@pytest.fixture(scope="session")
def make_workspace(tmp_path_factory):
    """Make a workspace of claims; files that were made from the same data in the same way are copied."""
    made = {}

    def make(data, workspace, *, settings=None, database=None, **options):
        settings = {"budget": 30, **(settings or {})}
        if database is not None:
            create(str(data), workspace, id="claim", settings=settings, database=database, **options)
            return
        key = (workspace.folder.name, data.read_bytes(), repr(sorted(options.items())), repr(settings))
        if key not in made:
            folder = tmp_path_factory.mktemp("made") / workspace.folder.name
            create(str(data), Workspace(folder), id="claim", settings=settings, **options)
            made[key] = folder
        shutil.copytree(made[key], workspace.folder, dirs_exist_ok=True)

    return make


@pytest.fixture
def database():
    """Where the logs of queues are kept: None, in files; tests of the queue itself also use the URL of a database."""


@pytest.fixture
def make_queue(data, clock, make_workspace, database):
    """Make a queue, or open the one that is there; all are closed at the end."""
    opened = []

    def make(again=False, **options):
        workspace = Workspace.beside(str(data))
        if not again and not workspace.exists:
            make_workspace(data, workspace, database=database, **options)
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


@pytest.fixture
def whole(make_queue, review, table):
    """A queue with rows that arrived, a checkpoint and all."""
    queue = make_queue(settings={"audit": 0.2})
    review(queue, 4)
    arrivals = table.drop("truth").with_columns(claim="N-" + pl.col("claim"))
    queue.append("ann", arrivals.head(3)).result()
    review(queue, 2)
    queue.workspace.secret()
    queue.close()
    return queue.workspace.folder


class Served:
    """A server of a queue in a thread of its own; may be stopped and started again on the same port."""

    def __init__(self, folder, port=0):
        self.folder, self.port, self._clients = folder, port, []
        self.start()

    def start(self):
        self.queue = Queue.open(self.folder)
        sock = bound("127.0.0.1", self.port)
        self.port = sock.getsockname()[1]
        self._server, self.keys, self.url = make_server(self.queue, sock)
        self.app = self._server.config.app
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
def serve_queue(data, make_workspace, database):
    """Make a queue and serve it."""
    running = []

    def serve(workspace=None, **options):
        place = Workspace(workspace) if workspace else Workspace.beside(str(data))
        if not place.exists:
            make_workspace(data, place, database=database, **options)
        running.append(Served(place.folder))
        return running[-1]

    yield serve
    for server in running:
        if server._thread.is_alive():
            server.stop()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory, make_workspace):
    """One server for all tests of a file that leave it as good as they found it."""
    data = tmp_path_factory.mktemp("shared") / "claims.csv"
    make_rows().drop("truth").write_csv(data)
    place = Workspace.beside(str(data))
    make_workspace(data, place)
    server = Served(place.folder)
    yield server
    server.stop()
