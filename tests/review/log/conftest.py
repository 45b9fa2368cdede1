import sqlite3
from contextlib import closing

import pytest

from shortlist.review.log.database import Remote
from shortlist.review.log.store import Store
from shortlist.review.log.tables import POSTGRES_TRIGGERS, TRIGGERS, table_of


class InFile:
    """A log in a file, and a tool that somebody could change it with."""

    triggers, first = TRIGGERS, ()

    def __init__(self, folder):
        self.folder, self.place = folder, folder / "log.sqlite"

    def tool(self):
        return closing(sqlite3.connect(self.place))

    @staticmethod
    def drop(name):
        return f"drop trigger {name}"

    @staticmethod
    def disarmed(name):
        return TRIGGERS[name].replace("raise(abort, 'the log is only added to')", "1")


class InPostgres:
    """The same in a database."""

    triggers = POSTGRES_TRIGGERS
    first = ("alter table events drop constraint events_who_fkey",)  # SQLite does not heed it unless told to

    def __init__(self, folder, url):
        self.folder, self._url, self.place = folder, url, Remote(url, "claims", folder)

    def tool(self):
        import psycopg

        return closing(psycopg.connect(self._url))

    @staticmethod
    def drop(name):
        return f"drop trigger {name} on {table_of(POSTGRES_TRIGGERS[name])}"

    @staticmethod
    def disarmed(name):
        """It is there, and is never called."""
        return f"{POSTGRES_TRIGGERS[name]}; alter table {table_of(POSTGRES_TRIGGERS[name])} disable trigger {name}"


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request, tmp_path):
    """Where a log may be kept."""
    if request.param == "sqlite":
        return InFile(tmp_path)
    return InPostgres(tmp_path, request.getfixturevalue("postgres"))


@pytest.fixture
def faults():
    def found(kept):
        with closing(Store.open(kept.place, read_only=True)) as store:
            return list(store.faults(1))

    return found
