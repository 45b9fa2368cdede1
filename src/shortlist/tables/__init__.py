"""Rows in and out: one door in, one door out, column roles, and a schema that is learned and checked."""

from shortlist.tables.encoded import Encoded
from shortlist.tables.feature import Feature
from shortlist.tables.read import read_batches, read_table, scan_table
from shortlist.tables.roles import Roles
from shortlist.tables.schema import Schema
from shortlist.tables.sql import hide_password, same_table
from shortlist.tables.table import RowFacts, Table, labelled_part, load_table, read_facts, read_numbers
from shortlist.tables.write import atomic_path, check_place, check_target, write_table

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
