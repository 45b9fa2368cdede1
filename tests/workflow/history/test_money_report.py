"""Every figure of a money report, recomputed from the table in plain Python."""

import random
import re

import pytest

from shortlist.datasets import make_claims
from shortlist.report.write import render
from shortlist.workflow.history import backtest as module

BUDGETS, COST = (20, 50), 35.0
RULE = "amount desc"


@pytest.fixture(scope="module")
def report():
    """The report, the rows of the table by period, and the score that each ranking gave each row."""
    claims = make_claims(3_000, random_state=4, fraud_rate=0.06)
    held = []

    def hold(question):
        held.append(real(question))
        return held[0]

    with pytest.MonkeyPatch.context() as patched:
        real = module.hold_study
        patched.setattr(module, "hold_study", hold)
        result = module.backtest(
            claims, label="fraud", value="amount", id="claim_id", time="date", every="quarter", budget=BUDGETS,
            review_cost=COST, words="fraud", currency="€", models=["logistic"],
        )  # fmt: skip
    rows = claims.to_dicts()
    scores = {
        name: [dict(zip(trial.split.test.tolist(), trial.score.tolist(), strict=True)) for trial in trials]
        for name, trials in ((name, held[0].tally.trials.of(name)) for name in ("logistic", RULE))
    }
    return result, rows, scores


def quarter(day):
    return f"{day.year}-{(day.month - 1) // 3}"


@pytest.fixture(scope="module")
def periods(report):
    """The rows of each quarter that was ranked, by what the table says."""
    _, rows, scores = report
    whole = [quarter(row["date"]) for row in rows]
    names = sorted(set(whole))
    before = {name: sum(other < name for other in whole) for name in names}
    ranked = [name for name in names if before[name] >= 0.2 * len(rows)]
    parts = [[i for i, name in enumerate(whole) if name == each] for each in ranked]
    assert [sorted(part) for part in scores[RULE]] == parts
    return parts


def ranked(report, ranking, part, place):
    """The rows of a period, best first: by the amounts of the table, or by the scores of the model."""
    _, rows, scores = report
    if ranking == RULE:
        return sorted(part, key=lambda i: -rows[i]["amount"])
    return sorted(part, key=lambda i: -scores[ranking][place][i])


def sums(report, periods, ranking, budget):
    """What a budget finds in all periods, and what there was to find."""
    _, rows, _ = report
    seen = [i for place, part in enumerate(periods) for i in ranked(report, ranking, part, place)[:budget]]
    frauds = [i for part in periods for i in part if rows[i]["fraud"]]
    found = [i for i in seen if rows[i]["fraud"]]
    worth, whole = (sum(rows[i]["amount"] for i in each) for each in (found, frauds))
    return {
        "reviewed": len(seen),
        "wanted": len(frauds),
        "found": len(found),
        "precision": len(found) / len(seen),
        "recall": len(found) / len(frauds),
        "impact found": worth,
        "impact share": worth / whole,
        "net value": worth - COST * len(seen),
    }


def pays(report, periods, ranking):
    """The budget of each period at which the net value is largest, and that value."""
    _, rows, _ = report
    orders = [ranked(report, ranking, part, place) for place, part in enumerate(periods)]
    best, net, most = 0, 0.0, 0.0
    for k in range(max(map(len, orders))):
        at = [order[k] for order in orders if k < len(order)]
        net += sum(rows[i]["amount"] * rows[i]["fraud"] for i in at) - COST * len(at)
        if net > most:
            best, most = k + 1, net
    return best, most


@pytest.mark.parametrize("ranking", ["logistic", RULE])
def test_the_tables(report, periods, ranking):
    result = report[0]
    (line,) = [row for row in result.table.to_dicts() if row["ranking"] == ranking]
    told = sums(report, periods, ranking, BUDGETS[0])
    assert {name: line[name] for name in told if name in line} == pytest.approx(
        {name: value for name, value in told.items() if name in line}
    )
    assert {"found", "precision", "recall", "impact found", "impact share", "net value"} <= set(line)
    for row in (row for row in result.budgets.to_dicts() if row["ranking"] == ranking):
        told = sums(report, periods, ranking, row["budget"])
        assert {name: row[name] for name in told if name in row} == pytest.approx(
            {name: value for name, value in told.items() if name in row}
        )
    assert sorted(set(result.budgets["budget"])) == [*BUDGETS]
    (line,) = [row for row in result.pays.to_dicts() if row["ranking"] == ranking]
    assert (line["pays up to"], line["net value"]) == pytest.approx(pays(report, periods, ranking))


@pytest.mark.parametrize("ranking", ["logistic", RULE])
def test_periods_curves_and_budgets_to_reach(report, periods, ranking):
    result, rows, _ = report
    told = [row for row in result.periods.to_dicts() if row["ranking"] == ranking]
    for place, (line, part) in enumerate(zip(told, periods, strict=True)):
        seen = ranked(report, ranking, part, place)[: BUDGETS[0]]
        assert line["rows"] == len(part)
        assert line["wanted"] == sum(rows[i]["fraud"] for i in part)
        assert line["found"] == sum(rows[i]["fraud"] for i in seen)
        assert line["impact found"] == pytest.approx(sum(rows[i]["amount"] for i in seen if rows[i]["fraud"]))
    for row in (row for row in result.curve.to_dicts() if row["ranking"] == ranking):
        whole = sums(report, periods, ranking, row["budget"])
        assert (row["found"], row["impact share"]) == pytest.approx((whole["found"], whole["impact share"]))
    for frame, name in ((result.reach, "recall"), (result.worth_reach, "impact share")):
        (line,) = [row for row in frame.to_dicts() if row["ranking"] == ranking]
        for level in (0.5, 0.8, 0.9):
            k = line[f"budget for {level:.0%}".replace("%", " %")]
            assert sums(report, periods, ranking, k)[name] >= level - 1e-12
            assert sums(report, periods, ranking, k - 1)[name] < level if k > 1 else True


def euros(text):
    return float(text.replace("€", "").replace(",", "").replace("−", "-"))


def test_every_figure_of_the_answer(report, periods):
    result = report[0]
    best = result.table["ranking"][0]
    other = "logistic" if best == RULE else RULE
    first, second = (sums(report, periods, name, BUDGETS[0]) for name in (best, other))
    budget, net = pays(report, periods, best)
    said = re.fullmatch(
        r"Looking at (\d+) rows each quarter, ([\d,]+) in all, (\S+(?: desc)?) would have found ([\d,]+) of ([\d,]+) "
        r"frauds \(([\d.]+) %; 95 % interval ([\d.]+) % to ([\d.]+) %\), worth €([\d,]+) \(([\d.]+) % of the amount "
        r"of all frauds\); €([\d,]+) of amount more than (.+?) \((−?€[\d,]+) to (−?€[\d,]+)(?:, which may be luck)?\)"
        r"\. At €35 a review that is (−?€[\d,]+) net; reviews pay for themselves up to ([\d,]+) rows? each quarter "
        r"\(95 % interval ([\d,]+) to ([\d,]+)\), €([\d,]+) net there\.",
        result.answer,
    )
    assert said, result.answer
    told = said.groups()
    assert told[2] == best
    assert told[11] == other
    whole = [int(told[i].replace(",", "")) for i in (0, 1, 3, 4, 15)]
    assert whole == [BUDGETS[0], first["reviewed"], first["found"], first["wanted"], budget]
    money = [euros(told[i]) for i in (8, 10, 14, 18)]
    assert money == pytest.approx(
        [first["impact found"], first["impact found"] - second["impact found"], first["net value"], net],
        abs=0.5,
    )
    shares = [float(told[i]) / 100 for i in (5, 9)]
    assert shares == pytest.approx([first["recall"], first["impact share"]], abs=0.006)
    low, high = by_drawing(report, periods, best, other)
    assert [float(told[i]) / 100 for i in (6, 7)] == pytest.approx(low, abs=0.02)
    spread = high[1] - high[0]
    assert [euros(told[i]) for i in (12, 13)] == pytest.approx(high, abs=0.15 * spread)
    assert int(told[16].replace(",", "")) <= budget <= int(told[17].replace(",", ""))


def by_drawing(report, periods, best, other):
    """Intervals of recall, and of how much more one ranking found than another: rows drawn anew, with other luck."""
    _, rows, _ = report
    tops = {
        name: {
            i for place, part in enumerate(periods) for i in ranked(report, name, part, place)[: BUDGETS[0]]
        }
        for name in (best, other)
    }
    all_rows, luck = [i for part in periods for i in part], random.Random(1)
    worth = {i: rows[i]["amount"] * rows[i]["fraud"] for i in all_rows}
    recalls, gains = [], []
    for _ in range(400):
        drawn = luck.choices(all_rows, k=len(all_rows))
        frauds = [i for i in drawn if rows[i]["fraud"]]
        recalls.append(sum(i in tops[best] for i in frauds) / len(frauds))
        gains.append(sum(worth[i] * ((i in tops[best]) - (i in tops[other])) for i in frauds))
    return [(sorted(each)[9], sorted(each)[389]) for each in (recalls, gains)]


def test_the_page_says_what_the_tables_say(report):
    result = report[0]
    page = render(result.page())
    assert "share of amount" in page
    assert "frauds found" in page
    assert "impact" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert '<td class="word">amount desc</td>' in page  # a name stays in one line
    (whole,) = [sheet for sheet in result.page().sheets if sheet.title == "In all"]
    found, worth, net, share = map(
        whole.frame.columns.index, ("frauds found", "amount found (€)", "net value (€)", "precision")
    )
    assert found < worth < net < share  # what is seen first of a wide table


def test_groups_are_told_in_the_words_of_whoever_asked():
    claims = make_claims(900, random_state=4, fraud_rate=0.1)
    result = module.backtest(
        claims, label="fraud", id="claim_id", ignore=["date"], n_folds=2, words="fraud", slices=["region"],
        models=["logistic"],
    )  # fmt: skip
    (sheet,) = [sheet for sheet in result.page().sheets if sheet.title == "By region"]
    assert {"frauds", "frauds found"} <= set(sheet.frame.columns)
