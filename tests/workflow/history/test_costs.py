"""Several budgets at once, what reviews cost, and reports in their reader's words."""

import numpy as np
import polars as pl
import pytest

from shortlist import backtest
from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError
from shortlist.metrics import net_value_curve
from shortlist.workflow import compare
from shortlist.workflow.history.sentences.words import Words

OPTIONS = {"label": "fraud", "id": "claim_id", "ignore": ["date"], "models": ["logistic"], "n_folds": 3}


@pytest.fixture(scope="module")
def claims():
    return make_claims(900, random_state=1, fraud_rate=0.1)


@pytest.fixture(scope="module")
def result(claims):
    return backtest(
        claims,
        **OPTIONS,
        value="amount",
        budget=[20, 5, 60],
        review_cost=350,
        words="fraud",
        currency="€",
    )


def test_the_first_budget_judges_and_all_are_shown(claims, result):
    assert result.setup["budget"] == 20
    assert result.shown is result.budgets
    assert result.budgets["budget"].unique(maintain_order=True).to_list() == [5, 20, 60]
    for budget in (5, 60):
        alone = backtest(claims, **OPTIONS, value="amount", budget=budget, review_cost=350).table
        here = result.budgets.filter(pl.col("budget") == budget).drop("budget")
        assert here.equals(alone.select(here.columns))
    within = result.budgets.filter(pl.col("budget") == 20).drop("budget")
    assert within.equals(result.table.select(within.columns))


def test_net_value_is_what_was_found_less_what_looking_cost(result):
    for row in result.budgets.to_dicts():
        assert row["net value"] == pytest.approx(row["impact found"] - 350 * 3 * row["budget"])
        assert row["net value low"] <= row["net value"] <= row["net value high"]


def test_reviews_pay_up_to_the_budget_with_the_largest_net_value(claims, result):
    """By hand for sorting by amount, whose order needs no model: folds are those of the backtest."""
    row = result.pays.row(by_predicate=pl.col("ranking") == "amount desc", named=True)
    curve = result.curve.filter(pl.col("ranking") == "amount desc")
    nets = curve["impact found"] - 350 * 3 * curve["budget"]
    assert row["net value"] >= nets.max() - 1e-6  # the curve has some budgets only
    assert row["pays up to low"] <= row["pays up to"] <= row["pays up to high"]
    whole = net_value_curve(claims["fraud"] * claims["amount"], claims["amount"], cost=350)
    assert row["net value"] == pytest.approx(whole.max(), rel=0.5)  # one list of all rows is another question


def test_where_reviews_cost_too_much_none_pays(claims):
    dear = backtest(claims, **OPTIONS, value="amount", budget=5, review_cost=1e7)
    assert dear.pays["pays up to"].to_list() == [0, 0, 0]
    assert "no budget would have paid for itself" in dear.answer


def test_the_answer_speaks_its_readers_words(result):
    best = result.table.row(0, named=True)
    pays = result.pays.row(by_predicate=pl.col("ranking") == best["ranking"], named=True)
    wanted = result.setup["wanted"]
    for said in (
        f"of {wanted} frauds",
        f"worth €{best['impact found']:,.0f}",
        "of the amount of all frauds)",
        "At €350 a review",
        f"pay for themselves up to {pays['pays up to']:,} rows each fold",
        f"€{pays['net value']:,.0f} net there",
    ):
        assert said in result.answer
    assert "wanted row" not in result.answer


def test_charts_and_tables_count_what_their_titles_say(result):
    page = result.page()
    charts = {chart.title: chart for chart in page.charts}
    rankings = result.table["ranking"].to_list()
    frauds, money = charts["Frauds found over time"], charts["Amount found (€) over time"]
    last = dict(
        zip((line.name for line in frauds.lines), (line.values[-1] for line in frauds.lines), strict=True)
    )
    assert last == pytest.approx(dict(result.table.select("ranking", "found").iter_rows()))
    last = dict(
        zip((line.name for line in money.lines), (line.values[-1] for line in money.lines), strict=True)
    )
    assert last == pytest.approx(dict(result.table.select("ranking", "impact found").iter_rows()))
    assert charts["Share of amount against budget"].y_label == "share of amount found"
    assert charts["Recall against budget"].y_label == "share of frauds found"
    sheets = {sheet.title: sheet.frame for sheet in page.sheets}
    assert {"frauds found", "amount found (€)", "share of amount interval"} <= set(sheets["In all"].columns)
    assert "amount" in sheets["The shortlist of the last fold"].columns
    assert sheets["Budgets side by side"].height == 3 * len(rankings)
    assert "net value (€)" in result.spoken.columns
    for title in ("In all", "Budgets side by side", "Up to which budget reviews pay for themselves"):
        assert {"net value (€)"} == {
            name for name in sheets[title].columns if name in ("net value", "net value (€)")
        }


@pytest.mark.parametrize("ask", [backtest, compare])
def test_pages_say_what_the_figures_are_of(claims, ask):
    dated = {**OPTIONS, "ignore": [], "time": "date", "every": "quarter", "value": "amount"}
    page = ask(claims, **dated, budget=[20, 5], review_cost=35).page()
    assert not [each.title for each in (*page.charts, *page.sheets) if "fold" in each.says]
    with_intervals = [
        each for each in page.sheets if any(name.endswith(" interval") for name in each.frame.columns)
    ]
    assert len(with_intervals) == (2 if ask is compare else 3)
    assert all("Intervals cover 95 %." in sheet.says for sheet in with_intervals)
    (budgets,) = [sheet for sheet in page.sheets if sheet.title == "Budgets side by side"]
    assert budgets.says.startswith("All were trained for the first budget, 20.")


@pytest.mark.parametrize(("share", "of"), [("reach", "recall"), ("worth_reach", "impact share")])
def test_the_budget_to_reach_a_share_reaches_it(claims, result, share, of):
    """The smallest that does: one row less does not."""
    budget = getattr(result, share).row(by_predicate=pl.col("ranking") == "amount desc", named=True)[
        "budget for 50 %"
    ]
    both = backtest(claims, **OPTIONS, value="amount", budget=[budget, max(1, budget - 1)]).budgets
    found = dict(both.filter(pl.col("ranking") == "amount desc").select("budget", of).iter_rows())
    assert found[budget] >= 0.5
    assert budget == 1 or found[budget - 1] < 0.5


def test_compare_takes_several_budgets_and_judges_by_the_first(claims):
    compared = compare(claims, **OPTIONS, value="amount", budget=[10, 50], words="theft,thefts")
    assert compared.setup["budget"] == 10
    assert any("thefts" in chart.y_label for chart in compared.page().charts)


def test_compare_tells_the_net_value_and_what_pays(claims):
    """As a backtest does, of the same folds."""
    asked = {**OPTIONS, "value": "amount", "budget": [20, 5], "review_cost": 350, "currency": "€"}
    compared, walked = compare(claims, **asked), backtest(claims, **asked)
    net = ["budget", "ranking", "net value", "net value low", "net value high"]
    for ours, theirs in ((compared.budgets, walked.budgets), (compared.table, walked.table)):
        names = [name for name in net if name in ours.columns]
        assert names[-3:] == net[-3:]
        assert ours.select(names).sort(names).equals(theirs.select(names).sort(names))
    assert compared.pays.equals(walked.pays)
    assert compared.to_dict()["pays"] == walked.to_dict()["pays"]
    pick = compared.table.row(by_predicate=pl.col("ranking") == compared.pick, named=True)
    pays = compared.pays.row(by_predicate=pl.col("ranking") == compared.pick, named=True)
    assert (
        f"At €350 a review, looking at 20 rows each fold, ranked by {compared.pick}, brings "
        f"{Words(currency='€').money(pick['net value'])} net; reviews pay for themselves up to "
        f"{pays['pays up to']} rows each fold"
    ) in compared.answer
    sheets = {sheet.title: sheet.frame for sheet in compared.page().sheets}
    assert any(name.startswith("net value") for name in sheets["Over all folds"].columns)
    assert sheets["Up to which budget reviews pay for themselves"].height == 3


def test_shares_are_of_what_is_to_be_found(claims, result):
    """Of the frauds, not of all claims: the best share of all amount is far smaller."""
    of = "share of the amount of all frauds"
    compared = compare(claims, **OPTIONS, value="amount", budget=20, words="fraud")
    assert f"{of} within the budget is" in compared.answer
    assert compared.page().charts[0].y_label == of
    page = result.page()
    told = [chart.says for chart in page.charts if chart.y_label == "share of amount found"]
    told += [sheet.says for sheet in page.sheets if "share of amount" in sheet.frame.columns]
    assert len(told) == 5
    assert all("amount of all frauds" in says for says in told)
    best = result.table.row(0, named=True)
    frauds = claims.filter(fraud=1)["amount"].sum()
    assert best["impact share"] == pytest.approx(best["impact found"] / frauds)


def test_compare_without_a_cost_says_nothing_of_it(claims):
    compared = compare(claims, **OPTIONS, value="amount", budget=20)
    assert compared.pays is None
    assert "net" not in " ".join([compared.answer, *compared.table.columns])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"review_cost": 35}, "--value"),
        ({"value": "amount", "review_cost": -1}, "at least 0"),
        ({"budget": [5, 0]}, "budget"),
    ],
)
def test_what_cannot_be_is_told(claims, options, says):
    with pytest.raises(InvalidInputError, match=says):
        backtest(claims, **OPTIONS, **options)


def test_plurals():
    assert Words.of({"words": "loss, losses"}).many == "losses"
    assert Words.of({"words": "loss"}).many == "loss"
    assert Words.of({"words": "loss,", "currency": " € "}) == Words.of({"words": "loss", "currency": "€"})
    assert Words.of({}).counted(1) == "1 wanted row"
    assert np.isclose(float(Words().money(3.2)), 3.2)
