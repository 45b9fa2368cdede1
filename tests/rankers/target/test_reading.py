"""What a user reads from a tree says what the tree does."""

import json
import sqlite3
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.models.file import load, save
from shortlist.objectives import CostSaved
from shortlist.rankers import TargetTree
from shortlist.rankers.target.tree import Tree

ODD = [
    "plain",
    "it's",
    'say "hi"',
    "semi;colon",
    "per%cent",
    "ümläut",
    "a, b",
    "--",
    "(x)",
    "new\nline",
    "{0}",
]


SVG = "{http://www.w3.org/2000/svg}"


def odd_table(n, seed, gaps=0.15):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "amount in €": rng.exponential(100, n),
            'odd "name"': rng.choice(ODD, n),
            "shop": [f"shop {number:03d}" for number in rng.integers(0, 150, n)],
            "flag": rng.random(n) < 0.4,
            "seen": pl.Series(rng.integers(18_000, 20_000, n)).cast(pl.Date),
            "count": rng.integers(0, 6, n),
        }
    )
    return frame.with_columns(
        pl.when(pl.Series(rng.random(n) >= gaps)).then(pl.col(name)).otherwise(None).alias(name)
        for name in frame.columns
    )


def odd_labels(frame, seed):
    noise = np.random.default_rng(seed).random(frame.height)
    wanted = frame.select(
        (pl.col("amount in €").fill_null(0) > 150).cast(int)
        + pl.col('odd "name"').is_in(["it's", 'say "hi"', "a, b"]).fill_null(False).cast(int)
        + pl.col("shop").is_in([f"shop {n:03d}" for n in range(0, 150, 3)]).fill_null(False).cast(int)
        + pl.col("flag").fill_null(True).cast(int)
        + (pl.col("seen").dt.month() > 8).fill_null(False).cast(int)
        + pl.col("count").is_null().cast(int)
    ).to_series()
    return (wanted.to_numpy() + noise > 3.4).astype(int)


@pytest.fixture(scope="module", params=[1, 3], ids=["one tree", "three trees"])
def fitted(request):
    frame = odd_table(1_500, 0)
    ranker = TargetTree(
        alpha=0.0005, generations=60, n_restarts=1, n_estimators=request.param, max_leaves=30, random_state=0
    )
    return ranker.fit(frame, odd_labels(frame, 1))


def route(node, row):
    """The score of one row by the JSON document alone."""
    if "left" not in node:
        return node["score"]
    value = row[node["column"]]
    if value is None:
        side = node["missing"]
    elif node["left_if"] == "known":
        side = "left"
    elif node["left_if"] == "at most":
        side = "left" if value <= node["threshold"] else "right"
    else:
        side = "left" if value in node["categories"]["left"] else "right"
        if value not in node["categories"]["left"] + node["categories"]["right"]:
            side = node["missing"]
    return route(node[side], row)


def seen_by_model(frame):
    """Rows with the columns that the matrix has."""
    seen = pl.col("seen")
    parts = [
        seen.to_physical().cast(float).alias("seen (days)"),
        seen.dt.month().alias("seen (month)"),
        seen.dt.weekday().alias("seen (weekday)"),
    ]
    return frame.with_columns(parts).with_columns(
        pl.col("flag").cast(int), pl.col("amount in €").cast(pl.Float32)
    )


def in_sqlite(ranker, columns, rows):
    """The scores of rows by the SQL of a model."""
    database = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    database.execute(f"CREATE TABLE new ({names})")
    database.executemany(f"INSERT INTO new VALUES ({', '.join('?' * len(columns))})", rows)
    found = [row[0] for row in database.execute(f"SELECT {ranker.to_sql('sqlite')} FROM new")]
    database.close()
    return found


def test_scores_equal_routing_rows_one_by_one(fitted):
    new = odd_table(300, 2)
    document = json.loads(fitted.to_json())
    expected = [
        np.mean([route(tree, row) for tree in document["trees"]])
        for row in seen_by_model(new).iter_rows(named=True)
    ]
    np.testing.assert_allclose(fitted.decision_function(new), expected, rtol=1e-12)


def test_sql_in_sqlite_gives_the_same_scores(fitted):
    new = odd_table(1_000, 3).with_columns(
        pl.when(pl.int_range(pl.len()) % 50 == 0)
        .then(pl.lit("never seen"))
        .otherwise(pl.col("shop"))
        .alias("shop")
    )
    found = in_sqlite(fitted, new.columns, new.with_columns(pl.col("seen").cast(pl.String)).rows())
    np.testing.assert_allclose(found, fitted.decision_function(new), rtol=1e-12)
    if len(fitted.trees_) == 1:
        np.testing.assert_array_equal(found, fitted.decision_function(new))


def test_every_kind_of_column_is_used_by_the_trees_of_these_tests(fitted):
    kinds = {fitted._words.columns[f].kind for tree in fitted._trees for f in tree.feature if f >= 0}
    assert {"number", "category"} <= kinds
    assert len(kinds) >= 3


def test_standard_sql_and_sqlite_differ_in_dates_only(fitted):
    assert "strftime" not in fitted.to_sql()
    with pytest.raises(InvalidInputError, match="dialect must be"):
        fitted.to_sql("cobol")


def test_the_explanation_of_a_row_is_the_rule_of_its_leaf(fitted):
    new = odd_table(200, 4)
    view = fitted.views[0]
    leaf, rules = view.tree.leaf_of(fitted.schema_.matrix(new), view.words.bins), view.rules()
    for number, told in zip(leaf, fitted.explain(new), strict=True):
        assert told.startswith(f"rank {view.tree.rank[number]}, ")
        assert told.endswith(view.words.rule(view.tree, number))
        assert told in rules


def test_text_names_every_leaf_once(fitted):
    view = fitted.views[0]
    assert str(view).count("rank ") == view.tree.leaves.size
    assert view.rules().count("rank ") == view.tree.leaves.size
    assert str(view) in fitted.to_text()


def test_the_drawing_is_well_formed_and_shows_every_leaf(fitted):
    root = ET.fromstring(fitted.to_svg())
    boxes = [element.get("class") for element in root.iter(SVG + "rect")]
    tree = fitted.views[0].tree
    assert boxes.count("leaf") == tree.leaves.size
    assert boxes.count("split") == tree.leaves.size - 1
    text = " ".join(root.itertext())
    assert all(f"rank {rank}" in text for rank in tree.rank[tree.leaves])
    assert fitted.views[0]._repr_svg_() == fitted.to_svg()


def test_a_root_is_a_tree_too():
    X = np.random.default_rng(0).normal(size=(40, 2))
    ranker = TargetTree(alpha=10.0, generations=2, random_state=0).fit(X, np.arange(40) % 2)
    assert ranker.to_text() == "all rows: rank 1, 50.0 % of 40 rows"
    assert ranker.to_sql() == "(20.0 / 40.0)"
    assert ranker.explain(X[:1]) == ["rank 1, 50.0 % of 40 rows: all rows"]
    ET.fromstring(ranker.to_svg())


def test_plain_matrices_have_plain_names():
    X = np.arange(40.0)[:, None]
    ranker = TargetTree(generations=20, random_state=0).fit(X, X.ravel() > 29)
    assert ranker.to_text() == "x0 <= 29.5: rank 2, 0.0 % of 30 rows\nx0 > 29.5: rank 1, 100.0 % of 10 rows"


def test_impacts_are_shown_as_amounts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    impact = np.where(X[:, 0] > 1, 5_000.0, 10.0)
    ranker = TargetTree(objective=CostSaved(k=20), generations=20, random_state=0).fit(X, impact)
    assert "5,000 each" in ranker.to_text()


def test_impacts_that_are_small_on_average_are_no_shares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    impact = np.where((X[:, 0] > 1) & (rng.random(300) < 0.1), 5.0, 0.0)
    ranker = TargetTree(objective=CostSaved(k=20), min_leaf=50, random_state=0).fit(X, impact)
    assert ranker.views[0].tree.score.max() < 1
    assert "%" not in ranker.to_text()
    assert not any("%" in text.text for text in ET.fromstring(ranker.to_svg()).iter(SVG + "text"))


def test_a_saved_model_scores_and_reads_the_same(fitted, tmp_path):
    save(fitted, tmp_path / "model.shortlist")
    again = load(tmp_path / "model.shortlist")
    new = odd_table(200, 5)
    np.testing.assert_array_equal(again.decision_function(new), fitted.decision_function(new))
    assert again.to_sql() == fitted.to_sql()
    assert again.to_text() == fitted.to_text()


def chain(n_splits):
    """A model of x0 whose tree is as deep as it has splits."""
    X = np.arange(10.0 * (n_splits + 1))[:, None]
    ranker = TargetTree(generations=0, n_restarts=1, random_state=0).fit(X, X.ravel() % 7 == 0)
    size = 2 * n_splits + 1
    node = np.arange(size)
    splits = (node % 2 == 0) & (node < size - 1)
    tree = Tree(
        feature=np.where(splits, 0, -1).astype(np.int32),
        threshold=np.where(splits, 5.0 * node + 9, np.nan),
        left_bins=np.zeros(size, dtype=np.uint64),
        missing_left=splits & (node % 4 == 0),
        right=np.where(splits, node + 2, -1).astype(np.int32),
        rows=np.full(size, 10.0),
        gain=node / 10,
    )
    ranker.trees_ = [tree.state()]
    return ranker, X


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_sql_of_a_deep_tree_does_not_overflow_the_parser(mirrored):
    ranker, X = chain(60)
    if mirrored:  # the deep side is the one without missing values: it must not be nested either
        ranker.trees_[0]["missing_left"] = ~ranker.trees_[0]["missing_left"] & (
            ranker.trees_[0]["feature"] >= 0
        )
    rows = [(value,) for value in X.ravel().tolist()] + [(None,)]
    found = in_sqlite(ranker, ["x0"], rows)
    np.testing.assert_array_equal(
        found, ranker.decision_function([[np.nan if v is None else v] for (v,) in rows])
    )


def test_a_tree_deeper_than_the_stack_of_python_can_be_read():
    ranker, _ = chain(2_000)
    lines = ranker.to_text().splitlines()
    assert len(lines) == 4_000
    assert lines[-1].startswith("|   " * 1_999 + "x0")
    with pytest.raises(InvalidInputError, match="2,000 levels, and JSON nested deeper than 500"):
        ranker.to_json()


@pytest.mark.parametrize("indent", [None, 2])
def test_the_deepest_tree_that_is_written_as_json_can_be_read(indent):
    document = json.loads(chain(500)[0].to_json(indent=indent))["trees"][0]
    for _ in range(500):
        document = document["right"]
    assert "rank" in document
    with pytest.raises(InvalidInputError, match="501 levels"):
        chain(501)[0].to_json(indent=indent)


def test_a_category_never_seen_is_missing_in_sql_and_json_too():
    shop = ["a", "b", None] * 40
    frame = pl.DataFrame({"shop": shop})
    ranker = TargetTree(generations=20, random_state=0).fit(frame, [each is None for each in shop])
    assert "shop is missing" in ranker.to_text()
    new = ["a", "b", None, "never seen", "NA"]
    expected = ranker.decision_function(pl.DataFrame({"shop": new}))
    assert expected.tolist() == [0, 0, 1, 1, 1]
    assert in_sqlite(ranker, ["shop"], [(each,) for each in new]) == expected.tolist()
    document = json.loads(ranker.to_json())["trees"][0]
    assert [route(document, {"shop": each}) for each in new] == expected.tolist()


STRANGE = [
    "",
    "new\nline",
    "\x1b[31mred",
    "\x08back",
    "a, b",
    "{",
    "\u202eright to left",
    "日本語" * 20,
    "W" * 300,
]


@pytest.fixture(scope="module")
def strange():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"line\nbreak": rng.choice(STRANGE, 600), "": rng.random(600)})
    wanted = frame["line\nbreak"].is_in(STRANGE[1:8:2]) & (frame[""] > 0.3)
    return TargetTree(alpha=0.0, generations=20, n_restarts=1, random_state=0).fit(frame, wanted)


def test_strange_names_keep_to_their_line(strange):
    leaves = strange.views[0].tree.leaves.size
    assert len(strange.views[0].rules().splitlines()) == leaves
    assert len(strange.to_text().splitlines()) == 2 * leaves - 2
    assert strange.to_text().replace("\n", "").isprintable()
    assert r"'new\nline'" in strange.to_text()
    assert "'' <= " in strange.to_text()


def test_strange_names_do_not_break_the_drawing(strange):
    root = ET.fromstring(strange.to_svg())
    lines = [text.text for text in root.iter(SVG + "text")]
    assert max(len(line) for line in lines) <= 20
    assert any(line.startswith("in {") or line.startswith("is ") for line in lines)


@pytest.mark.parametrize("deep", [False, True])
def test_boxes_of_the_drawing_do_not_overlap_and_stay_on_the_page(fitted, deep):
    root = ET.fromstring((chain(30)[0] if deep else fitted).to_svg())
    page, *boxes = [
        [float(rect.get(side)) for side in ("x", "y", "width", "height")] for rect in root.iter(SVG + "rect")
    ]
    for x, y, width, height in boxes:
        assert page[0] <= x
        assert x + width <= page[0] + page[2]
        assert y + height <= page[1] + page[3]
        assert sum(abs(x - other[0]) < width and abs(y - other[1]) < height for other in boxes) == 1


def test_subtrees_move_together():
    assert float(ET.fromstring(chain(30)[0].to_svg()).get("width")) < 20 * 156


def test_the_style_of_a_drawing_does_not_reach_the_page_around_it(fitted):
    style = ET.fromstring(fitted.to_svg()).find(SVG + "style").text
    assert all(rule.startswith(".shortlist-tree ") for rule in style.split("}") if rule)


def test_prices_in_cents_score_the_same_in_sql():
    """Most of them are no float32 numbers: 19.2 becomes a little more, and must stay on its side of a threshold."""
    rng = np.random.default_rng(0)
    price = (rng.integers(1_900, 1_960, 2_000) / 100).round(2)
    wanted = rng.random(2_000) < np.where(price * 100 // 7 % 2 == 0, 0.5, 0.1)
    frame = pl.DataFrame({"price": price})
    ranker = TargetTree(alpha=0.0, generations=30, random_state=0).fit(frame, wanted)
    found = in_sqlite(ranker, ["price"], [(value,) for value in price.tolist()])
    np.testing.assert_array_equal(found, ranker.decision_function(frame))


def test_contributions_sum_to_the_score_and_name_the_columns_on_the_way(fitted):
    new = odd_table(200, 6)
    parts = fitted.contributions(new)
    assert parts.shape == (200, len(fitted.schema_.columns) + 1)
    np.testing.assert_allclose(parts.sum(axis=1), fitted.decision_function(new), rtol=1e-9, atol=1e-12)
    used = {feature for tree in fitted._trees for feature in tree.feature if feature >= 0}
    assert set(np.flatnonzero(np.any(parts[:, :-1] != 0, axis=0))) <= used


def test_contributions_of_one_split_are_what_it_changes():
    X = np.arange(40.0)[:, None]
    ranker = TargetTree(generations=20, random_state=0).fit(X, X.ravel() > 29)
    np.testing.assert_allclose(ranker.contributions([[0.0], [35.0]]), [[-0.25, 0.25], [0.75, 0.25]])


def bounded(values):
    """Which of the values a rule about x0 alone lets pass."""

    def passes(rule, value):
        for step in (part.strip("()") for part in rule.split(" and ")):
            missing = step.endswith("missing")
            sign, *bound = step.removesuffix(" or missing").split()[1:]
            if np.isnan(value):
                holds = missing
            else:
                holds = (
                    {"<=": np.less_equal, ">": np.greater}[sign](value, float(bound[0]))
                    if sign != "is"
                    else bound[0] == "known"
                )
            if not holds:
                return False
        return True

    return lambda rule: np.array([passes(rule, value) for value in values])


@pytest.mark.parametrize("seed", range(5))
def test_rules_leave_out_superfluous_bounds_and_still_hold_for_the_rows_of_their_leaf_only(seed):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random(800) < 0.1, np.nan, rng.random(800))[:, None]
    wanted = rng.random(800) < np.where(
        np.isnan(X[:, 0]), 0.3, 0.1 + 0.6 * (np.nan_to_num(X[:, 0]) * 9 // 1 % 2)
    )
    ranker = TargetTree(alpha=0.0, generations=20, n_restarts=1, random_state=seed).fit(X, wanted)
    view, lets_pass = ranker.views[0], bounded(X[:, 0])
    leaf = view.tree.leaf_of(X, view.words.bins)
    assert view.tree.leaves.size > 5
    for each in view.tree.leaves:
        rule = view.words.rule(view.tree, each)
        np.testing.assert_array_equal(lets_pass(rule), leaf == each)
        assert rule.count(" <= ") <= 2
        assert rule.count(" > ") <= 2


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_rules_of_categories_name_the_shorter_side_and_hold_for_the_rows_of_their_leaf_only(seed, gaps):
    rng = np.random.default_rng(seed)
    shops = np.array([f"s{i:02}" for i in range(30)], dtype=object)
    shop = np.where(rng.random(2_000) < gaps, None, shops[rng.integers(0, 30, 2_000)])
    risk = dict(zip([None, *shops], rng.choice([0.02, 0.2, 0.6], 31), strict=True))
    wanted = rng.random(2_000) < [risk[each] for each in shop]
    frame = pl.DataFrame({"shop": shop.tolist()}, schema={"shop": pl.String})
    ranker = TargetTree(alpha=0.0, generations=20, n_restarts=1, random_state=seed).fit(frame, wanted)
    view = ranker.views[0]
    leaf = view.tree.leaf_of(ranker.schema_.matrix(frame), view.words.bins)
    rules = {each: view.words.rule(view.tree, each) for each in view.tree.leaves}
    complete = [each for each, rule in rules.items() if " more" not in rule]
    assert len(complete) > 2
    for each in complete:
        np.testing.assert_array_equal([_in_shops(rules[each], name) for name in shop], leaf == each)


def _in_shops(rule, name):
    """Whether a rule about shops alone lets one pass."""
    for step in (part.strip("()") for part in rule.split(" and ")):
        words = step.removesuffix(" or missing").removeprefix("shop ")
        named = (
            words.removeprefix("not ")
            .removeprefix("is not ")
            .removeprefix("in ")
            .removeprefix("is ")
            .strip("{}")
        )
        if name is None or words in ("is known", "is missing"):
            holds = step.endswith("missing") if name is None else words != "is missing"
        else:
            holds = (name in named.split(", ")) != ("not " in words)
        if not holds:
            return False
    return True


def test_a_long_set_of_categories_is_told_by_what_is_not_in_it():
    shop = [f"s{i % 30:02}" for i in range(900)]
    for bad, here, rest in (
        (("s03",), "is s03", "is not s03"),
        (("s03", "s17"), "in {s03, s17}", "not in {s03, s17}"),
    ):
        ranker = TargetTree(random_state=0).fit(pl.DataFrame({"shop": shop}), [each in bad for each in shop])
        assert ranker.to_text().splitlines()[0].startswith((f"shop {here}:", f"shop {rest}:"))
        assert f"shop {rest}:" in ranker.to_text()
        assert f"shop {here}:" in ranker.to_text()
