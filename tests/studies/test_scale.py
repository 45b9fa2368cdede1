"""The study of scale: lines, their error, and what rounds send."""

import pytest

from studies.speed import scale
from studies.speed.scale import run, summary
from studies.speed.scale_model import FAR_ROWS, draw_growth, line_of
from studies.speed.scale_rounds import MIX_CAP_BYTES, gradient_share, one_process, two_processes
from studies.speed.scale_works import BY_BATCH


def growth(sizes, seconds):
    return [
        {"what": what, "rows": int(n * 1e6), "columns": 40, "cpu": seconds(n), "mb": 500 + 40 * n}
        for what in ("score batch by batch", "read and predict, bare", "fit_table")
        for n in sizes
    ]


def test_a_line_is_found_and_says_how_far_off_it_is():
    exact = line_of(growth([1, 5, 20], lambda n: 2 + 3 * n), "fit_table", "cpu")
    assert exact == {"fixed": 2, "per million": 3, "largest error": 0, "largest, by the others": 0}
    curved = line_of(growth([1, 5, 20], lambda n: n**2), "fit_table", "cpu")
    assert curved["largest error"] > 0.1
    assert curved["largest, by the others"] < -0.5  # a line through the small ones is far below


def test_two_sizes_tell_nothing_of_their_error():
    assert "largest, by the others" not in line_of(growth([1, 5], lambda n: n), "fit_table", "cpu")
    assert line_of(growth([1], lambda n: n), "fit_table", "cpu") is None


def test_the_far_end_follows_the_lines():
    far = summary(growth([1, 5], lambda n: 3.6 * n))["model"]["far"]
    assert far["rows"] == FAR_ROWS
    assert far["score, cpu hours"] == 10
    assert far["fit_table, GB"] == round(40 * 1e4 / 1024)


def test_what_is_kept_is_not_measured_again(tmp_path):
    asked = []
    work = ("gradient", lambda n: asked.append(n) or {"rows": n}, (10,))
    for _ in range(2):
        found = run([work], tmp_path / "runs")
    assert asked == [10]
    assert found[0]["what"] == "gradient"
    assert "load average" in found[0]


def test_growth_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    draw_growth({"growth": growth([1, 5], lambda n: n)}, tmp_path / "growth.svg")
    assert "fit_table" in (tmp_path / "growth.svg").read_text(encoding="utf-8")


def test_what_a_round_takes():
    assert 0 < gradient_share(2_000, 3)["share"] < 1
    assert one_process("mix", 2_000, 3)["ms a round"] > 0


@pytest.mark.slow
def test_what_two_processes_send():
    found = {loss: two_processes(loss, 20_000, 3) for loss in ("mix", "ap_exp")}
    assert found["ap_exp"]["most bytes a round"] <= 100
    assert 0 < found["mix"]["most bytes a round"] <= MIX_CAP_BYTES


def test_rounds_on_dask_alone_can_be_asked_for(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(scale, "run", lambda works, kept: asked.extend(what for what, *_ in works) or [])
    scale.main(["--quick", "--dask"])
    assert "two processes, mix" in asked
    assert not {*BY_BATCH} & {*asked}
    scale.main(["--quick"])
    assert {*BY_BATCH} < {*asked}
