"""What fits into memory is decided in one place, before work begins."""

import gzip

import polars as pl
import pytest

from shortlist.exceptions import InvalidInputError, TooLargeError
from shortlist.tables import memory, write_table
from shortlist.tables.memory import BASE, Cost, can_batch, free_memory, plan_for, read_size, table_size


@pytest.fixture
def frame():
    return pl.DataFrame({"amount": [float(i) for i in range(2_000)], "make": ["Fiat", "Audi"] * 1_000})


def test_sizes_are_read():
    assert (
        read_size("4GB") == read_size("4 g") == read_size(4_000_000_000) == read_size("4000MB") == 4 * 10**9
    )
    assert read_size("2GiB") == 2**31
    for wrong in ("much", "0GB", "-1GB", "4XB", "4i"):
        with pytest.raises(InvalidInputError, match="a size such as 4GB"):
            read_size(wrong)


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".jsonl", ".arrow"])
def test_the_size_of_files_is_told_before_they_are_read(frame, tmp_path, ending):
    file = tmp_path / f"rows{ending}"
    write_table(frame, file)
    size = table_size(str(file))
    assert size.rows == pytest.approx(2_000, rel=0.01)
    assert size.columns == 2
    assert can_batch(str(file))


def test_what_must_be_read_whole_has_no_size(frame, tmp_path):
    frame.write_json(tmp_path / "rows.json")
    assert not can_batch(tmp_path / "rows.json")
    assert table_size(tmp_path / "rows.json") is None
    assert not can_batch(frame)
    assert plan_for("score", frame, "400MB") == memory.Plan()
    with gzip.open(tmp_path / "rows.csv.gz", "wb") as file:
        frame.write_csv(file)
    for name in ("rows.json", "rows.csv.gz"):
        assert plan_for("score", tmp_path / name) == memory.Plan()
        plan = plan_for("score", tmp_path / name, "2GB")
        assert not plan.by_batch
        assert plan.notes == (
            "scored in memory: its size is not known beforehand, so it may take more than 2.0 GB.",
        )


def test_what_fits_is_read_at_once_and_said_where_a_limit_was_named(frame):
    plan = plan_for("score", frame.lazy(), "1GB")
    assert not plan.by_batch
    assert "scored in memory: about 2,000 rows of 2 columns" in plan.notes[0]
    assert plan_for("score", frame.lazy()) == memory.Plan()


def test_what_does_not_fit_comes_batch_by_batch_or_is_refused(frame, monkeypatch):
    monkeypatch.setattr(memory, "WHOLE", {"score": Cost(row=1e6), "backtest": Cost(row=1e6)})
    assert plan_for("score", frame.lazy(), "1GB").by_batch
    with pytest.raises(
        TooLargeError, match=r"about 2,000 rows of 2 columns, which would take about 2.4 GB .* 500 MB may"
    ):
        plan_for("score", frame.lazy(), "500MB")
    with pytest.raises(
        TooLargeError, match=r"to backtest; 1.0 GB may be used. Allow more .*, or use fewer rows"
    ):
        plan_for("backtest", frame.lazy(), "1GB")
    with pytest.raises(TooLargeError, match="or leave out --all"):
        plan_for("score", frame.lazy(), "1GB", only_whole="leave out --all")


def test_wide_rows_come_fewer_at_a_time_and_take_what_is_told(monkeypatch):
    monkeypatch.setattr(memory, "WHOLE", dict.fromkeys(memory.WHOLE, Cost(row=1e9)))
    few, wide = (pl.LazyFrame({f"x{i}": [0.5] * 50 for i in range(n)}) for n in (5, 500))
    assert plan_for("score", few, "2GB").batch_rows == memory.BATCH_ROWS
    plan = plan_for("score", wide, "2GB")
    assert plan.batch_rows == memory.BATCH_ROWS / 10
    assert "so it is about 1.5 GB" in plan.notes[0]
    with pytest.raises(TooLargeError, match=r"and 1\.5 GB batch by batch to score; 1\.2 GB may be used"):
        plan_for("score", wide, "1.2GB")
    long = pl.LazyFrame({"text": ["x" * 50_000] * 20})
    assert plan_for("score", long, "2GB").batch_rows < 1_100


def test_less_than_the_program_itself_takes_is_no_limit(frame):
    with pytest.raises(InvalidInputError, match="takes about 350 MB; allow more"):
        plan_for("score", frame.lazy(), "100MB")


def test_a_database_comes_batch_by_batch_where_a_limit_is_named(frame, tmp_path):
    url = f"sqlite:///{tmp_path}/claims.db::history"
    frame.write_database("history", url.rpartition("::")[0])
    assert not plan_for("score", url).by_batch
    assert "its size is not known beforehand" in plan_for("score", url, "1GB").notes[0]


def test_without_a_limit_it_is_what_is_free_less_a_margin(frame, tmp_path, monkeypatch):
    file = tmp_path / "rows.parquet"
    frame.write_parquet(file)
    monkeypatch.setattr(memory, "WHOLE", {"score": Cost(row=1e6)})
    monkeypatch.setattr(memory, "free_memory", lambda: 3 * 10**9)
    assert plan_for("score", file) == memory.Plan()
    monkeypatch.setattr(memory, "free_memory", lambda: 2 * 10**9)
    assert plan_for("score", file).by_batch
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    assert plan_for("score", file) == memory.Plan()


@pytest.mark.skipif(free_memory() is None, reason="this system does not tell what is free")
@pytest.mark.parametrize("group", ["", "system.slice", "system.slice/nightly.service"])
@pytest.mark.parametrize(
    ("line", "limit", "used"),
    [
        ("0::/system.slice/nightly.service", "memory.max", "memory.current"),
        ("4:memory:/system.slice/nightly.service", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ],
    ids=["newer", "older"],
)
def test_a_container_has_less_than_its_machine(tmp_path, monkeypatch, line, limit, used, group):
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    monkeypatch.setattr(memory, "_OF_THIS_PROCESS", tmp_path / "cgroup")
    (tmp_path / "cgroup").write_text(f"1:cpu,cpuacct:/elsewhere\n{line}\n")
    here = tmp_path / ("" if line.startswith("0") else "memory") / group
    here.mkdir(parents=True, exist_ok=True)
    (here / limit).write_text("1000000\n")
    (here / used).write_text("400000\n")
    assert free_memory() == 600_000
    (here / limit).write_text("max\n")
    assert free_memory() > 600_000
    assert BASE > 0


def test_columns_that_nothing_is_asked_of_are_not_read(frame, tmp_path):
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_csv(tmp_path / "rows.csv")
    assert memory.columns_of(tmp_path / "rows.parquet", ["amount"]) == ["amount"]
    assert memory.columns_of(tmp_path / "rows.parquet", ["amount", "score"]) is None
    assert memory.columns_of(tmp_path / "rows.csv", ["amount"]) is None
    assert memory.columns_of(frame, ["amount"]) is None
