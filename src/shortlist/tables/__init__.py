"""Rows in and out: one way in, one way out, column roles, and a schema that is learned and checked."""

from shortlist.tables.columns.feature import Feature
from shortlist.tables.columns.schema import Encoded, Schema
from shortlist.tables.io.read import read_batches, read_table, scan_table
from shortlist.tables.io.write import write_table
from shortlist.tables.roles import Roles
from shortlist.tables.table import Table, load_table

__all__ = [
    "Encoded",
    "Feature",
    "Roles",
    "Schema",
    "Table",
    "load_table",
    "read_batches",
    "read_table",
    "scan_table",
    "write_table",
]
