"""What pages quote of a study is what its summary in ``studies/results`` says."""

import re

import numpy as np
import pytest

from studies.kept import kept
from studies.papers.prec_at_k import LABELS
from studies.papers.target_runs import CARD, CARD_ONE_HOT
from studies.quality.missed import CASES
from studies.quality.rivals import FORMS
from studies.quality.target_defaults import CHOOSE, CONFIRM
from studies.quality.texts import WAYS, WHATEVER
from studies.quality.value import BOOSTED, BY_AMOUNT, IDEAL, OURS, RIVAL
from studies.speed.review_long import MOST_GROWTH
from studies.speed.scale_works import AT_ONCE, BY_BATCH
from tests.studies.test_studies import PROJECT


def plain(text):
    return " ".join(text.split())


def page(name):
    """The text of a guide and of the evidence for it, their lines joined."""
    there = [*(PROJECT / "docs").glob(f"{name}.md"), *(PROJECT / "docs").glob(f"*/{name}.md")]
    return plain("\n".join(each.read_text(encoding="utf-8") for each in there))


def short(value, digits=3):
    """As pages write figures: .732, −.026, 10.7."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}").replace("-", "−")


def gain(value, error, digits=3):
    return f"{'+' if value >= 0 else ''}{short(value, digits)} ± {short(error, digits)}"


def test_what_texts_are_worth():
    found = {(row["set"], row["way"]): row for row in kept("quality.texts")}
    halves = {
        half: {row["set"] for row in kept("quality.texts") if row["part"] == half}
        for half in ("choose", "confirm")
    }
    assert all(len(names) >= 3 for names in halves.values())
    for name in halves["choose"] | halves["confirm"]:
        before, after = found[name, "without text"], found[name, "in use"]
        figures = f"{after['rows']:,}, {after['wanted']} | {short(before['ap'])} | {short(after['ap'])} |"
        assert f"{figures} {after['used'] or 'none'}" in page("tables")
        assert after["ap"] >= before["ap"]
    means = {way: np.mean([found[name, way]["ap"] for name in halves["choose"]]) for way in (*WAYS, WHATEVER)}
    told = (
        page("tables").partition("In the mean of the choosing sets: ")[2].partition("What reading costs")[0]
    )
    for way, value in means.items():
        assert short(value) in told, way
    assert means["in use"] == max(means.values())


def by_method(found):
    return {line["method"]: line for line in found["summary"]}


def rival_line(found, method):
    """As the page of APBoost writes what a rival did on both halves of the sets."""
    choose, confirm, both = (by_method(found[half])[method] for half in ("choose", "confirm", "both"))
    cells = [method, *(short(part["mean AP"]) for part in (choose, confirm)), f"{both['mean rank']:.2f}"]
    if method == "APBoost":
        return f"| {' | '.join(cells)} |"
    cells += [gain(part["APBoost minus it"], part["± 95 %"]) for part in (choose, confirm, both)]
    cells += [
        f"{both['sets won']}-{both['sets lost']}",
        short(both["p (Wilcoxon)"]),
        short(both["would be seen"]),
    ]
    return f"| {' | '.join(cells)} |"


def best_rival(lines):
    """Of the methods that are not of this project the one with the best mean AP."""
    ours = {"APBoost", "logistic, same recipe", *FORMS}
    return max(lines.keys() - ours, key=lambda method: lines[method]["mean AP"])


def test_ap_boost_beside_its_rivals():
    found, text = kept("quality.ap_boost"), page("ap-boost")
    for method in by_method(found["both"]):
        assert rival_line(found, method) in text
    least, most = found["both"]["splits"]
    assert found["both"]["sets"] == 28
    assert least == most
    assert f"{most} splits of each set" in text
    # What the page claims.
    half = {part: by_method(found[part]) for part in ("choose", "confirm")}
    assert all(
        min(lines.keys() - {*FORMS}, key=lambda method: lines[method]["mean rank"]) == "APBoost"
        for lines in half.values()
    )
    boosted = ("LightGBM", "XGBoost logistic", "CatBoost", "HistGradientBoosting")
    assert all(
        lines[method]["APBoost minus it"] > 0
        for lines in half.values()
        for method in (*boosted, "APBoost as it was", "ExtraTrees")
    )
    both = by_method(found["both"])
    before, trees = (gain_of(both[method]) for method in ("APBoost as it was", "ExtraTrees"))
    assert f"over APBoost as it was: {before} over all sets" in text
    assert f"on both halves too, but by {trees}: on these sets that lead is **not shown**" in text
    assert both["APBoost as it was"]["APBoost minus it"] > both["APBoost as it was"]["± 95 %"]
    assert both["ExtraTrees"]["APBoost minus it"] < both["ExtraTrees"]["± 95 %"]
    assert best_rival(both) == "ExtraTrees"


def gain_of(line):
    return gain(line["APBoost minus it"], line["± 95 %"])


def test_larger_sets():
    found, text = kept("quality.ap_large"), page("ap-boost")
    methods = by_method(found["both"])
    assert f"| set | {' | '.join(methods)} |" in text
    for line in found["both"]["by set"]:
        assert f"| `{line['set']}` | {' | '.join(short(line[method]) for method in methods)} |" in text
    assert f"| *mean* | {' | '.join(short(line['mean AP']) for line in methods.values())} |" in text
    assert (
        f"| CPU seconds | {' | '.join(format(line['CPU seconds'], '.0f') for line in methods.values())} |"
        in text
    )
    halves = {half: by_method(found[half]) for half in ("choose", "confirm", "both")}
    for method in methods.keys() - {"APBoost"}:
        cells = [gain_of(lines[method]) for lines in halves.values()]
        won = f"{methods[method]['sets won']}-{methods[method]['sets lost']}"
        assert f"| {method} | {' | '.join(cells)} | {won} |" in text
    # The bars, and what the page claims.
    assert methods["LightGBM"]["APBoost minus it"] > 0
    before = methods["depth 6 alone"]
    assert min(halves[half]["depth 6 alone"]["APBoost minus it"] for half in ("choose", "confirm")) > 0
    assert f"ahead of the default of before by {gain_of(before)}" in text
    assert before["APBoost minus it"] > before["± 95 %"]
    assert f"not behind LightGBM in the mean ({gain_of(methods['LightGBM'])})" in text
    rows = {line["set"]: line for line in found["both"]["by set"]}
    for rival in ("LightGBM", "CatBoost"):
        assert rows["six_moves"][rival] - rows["six_moves"]["APBoost"] > 0.04
        assert rows["flights"][rival] > rows["flights"]["APBoost"]
        assert halves["choose"][rival]["APBoost minus it"] < 0 < halves["confirm"][rival]["APBoost minus it"]
    best = max(rows["car_insurance_cost"].keys() - {"set"}, key=lambda name: rows["car_insurance_cost"][name])
    assert best == "logistic regression"
    free = {name: line["APBoost"] - line["any categories together"] for name, line in rows.items()}
    assert min(free["flights"], free["census"]) > 0.005
    assert max(free["six_moves"], free["fars"]) < 0
    assert abs(methods["with extra trees"]["APBoost minus it"]) < 0.001


def test_larger_sets_whole():
    found, text = kept("quality.ap_large.whole"), page("ap-boost")
    methods = by_method(found)
    assert f"| set, whole | {' | '.join(methods)} |" in text
    for line in found["by set"]:
        assert f"| `{line['set']}` | {' | '.join(short(line[method], 4) for method in methods)} |" in text
    assert f"| *mean* | {' | '.join(short(line['mean AP'], 4) for line in methods.values())} |" in text
    seconds = (format(line["CPU seconds"], ".0f") for line in methods.values())
    assert f"| CPU seconds | {' | '.join(seconds)} |" in text
    rival, before = methods["LightGBM"], methods["depth 6 alone"]
    assert (
        f"APBoost minus LightGBM is {gain_of(rival)} in the mean, with {rival['sets won']} sets won" in text
    )
    assert (
        f"ahead of the default of before by {gain_of(before)} with {before['sets won']} won and none" in text
    )
    assert rival["APBoost minus it"] > 0  # the bar
    assert before["sets lost"] == 0


def test_every_set_once():
    found, text = kept("quality.ap_large"), page("ap-boost")
    halves = {half: found[f"every set once, {half}"] for half in ("choose", "confirm", "both")}
    lines = {half: by_method(part) for half, part in halves.items()}
    assert f"Of all {halves['both']['sets']} sets, each once" in text
    for method, line in lines["both"].items():
        cells = [
            method,
            *(short(part[method]["mean AP"]) for part in lines.values()),
            f"{line['mean rank']:.2f}",
        ]
        if method != "APBoost":
            cells += [gain_of(part[method]) for part in lines.values()]
            cells += [f"{line['sets won']}-{line['sets lost']}", short(line["p (Wilcoxon)"])]
        assert f"| {' | '.join(cells)} |" in text
    # The bars: the best mean rank, and a lead over the best rival and over what was before that is above 0.
    rivals = lines["both"].keys() - {*FORMS}
    assert min(rivals, key=lambda method: lines["both"][method]["mean rank"]) == "APBoost"
    for method in (best_rival(lines["both"]), "APBoost as it was"):
        assert all(part[method]["APBoost minus it"] > 0 for part in lines.values())
        assert lines["both"][method]["APBoost minus it"] > lines["both"][method]["± 95 %"]
    assert f"the best of the others, {best_rival(lines['both'])}" in text


def test_the_default_beside_that_of_lightgbm():
    for rows, line in kept("speed.ap_boost.default")["default"].items():
        rivals = [
            ("LightGBM", "ratio"),
            ("LightGBM, rounds chosen", "ratio to rounds chosen"),
            ("LightGBM, tuned", "ratio to tuned"),
        ]
        cells = [f"{int(rows):,}", f"{line['APBoost']:.1f} s"]
        cells += [f"{line[name]:.1f} s ({line[ratio]:.2f} x)" for name, ratio in rivals]
        cells += [short(line[f"AP of {name}"]) for name in ("APBoost", *(name for name, _ in rivals))]
        assert f"| {' | '.join(cells)} | {line['file MB']:.1f} MB |" in page("ap-boost")
        # The bars, and what the page and the explanation claim.
        assert 6 < line["ratio"] < 15
        assert line["ratio to rounds chosen"] <= 6
        assert line["file MB"] < 15


def sixty_and_more_rounds():
    return [kept(f"speed.ap_boost{part}") for part in (".sixty", "")]


def test_one_model_end_to_end():
    runs = sixty_and_more_rounds()
    assert all(f"{found['rows']:,} rows x 40 columns" in page("ap-boost") for found in runs)
    assert " | ".join(
        f"{found['rounds']} rounds | x LightGBM | CPU, x LightGBM | peak" for found in runs
    ) in page("ap-boost")
    for method in runs[0]["end to end"].keys() - {"rows only"}:
        cells = [method]
        for spent in (found["end to end"] for found in runs):
            line, theirs = spent[method], spent["LightGBM"]
            ratios = [f"{line[clock] / theirs[clock]:.2f}" for clock in ("wall", "cpu")]
            cells += [f"{line['wall']:.1f} s", *ratios, f"{line['peak MB']:.0f} MB"]
        assert f"| {' | '.join(cells)} |" in page("ap-boost")
    for spent in (found["end to end"] for found in runs):  # the aim
        assert all(spent["mix"][clock] <= 1.15 * spent["LightGBM"][clock] for clock in ("wall", "cpu"))


def test_a_round_of_our_losses():
    few, many = (found["per round"] for found in sixty_and_more_rounds())
    for loss in ("mix", "ap_exp"):
        ratios = [
            f"{per_round[loss][ratio]:.2f}"
            for per_round in (few, many)
            for ratio in ("wall ratio", "cpu ratio", "trees cpu ratio")
        ]
        assert f"| {loss} | {' | '.join(ratios)} |" in page("ap-boost")
    # What the page claims.
    assert all(
        many["mix"][clock] <= 1.20 and many["ap_exp"][clock] <= 1.10 for clock in ("wall ratio", "cpu ratio")
    )
    assert few["mix"]["cpu ratio"] <= 1.20 < few["mix"]["wall ratio"] < 1.22
    assert few["ap_exp"]["trees cpu ratio"] > 1.10


def test_rounds_of_more_rows():
    table = kept("speed.ap_boost")["growth"]
    for loss in ("mix", "XGBoost logistic"):
        cells = [f"{1e9 * line[f'{loss} cpu/round'] / line['rows']:.0f}" for line in table]
        assert f"| {loss} | {' | '.join(cells)} |" in page("ap-boost")


def test_what_extra_trees_add():
    alone = {half: by_method(part)["without extra trees"] for half, part in kept("quality.ap_boost").items()}
    assert alone["both"]["APBoost minus it"] - alone["both"]["± 95 %"] > 0
    assert min(alone[half]["APBoost minus it"] for half in ("choose", "confirm")) > 0


def figures(text):
    """Figures of a study as pages write them."""
    return str(text).replace("0.", ".")


def test_expected_precision_is_what_is_found():
    found, text = kept("quality.calibration"), page("ap-boost")
    assert f"{found['runs']} runs on {found['sets']} sets" in text
    for label, part, curve in (
        ("**today's**, all sets", "both", "after"),
        ("its choosing half", "choose", "after"),
        ("its confirming half", "confirm", "after"),
        ("fewer than 40 wanted rows", "< 40", "after"),
        ("40 to 99", "40-99", "after"),
        ("100 and more", ">= 100", "after"),
        ("without κ, all sets", "both", "without κ"),
        ("the one of before, all sets", "both", "before"),
        ("before, choosing half", "choose", "before"),
        ("before, confirming half", "confirm", "before"),
    ):
        told = found[part][curve]
        scores = (told["log loss"], told["Brier"], f"{told['slope']:.2f}")
        cells = [*told["found minus expected"].values(), *scores]
        assert f"| {label} | {figures(' | '.join(map(str, cells)))} |" in text
    for half in ("choose", "confirm"):  # the bars that were set
        after = found[half]["after"]["found minus expected"]
        for size in ("50", "P"):
            middle, _, error = after[size].partition(" ± ")
            assert abs(float(middle)) <= min(0.02, float(error))
        assert found[half]["sets whose log loss is not worse"] >= 0.7 * found[half]["sets"]


def test_bounds_of_the_number_found_hold():
    found, text = kept("quality.calibration"), page("ap-boost")
    for label, part, kind in (
        ("all sets", "both", "covers"),
        ("choosing half", "choose", "covers"),
        ("confirming half", "confirm", "covers"),
        ("if the curve were taken as sure, all sets", "both", "covers, curve taken as sure"),
    ):
        shares = (f"{100 * share:.1f} %" for share in found[part][kind].values())
        assert f"| {label} | {' | '.join(shares)} |" in text
    for half in ("choose", "confirm"):
        here = found[half]
        told = f"{here['sets whose log loss is not worse']} of {here['sets']} sets not worse"
        assert f"{figures(here['log loss, after minus before'])} ({told})" in text
        assert abs(here["covers"]["all"] - 0.9) <= 0.04


def test_how_much_surer_a_mean_of_models_is():
    for group, means in kept("quality.kappa")["κ - 1"].items():
        cells = [
            means[depths][kind]
            for depths in ("one depth", "two depths", "three depths")
            for kind in ("measured", "known")
        ]
        told = " | ".join(figures(f"{cell:.3f}") for cell in cells)
        assert f"| {group} | {means['sets']} | {told} |" in page("ap-boost")


def test_few_categories_apart():
    """What it is worth on sets that were not chosen by, and where a column has dozens of them."""
    apart = {study: kept(f"quality.{study}") for study in ("ap_boost", "ap_large")}
    for study, found in apart.items():
        told = [gain_of(by_method(found[half])["any categories together"]) for half in ("choose", "confirm")]
        assert f"{told[0]} on the choosing and {told[1]} on the confirming half" in page("ap-boost"), study


def test_a_stream_does_not_slow_down():
    found = kept("speed.stream_long")
    for number, tenth in enumerate(found["tenths"], 1):
        cells = [f"{number * found['windows'] // 10:,}", f"{tenth['cpu_ms']:.1f}", f"{tenth['ms']:.1f}"]
        cells += [f"{tenth['state_kb']:.0f} kB", f"{tenth['steps_kb'] / 1000:.1f} MB"]
        assert f"| {' | '.join(cells)} |" in page("stream")
    assert f"time changes by {found['cpu_ms grows by %']:.0f} %" in page("stream")
    assert found["windows"] == 10_000
    assert max(found["cpu_ms grows by %"], found["state_kb grows by %"]) <= MOST_GROWTH


def test_how_a_stream_begins():
    for row in kept("quality.stream_cold"):
        figures = f"{row['stuck']} of {row['runs']}"
        if "share" in row:
            figures += f" | {short(row['share'])} | {gain(row['gain'], row['error'])}"
        assert f"| {row['group']}, {row['way']} | {figures}" in page("stream")
    stuck = next(row for row in kept("quality.stream_cold") if row["group"] == "hidden")
    assert stuck["runs"] >= 200
    assert stuck["stuck"] <= 0.01 * stuck["runs"]


def test_the_claims_of_the_sgbap_paper():
    found, text = kept("papers.sgbap"), page("ap-boost")
    figures = {(each["row"], each["column"]): each for each in found["tables"]["3"]["entries"]}
    for name in ("breast_ljubljana", "pima", "heart_cleveland"):
        row = [figures[f"{name}, SGBAP", measure] for measure in ("AUC", "AP", "Pos@Top", "P@k")]
        cells = (f"{short(e['ours'])} ± {short(e['error'])} ({short(e['paper'])})" for e in row)
        assert f"| `{name}` | {' | '.join(cells)} |" in text
        assert f"SGBAP over {row[0]['runs']} splits" in text
    assert f"{found['cells']['run']:,} of {found['cells']['wanted']:,} cells" in text
    for claim in found["claims"]:
        assert f"| {claim['claim']} ({claim['where']}) | {claim['verdict']} |" in text
    large = {each["row"]: each for each in found["tables"]["w8a"]["entries"] if each["column"] == "AP"}
    ours, logistic, pairs = (large[f"w8a_train, {name}"] for name in ("SGBAP", "GB-Logistic", "RankBoost"))
    told = f"SGBAP has an AP of {short(ours['ours'])} on w8a (paper {short(ours['paper'])})"
    rivals = (f"{short(each['ours'])} ({short(each['paper'])})" for each in (logistic, pairs))
    assert f"{told}, GB-Logistic {' and RankBoost '.join(rivals)}" in text
    assert logistic["ours"] > ours["ours"]  # its lead does not show


def test_the_claims_of_the_ojrank_paper():
    found, text = kept("papers.ojrank"), page("feedback")
    assert found["repeats"] == 10
    assert found["cells"]["run"] == found["cells"]["wanted"]
    means = {(each["row"], each["column"]): each["ours"] for each in found["tables"]["means"]["entries"]}
    shown = text.partition("| mean rank of 14 |")[2].partition("The confirming sets are")[0]
    strategies = {row for row, _ in means if f"| {row} | ." in shown}
    assert len(strategies) == shown.count(" | .") // 3 >= 12  # all that the page shows are kept
    for strategy in strategies:
        cells = [short(means[strategy, f"{what}, 21 sets"]) for what in ("precision", "effort")]
        cells += [short(means[strategy, "rank, 21 sets"], 1)]
        cells += [short(means[strategy, "precision, 10 confirming sets"])]
        cells += [short(means[strategy, "rank, 10 confirming sets"], 1)]
        assert f"| {strategy} | {' | '.join(cells)} |" in text
    figures = {(e["row"], e["column"]): e for number in "34" for e in found["tables"][number]["entries"]}
    for strategy in ("OJRank", "OJRank, released", "OJR-ALL, released", "OMD-LLH, total"):
        cells = (figures[name, strategy] for name in ("wine", "ecoli", "vertebral"))
        told = " | ".join(f"{short(each['ours'], 2)} ({short(each['paper'], 2)})" for each in cells)
        assert f"| {strategy} | {told} |" in text
    for claim in found["claims"]:
        assert f"| {claim['claim']} ({claim['where']}) | {claim['verdict']} |" in text
    bar = found["claims"][-1]
    assert bar["verdict"] == "holds"
    assert "OJR-ALL, released: 7 of 8" in bar["statistic"]


def test_the_claims_of_the_prec_at_k_paper():
    found, text = kept("papers.prec_at_k"), page("stream")
    assert found["repeats"] == 30
    assert found["cells"]["run"] == found["cells"]["wanted"]
    figures = {(each["row"], each["column"]): each for each in found["tables"]["means"]["entries"]}
    cases = [f"k = {k}, {kernel}" for k in (50, 300) for kernel in ("linear", "RBF")]
    for scheme in LABELS.values():
        cells = []
        for case in cases:
            precision, labels = (figures[f"{case}, {scheme}", what] for what in ("precision", "labels"))
            cells.append(f"{short(precision['ours'])} ± {short(precision['error'])} ({labels['ours']:,.0f})")
        assert f"| {scheme} | {' | '.join(cells)} |" in text
    verdicts = {claim["claim"]: claim["verdict"] for claim in found["claims"]}
    for claim in {name.partition(", k = ")[0] for name in verdicts if ", k = " in name}:
        told = [
            verdicts.get(f"{claim}, {case}", verdicts.get(f"{claim}, {case.partition(',')[0]}"))
            for case in cases
        ]
        assert f"| {claim} | {' | '.join(told)} |" in text
    # What the page says in words.
    assert {
        verdicts[f"probabilities that decay with the margin beat uniform ones, {case}"] for case in cases
    } == {"holds"}


def test_the_refit_on_the_streams_that_begin_otherwise():
    summary = {
        (row["set"], row["k"], row["method"], row["kernel"]): row
        for row in kept("quality.stream_schemes")["summary"]
    }
    text = page("stream")
    for name, k in {key[:2] for key in summary}:
        few, rbf, linear = (
            summary[name, k, method, kernel]["precision"]
            for method, kernel in (
                ("default, 1 % of labels", "rbf"),
                ("refit sequential", "rbf"),
                ("refit sequential", "linear"),
            )
        )
        line = text.partition(f"| `{name}` | {k} | ")[2].split(" | ")
        assert line[1].startswith(f"{short(few)} (")
        assert line[2].startswith(f"{short(rbf)} (")
        assert f"{short(linear)} / {short(rbf)}" in text
    by_window = summary["cod_rna 1:50", 50, "default, 1 % of labels", "rbf"]["by_window"]
    assert ", ".join(short(each) for each in by_window) in text


@pytest.mark.parametrize("drift", [True, False])
def test_learning_on_the_job(drift):
    text = page("feedback")
    rows = {(row["half"], row["way"]): row for row in kept("quality.feedback_drift") if row["drift"] == drift}
    for way in ("static", "similarity", "ojrank", "retrained"):
        row = rows["all", way]
        parts = [f"{row['hits']:.1f}"]
        for half in ("all", "every first", "every second"):
            each = rows[half, way]
            parts.append(
                "" if way == "static" else f"{each['gain']:+.1f} ± {each['error']:.1f}".replace("-", "−")
            )
        assert plain(" | ".join([f"| {way}, {'' if drift else 'no '}drift", *parts])) in text
    assert f"{rows['all', 'ojrank']['sets']} sets" in text
    if not drift:
        assert rows["all", "ojrank"]["p"] < 0.001
        told = [f"(p = {short(rows[half, 'similarity']['p'], 2)})" for half in ("all", "every second")]
        assert all(each in text for each in told)


def test_scorecards():
    found, text = kept("quality.target_defaults"), page("target")
    labels = [
        "alpha = 0.1 / sqrt(wanted)",
        "one tree of 12 leaves",
        "one tree of 16 leaves",
        "scorecard = 3",
        "scorecard = 4",
    ]
    groups = [[name for name in group if name in found] for group in (CHOOSE, CONFIRM)]
    for label, rival in zip(labels, [None, None, None, *labels[1:3]], strict=True):
        cells = []
        for names in groups:
            ap, leaves = (np.array([found[name][label][what] for name in names]) for what in ("ap", "leaves"))
            cells.append(f"{short(ap.mean())} ({leaves.mean():.1f})")
            gains = ap - np.array([found[name][rival or labels[0]]["ap"] for name in names])
            cells.append(gain(gains.mean(), gains.std(ddof=1) / len(names) ** 0.5) if rival else "")
        assert plain(f"| `{label}` | {' | '.join(cells)}") in text
    assert f"{len(groups[0])} and {len(groups[1])} sets" in text
    # The middle of the sets: the first fit of a process compiles.
    times = np.median([line[labels[4]]["seconds"] / line[labels[0]]["seconds"] for line in found.values()])
    assert f"takes {times:.1f} times the CPU time of the default" in text
    assert round(times) == 3
    assert "takes about three times as long as the default" in text


def test_scorecards_on_the_fraud_years():
    ours, text = kept("papers.target.means")["ours"], page("target")
    for label in (CARD, CARD_ONE_HOT):
        figures = [ours[year][label]["ap"] for year in ("Fraud 1994", "Fraud 1995")]
        assert " and ".join(short(each) for each in figures) in text


def test_money_by_each_way_of_ranking():
    found = kept("quality.value")
    for way, line in found["all"].items():
        if way in (IDEAL, OURS):
            continue
        lead = line["ours leads"]
        shares = " | ".join(short(found[half][way]["share"]) for half in ("choose", "confirm"))
        ends = f"{short(lead['low'])} to {short(lead['high'])}"
        assert f"| {way} | {shares} | {short(lead['mean'])} ({ends}) |" in page("workflow"), way
    ours = " | ".join(short(found[half][OURS]["share"]) for half in ("choose", "confirm"))
    assert f"| {OURS} | {ours} | |" in page("workflow")
    assert f"{found['runs']} runs on {found['sets']} tables" in page("workflow")
    # What the page claims: ahead in the mean over tables, and of sorting on every one of them.
    assert found["all"][RIVAL]["ours leads"]["low"] > 0
    assert found["all"][BY_AMOUNT]["ours leads"]["low"] > 0
    assert all(line["ours leads value alone"]["mean"] > 0 for line in found["by set"].values())
    assert "On every table the default found more than sorting by the amount" in page("workflow")
    lead = found["all"][BOOSTED]["ours leads"]
    assert f"`--model ap-boost` would have found {short(-lead['mean'])} more in the mean" in page("workflow")
    assert lead["low"] < 0 < lead["high"]  # within noise


def percent(share):
    return f"{100 * share:.1f} %"


def test_how_often_the_interval_of_what_is_missed_is_wrong():
    found = kept("quality.missed")
    assert [line["case"] for line in found] == [case.name for case in CASES]
    for line in found:
        cells = [line["case"]]
        for wrong, width in (("wrong at any look", "width"), ("one look: wrong at any", "one look: width")):
            cells += [percent(line[wrong]), f"{line[width]:.0f}"]
        assert f"| {' | '.join(cells)} |" in page("review")
        assert line["reviews"] >= 500
        assert line["wrong at any look"] <= 0.1  # what the page promises


def test_what_the_rule_of_thumb_would_have_missed():
    found = kept("quality.missed")
    shares = [line["50 in a row: missed"] for line in found if line["50 in a row: stopped"]]
    told = f"{percent(min(shares))} to {percent(max(shares))} of the wanted rows were still missing"
    assert told in page("review")
    for line in found:
        cells = [line["case"], f"{line['rows reviewed']:,.0f}", percent(line["missed"])]
        stopped, rows, share = (line[f"50 in a row: {name}"] for name in ("stopped", "rows", "missed"))
        cells += [percent(stopped), *([f"{rows:,.0f}", percent(share)] if stopped else ["–", "–"])]
        assert f"| {' | '.join(cells)} |" in page("review")


def test_what_was_lost_under_faults():
    found = kept("quality.review_faults")
    worlds, servers = found["worlds"], found["servers"]
    for told in (
        f"{found['seconds'] / 60:.0f} minutes",
        f"{worlds['worlds']} worlds ({worlds['faults']} errors, {worlds['stops']} stops, {worlds['kills']} kills, "
        f"{worlds['clock_steps']} clock steps)",
        f"{found['full pools']['full pools']} full pools",
        f"{found['power cuts']['power cuts']} power cuts of the log",
        f"{found['files cut']['power cuts']} while rows were appended and erased",
        f"{found['full disks']['full disks']} full disks",
        f"{servers['kills']} kills and {servers['terms']} stops of real servers",
        f"none of {found['all']['acknowledged']:,} acknowledged verdicts was lost",
    ):
        assert told in page("review"), told
    assert [found["all"][name] for name in ("lost", "gaps", "doubles", "unequal")] == [0, 0, 0, 0]
    assert min(servers["kills"], servers["terms"], found["full disks"]["full disks"]) >= 1


def test_what_faults_did_with_logs_in_postgresql():
    found = kept("quality.review_faults.postgres")
    worlds, servers = found["worlds"], found["servers"]
    for told in (
        f"{found['seconds'] / 60:.0f} minutes: {worlds['worlds']} worlds ({worlds['faults']} errors, "
        f"{worlds['stops']} stops, {worlds['kills']} kills), {found['full pools']['full pools']} full pools",
        f"{found['database']['database stops']} stops of the database, {servers['kills']} kills and {servers['terms']} "
        f"stops of real servers; none of {found['all']['acknowledged']:,} acknowledged verdicts was lost",
    ):
        assert told in page("review"), told
    assert [found["all"][name] for name in ("lost", "gaps", "doubles", "unequal")] == [0, 0, 0, 0]


@pytest.mark.parametrize(("store", "end"), [("SQLite", ""), ("PostgreSQL", ".postgres")])
def test_what_was_lost_when_servers_were_killed_and_others_took_over(store, end):
    killed, owners = kept(f"quality.review_kill{end}"), kept(f"quality.review_owners{end}")
    cells = [
        store, killed["kills"], killed["kills after new verdicts"], owners["owners killed"], owners["owners cut off"],
        owners["taken over"], f"{killed['acknowledged'] + owners['acknowledged']:,}", 0,
    ]  # fmt: skip
    assert f"| {' | '.join(map(str, cells))} |" in page("review")
    for found in (killed, owners):
        assert [found[name] for name in ("lost", "gaps", "doubles", "unequal")] == [0, 0, 0, 0]
    assert owners["taken over"] == owners["owners killed"] + owners["owners cut off"]


def test_time_and_memory_of_twenty_thousand_verdicts():
    found = kept("speed.review_long")
    assert found["verdicts"] >= 20_000
    grows = {name: found[f"{name} grows by %"] for name in ("ms", "cpu_ms", "rss_mb")}
    clock, cpu, rss = (f"{value:+.1f} %".replace("-", "−") for value in grows.values())
    last = found["steps"][-1]
    told = f"time per verdict changed by {clock}, that of the processor by {cpu} and memory by {rss}"
    then = f"{last['cpu_ms']:.0f} ms of the processor and {last['rss_mb']:.0f} MB at the end, {found['rows']:,} rows"
    assert f"{told} ({then})" in page("review")
    assert max(grows.values()) <= MOST_GROWTH == 20


def test_what_is_said_of_damaged_files():
    found = kept("quality.damage")
    reviews, models = found["reviews"], found["models"]
    for told in (
        f"{reviews['files']} files of a review, {reviews['damages']} damages",
        f"{models['files']} model files of a stranger",
    ):
        assert told in page("review"), told
    assert (reviews["wrong"], models["wrong"]) == (0, 0)
    assert {*models["exit codes"]} <= {"0", "2"}


def test_twenty_reviewers_at_once():
    for found in kept("speed.review_load"):
        aims = {name: f" ({aim})" for name, aim in found["bars"].items()}
        cells = [
            f"{found['rows']:,}",
            f"{found['per_second']:.0f}{aims.get('per_second', '')}",
            f"{found['p50_ms']:.0f} ms",
            f"{found['p99_ms']:.0f} ms{aims['p99_ms']}",
            f"{found['p99_ratio']:.1f}",
            f"{found['start_s']:.0f} s{aims.get('start_s', '')}",
            f"{found['search_p95_ms']:.0f} ms{aims.get('search_p95_ms', '')}",
            f"{found['cpu_ms_per_verdict']:.1f} ms",
        ]
        assert f"| {' | '.join(cells)} |" in page("review")
        assert f"{found['load_average']:.1f}" in page("review")
        assert found["rows given twice"] == 0
        at_least = {"per_second"}
        missed = [name for name, aim in found["bars"].items() if (found[name] < aim) == (name in at_least)]
        assert missed == []
    assert "all aims are reached" in page("review")


def in_percent(share):
    return f"{100 * share:.1f} %"


def test_which_leaks_are_named():
    both, confirm = kept("quality.leaks")["both"], kept("quality.leaks")["confirm"]
    assert (
        f"Of {both['planted']:,} leaks of these kinds, planted in {both['sets']} public sets, "
        f"{in_percent(both['named'])} are named "
        f"({in_percent(confirm['named'])} on the half of the sets on which no threshold was chosen), "
        f"and {in_percent(both['accused'])} of {both['honest columns']:,} honest columns are accused "
        f"({in_percent(confirm['accused'])} on that half)"
    ) in page("workflow")
    assert min(both["named"], confirm["named"]) >= 0.95
    assert max(both["accused"], confirm["accused"]) <= 0.02


def test_how_often_alarms_ring_and_columns_are_named():
    found = kept("quality.monitor")
    drawn, looks = found["drawn"], kept("quality.monitor_columns")
    text = page("workflow")
    assert (
        f"{drawn['with a false alarm']} of {drawn['unchanged years']} unchanged years had a false alarm"
        in text
    )
    in_time = f"{drawn['alarm in time']} of {drawn['changed years']} years"
    assert f"within the stated {drawn['stated delay']} days in {in_time}" in text
    low, high = (in_percent(end) for end in looks["named low, high"])
    share = in_percent(looks["named a column"] / looks["looks"])
    noticed = f"{looks['noticed amounts twice as large']} of {looks['looks with amounts twice as large']} looks noticed"
    often = (
        f"in {looks['named a column in any of them']} of {looks['unchanged years with a look each month']}"
    )
    for told in (
        f"In {looks['looks']:,} looks at {looks['days']} days, {looks['named a column']} named a column that had not "
        f"moved ({share}; 95 % interval {low} to {high})",
        f"{noticed} amounts twice as large",
        f"{often} unchanged years a look each month named one at least once",
    ):
        assert told in text, told
    assert drawn["unchanged years"] >= 100
    assert drawn["with a false alarm"] <= drawn["stated"]
    assert drawn["alarm in time"] >= drawn["stated in time"]
    assert looks["looks"] >= 2_000
    assert looks["named low, high"][0] <= looks["stated"] <= looks["named low, high"][1]


def test_what_scale_takes():
    growth = kept("speed.scale")["growth"]
    assert (
        {*BY_BATCH, "fit at once", "score at once"}
        <= {row["what"] for row in growth}
        <= {*BY_BATCH, *AT_ONCE}
    )
    for row in growth:
        cells = [row["what"], f"{row['rows'] / 1e6:g} M", f"{row['cpu']:.1f}", f"{row['mb']:,}"]
        cells.append(f"{row['estimated mb']:,}" if "estimated mb" in row else "")
        assert plain(f"| {' | '.join(cells)} |") in page("scale")
        assert row["mb"] <= row.get("estimated mb", row["mb"])  # what is said to fit does


def test_how_scale_stands_beside_bare_xgboost():
    found = {(row["what"], row["rows"]): row for row in kept("speed.scale")["growth"]}
    sizes = sorted({rows for _, rows in found})
    for rows in (1_000_000, 5_000_000, 20_000_000):
        ratio = found["score batch by batch", rows]["cpu"] / found["read and predict, bare", rows]["cpu"]
        assert f"{ratio:.2f} times at {rows / 1e6:g} million rows" in page("scale")
    least = sizes[0]
    peak = found["fit at once", least]["mb"] / found["fit XGBoost, bare", least]["mb"]
    assert f"The largest size of `APBoost.fit` is {peak:.2f} times that of bare XGBoost" in page("scale")
    ap = found["fit_table", least]["ap"], found["fit at once", least]["ap"]
    assert f"average precision of {short(ap[0], 4)} and {short(ap[1], 4)}" in page("scale")
    assert abs(ap[0] - ap[1]) <= 0.002
    trained = found["train", least]["mb"] / found["fit XGBoost, bare", least]["mb"]
    assert f"that give the label away, is at {trained:.2f} times" in page("scale")


def test_what_twenty_million_rows_take():
    scale = kept("speed.scale")
    found = {(row["what"], row["rows"]): row for row in scale["growth"]}
    ours, bare, score = (
        found[what, 20_000_000]
        for what in ("fit_table", "fit XGBoost from disk, bare", "score batch by batch")
    )
    loads = [row["load average"] for row in [*scale["growth"], *scale["rounds"].values()]]
    told = [
        f"`fit_table` takes {ours['mb']:,} MB and {ours['cpu']:.1f} s",
        f"{ours['mb'] / bare['mb']:.2f} and {ours['cpu'] / bare['cpu']:.2f} times what XGBoost takes from disk",
        f"XGBoost alone takes {bare['mb']:,} MB",
        f"`score` takes {score['mb']:,} MB at 20 million rows",
        f"load averages of {min(loads):g} to {max(loads):g}",
    ]
    assert [each for each in told if each not in page("scale")] == []
    assert bare["mb"] * 2**20 > 1.2e9  # what was asked for is less than XGBoost alone takes


def test_what_rounds_take():
    rounds = kept("speed.scale")["rounds"]
    gradient, mix, alone = rounds["gradient"], rounds["two processes, mix"], rounds["one process, mix"]
    told = [
        f"{gradient['share']:.1%} of a round".replace("%", " %"),
        f"{mix['ms a round'] / alone['ms a round']:.2f} times the processor time a round",
        f"{mix['bytes a round']:,} bytes a round in the median, {mix['most bytes a round']:,} at most",
        f"never more than {mix['cap bytes a round']:,}",
    ]
    assert [each for each in told if each not in page("scale")] == []
    assert mix["most bytes a round"] <= mix["cap bytes a round"]


def test_what_is_said_of_ten_billion_rows():
    model = kept("speed.scale")["model"]
    for name, line in model["lines"].items():
        assert f"| {name} | {line['fixed']:g} | {line['per million']:g} |" in page("scale")
    far = model["far"]
    per_row = model["lines"]["fit_table, mb"]["per million"] * 2**20 / 1e6
    told = [
        f"some {round(per_row, -1):.0f} bytes a row however many columns",
        f"{far['score, cpu hours']:g} hours of one core",
        f"{far['fit_table, GB']:,} GB",
        f"{far['GB a worker']:g} GB each",
        f"{far['seconds a round']:g} s a round",
        f"{far['histogram MB a round']:g} MB",
    ]
    assert [each for each in told if each not in page("scale")] == []


def test_what_a_fresh_process_costs():
    spent = kept("speed.start")["cpu seconds"]
    told = [
        f"`shortlist --help` {spent['help']:.2f} s",
        f"`score` of 300 rows {spent['score']:.2f} s",
        f"{spent[next(name for name in spent if 'stranger' in name)]:.2f} s by a stranger's",
        f"alone takes {spent['the libraries alone']:.2f} s there",
    ]
    assert [each for each in told if each not in page("workflow")] == []
    assert all(spent[name] <= bar for name, bar in kept("speed.start")["bars"].items())


def test_what_related_ways_to_ask_reach():
    found = kept("papers.prec_at_k")
    rows = {(each["row"], each["column"]): each["ours"] for each in found["tables"]["related"]["entries"]}
    row = "selective sampling, b = 0.001"
    labels, at_50, at_300 = (rows[row, column] for column in ("labels", "precision@50", "precision@300"))
    assert f"with {labels:.0f} labels in all selective sampling (b = 0.001)" in page("stream")
    assert f"a precision of {short(at_50)} at 50 and {short(at_300)} at 300" in page("stream")
    schemes = [
        each["ours"]
        for each in found["tables"]["means"]["entries"]
        if each["row"].startswith("k = 50, linear")
    ]
    assert at_50 > max(value for value in schemes if value < 1)
    verdicts = {claim["claim"]: claim for claim in found["claims"]}
    assert verdicts["Theorem 1 as printed"]["statistic"] == "within the bound on 0 of 20 streams"
    assert verdicts["Theorem 1 with the right side squared"]["verdict"] == "holds"
