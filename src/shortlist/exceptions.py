"""The errors of Shortlist. Each message says what is wrong and what to do about it."""

__all__ = [
    "ClusterError",
    "InvalidInputError",
    "MissingExtraError",
    "NoUnwantedRowsError",
    "NoWantedRowsError",
    "PlugInError",
    "SchemaError",
    "ShortlistError",
    "TableError",
    "TooLargeError",
]

#: What each extra of an install is for.
_EXTRAS = {
    "excel": "reading and writing spreadsheets",
    "duckdb": "reading and writing tables of DuckDB",
    "postgres": "keeping tables or logs of reviews in PostgreSQL",
    "remote": "reading from s3://, gs://, az:// and other stores",
    "dask": "training on several machines with Dask",
    "spark": "training where Spark runs",
    "oidc": "signing in with an OpenID provider",
    "plot": "drawing curves",
}


class ShortlistError(Exception):
    """A mistake its user can mend; the command line prints it without a traceback and exits with 2."""


class InvalidInputError(ShortlistError, ValueError):
    """An argument or an array has a value that cannot be used."""


class NoWantedRowsError(InvalidInputError):
    """The labels mark no row as wanted, so nothing can be learned or measured."""


class NoUnwantedRowsError(InvalidInputError):
    """The labels mark every row as wanted, so there is nothing to rank them before."""


class TableError(InvalidInputError):
    """A table cannot be read or written as asked."""


class SchemaError(TableError):
    """A table does not have the columns or types that were learned in training."""


class TooLargeError(TableError):
    """A table does not fit into the memory that may be used, neither at once nor batch by batch."""


class ClusterError(ShortlistError):
    """Machines that work together cannot do what is asked, or one of them went away."""


class PlugInError(ShortlistError):
    """A plug-in of another package cannot be used."""


class MissingExtraError(ShortlistError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    @classmethod
    def of(cls, package: str, extra: str) -> "MissingExtraError":
        """Say what the extra is for, which package is missing, and how to get it.

        >>> print(MissingExtraError.of("matplotlib", "plot"))
        drawing curves needs matplotlib, which is not installed. Install it: pip install 'shortlist[plot]'
        """
        purpose = _EXTRAS.get(extra, "this")
        return cls(
            f"{purpose} needs {package}, which is not installed. Install it: pip install 'shortlist[{extra}]'"
        )
