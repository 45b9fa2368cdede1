"""Rows in and out: one door in, one door out, column roles, and a schema that is learned and checked."""

from shortlist.tables.feature import Feature
from shortlist.tables.read import read_batches, read_table, scan_table
from shortlist.tables.roles import Roles
from shortlist.tables.schema import Schema
from shortlist.tables.table import Table, load_table
from shortlist.tables.write import write_table

__all__ = [
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
