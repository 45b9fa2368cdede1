"""Tables in databases, through SQLAlchemy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shortlist.exceptions import MissingExtraError, TableError
from shortlist.tables.io.remote import is_elsewhere
from shortlist.tables.roles import did_you_mean

if TYPE_CHECKING:
    import sqlalchemy as sa
else:

    class _WhenUsed:
        """SQLAlchemy takes a third of the time that all of ``shortlist.tables`` takes to load; few tables need it."""

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("sqlalchemy"), name)

    sa = _WhenUsed()

_INSERT_ROWS = 10_000
_NO_URL = "this is no database URL; write sqlite:///FILE or postgresql://USER@HOST/NAME."


def is_database_url(source: object) -> bool:
    """Whether ``source`` is text such as sqlite:///claims.db or postgresql://user@host/claims."""
    return isinstance(source, str) and "://" in source and not is_elsewhere(source)


def hide_password(source: str) -> str:
    """A path or URL as it may be shown.

    >>> hide_password("postgresql://me:secret@host/claims::history"), hide_password("claims.csv")
    ('postgresql://me:***@host/claims::history', 'claims.csv')
    """
    return re.sub(r"(://[^/:@]*):.*@", r"\1:***@", source)


def read_query(url: str, query: str | None, *, batch_rows: int | None = None) -> Iterator[pl.DataFrame]:
    """The rows of a query or of a whole table, in one frame or in batches."""
    with _connected(url) as connection, _explained(url, "Mend the query."):
        statement = _statement(connection, query)
        try:
            if batch_rows is None:
                yield pl.read_database(statement, connection, infer_schema_length=None)
                return
            # Or the driver fetches all rows before it gives the first.
            streamed = connection.execution_options(stream_results=True, max_row_buffer=batch_rows)
            options = {"iter_batches": True, "batch_size": batch_rows, "infer_schema_length": None}
            yield from pl.read_database(statement, streamed, **options)  # type: ignore[call-overload]
        except (AttributeError, pl.exceptions.PolarsError) as error:
            # A statement that gives no rows has no cursor to read from.
            raise TableError(f"the query gave no table; write one that selects rows. ({error})") from None


def table_of(target: str) -> tuple[str, str]:
    """URL and table of ``URL::table``.

    >>> table_of("sqlite:///claims.db::history")
    ('sqlite:///claims.db', 'history')
    """
    url, _, name = target.rpartition("::")
    if not url or not name:
        raise TableError(f"say which table is meant: {hide_password(target)}::NAME")
    return url, name


def same_table(one: object, other: object) -> bool:
    """Whether two ``URL::table`` mean one table.

    >>> same_table("sqlite:///claims.db::old", f"sqlite:///{Path.cwd()}/claims.db::old")
    True
    """
    return is_database_url(one) and is_database_url(other) and _place_of(str(one)) == _place_of(str(other))


def check_table(target: str, *, replace: bool) -> None:
    """Refuse a table that ``write_rows`` could not write, before hours of work go into its rows."""
    url, name = table_of(target)
    engine = _engine(url, create=True)  # what is wrong with the URL itself
    file = _sqlite_file(engine.url)
    if file is not None and not file.exists():
        return  # connecting would leave an empty file behind
    with _connected(url, create=True) as connection, _explained(url, "Mend what it says first."):
        _check_free(connection, name, replace=replace)


def write_rows(frame: pl.DataFrame, target: str, *, replace: bool) -> None:
    """Create the table of ``URL::table`` with these rows, in one transaction."""
    url, name = table_of(target)
    advice = "Nothing was written; leave out or convert what it cannot hold."
    with _connected(url, create=True) as connection, _explained(url, advice):
        if connection.dialect.name == "sqlite":
            # The driver would otherwise commit the CREATE TABLE on its own.
            connection.exec_driver_sql("BEGIN")
        table = _table_for(frame, name)
        if _check_free(connection, name, replace=replace):
            table.drop(connection)
        table.create(connection)
        for rows in frame.iter_slices(_INSERT_ROWS):
            connection.execute(sa.insert(table), rows.to_dicts())
        connection.commit()


def _check_free(connection: sa.Connection, name: str, *, replace: bool) -> bool:
    """Whether the table exists; an error unless it is to be replaced."""
    schema, _, plain = name.rpartition(".")
    there = sa.inspect(connection).has_table(plain, schema=schema or None)
    if there and not replace:
        raise TableError(
            f"table {name!r} exists already; replace it with --replace (in Python: replace=True), or choose another "
            "name."
        )
    return there


def _place_of(target: str) -> tuple[str, str]:
    url, name = table_of(target)
    address = _address(url)
    file = _sqlite_file(address)
    if file is not None:
        address = address.set(database=str(file.resolve()))
    return address.render_as_string(hide_password=False), name


@contextmanager
def _connected(url: str, *, create: bool = False) -> Iterator[sa.Connection]:
    engine = _engine(url, create=create)
    try:
        try:
            connection = engine.connect()
        except sa.exc.SQLAlchemyError as error:
            raise TableError(
                f"cannot reach the database {hide_password(url)}: {_reason(error)}. "
                "Check host, port, name and password, and that the server runs."
            ) from None
        with connection:
            yield connection
    finally:
        engine.dispose()


def _engine(url: str, *, create: bool) -> sa.Engine:
    address = _address(url)
    try:
        _check_sqlite_file(address, create=create)
        return sa.create_engine(address)
    except sa.exc.NoSuchModuleError:
        raise TableError(
            f"no database speaks {url.partition(':')[0]!r}; use sqlite:///FILE, postgresql://USER@HOST/NAME "
            "or another URL that SQLAlchemy knows."
        ) from None
    except sa.exc.ArgumentError:
        raise TableError(_NO_URL) from None
    except ModuleNotFoundError as error:
        if error.name == "psycopg":
            raise MissingExtraError.of("psycopg", "postgres") from None
        raise TableError(
            f"the driver for {hide_password(url)} is missing: pip install {error.name}"
        ) from None


def _address(url: str) -> sa.URL:
    try:
        address = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise TableError(_NO_URL) from None
    plain = address.drivername in ("postgres", "postgresql")
    return address.set(drivername="postgresql+psycopg") if plain else address


def _sqlite_file(address: sa.URL) -> Path | None:
    """The file of a SQLite database; None: another kind, or one in memory."""
    name = address.database
    if address.get_backend_name() != "sqlite" or not name or name == ":memory:" or name.startswith("file:"):
        return None
    return Path(name)


def _check_sqlite_file(address: sa.URL, *, create: bool) -> None:
    """Connecting to a SQLite file that is not there would create it."""
    file = _sqlite_file(address)
    if file is None:
        if create and address.database in (None, "", ":memory:") and address.get_backend_name() == "sqlite":
            raise TableError(
                "a database in memory is gone when the command ends; write sqlite:///FILE::TABLE"
            )
        return
    folder = file.parent
    if not folder.is_dir():
        raise TableError(f"there is no folder {folder}; create it first.")
    if not create and not file.is_file():
        close = did_you_mean(file.name, [each.name for each in folder.iterdir()])
        raise TableError(f"there is no database file {file}.{close}")


def _statement(connection: sa.Connection, query: str | None) -> str:
    if query is None or not query.strip():
        names = ", ".join(sorted(sa.inspect(connection).get_table_names())) or "none"
        raise TableError(
            f"say what to read from the database: URL::TABLE (in Python also query='select ...'). Its tables: {names}."
        )
    if len(query.split()) > 1:
        return query
    schema, _, name = query.strip().rpartition(".")
    inspector = sa.inspect(connection)
    known = inspector.get_table_names(schema or None) + inspector.get_view_names(schema or None)
    if name not in known:
        names = ", ".join(sorted(known)) or "none"
        raise TableError(
            f"the database has no table {query!r}.{did_you_mean(name, known)} Its tables: {names}."
        )
    source = sa.table(name, schema=schema or None)
    return str(sa.select(sa.text("*")).select_from(source).compile(connection))


@contextmanager
def _explained(url: str, advice: str) -> Iterator[None]:
    try:
        yield
    except (sa.exc.SQLAlchemyError, OverflowError) as error:
        raise TableError(f"the database {hide_password(url)} refused: {_reason(error)}. {advice}") from None


def _reason(error: Exception) -> str:
    return " ".join(str(getattr(error, "orig", None) or error).split())


def _table_for(frame: pl.DataFrame, name: str) -> sa.Table:
    schema, _, plain = name.rpartition(".")
    columns = [sa.Column(column, _sql_type(column, dtype)) for column, dtype in frame.schema.items()]
    return sa.Table(plain, sa.MetaData(), *columns, schema=schema or None)


def _sql_type(column: str, dtype: pl.DataType) -> sa.types.TypeEngine:
    if dtype.is_integer():
        return sa.BigInteger()
    if dtype.is_numeric():
        return sa.Float(53)
    plain: dict[type, sa.types.TypeEngine] = {
        pl.Boolean: sa.Boolean(),
        pl.Date: sa.Date(),
        pl.Datetime: sa.DateTime(timezone=getattr(dtype, "time_zone", None) is not None),
    }
    if type(dtype) in plain:
        return plain[type(dtype)]
    if dtype in (pl.String, pl.Null) or isinstance(dtype, pl.Categorical | pl.Enum):
        return sa.Text()
    raise TableError(
        f"column {column!r} holds {dtype}, which a database table cannot; leave it out or make it text."
    )
