"""A PostgreSQL server for studies and tests, where the programs are installed."""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
INITDB = shutil.which("initdb") or (str(PROGRAMS[-1]) if PROGRAMS else None)


class PostgresServer:
    """A server of its own that listens on a socket in its folder only; it may be stopped and started again.

    Without ``fsync`` only a machine that fails loses something, not a server that is stopped.
    """

    def __init__(self, folder: Path, *, fsync: bool = True) -> None:
        self._folder, self._fsync = folder, "on" if fsync else "off"
        # PostgreSQL refuses to run as root; Debian's package brings a user for it.
        self._as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self._as_user:
            shutil.chown(folder, "postgres")
        self._run(INITDB, "-D", folder / "data", "-U", "me", "-A", "trust")
        self.url = f"postgresql://me@/postgres?host={folder}"
        self.start()

    def start(self) -> None:
        """Start, and wait until it answers."""
        self._control("-o", f"-c listen_addresses='' -c fsync={self._fsync} -k {self._folder}", "start")

    def stop(self) -> None:
        """Stop at once, as a machine that fails does."""
        self._control("-m", "immediate", "stop")

    def _control(self, *command: object) -> None:
        program = Path(str(INITDB)).parent / "pg_ctl"
        self._run(program, "-D", self._folder / "data", "-w", "-l", self._folder / "log", *command)

    def _run(self, *command: object) -> None:
        arguments = [*self._as_user, *map(str, command)]
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, cwd=self._folder)


@contextmanager
def running_postgres(*, fsync: bool = True) -> Iterator[PostgresServer]:
    """A server that is gone afterwards."""
    with TemporaryDirectory(prefix="pg-") as name:
        server = PostgresServer(Path(name), fsync=fsync)
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def own_schema(url: str) -> Iterator[str]:
    """The URL of an empty database; really a schema of its own, which is made in no time."""
    import psycopg  # noqa: PLC0415

    name = f"of_its_own_{secrets.token_hex(8)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"create schema {name}")
    yield f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{name}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"drop schema {name} cascade")


def add_database(parser: argparse.ArgumentParser) -> None:
    """The options that say where logs are kept; without one, in files."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--db", metavar="URL", help="keep logs in this PostgreSQL database, in a schema of its own"
    )
    group.add_argument(
        "--postgres", action="store_true", help="keep logs in a PostgreSQL server started for it"
    )


@contextmanager
def database_of(options: argparse.Namespace) -> Iterator[tuple[str | None, PostgresServer | None]]:
    """The URL of the database that was asked for, and the server where it is ours to stop."""
    if options.postgres:
        if INITDB is None:
            raise SystemExit(
                "PostgreSQL is not installed: apt install postgresql, or name a database with --db."
            )
        with running_postgres() as server:
            yield server.url, server
    elif options.db:
        with own_schema(options.db) as url:
            yield url, None
    else:
        yield None, None
