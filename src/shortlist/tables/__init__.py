"""Rows in and out: one way in, one way out, column roles, and a schema that is learned and checked."""

from shortlist.tables.columns.encoded import Encoded
from shortlist.tables.columns.feature import Feature
from shortlist.tables.columns.schema import Schema
from shortlist.tables.io.read import read_batches, read_table, scan_table
from shortlist.tables.io.write import write_table
from shortlist.tables.roles import Roles
from shortlist.tables.table import RowFacts, Table, load_table

__all__ = [
    "Encoded",
    "Feature",
    "Roles",
    "RowFacts",
    "Schema",
    "Table",
    "load_table",
    "read_batches",
    "read_table",
    "scan_table",
    "write_table",
]
