"""Rows dealt into folds by a hash of what names them."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.datasets import make_claims
from shortlist.lists import Lists, Place
from shortlist.rankers import APBoost
from shortlist.rankers.folds import deal_folds, divisible
from shortlist.tables import Roles, load_table
from tests.rankers.machines import on_machines

ROLES = Roles(id="claim_id", label="fraud")


@settings(max_examples=30)
@given(st.integers(2, 6), st.integers(0, 2**31), st.integers(6, 40))
def test_folds_share_wanted_rows_evenly(n_folds, seed, n_wanted):
    y = np.random.default_rng(seed).permutation(np.arange(100) < n_wanted)
    fold = deal_folds(y, Lists.single(100), n_folds, seed)
    for counts in (np.bincount(fold, minlength=n_folds), np.bincount(fold, y, minlength=n_folds)):
        assert counts.max() - counts.min() <= 1


def test_folds_keep_lists_whole():
    rng = np.random.default_rng(0)
    y, lists = rng.random(500) < 0.2, Lists.from_groups(rng.integers(0, 40, 500))
    fold = deal_folds(y, lists, 4, seed=0)
    for rows in lists:
        assert np.unique(fold[rows]).size == 1
    wanted = np.bincount(fold, y)
    assert wanted.max() - wanted.min() <= 6
    assert divisible(y, lists) == sum(y[rows].any() for rows in lists)


def test_seeds_deal_independently():
    y = np.zeros(20_000, dtype=bool)
    one, other = (deal_folds(y, Lists.single(y.size), 4, seed) for seed in (0, 1))
    shared = np.histogram2d(one, other, bins=4)[0]
    np.testing.assert_allclose(shared, 20_000 / 16, rtol=0.1)


@pytest.mark.parametrize("grouped", [False, True])
def test_rows_with_ids_fall_into_the_same_folds_in_any_order(grouped):
    rng = np.random.default_rng(0)
    y, groups = rng.random(1_000) < 0.1, rng.integers(0, 60, 1_000)
    keys = rng.integers(0, 2**63, 1_000).astype(np.uint64)
    lists = Lists.from_groups(groups) if grouped else Lists.single(1_000)
    fold = deal_folds(y, replace(lists, keys=keys), 4, seed=0)
    order = rng.permutation(1_000)
    moved = Lists.from_groups(groups[order]) if grouped else lists
    np.testing.assert_array_equal(
        deal_folds(y[order], replace(moved, keys=keys[order]), 4, seed=0), fold[order]
    )


def test_rows_of_several_machines_fall_into_the_folds_of_one():
    rng = np.random.default_rng(0)
    y, where = rng.random(500) < 0.1, rng.integers(0, 3, 500)
    fold = deal_folds(y, Lists.single(500), 4, seed=7)

    def part(number, sums):
        rows = np.flatnonzero(where == number)
        lists = replace(Lists.single(rows.size), place=Place(sums, rows.astype(np.uint64)))
        return rows, deal_folds(y[rows], lists, 4, seed=7)

    for rows, dealt in on_machines(3, part):
        np.testing.assert_array_equal(dealt, fold[rows])


def test_a_table_with_ids_teaches_the_same_in_any_order():
    claims = make_claims(1_500, random_state=0, fraud_rate=0.1)
    # Few values to a column, so that its cuts do not depend on the order of rows either.
    claims = claims.with_columns(pl.col(pl.Float64).round_sig_figs(1))
    mixed = claims.sample(fraction=1, shuffle=True, seed=1)
    settings = {"n_estimators": 10, "random_state": 0, "n_jobs": 1, "committee": False}

    def scores(frame, roles):
        table = load_table(frame, roles)
        ranker = APBoost(**settings).fit(table.features, table.y, **table.for_fit)
        return ranker.decision_function(load_table(claims, ROLES).features)

    np.testing.assert_allclose(scores(mixed, ROLES), scores(claims, ROLES), rtol=1e-5, atol=1e-5)
    placed = Roles(label="fraud", ignore=["claim_id"])
    assert np.abs(scores(mixed, placed) - scores(claims, placed)).max() > 0.01
