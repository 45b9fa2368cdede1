import json

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shortlist import backtest
from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError, NoWantedRowsError, SchemaError
from shortlist.lists import Lists
from shortlist.rankers import Ranker
from shortlist.rankers.catalogue import MODELS, Model, RankerOptions
from shortlist.tables import Roles, load_table
from shortlist.workflow.history.measures import looked_at
from shortlist.workflow.history.splits import Split, walk_forward
from shortlist.workflow.history.trials import CHANCE, Rankings, run_trials

OPTIONS = {"label": "fraud", "id": "claim_id", "time": "date", "budget": 20, "models": ["logistic"]}


@pytest.fixture(scope="module")
def claims():
    return make_claims(3_000, random_state=0, fraud_rate=0.08)


@pytest.fixture(scope="module")
def result(claims):
    return backtest(
        claims, **OPTIONS, impact="amount", impact_known=True, every="month", baselines=["amount desc"]
    )


@pytest.mark.slow
def test_finding_all_is_no_wonder_where_luck_would(claims):
    few = claims.head(300)
    told = backtest(few, label="fraud", id="claim_id", budget=300, models=["logistic", "random-forest"])
    assert not any("too good" in note for note in told.notes)
    assert any("of 2 models" in note and "within noise" in note for note in told.notes)


def test_sums_agree_with_counting_by_hand(claims, result):
    month = claims["date"].dt.strftime("%Y-%m")
    periods = result.periods.filter(pl.col("ranking") == "amount desc")
    for row in periods.to_dicts():
        top = claims.filter(month == row["period"]).sort("amount", descending=True).head(20)
        assert row["found"] == pytest.approx(top["fraud"].sum())
        assert row["impact found"] == pytest.approx((top["fraud"] * top["amount"]).sum())
        assert row["precision"] == pytest.approx(top["fraud"].mean())
    total = result.table.filter(pl.col("ranking") == "amount desc").to_dicts()[0]
    assert total["found"] == pytest.approx(periods["found"].sum())
    assert total["recall"] == pytest.approx(periods["found"].sum() / periods["wanted"].sum())


def test_chance_finds_its_share(result):
    row = result.periods.filter(pl.col("ranking") == CHANCE).to_dicts()[0]
    assert row["found"] == pytest.approx(20 * row["wanted"] / row["rows"])


def test_intervals_hold_the_value(result):
    for name in ("precision", "recall", "impact share"):
        assert (result.table[f"{name} low"] <= result.table[name]).all()
        assert (result.table[name] <= result.table[f"{name} high"]).all()


def test_curve_meets_the_table_at_the_budget_and_ends_at_all(result):
    assert result.curve.group_by("ranking").last()["recall"].to_list() == [pytest.approx(1.0)] * 3
    assert set(result.reach["ranking"]) == set(result.table["ranking"])


def test_answer_is_a_sentence_with_the_figures(result):
    best = result.table.row(0, named=True)
    assert best["ranking"] in result.answer
    assert "Looking at 20 rows each month" in result.answer


def test_shortlist_of_the_last_period_has_reasons_and_outcomes(result, claims):
    last = claims.filter(claims["date"].dt.strftime("%Y-%m") == result.periods["period"][-1])
    assert set(result.shortlist["claim_id"]) <= set(last["claim_id"])
    assert {"reason_1", "was wanted"} <= set(result.shortlist.columns)
    known = dict(zip(claims["claim_id"], claims["fraud"], strict=True))
    assert result.shortlist["was wanted"].to_list() == [bool(known[i]) for i in result.shortlist["claim_id"]]


def test_the_shortlist_names_the_list_and_keeps_its_columns_where_rows_have_some_of_that_name(claims):
    renamed = claims.rename({"amount": "score", "region": "rank"})
    past = backtest(renamed, label="fraud", id="claim_id", list="channel", budget=3, models=["logistic"])
    assert past.shortlist.columns[:4] == ["rank", "claim_id", "channel", "score"]
    assert past.shortlist["rank"].to_list() == [1, 2, 3]


def test_ids_and_lists_that_are_numbers_are_shown_without_commas(claims, tmp_path):
    numbered = claims.with_columns(
        claim_id=2_024_000_000 + pl.int_range(pl.len()), year=pl.col("date").dt.year() * 10
    )
    past = backtest(numbered, label="fraud", id="claim_id", list="year", budget=3, models=["logistic"])
    page = past.to_html(tmp_path / "page.html").read_text()
    top = past.shortlist.row(0, named=True)
    assert f'<td class="word">{top["claim_id"]}</td><td class="word">{top["year"]}</td>' in page


def test_fewer_rows_of_a_partial_period_are_no_drift():
    claims = make_claims(900, random_state=1, fraud_rate=0.1).sort("date").head(700)
    past = backtest(claims, **OPTIONS, every="quarter")
    assert past.scores["partial"].to_list() == [False] * (past.scores.height - 1) + [True]
    assert past.scores["last within budget"].null_count() == 0
    (chart,) = [chart for chart in past.page().charts if chart.title == "Score drift"]
    lines = {line.name: line.values for line in chart.lines}
    assert [*lines] == ["median", "top tenth", "last within budget"]
    assert [values[-1] is None for values in lines.values()] == [False, False, True]
    assert None not in lines["last within budget"][:-1]
    assert "partial" in chart.says


def test_whole_periods_are_all_drawn(result):
    (chart,) = [chart for chart in result.page().charts if chart.title == "Score drift"]
    assert all(None not in line.values for line in chart.lines)
    assert "partial" not in chart.says


def test_figures_are_json(result):
    figures = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert figures["table"][0]["ranking"] == result.table["ranking"][0]


def test_notebooks_and_plots(result):
    assert result.answer in result._repr_html_()
    assert repr(result) == f"{result.answer}\n{result.table}"
    assert len(result.plot().lines) == 3


@pytest.mark.bits
def test_same_seed_same_figures(claims, result):
    again = backtest(
        claims, **OPTIONS, impact="amount", impact_known=True, every="month", baselines=["amount desc"]
    )
    assert again.table.drop("fit seconds").equals(result.table.drop("fit seconds"))


def scores_until(frame, when, delay=0.0):
    """The scores of the period that starts at ``when``, by a model trained before it."""
    table = load_table(frame, Roles(id="claim_id", label="fraud", time="date"))
    (split,) = [s for s in walk_forward(table.time, every="quarter", delay=delay) if s.name == when]
    rankings = Rankings.of(["logistic"], [], RankerOptions(20, 0, 1))
    return run_trials(table, [split], rankings).of("logistic")[0].score


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1000))
def test_the_future_changes_no_score(claims, seed):
    """Outcomes from the period on, and features of later rows, may be anything."""
    when, after = pl.date(2025, 1, 1), pl.date(2025, 4, 1)
    order = np.random.default_rng(seed).permutation(claims.height)
    mixed = claims[order]
    changed = claims.with_columns(
        pl.when(pl.col("date") >= when).then(1 - pl.col("fraud")).otherwise("fraud").alias("fraud"),
        *(
            pl.when(pl.col("date") >= after)
            .then(mixed[name] if name != "region" else pl.lit("mars"))
            .otherwise(name)
            .alias(name)
            for name in ("amount", "witnesses", "repair_shop", "region", "driver_age")
        ),
    )
    np.testing.assert_array_equal(scores_until(claims, "2025-01"), scores_until(changed, "2025-01"))


def test_outcomes_within_the_delay_change_no_score(claims):
    hidden = pl.col("date").is_between(pl.date(2024, 12, 2), pl.date(2024, 12, 31))
    changed = claims.with_columns(pl.when(hidden).then(1 - pl.col("fraud")).otherwise("fraud").alias("fraud"))
    args = ("2025-01", 30)
    np.testing.assert_array_equal(scores_until(claims, *args), scores_until(changed, *args))
    assert not np.array_equal(scores_until(claims, "2025-01"), scores_until(changed, "2025-01"))


def delayed(n_cases=60, n_periods=6, seed=0):
    """Each case appears twice, and its outcome shows again one period later: the label, delayed."""
    rng = np.random.default_rng(seed)
    rows = []
    for period in range(n_periods):
        for case in range(n_cases):
            wanted = bool(rng.random() < 0.3)
            rows += [(f"{period}-{case}", period, wanted, 0), (f"{period}-{case}", period + 1, wanted, 1)]
    return pl.DataFrame(rows, schema=["case", "period", "y", "again"], orient="row").cast(
        {"case": pl.Categorical}
    )


class Memory(Ranker):
    """Ranks by what it has seen of a case before: the model that a leak would flatter most."""

    _takes_missing = True

    def _fit(self, batch):
        cases = batch.X[:, 0]
        self.seen_ = {case: batch.y[cases == case].mean() for case in np.unique(cases[~np.isnan(cases)])}

    def _score(self, X):
        return np.array([self.seen_.get(case, 0.3) for case in X[:, 0]])


def hit_rates(frame, table, split):
    """Precision within 10 rows, of cases that are new and of those that show again."""
    score = run_trials(table, [split], Rankings.of(["memory"], [], RankerOptions(10))).of("memory")[0].score
    again = frame["again"].to_numpy()[split.test] == 1
    return [
        table.wanted[split.test][part] @ looked_at(score[part], 10, Lists.single(int(part.sum()))) / 10
        for part in (~again, again)
    ]


def test_a_delayed_label_is_known_only_once_it_is_out(monkeypatch):
    monkeypatch.setitem(MODELS, "memory", Model(lambda options: Memory(), "label", "remembers"))
    frame = delayed()
    table = load_table(frame, Roles(label="y", time="period"))
    splits = walk_forward(table.time)[:-1]
    new, again = np.transpose([hit_rates(frame, table, split) for split in splits])
    assert again.min() == pytest.approx(1)  # the outcome of the past is used
    assert new.mean() == pytest.approx(0.3, abs=0.1)  # that of the future is not
    everything_else = np.setdiff1d(np.arange(len(table)), splits[1].test)
    cheat = hit_rates(frame, table, Split("cheat", everything_else, splits[1].test))
    assert cheat[0] == pytest.approx(1)  # as it would be if the future leaked


def test_categories_are_learned_from_the_past_alone(claims):
    late = claims.with_columns(
        region=pl.when(pl.col("date") >= pl.date(2025, 7, 1)).then(pl.lit("moon")).otherwise("region")
    )
    table = load_table(late, Roles(id="claim_id", label="fraud", time="date"))
    splits = [s for s in walk_forward(table.time, every="quarter") if s.name == "2025-07"]
    trials = run_trials(table, splits, Rankings.of(["logistic"], [], RankerOptions(20)))
    (region,) = [f for f in trials.models["logistic"].schema.features if f.name == "region"]
    assert "moon" not in region.categories


def test_a_small_past_keeps_its_categories(claims):
    few = claims.head(360).with_columns(
        date=pl.date(2024, 1, 1) + pl.duration(days=pl.int_range(pl.len()) // 3)
    )
    assert backtest(few, **{**OPTIONS, "budget": 5}, every="month").table.height == 2


def test_periods_without_a_past_to_learn_from_are_left_out(claims):
    late = claims.with_columns(fraud=pl.when(pl.col("date") < pl.date(2024, 9, 1)).then(0).otherwise("fraud"))
    result = backtest(late, **OPTIONS, every="quarter")
    assert any("2024-07 is left out" in note for note in result.notes)
    never = claims.with_columns(fraud=(pl.int_range(pl.len()) == pl.len() - 1).cast(pl.Int8))
    with pytest.raises(NoWantedRowsError, match="no period"):
        backtest(never, **OPTIONS, every="quarter")


def test_present_scores_are_compared_with_and_not_learned_from(claims):
    scored = claims.with_columns(risk=pl.col("fraud") * 1.0)
    result = backtest(scored, **OPTIONS, every="quarter", baseline_columns=["risk"])
    assert result.table["ranking"][0] == "risk desc"
    assert result.setup["ignore"] == ["risk"]


SETUP = [
    *("history", "id", "label", "time", "ignore", "rows", "wanted", "budget", "periods", "every", "delay"),
    *("models", "baselines", "random_state", "shortlist version"),
]


def test_the_setup_tells_what_was_asked_and_no_more(claims):
    result = backtest(claims, **OPTIONS, every="quarter", n_jobs=1, on_progress=print)
    assert [*result.setup] == SETUP
    words = claims.with_columns(fraud=pl.Series(["good", "bad"]).gather(claims["fraud"]))
    more = backtest(words, **OPTIONS, every="quarter", wanted="bad", skip_empty_labels=True).setup
    assert [*more] == [*SETUP[:-1], "wanted value", "skip_empty_labels", SETUP[-1]]
    assert (more["wanted value"], more["skip_empty_labels"]) == ("bad", True)


def test_without_time_lists_or_rows_are_folds(claims):
    options = {**OPTIONS, "time": None, "ignore": ["date"]}
    rows = backtest(claims, **options)
    assert rows.setup["folds"] == 5
    assert "each fold" in rows.answer
    lists = backtest(claims, **options, list="region", n_folds=3)
    assert "of each list" in lists.answer
    assert lists.periods["period"].unique().len() == 3


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"models": ["logistics"]}, InvalidInputError, "Did you mean logistic"),
        ({"baselines": ["amuont desc"]}, SchemaError, "amuont"),
        ({"baselines": ["region"]}, InvalidInputError, "numbers"),
        ({"budget": 0}, InvalidInputError, "at least 1"),
        ({"time": "when"}, SchemaError, "when"),
        ({"label": None}, InvalidInputError, "label"),
        ({"models": "logistic"}, InvalidInputError, "list of names"),
        ({"baseline_columns": "amount"}, InvalidInputError, "baseline_columns as a list of names"),
    ],
)
def test_mistakes_get_advice(claims, options, error, words):
    with pytest.raises(error, match=words):
        backtest(claims, **{**OPTIONS, **options})


def test_a_leak_is_named_and_a_perfect_result_gets_a_caution(claims, tmp_path):
    paid = claims.with_columns(paid=pl.col("fraud") * 100.0 + pl.int_range(pl.len()) % 7)
    leaky = backtest(paid, **OPTIONS, every="quarter")
    assert any(note.startswith("column 'paid' alone nearly separates the label") for note in leaky.notes)
    assert any("found all" in note and "too good to be true" in note for note in leaky.notes)
    page = leaky.to_html(tmp_path / "leaky.html").read_text()
    assert "Known only afterwards? Leave it out: --ignore paid" in page
    honest = backtest(paid, **OPTIONS, every="quarter", ignore=["paid"])
    assert not any("paid" in note or "too good" in note for note in honest.notes)


def test_the_budget_to_reach_is_the_smallest_that_does(claims, result):
    month = claims["date"].dt.strftime("%Y-%m")
    walked = result.periods["period"].unique().str.replace(" (partial)", "", literal=True).implode()
    rows = (
        claims.with_columns(month=month).filter(pl.col("month").is_in(walked)).sort("amount", descending=True)
    )
    place = rows.with_columns(place=pl.int_range(pl.len()).over("month") + 1).filter(pl.col("fraud") == 1)[
        "place"
    ]
    reach = result.reach.filter(pl.col("ranking") == "amount desc")
    for share in (50, 80, 90):
        counted = next(k for k in range(1, 1_000) if (place <= k).sum() >= share / 100 * len(place))
        assert reach[f"budget for {share} %"].item() == counted


def test_a_last_period_that_rows_do_not_fill_is_marked(claims):
    cut = claims.filter(pl.col("date") < pl.lit("2025-12-10").str.to_date())
    names = backtest(cut, **OPTIONS, every="quarter").periods["period"].unique(maintain_order=True).to_list()
    assert names[-1].endswith(" (partial)")
    assert not any("partial" in name for name in names[:-1])


def test_what_matters_is_the_mean_part_of_each_column(claims):
    found = backtest(claims, **OPTIONS, every="quarter")
    assert found.importance["share"].sum() == pytest.approx(1)
    assert found.importance["share"].is_sorted(descending=True)
    noise = claims.with_columns(noise=pl.Series(np.random.default_rng(0).normal(size=claims.height)))
    told = backtest(noise, **OPTIONS, every="quarter").importance
    assert told.filter(pl.col("column") == "noise")["share"].item() < told["share"][0]


def test_slices_add_up_to_all_rows(claims):
    found = backtest(claims, **OPTIONS, every="quarter", slices=["region", "amount", "repair_shop"])
    row = found.table.row(0, named=True)
    for (column,), part in found.slices.partition_by("column", as_dict=True, maintain_order=True).items():
        assert part["found"].sum() == pytest.approx(row["found"]), column
        assert part["found"].sum() / part["wanted"].sum() == pytest.approx(row["recall"])
        assert (part["precision low"] <= part["precision"]).all()
    assert found.slices.filter(pl.col("column") == "amount").height == 4
    assert {"all others", "missing"} <= {*found.slices.filter(pl.col("column") == "repair_shop")["group"]}
    with pytest.raises(SchemaError, match=r"no column 'regin' to slice by\. Did you mean 'region'"):
        backtest(claims, **OPTIONS, slices=["regin"])


@pytest.mark.slow
def test_chances_are_held_against_what_was_found():
    claims = make_claims(1_200, random_state=1, fraud_rate=0.1)
    found = backtest(
        claims, **OPTIONS | {"models": ["ap-boost"], "time": None}, ignore=["date"], n_folds=2
    ).calibration
    assert found["rows"].sum() == claims.height
    assert (found["found"] * found["rows"]).sum() == pytest.approx(claims["fraud"].sum())
    assert found["expected"].is_sorted()
