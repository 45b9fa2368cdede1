"""The errors of Shortlist. Each message says what is wrong and what to do about it."""

__all__ = [
    "InvalidInputError",
    "MissingExtraError",
    "NoUnwantedRowsError",
    "NoWantedRowsError",
    "PlugInError",
    "SchemaError",
    "ShortlistError",
    "TableError",
]


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


class PlugInError(ShortlistError):
    """A plug-in of another package cannot be used."""


class MissingExtraError(ShortlistError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    @classmethod
    def of(cls, package: str, extra: str) -> "MissingExtraError":
        """Name the package that is missing and the extra that brings it."""
        return cls(
            f"this needs {package}, which is not installed. Install it: pip install 'shortlist[{extra}]'"
        )
