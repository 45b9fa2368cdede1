"""What names a row wherever it lies."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shortlist.datasets import make_claims
from shortlist.tables import Roles, load_table
from shortlist.tables.row_keys import keys_of_ids


def plain_hash(text):
    number = 0xCBF29CE484222325
    for letter in text.encode():
        number = (number ^ letter) * 0x100000001B3 % 2**64
    return number


def test_published_values():
    known = {"": 0xCBF29CE484222325, "a": 0xAF63DC4C8601EC8C, "foobar": 0x85944171F73967E8}
    assert keys_of_ids(pl.Series([*known])).tolist() == [*known.values()]


@given(st.lists(st.text(max_size=12), max_size=20))
def test_keys_are_those_of_the_plain_hash(ids):
    assert keys_of_ids(pl.Series(ids, dtype=pl.String)).tolist() == [plain_hash(each) for each in ids]


def test_an_id_is_how_it_is_written():
    whole = keys_of_ids(np.array([7, 1200]))
    for ids in (pl.Series([7, 1200], dtype=pl.Int16), np.array(["7", "1200"], dtype=object)):
        np.testing.assert_array_equal(keys_of_ids(ids), whole)


def test_a_table_knows_rows_by_their_ids_where_it_has_some():
    claims = make_claims(50, random_state=0)
    table = load_table(claims, Roles(id="claim_id", label="fraud"))
    np.testing.assert_array_equal(table.for_fit["groups"].row_keys, keys_of_ids(claims["claim_id"]))
    part = table.take(np.array([4, 2]))
    np.testing.assert_array_equal(part.for_fit["groups"].row_keys, keys_of_ids(claims["claim_id"][[4, 2]]))
    numbered = load_table(claims, Roles(label="fraud", ignore=["claim_id"]))
    assert numbered.for_fit["groups"].row_keys.size == 0
