"""Five kinds of planted leaks are named, and honest columns are not."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.datasets import make_claims
from shortlist.tables import Roles, load_table
from shortlist.tables.guard.leaks import find_leaks
from shortlist.tables.guard.notes import guard_notes, known_notes
from shortlist.tables.guard.repeats import nearly_repeated
from shortlist.tables.guard.signs import best_cut, rates_elsewhere, side_of

ROLES = Roles(label="fraud", id="claim_id", time="date")


@pytest.fixture(scope="module")
def claims():
    return make_claims(2_000, random_state=3)


def leaks(frame, roles=ROLES):
    return {leak.column: leak for leak in find_leaks(load_table(frame, roles)).leaks}


def planted(claims, rng):
    wanted, n = claims["fraud"].to_numpy() == 1, claims.height
    reasons = rng.choice(["a", "b", "c"], n).astype(object)
    reasons[wanted] = "upheld"
    closed = pl.Series(np.where(wanted, 60, 5) + rng.integers(0, 30, n))
    dates = claims.select(pl.col("date").cast(pl.Date) + pl.duration(days=closed)).to_series()
    paid = pl.Series(rng.lognormal(3, 1, n))
    return {
        "separates": pl.Series(np.where(wanted, 2.5, 1.0) + rng.random(n)),
        "only wanted": pl.Series(reasons, dtype=pl.String),
        "gap": paid.set(pl.Series(~wanted & (rng.random(n) < 0.6)), None),
        "afterwards": dates,
    }


def test_each_kind_is_named_and_no_other_column(claims):
    for kind, column in planted(claims, np.random.default_rng(0)).items():
        found = leaks(claims.with_columns(column.alias("planted")))
        assert [*found] == ["planted"], kind
        assert found["planted"].kind == kind


def test_a_noisy_copy_is_named_and_a_blurred_one_is_not(claims):
    wanted, rng = claims["fraud"].to_numpy(), np.random.default_rng(1)
    for noise, named in ((0.1, ["copy"]), (0.6, [])):
        copy = pl.Series("copy", wanted + rng.normal(0, noise, wanted.size))
        assert [*leaks(claims.with_columns(copy))] == named


def test_costs_that_only_wanted_rows_have_are_named(claims):
    wanted, rng = claims["fraud"].to_numpy() == 1, np.random.default_rng(2)
    costs = pl.Series(
        "costs", np.where(wanted & (rng.random(wanted.size) < 0.6), rng.lognormal(5, 1, wanted.size), 0.0)
    )
    found = leaks(claims.with_columns(costs))["costs"]
    filled = int((costs != 0).sum())
    assert found.says == f"is other than 0 in {filled:,} rows, and all of them are wanted"


def test_costs_that_some_wanted_rows_have_are_named(claims):
    wanted, rng = claims["fraud"].to_numpy() == 1, np.random.default_rng(2)
    paid = np.where(wanted, rng.random(wanted.size) < 0.4, rng.random(wanted.size) < 0.01)
    found = leaks(
        claims.with_columns(costs=pl.Series(np.where(paid, rng.lognormal(5, 1, wanted.size), 0.0)))
    )["costs"]
    assert found.kind == "amount"
    assert found.says.startswith(
        f"is above 0 in {paid.sum():,} rows only, and {100 * wanted[paid].mean():.0f} % of them"
    )


def test_a_planned_date_is_not_accused(claims):
    end = claims.select(
        (pl.col("date").cast(pl.Date) + pl.duration(days=pl.int_range(pl.len()) * 37 % 365 + 1)).alias(
            "policy_end"
        )
    )
    assert leaks(claims.with_columns(end)) == {}


def test_what_is_said_is_true(claims):
    wanted = claims["fraud"].to_numpy() == 1
    gap = ~wanted & (np.arange(wanted.size) % 2 == 0)
    amount = pl.Series("settled", np.arange(wanted.size, dtype=float)).set(pl.Series(gap), None)
    says = leaks(claims.with_columns(amount))["settled"].says
    by_chance = round(gap.sum() * wanted.mean())
    assert (
        says
        == f"is empty in {gap.sum():,} rows, and none of them are wanted ({by_chance:,} would be by chance)"
    )


def test_many_columns_that_separate_are_told_once():
    rng = np.random.default_rng(0)
    wanted = np.arange(300) % 10 == 0
    numbers = {f"x{i}": wanted * 20 + rng.normal(size=300) for i in range(6)}
    frame = pl.DataFrame({"fraud": wanted.astype(int), **numbers, "copy": np.where(wanted, "y", "n")})
    notes = guard_notes(load_table(frame, Roles(label="fraud")))
    assert ["'copy'" in note or "6 columns separate" in note for note in notes] == [True, True]


def test_names_repeats_and_few_wanted_rows_are_told():
    frame = pl.DataFrame(
        {"fraud": [1] + [0] * 99, "policy_number": range(500, 600), "age": [31] * 50 + [44] * 50}
    )
    notes = guard_notes(load_table(frame, Roles(label="fraud")))
    assert any("'policy_number' has another whole number in every row" in note for note in notes)
    assert any(note.startswith("only one row is wanted") for note in notes)


@pytest.mark.parametrize(
    "roles", [ROLES, Roles(label="fraud", ignore=["claim_id"])], ids=["by id", "by values"]
)
def test_new_rows_that_stand_in_the_history_are_told(claims, roles):
    history = load_table(claims.head(1_500), roles)
    new = load_table(claims.tail(600).drop("fraud"), history.roles, schema=history.schema, labelled=False)
    assert known_notes(new, history)[0].startswith("100 of 600 new rows stand in the history too")


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, 2.0, float("nan")]), st.booleans()), min_size=1, max_size=12
    )
)
def test_the_best_cut_is_the_best_of_all(rows):
    values, wanted = np.array([v for v, _ in rows]), np.array([w for _, w in rows])
    cuts = [side for at in (0.0, 1.0, 2.0) for side in (values >= at, values <= at)]
    strengths = [2 * wanted[side].sum() / (side.sum() + wanted.sum() + 1) for side in cuts]
    assert best_cut(values, wanted).strength == pytest.approx(max(strengths))


def test_a_category_that_names_rows_says_nothing():
    wanted = np.arange(400) % 4 == 0
    assert best_cut(rates_elsewhere(np.arange(400), wanted), wanted).strength < 0.7


def test_the_area_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    values, wanted = rng.integers(0, 5, 40).astype(float), rng.random(40) < 0.3
    pairs = values[wanted][:, None] - values[~wanted]
    assert side_of(values, wanted) == pytest.approx(np.mean((pairs > 0) + 0.5 * (pairs == 0)))


def test_repeated_rows_are_told(claims):
    again = claims.head(60).with_columns(claim_id="again-" + pl.col("claim_id"))
    notes = guard_notes(load_table(pl.concat([claims, again]), ROLES))
    assert any(note.startswith("60 rows (2.9 %) repeat another row") for note in notes)


def test_rows_that_cannot_differ_are_not_called_repeated():
    rows = pl.DataFrame({"fraud": [0, 1, 0] * 40, "shop": ["a", "b"] * 60, "kind": ["x", "y", "z"] * 40})
    table = load_table(rows, Roles(label="fraud"))
    new = load_table(rows.drop("fraud").head(50), Roles(label="fraud"), schema=table.schema, labelled=False)
    assert known_notes(new, table) == ()
    assert not any("repeat another row" in note for note in guard_notes(table))


@pytest.mark.parametrize(
    "odd", [pl.Series([[1]] * 60), pl.Series([b"\xff"] * 60), pl.Series([0] * 60, dtype=pl.Duration)]
)
def test_columns_without_text_are_left_out_where_rows_are_compared(odd):
    rows = pl.DataFrame({"fraud": [0, 1, 0] * 20, "paid": range(60), "age": range(60), "odd": odd})
    roles = Roles(label="fraud", ignore=("odd",))
    table = load_table(rows, roles)
    new = load_table(rows.head(5), roles, schema=table.schema, labelled=False)
    assert "5 of 5 new rows" in known_notes(new, table)[0]


def test_a_value_that_only_wanted_rows_have_is_an_impact(claims):
    frame = claims.with_columns(paid=pl.col("amount") * pl.col("fraud"))
    roles = Roles(label="fraud", id="claim_id", impact="paid", impact_known=True)
    assert any("--impact paid, not as --value" in note for note in guard_notes(load_table(frame, roles)))


@pytest.mark.parametrize(("share", "told"), [(0.0, False), (0.01, False), (0.1, True)])
def test_rows_that_differ_in_one_column_only_are_told(share, told):
    claims = make_claims(2_000, random_state=0)
    again = claims.head(int(share * 2_000)).with_columns(
        claim_id="T-" + pl.col("claim_id"), amount=pl.col("amount") + 1
    )
    table = load_table(pl.concat([claims, again]), Roles(label="fraud", id="claim_id", time="date"))
    near = nearly_repeated(table)
    assert near.rows == 2 * again.height
    notes = [note for note in guard_notes(table) if "nearly repeat" in note]
    assert [("'amount'" in note, f"{near.rows:,} rows" in note) for note in notes] == [(True, True)] * told


def test_few_values_make_near_copies_by_chance():
    rng = np.random.default_rng(0)
    rows = pl.DataFrame(
        {"fraud": rng.integers(0, 2, 500), **{f"x{i}": rng.integers(0, 4, 500) for i in range(6)}}
    )
    assert nearly_repeated(load_table(rows, Roles(label="fraud"))) is None


def test_near_copies_are_those_that_a_look_at_every_pair_finds():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 40, (150, 5))
    rows[100:130] = rows[:30]
    rows[100:130, 2] += 50
    rows[130:140] = rows[30:40]  # these repeat another in every column
    table = load_table(
        pl.DataFrame(rows, schema=[f"x{i}" for i in range(5)]).with_columns(fraud=pl.Series([0, 1] * 75)),
        Roles(label="fraud"),
    )
    differing = (rows[:, None, :] != rows[None, :, :]).sum(axis=2)
    alike = (differing == 0) & np.tri(150, k=-1, dtype=bool)
    by_pairs = ((differing == 1).any(axis=1)) & ~alike.any(axis=1)
    assert (nearly_repeated(table).rows, nearly_repeated(table).column) == (int(by_pairs.sum()), "x2")
