"""Rows in and out: one way in, one way out, column roles, and a schema that is learned and checked."""

from shortlist.tables.columns.encoded import Encoded
from shortlist.tables.columns.feature import Feature
from shortlist.tables.columns.schema import Schema
from shortlist.tables.io.read import read_batches, read_table, scan_table
from shortlist.tables.io.sql import hide_password, same_table
from shortlist.tables.io.write import atomic_path, check_place, check_target, write_table
from shortlist.tables.roles import Roles
from shortlist.tables.table import RowFacts, Table, labelled_part, load_table, read_facts, read_numbers

__all__ = [
    "Encoded",
    "Feature",
    "Roles",
    "RowFacts",
    "Schema",
    "Table",
    "atomic_path",
    "check_place",
    "check_target",
    "hide_password",
    "labelled_part",
    "load_table",
    "read_batches",
    "read_facts",
    "read_numbers",
    "read_table",
    "same_table",
    "scan_table",
    "write_table",
]
